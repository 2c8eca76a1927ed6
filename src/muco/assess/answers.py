"""A table as an analyst counts in it: boxes of codes, and which of them meet a condition, with which share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muco.arrays import Codes, Offsets
from muco.assess.comparison import Comparison
from muco.domain import Domain
from muco.errors import PolicyError, TableError
from muco.scale import Reals, whole_spans
from muco.switches import Kind

# = for categories; these for numbers, in the order in which a uniform number chooses them.
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Answers:
    """A table as an analyst counts in it: boxes of codes, how many rows each stands for, what they sum to.

    Rows count by their survey weights where there are any. A row is taken to lie anywhere in its box with equal
    probability, attribute by attribute.
    """

    low: Codes  # (boxes, attributes)
    high: Codes
    rows: Reals  # (boxes,)
    sums: Reals  # (boxes,), of the sensitive attribute; empty where it is no number

    def __repr__(self) -> str:
        return f"Answers({len(self.low)} boxes)"

    @staticmethod
    def of(comparison: Comparison, *, summed: str | None = None, values: Reals | None = None) -> Answers:
        """The release. `values` replaces each row's sensitive value, such as by its group's average (Anatomy)."""
        sizes = np.array([len(domain.cells) for domain in comparison.quasi], dtype=np.int32)
        low, high = map(np.asfortranarray, whole_spans(comparison.low, comparison.high, sizes))
        if values is None:
            values = _numbers(comparison, comparison.released_sensitive, summed)
        rows = np.ones(len(low)) if comparison.weights is None else comparison.weights[1]
        sums = values * rows if len(values) else values
        if not comparison.is_generalized:
            return Answers(low, high, rows, sums)
        return _boxed(low, high, rows, sums)

    @staticmethod
    def of_original(comparison: Comparison, *, summed: str | None = None) -> Answers:
        """The microdata T, whose answers are the true ones."""
        codes = np.asfortranarray(comparison.original)
        values = _numbers(comparison, comparison.original_sensitive, summed)
        rows = np.ones(len(codes)) if comparison.weights is None else comparison.weights[0]
        return Answers(codes, codes, rows, values * rows if len(values) else values)

    def over(self, attributes: tuple[int, ...]) -> Answers:
        """The same table with some attributes only, equal boxes taken together."""
        return _boxed(self.low[:, attributes], self.high[:, attributes], self.rows, self.sums)


@dataclass(frozen=True, slots=True)
class Shares:
    """Which boxes meet predicates on some attributes, and with which share of their values."""

    answers: Answers
    attributes: tuple[int, ...]  # of the columns of `answers`
    domains: tuple[Domain, ...]
    seen: tuple[Codes, ...]  # the original's own codes, in their order
    order: tuple[Offsets | None, ...]  # the boxes by code, None where some are spans
    starts: tuple[Offsets, ...]

    @staticmethod
    def of(answers: Answers, comparison: Comparison, attributes: tuple[int, ...]) -> Shares:
        """Sort the boxes by the codes of each of the attributes, which are the columns of `answers`."""
        domains = tuple(comparison.quasi[attribute] for attribute in attributes)
        order: list[Offsets | None] = []
        starts = []
        for place, domain in enumerate(domains):
            low, high = answers.low[:, place], answers.high[:, place]
            order.append(np.argsort(low, kind="stable") if np.array_equal(low, high) else None)
            counts = np.bincount(low, minlength=len(domain.cells))
            starts.append(np.concatenate([[0], np.cumsum(counts)]))
        seen = tuple(_codes_seen(comparison.original[:, attribute]) for attribute in attributes)
        return Shares(answers, attributes, domains, seen, tuple(order), tuple(starts))

    def meeting(self, predicates: list[tuple[int, int, int]]) -> tuple[Offsets, Reals]:
        """The boxes that may meet all of some (attribute, operator, rank), and their share that does."""
        places = [self.attributes.index(attribute) for attribute, _, _ in predicates]
        masks = {place: self._mask(place, operator, rank) for place, (_, operator, rank) in zip(places, predicates)}
        boxes = self._fewest(masks)
        share = np.ones(len(boxes))
        for place, mask in masks.items():
            low = self.answers.low[boxes, place]
            if self.order[place] is not None:
                boxes, share = boxes[mask[low]], share[mask[low]]
                continue
            high = self.answers.high[boxes, place]
            sums = np.concatenate([[0], np.cumsum(mask)])
            part = (sums[high + 1] - sums[low]) / (high - low + 1)
            boxes, share = boxes[part > 0], (share * part)[part > 0]
        return boxes, share

    def _fewest(self, masks: dict[int, NDArray[np.bool_]]) -> Offsets:
        """The boxes that meet the rarest of the predicates on exact codes; all where there is none."""
        best: tuple[int, int, Offsets] | None = None
        for place, mask in masks.items():
            order = self.order[place]
            if order is not None:
                boxes = int(np.diff(self.starts[place])[mask].sum())
                best = (boxes, place, order) if best is None or boxes < best[0] else best
        if best is None:
            return np.arange(len(self.answers.low))
        _, place, order = best
        edges = np.flatnonzero(np.diff(np.concatenate([[False], masks[place], [False]]).astype(np.int8)))
        runs = self.starts[place][edges].reshape(-1, 2)
        return np.concatenate([order[:0], *(order[first:last] for first, last in runs)])

    def _mask(self, place: int, operator: int, rank: int) -> NDArray[np.bool_]:
        """The codes that meet a predicate; codes ascend, and a missing value is neither below nor above any."""
        known, code = self.domains[place].known, int(self.seen[place][rank])
        codes = np.arange(len(self.domains[place].cells))
        tests = (
            codes == code,
            codes != code,
            (codes < code) & (codes < known),
            (codes <= code) & (codes < known),
            (codes > code) & (codes < known),
            (codes >= code) & (codes < known),
        )
        mask: NDArray[np.bool_] = tests[operator]
        return mask


def _codes_seen(codes: Codes) -> Codes:
    """The distinct codes, ascending, without a sort of the records."""
    return np.flatnonzero(np.bincount(codes)).astype(np.int32)


def _boxed(low: Codes, high: Codes, rows: Reals, sums: Reals) -> Answers:
    """Equal boxes become one."""
    import polars as pl

    ends = {
        f"{end}{place}": side[:, place] for end, side in (("l", low), ("h", high)) for place in range(low.shape[1])
    }
    whole = pl.DataFrame({**ends, "rows": rows, "sums": sums if len(sums) else rows})
    boxes = whole.group_by(list(ends), maintain_order=True).agg(pl.col("rows").sum(), pl.col("sums").sum())
    first, last = np.split(np.asfortranarray(boxes.select(list(ends)).to_numpy()), 2, axis=1)
    return Answers(first, last, boxes["rows"].to_numpy(), boxes["sums"].to_numpy() if len(sums) else sums)


def choose_summed(comparison: Comparison, name: str | None) -> str | None:
    """The sensitive attribute to sum: the one named, else the first that is a number, else None."""
    numeric = [domain.attribute for domain in comparison.sensitive if domain.kind is Kind.CONTINUOUS]
    if name is None:
        return numeric[0] if numeric else None
    if name not in numeric:
        raise PolicyError(f"attribute {name} is no sensitive attribute of numbers: it can be counted, not summed")
    return name


def _numbers(comparison: Comparison, codes: Codes, summed: str | None) -> Reals:
    """The value of each row to sum, a missing one as 0; empty where no sensitive attribute is a number."""
    name = choose_summed(comparison, summed)
    if name is None:
        return np.empty(0)
    place = [domain.attribute for domain in comparison.sensitive].index(name)
    domain = comparison.sensitive[place]
    numbers = domain.numbers
    if numbers is None:
        raise TableError(f"attribute {name} has values that are no numbers: it can be counted, not summed")
    values: Reals = np.append(numbers, 0.0)[np.minimum(codes[:, place], domain.known)]
    return values
