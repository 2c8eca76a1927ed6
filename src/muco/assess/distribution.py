"""How far the release moved the distributions: of each attribute, and the association of each pair.

A cell that covers several values spreads its record evenly over them, and over a pair of such cells independently:
means, squares and joint counts are exact under that reading, no midpoint stands in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from muco.arrays import Codes
from muco.assess.comparison import Comparison
from muco.assess.shown import Shown
from muco.domain import Domain
from muco.scale import Reals, Scale, whole_spans

if TYPE_CHECKING:
    import polars as pl

_BLOCK = 1 << 22  # cells of a block of joint counts
_NOTHING = 1e-12  # a variance below this share of the squares is rounding


class Association(StrEnum):
    """How the association of two attributes is measured; a pair is measured alike in both tables."""

    PEARSON = "pearson"  # two attributes on a line: r, in [-1, 1]
    RATIO = "correlation_ratio"  # one on a line and a category: eta, in [0, 1]
    CRAMER = "cramers_v"  # two categories: V, in [0, 1]


@dataclass(frozen=True, slots=True)
class Pair:
    """The association of two attributes in the original and in the release."""

    first: str
    second: str
    kind: Association
    original: float
    released: float

    @property
    def change(self) -> float:
        """The absolute change."""
        return abs(self.released - self.original)


@dataclass(frozen=True, slots=True)
class Distributions(Shown):
    """Total variation of each attribute, in [0, 1], and the association of every pair."""

    total_variation: Mapping[str, float]
    pairs: tuple[Pair, ...]

    @property
    def mean_change(self) -> float:
        """The mean absolute change of associations; 0 where there is no pair."""
        return float(np.mean([pair.change for pair in self.pairs])) if self.pairs else 0.0

    @property
    def largest_change(self) -> float:
        """The largest absolute change of an association."""
        return max((pair.change for pair in self.pairs), default=0.0)

    def to_frame(self) -> pl.DataFrame:
        """A row a pair: both attributes, the measure, its value in either table, the absolute change."""
        import polars as pl

        rows = [(p.first, p.second, p.kind.value, p.original, p.released, p.change) for p in self.pairs]
        text, real = pl.String(), pl.Float64()
        schema = {
            "first": text,
            "second": text,
            "measure": text,
            "original": real,
            "released": real,
            "change": real,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")


def measure_distributions(comparison: Comparison) -> Distributions:
    """Total variation per attribute and association change per pair (docs/worth.md); needs no alignment.

    Pairs are those of quasi-identifiers and sensitive attributes. Records missing either value take no part in
    Pearson's r, nor those missing the number in the correlation ratio; elsewhere missing is a value of its own.

    >>> import polars as pl
    >>> from muco import Policy
    >>> table = pl.DataFrame({"age": [20, 30], "pay": [1, 2]})
    >>> release = pl.DataFrame({"age": ["[20, 30]", "20"], "pay": [1, 2]})
    >>> found = measure_distributions(Comparison.of(table, release, Policy.of(quasi="age", sensitive="pay")))
    >>> found.total_variation["age"]          # 3/4 of a record at 20 and 1/4 at 30, against 1/2 and 1/2
    0.25
    """
    domains = (*comparison.quasi, *comparison.sensitive)
    before = [_Mass.of(domain, codes, codes) for domain, codes in zip(domains, _columns(comparison))]
    spans = zip(domains, *_released(comparison))
    after = [_Mass.of(domain, low, high) for domain, low, high in spans]
    variation = {
        domain.attribute: float(np.abs(one.shares - other.shares).sum() / 2)
        for domain, one, other in zip(domains, before, after)
    }
    pairs = tuple(
        Pair(
            domains[a].attribute,
            domains[b].attribute,
            _kind(domains[a], domains[b]),
            _associate(before[a], before[b]),
            _associate(after[a], after[b]),
        )
        for a, b in combinations(range(len(domains)), 2)
    )
    return Distributions(MappingProxyType(variation), pairs)


def _columns(comparison: Comparison) -> list[Codes]:
    return [*comparison.original.T, *comparison.original_sensitive.T]


def _released(comparison: Comparison) -> tuple[list[Codes], list[Codes]]:
    low = [*comparison.low.T, *comparison.released_sensitive.T]
    high = [*comparison.high.T, *comparison.released_sensitive.T]
    return low, high


def _kind(first: Domain, second: Domain) -> Association:
    ordered = first.is_ordered + second.is_ordered
    return (Association.CRAMER, Association.RATIO, Association.PEARSON)[ordered]


@dataclass(frozen=True, slots=True)
class _Mass:
    """One attribute of one table: the span of each row, and the mean of its values and squares over known codes."""

    domain: Domain
    low: Codes
    high: Codes
    known: Reals  # the share of a row's span that is known
    value: Reals  # the mean over its span of the value, 0 where missing
    square: Reals

    @staticmethod
    def of(domain: Domain, low: Codes, high: Codes) -> _Mass:
        first, last = whole_spans(low, high, len(domain.cells))
        size = last - first + 1
        places = Scale.of(domain, first).places
        if not len(places):
            places = np.zeros(len(domain.cells))
        # Centred, so that squares of large numbers (dates, salaries) keep their digits.
        counted = np.bincount(first, minlength=len(places))[: domain.known]
        middle = float(counted @ places[: domain.known] / max(counted.sum(), 1))
        places = np.where(np.arange(len(places)) < domain.known, places - middle, 0.0)
        sums, squares = (np.concatenate([[0.0], np.cumsum(row)]) for row in (places, places**2))
        exact = first == last
        value = np.where(exact, places[first], (sums[last + 1] - sums[first]) / size)
        square = np.where(exact, places[first] ** 2, (squares[last + 1] - squares[first]) / size)
        known = 1 - (last >= domain.known) / size
        return _Mass(domain, first, last, known, value, square)

    @property
    def shares(self) -> Reals:
        """The share of all records at each code."""
        return self.spread(np.ones(len(self.low))) / max(len(self.low), 1)

    @property
    def is_exact(self) -> bool:
        return np.array_equal(self.low, self.high)

    def spread(self, weights: Reals) -> Reals:
        """The sum at each code of the rows' weights, each spread evenly over its span."""
        size = len(self.domain.cells)
        exact = self.low == self.high
        total = np.bincount(self.low[exact], weights[exact], minlength=size).astype(np.float64)
        part = weights[~exact] / (self.high - self.low + 1)[~exact]
        ends = np.bincount(self.low[~exact], part, minlength=size + 1) - np.bincount(
            self.high[~exact] + 1, part, minlength=size + 1
        )
        spread: Reals = total + np.cumsum(ends)[:-1]
        return spread


def _associate(first: _Mass, second: _Mass) -> float:
    kind = _kind(first.domain, second.domain)
    if kind is Association.PEARSON:
        return _pearson(first, second)
    if kind is Association.CRAMER:
        return _cramer(first, second)
    number, category = (first, second) if first.domain.is_ordered else (second, first)
    return _ratio(number, category)


def _pearson(x: _Mass, y: _Mass) -> float:
    """Pearson's r over the records that know both, each pair of spans independent in its row; 0 for a constant."""
    count = float(x.known @ y.known)
    if count <= 0:
        return 0.0
    mean_x, mean_y = float(x.value @ y.known) / count, float(x.known @ y.value) / count
    spread_x = float(x.square @ y.known) / count - mean_x**2
    spread_y = float(x.known @ y.square) / count - mean_y**2
    together = float(x.value @ y.value) / count - mean_x * mean_y
    if min(_relative(spread_x, x), _relative(spread_y, y)) <= _NOTHING:
        return 0.0
    return float(np.clip(together / np.sqrt(spread_x * spread_y), -1, 1))


def _ratio(number: _Mass, category: _Mass) -> float:
    """The ratio eta = sqrt(variance between the categories' means / variance), of known numbers."""
    counts, sums = category.spread(number.known), category.spread(number.value)
    count = float(counts.sum())
    if count <= 0:
        return 0.0
    mean = float(sums.sum()) / count
    spread = float(number.square.sum()) / count - mean**2
    if _relative(spread, number) <= _NOTHING:
        return 0.0
    here = counts > _NOTHING * count
    between = float((sums[here] ** 2 / counts[here]).sum()) / count - mean**2
    return float(np.sqrt(np.clip(between / spread, 0, 1)))


def _relative(spread: float, of: _Mass) -> float:
    largest = float(of.square.max(initial=0.0))
    return spread / largest if largest > 0 else 0.0


def _cramer(first: _Mass, second: _Mass) -> float:
    """V = sqrt(chi² / (n (k - 1))), k the fewer values of the two domains: the same k for both tables."""
    total, fewer = len(first.low), min(len(first.domain.cells), len(second.domain.cells))
    if fewer < 2 or not total:
        return 0.0
    rows, columns = first.shares * total, second.shares * total
    chi = _squares(first, second, rows, columns) - 1
    return float(np.sqrt(np.clip(chi / (fewer - 1), 0, 1)))


def _squares(first: _Mass, second: _Mass, rows: Reals, columns: Reals) -> float:
    """Σ n_ab² / (n_a n_b), of which chi² / n is one less; of exact cells only pairs that occur are counted."""
    width = len(columns)
    if first.is_exact and second.is_exact:
        both = first.low.astype(np.int64) * width + second.low
        if width * len(rows) <= _BLOCK:
            counts = np.bincount(both)
            pairs = np.flatnonzero(counts)
            counts = counts[pairs]
        else:
            pairs, counts = np.unique(both, return_counts=True)
        return float((counts**2 / (rows[pairs // width] * columns[pairs % width])).sum())
    step = max(1, _BLOCK // (width + 1))
    found = 0.0
    for start in range(0, len(rows), step):
        stop = min(start + step, len(rows))
        joint = _joint(first, second, start, stop)
        expected = np.outer(rows[start:stop], columns)
        found += float((joint**2 / np.where(expected > _NOTHING, expected, np.inf)).sum())
    return found


def _joint(first: _Mass, second: _Mass, start: int, stop: int) -> Reals:
    """Joint counts of codes start to stop (excluded) of one attribute with all of the other: corners, then sums."""
    low, high = np.maximum(first.low, start), np.minimum(first.high, stop - 1)
    here = low <= high
    part = 1.0 / ((first.high - first.low + 1) * (second.high - second.low + 1))[here]
    top, bottom = low[here] - start, high[here] - start + 1
    left, right = second.low[here], second.high[here] + 1
    width = len(second.domain.cells) + 1
    corners = np.zeros((stop - start + 1) * width)
    for row, column, sign in ((top, left, 1), (top, right, -1), (bottom, left, -1), (bottom, right, 1)):
        corners += np.bincount(row.astype(np.int64) * width + column, sign * part, minlength=len(corners))
    return corners.reshape(-1, width).cumsum(axis=0).cumsum(axis=1)[:-1, :-1]
