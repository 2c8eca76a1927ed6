"""Classes of equal rows, as a reader of the release sees them: k, l in all its forms, t, and presence."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from muco._core import shuffled
from muco.arrays import Codes, Offsets
from muco.assess.comparison import Comparison
from muco.assess.sample import PUBLIC
from muco.assess.shown import Shown
from muco.domain import Domain
from muco.scale import Reals

if TYPE_CHECKING:
    import polars as pl

MOST_CLASSES = 2_000  # classes whose share of the population is counted; a keyed sample beyond
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Diversity(Shown):
    """The worst class of a release for one sensitive attribute, in each form of l-diversity, and its closeness.

    `frequency` is the largest l such that no value stands in more than 1/l of a class (the paper's), `entropy` the
    number of equally frequent values with the same entropy, `recursive` the c that every class stays within at
    l = `level` (infinite where a class has fewer than `level` values); `closeness` is the t that is met.
    """

    attribute: str
    distinct: int
    frequency: float
    entropy: float
    recursive: float
    level: int
    closeness: float


@dataclass(frozen=True, slots=True)
class Classes(Shown):
    """The classes of rows that are equal in all released quasi-identifiers.

    `presence` is the smallest and largest share of the records covered by a class that have a row in it: at 1,
    whoever is covered is known to be in the release (delta-presence, the original taken as the population).
    """

    number: int
    smallest: int
    mean: float
    alone: float
    diversity: tuple[Diversity, ...]
    presence: tuple[float, float]
    is_exact: bool
    is_generalized: bool
    has_groups: bool = False


def measure_classes(comparison: Comparison, group: Offsets | None = None) -> Classes:
    """k, l and t of a release of any tool, and the share of the people a class may stand for that are in it.

    These describe the form of a release. They bound what linking can find only where every row of a class is as
    likely to be a person's: where cells are ranges, not where they were drawn. Where the release itself says which
    `group` (from 0) each row is in, as Anatomy does, l and t are those of the groups.

    >>> import polars as pl
    >>> from muco.policy import Policy
    >>> table = pl.DataFrame({"age": [20, 25, 30, 34], "pay": [1, 2, 3, 3]})
    >>> release = table.with_columns(age=pl.Series(["20-25", "20-25", "30-34", "30-34"]))
    >>> found = measure_classes(Comparison.of(table, release, Policy.of(quasi="age", sensitive="pay")))
    >>> found.smallest, found.diversity[0].distinct
    (2, 1)
    """
    place, first, sizes = _classes(comparison)
    diversity = tuple(
        _diversity(domain, place if group is None else group, codes, comparison.policy.diversity)
        for domain, codes in zip(comparison.sensitive, comparison.released_sensitive.T)
    )
    shares, is_exact = _presence(comparison, first, sizes)
    return Classes(
        len(sizes),
        int(sizes.min(initial=len(place))),
        float(sizes.mean()) if len(sizes) else 0.0,
        float((sizes == 1).sum() / max(len(place), 1)),
        diversity,
        (float(shares.min(initial=1.0)), float(shares.max(initial=0.0))),
        is_exact,
        comparison.is_generalized,
        group is not None,
    )


def class_sizes(codes: Codes) -> Offsets:
    """How many records share all values with each record, itself included; shape (records,)."""
    _, place, sizes = _number([*codes.T], len(codes))
    counted: Offsets = sizes[place]
    return counted


def rate_of_classes(comparison: Comparison) -> float:
    """The mean of one over the size of a row's class: how often who knows a person's class guesses the row."""
    return len(_classes(comparison)[2]) / max(len(comparison.low), 1)


def _classes(comparison: Comparison) -> tuple[Offsets, Offsets, Offsets]:
    """The class of each row, a row of each class, and the rows of each class."""
    columns = [*comparison.low.T]
    if comparison.is_generalized:
        columns += [*comparison.high.T]
    first, place, sizes = _number(columns, len(comparison.low))
    return place, first, sizes


def _number(columns: list[Codes], rows: int) -> tuple[Offsets, Offsets, Offsets]:
    import polars as pl

    if not columns:
        return np.zeros(1, dtype=np.int64), np.zeros(rows, dtype=np.int64), np.array([rows])
    frame = pl.DataFrame({f"c{number}": column for number, column in enumerate(columns)}).with_row_index("row")
    names = [name for name in frame.columns if name != "row"]
    groups = frame.group_by(names, maintain_order=True).agg(pl.col("row"))
    sizes = groups["row"].list.len().to_numpy().astype(np.int64)
    order = groups["row"].explode().to_numpy().astype(np.int64)
    place = np.empty(rows, dtype=np.int64)
    place[order] = np.repeat(np.arange(len(sizes)), sizes)
    starts = np.cumsum(sizes) - sizes
    return order[starts], place, sizes


def _diversity(domain: Domain, place: Offsets, codes: Codes, level: int) -> Diversity:
    """Counts of (class, value), then the worst class in every form."""
    import polars as pl

    counts = pl.DataFrame({"place": place, "value": codes}).group_by("place", "value").agg(pl.len().alias("n"))
    counts = counts.sort("place", "n", descending=[False, True]).with_columns(pl.col("n").cast(pl.Float64))
    ranked = counts.with_columns(pl.int_range(pl.len()).over("place").alias("rank"))
    tail = pl.col("n").filter(pl.col("rank") >= level - 1).sum()
    classes = ranked.group_by("place", maintain_order=True).agg(
        pl.len().alias("distinct"),
        (pl.col("n").sum() / pl.col("n").max()).alias("frequency"),
        (pl.col("n").sum().log() - (pl.col("n") * pl.col("n").log()).sum() / pl.col("n").sum()).alias("entropy"),
        (pl.col("n").max() / tail).alias("recursive"),
    )
    shares = counts.with_columns((pl.col("n") / pl.col("n").sum().over("place")).alias("share"))
    return Diversity(
        domain.attribute,
        int(_least(classes["distinct"])),
        _least(classes["frequency"]),
        float(np.exp(_least(classes["entropy"]))),
        float(classes["recursive"].to_numpy().max(initial=0.0)),
        level,
        _closeness(domain, shares, codes),
    )


def _least(column: pl.Series) -> float:
    return float(column.to_numpy().min()) if len(column) else 0.0


def _closeness(domain: Domain, shares: pl.DataFrame, codes: Codes) -> float:
    """The largest earth mover's distance of a class to the table, along the order of values where they have one."""
    whole = np.bincount(codes, minlength=len(domain.cells)) / max(len(codes), 1)
    place, value, share = (column.to_numpy() for column in shares.select("place", "value", "share"))
    if not domain.is_ordered:
        beyond = np.bincount(place, np.maximum(share - whole[value], 0))
        return float(beyond.max(initial=0.0))
    far, cells = 0.0, len(whole)
    block = max(1, _BLOCK // max(cells, 1))
    number = int(place.max(initial=-1)) + 1
    edges = np.searchsorted(place, np.arange(0, number + block, block))
    for step, (start, end) in enumerate(pairwise(edges)):
        here = slice(start, end)
        classes = min(block, number - step * block)
        flat = (place[here] - step * block) * cells + value[here]
        table = np.bincount(flat, share[here], minlength=classes * cells).reshape(classes, cells)
        moved = np.abs(np.cumsum(table - whole, axis=1)[:, :-1]).sum(axis=1) / max(cells - 1, 1)
        far = max(far, float(moved.max(initial=0.0)))
    return far


def _presence(comparison: Comparison, first: Offsets, sizes: Offsets) -> tuple[Reals, bool]:
    """Rows of a class over records of the original that it covers; a class that covers nobody has no share."""
    tried = np.arange(len(first))
    if not comparison.is_generalized:
        covered = _equal_records(comparison, first)
    else:
        if len(first) > MOST_CLASSES:
            tried = np.sort(shuffled(PUBLIC, len(first))[:MOST_CLASSES])
        covered = _covered_records(comparison, first[tried])
    kept = covered > 0
    return np.minimum(sizes[tried][kept] / covered[kept], 1.0), len(tried) == len(first)


def _equal_records(comparison: Comparison, first: Offsets) -> Offsets:
    both = np.concatenate((comparison.low[first], comparison.original))
    _, place, _ = _number([*both.T], len(both))
    counts = np.bincount(place[len(first) :], minlength=int(place.max(initial=0)) + 1)
    covered: Offsets = counts[place[: len(first)]]
    return covered


def _covered_records(comparison: Comparison, rows: Offsets) -> Offsets:
    """How many records lie in each box, some boxes at a time."""
    covered = np.zeros(len(rows), dtype=np.int64)
    columns = [np.ascontiguousarray(column) for column in comparison.original.T]
    block = max(1, _BLOCK // max(len(comparison.original), 1))
    for start in range(0, len(rows), block):
        here = rows[start : start + block]
        inside = np.ones((len(here), len(comparison.original)), dtype=bool)
        for place, column in enumerate(columns):
            inside &= column >= comparison.low[here, place, None]
            inside &= column <= comparison.high[here, place, None]
        covered[start : start + block] = inside.sum(axis=1)
    return covered
