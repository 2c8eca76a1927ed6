"""An original and a release of it over one domain: what every measure of `assess` is a function of.

original ─┐                     original codes   (records, attributes)
release  ─┴─ Comparison.of ──>  low, high codes  (rows, attributes): a released cell is a span of values
rows     ──────────────────>  record of each row, where it is known
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from muco._core import Distance
from muco.arrays import Codes, Offsets
from muco.assess.spans import fill_suppressed, is_range, read_plain, spans_of
from muco.attribute import Attribute
from muco.domain import Domain, encode
from muco.errors import TableError
from muco.frame import Frame
from muco.hierarchy import Hierarchy
from muco.numerals import Numerals
from muco.personal import read_weights
from muco.policy import Policy
from muco.scale import Reals
from muco.switches import Kind, Role
from muco.values import Distinct, text_keys

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Comparison:
    """The microdata T and a release of it, encoded together.

    `record[i]` is the record (from 0) that row i stands for, or `record` is None where that is not known: then only
    what needs no alignment can be measured. Released cells are spans `low` to `high` of codes; `untouched` numbers
    the combinations of all other columns that both tables have. `weights` are those of the records and of the rows,
    over the mean of the records', where the policy names a column of them.
    """

    policy: Policy
    quasi: tuple[Domain, ...]
    original: Codes
    low: Codes
    high: Codes
    sensitive: tuple[Domain, ...]
    original_sensitive: Codes
    released_sensitive: Codes
    original_untouched: NDArray[np.int64]
    released_untouched: NDArray[np.int64]
    record: Offsets | None
    weights: tuple[Reals, Reals] | None = None

    def __repr__(self) -> str:
        return f"Comparison({len(self.original)} records, {len(self.low)} rows, {len(self.quasi)} attributes)"

    @staticmethod
    def of(original: Any, release: Any, policy: Policy, *, record: Offsets | None = None) -> Comparison:
        """Encode both tables by one policy.

        `record` tells which record each released row stands for; without it rows are taken as aligned where all
        untouched columns agree row by row, else as unaligned. Raises TableError for columns or cells that the
        release should not have.
        """
        whole = original if isinstance(original, Frame) else Frame.of(original)
        released = release if isinstance(release, Frame) else Frame.of(release)
        for name in (*policy.quasi, *policy.sensitive):
            for table, which in ((whole, "original"), (released, "release")):
                if name not in table.names:
                    raise TableError(f"the {which} has no attribute {name}: both tables need it to be compared")
        quasi = [_encode(whole, released, name, policy) for name in policy.quasi]
        sensitive = [_encode(whole, released, name, policy) for name in policy.sensitive]
        others = [name for name in whole.names if name in released.names and _is_other(name, policy)]
        untouched = _number(whole, released, others)
        comparison = Comparison(
            policy,
            tuple(domain for domain, *_ in quasi),
            _stacked((codes for _, codes, _, _ in quasi), len(whole)),
            _stacked((low for _, _, low, _ in quasi), len(released)),
            _stacked((high for *_, high in quasi), len(released)),
            tuple(domain for domain, *_ in sensitive),
            _stacked((codes for _, codes, _, _ in sensitive), len(whole)),
            _stacked((low for _, _, low, _ in sensitive), len(released)),
            *untouched,
            None,
            _weights(whole, released, policy),
        )
        return replace(comparison, record=_aligned(comparison) if record is None else _checked(record, comparison))

    @staticmethod
    def of_raw(original: Any, policy: Policy) -> Comparison:
        """The original beside itself: what is known of a table before anything is done to it."""
        return Comparison.of(original, original, policy, record=np.arange(len(original)))

    @property
    def is_generalized(self) -> bool:
        """Whether a released cell covers several values."""
        return bool((self.low != self.high).any())

    @property
    def distances(self) -> list[Distance]:
        """dis(.) of each quasi-identifier over both tables' values."""
        return [domain.distance for domain in self.quasi]

    @property
    def row(self) -> Offsets:
        """The row that stands for each record, -1 where it was suppressed. Raises TableError if unaligned."""
        if self.record is None:
            raise TableError("which row stands for which record is not known: name a record column")
        rows = np.full(len(self.original), -1, dtype=np.int64)
        rows[self.record] = np.arange(len(self.record))
        return rows

    def raw(self) -> Comparison:
        """The control that must score near 1: the original released as it is."""
        return replace(
            self,
            low=self.original,
            high=self.original,
            released_sensitive=self.original_sensitive,
            released_untouched=self.original_untouched,
            record=np.arange(len(self.original)),
            weights=(self.weights[0], self.weights[0]) if self.weights is not None else None,
        )

    def permuted(self, order: Offsets) -> Comparison:
        """The control that must score near chance: the quasi-identifiers of row `order[i]` given to row i."""
        return replace(self, low=self.low[order], high=self.high[order])


def _weights(whole: Frame, released: Frame, policy: Policy) -> tuple[Reals, Reals] | None:
    """Survey weights of the records and the rows, such that a record of mean weight counts as one."""
    if policy.weight is None:
        return None
    if policy.weight not in released.names:
        raise TableError(f"the release has no attribute {policy.weight}, by which its rows are to be counted")
    records, rows = read_weights(whole, policy), read_weights(released, policy)
    return records / records.mean(), rows / records.mean()


def _is_other(name: str, policy: Policy) -> bool:
    return name not in policy.attributes or policy.attributes[name].role is Role.OTHER


def _stacked(columns: Iterable[Codes], rows: int) -> Codes:
    parts = list(columns)
    return np.ascontiguousarray(np.stack(parts, axis=1)) if parts else np.empty((rows, 0), dtype=np.int32)


def _encode(whole: Frame, released: Frame, name: str, policy: Policy) -> tuple[Domain, Codes, Codes, Codes]:
    """One attribute over both tables: its domain, the original codes, and the span of each released cell."""
    import polars as pl

    attribute = policy.attributes[name]
    left, right = whole.plain_text(name), read_plain(released.plain_text(name))
    if attribute.role is Role.QUASI:
        right = fill_suppressed(left, right)
    cells = Distinct.of(right, ())
    labels = _labels(attribute, left, policy.numerals)
    ranged = is_range(cells.cells, policy.numerals)
    if labels:
        ranged |= cells.cells.is_in(list(labels)).fill_null(value=False)
    ranged &= ~cells.cells.is_in(left.unique().to_list()).fill_null(value=False)
    is_span = ranged.to_numpy()
    single = right.filter(~is_span[cells.index])
    domain, codes = encode(
        pl.concat([left, single.alias(name)]), attribute, policy.missing, numerals=policy.numerals
    )
    low = np.empty(len(right), dtype=np.int32)
    low[~is_span[cells.index]] = codes[len(left) :]
    high = low.copy()
    if is_span.any():
        nodes = {label: _node(leaves, domain) for label, leaves in labels.items()}
        first, last, is_read = spans_of(cells.cells.filter(ranged), domain, nodes)
        if not is_read.all():
            raise TableError(
                f"attribute {name}: {(~is_read).sum()} forms of range in the release are not understood"
            )
        place = np.cumsum(is_span)[cells.index] - 1
        here = is_span[cells.index]
        low[here], high[here] = first[place[here]], last[place[here]]
    return domain, codes[: len(left)], low, high


def _labels(attribute: Attribute, column: pl.Series, numerals: Numerals) -> dict[str, list[str]]:
    """The leaves below each inner node of the attribute's hierarchy."""
    if attribute.hierarchy is None or attribute.kind not in {None, Kind.CATEGORICAL}:
        return {}
    values = text_keys(Distinct.of(column, attribute.missing))
    tree = Hierarchy.of(attribute.hierarchy, values=values, folder=Path(), numerals=numerals)
    labels: dict[str, list[str]] = {}
    for level in tree.levels[:-1]:
        below: dict[str, list[str]] = {}
        for leaf, label in zip(tree.leaves, level):
            below.setdefault(label, []).append(leaf)
        labels |= {label: leaves for label, leaves in below.items() if leaves != [label]}
    return labels


def _node(leaves: list[str], domain: Domain) -> tuple[int, int]:
    """The codes below a node of the tree: one span, for leaves stand in depth-first order."""
    import polars as pl

    places = np.flatnonzero(domain.cells.cast(pl.String).is_in(leaves).fill_null(value=False).to_numpy())
    return (int(places[0]), int(places[-1])) if places.size else (0, -1)


def _number(whole: Frame, released: Frame, names: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The combinations of some columns, numbered alike in both tables."""
    import polars as pl

    if not names:
        return np.zeros(len(whole), dtype=np.int64), np.zeros(len(released), dtype=np.int64)
    both = pl.DataFrame([pl.concat([t.plain_text(n) for t in (whole, released)]).alias(n) for n in names])
    numbers = both.select(pl.struct(pl.all()).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    return numbers[: len(whole)], numbers[len(whole) :]


def _aligned(comparison: Comparison) -> Offsets | None:
    """Row i is record i where every untouched and sensitive cell says so, and says something."""
    if len(comparison.original) != len(comparison.low):
        return None
    left = (comparison.original_untouched, *comparison.original_sensitive.T)
    right = (comparison.released_untouched, *comparison.released_sensitive.T)
    agree = all(np.array_equal(a, b) for a, b in zip(left, right))
    return np.arange(len(comparison.low)) if agree and any(len(np.unique(a)) > 1 for a in left) else None


def _checked(record: Offsets, comparison: Comparison) -> Offsets:
    records = np.asarray(record, dtype=np.int64)
    if len(records) != len(comparison.low) or len(np.unique(records)) < len(records):
        raise TableError(f"the release has {len(comparison.low)} rows: each needs one record of its own")
    if len(records) and not 0 <= records.min() <= records.max() < len(comparison.original):
        raise TableError("the release names records that the original does not have")
    return records
