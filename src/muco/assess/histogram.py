"""How often each value stands in an original and in a release, in bars that stand for no fewer than ten records."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

import numpy as np
from numpy.typing import NDArray

from muco.arrays import Codes
from muco.assess.comparison import Comparison
from muco.domain import Domain
from muco.promise import FEWEST
from muco.scale import Reals, Scale, whole_spans
from muco.switches import Kind
from muco.values import as_text

MOST_BARS = 20
OTHERS, MISSING = "all others", "missing"


@dataclass(frozen=True, slots=True)
class Bar:
    """A value, or a range of them, with its share of the original's records and of the release's rows."""

    label: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Histogram:
    """The bars of one attribute, each of at least ten records of the original; rarer values are pooled.

    `is_changed` is False where every value is as frequent in the release as in the original.
    """

    attribute: str
    bars: tuple[Bar, ...]
    is_changed: bool

    def __repr__(self) -> str:
        return f"Histogram({self.attribute}, {len(self.bars)} bars)"


@dataclass(frozen=True, slots=True)
class _Bins:
    """What the codes of a domain are gathered into: the bin of each code, and a label a bin."""

    place: NDArray[np.int64]
    labels: list[str]


def count_values(comparison: Comparison) -> tuple[Histogram, ...]:
    """The histogram of every quasi-identifier and sensitive attribute; a range is spread evenly over its values.

    No bar stands for one to nine records of the original, and no label for a value that fewer than ten have.

    >>> import polars as pl
    >>> from muco.policy import Policy
    >>> table = pl.DataFrame({"sex": ["F"] * 12 + ["M"] * 10 + ["X"] * 1, "pay": [1] * 23})
    >>> made = Comparison.of(table, table, Policy.of(quasi="sex", sensitive="pay"))
    >>> [bar.label for bar in count_values(made)[0].bars]     # X is rare, and with M the pool is 11
    ['F', 'all others']
    """
    quasi = zip(comparison.quasi, comparison.original.T, comparison.low.T, comparison.high.T)
    sensitive = zip(comparison.sensitive, comparison.original_sensitive.T, comparison.released_sensitive.T)
    return tuple(
        [_histogram(domain, codes, low, high) for domain, codes, low, high in quasi]
        + [_histogram(domain, codes, rows, rows) for domain, codes, rows in sensitive]
    )


def _histogram(domain: Domain, original: Codes, low: Codes, high: Codes) -> Histogram:
    bins = _bins(domain, original)
    before: Reals = np.bincount(bins.place[original], minlength=len(bins.labels)).astype(np.float64)
    spread = _spread(*whole_spans(low, high, len(domain.cells)), len(domain.cells))
    after: Reals = np.bincount(bins.place, spread, minlength=len(bins.labels)).astype(np.float64)
    share = 1 / max(len(original), 1), 1 / max(len(low), 1)
    bars = tuple(
        Bar(label, float(here * share[0]), float(there * share[1]))
        for label, here, there in _pool(bins.labels, before, after)
    )
    moved = np.bincount(original, minlength=len(spread)) * share[0] - spread * share[1]
    return Histogram(domain.attribute, bars, bool(np.abs(moved).max(initial=0.0) > 1e-12))


def _spread(low: Codes, high: Codes, size: int) -> Reals:
    """The rows at each code, each spread evenly over its span."""
    part = 1.0 / (high - low + 1)
    ends = np.bincount(low, part, minlength=size + 1) - np.bincount(high + 1, part, minlength=size + 1)
    spread: Reals = np.maximum(np.cumsum(ends)[:-1], 0.0)
    return spread


def _pool(labels: list[str], before: Reals, after: Reals) -> Iterator[tuple[str, float, float]]:
    """The bars that may be shown, then the others: none of them, or at least ten records."""
    largest = np.argsort(-before, kind="stable")
    is_kept = np.zeros(len(before), dtype=bool)
    is_kept[largest[:MOST_BARS]] = True
    is_kept &= before >= FEWEST
    # A pool of one to nine would tell what its bars were hidden for: the smallest of those kept joins it.
    for place in largest[::-1]:
        if not 0 < before[~is_kept].sum() < FEWEST:
            break
        is_kept[place] = False
    for place in np.flatnonzero(is_kept):
        yield labels[place], before[place], after[place]
    if (before[~is_kept].sum() + after[~is_kept].sum()) > 1e-9:
        yield OTHERS, before[~is_kept].sum(), after[~is_kept].sum()


def _bins(domain: Domain, original: Codes) -> _Bins:
    """A bin a value, or round intervals where numbers or dates are many."""
    known = domain.known
    if known > MOST_BARS and domain.kind in {Kind.CONTINUOUS, Kind.DATE}:
        places, labels = _intervals(domain, original)
    else:
        places, labels = np.arange(known), as_text(domain.cells[:known]).to_list()
    if domain.has_missing:
        places, labels = np.append(places, len(labels)), [*labels, MISSING]
    return _Bins(places.astype(np.int64), labels)


def _intervals(domain: Domain, original: Codes) -> tuple[NDArray[np.int64], list[str]]:
    """Intervals between round numbers, so that no edge is somebody's value; the last takes the long tail."""
    values = np.round(Scale.of(domain, original).places[: domain.known] + _origin(domain), 9)
    low, high = np.quantile(values[original[original < domain.known]], (0.01, 0.97))
    step = _round_step(float(high - low) / MOST_BARS, has_days=domain.kind is Kind.DATE)
    first, last = math.floor(low / step), math.floor(high / step)
    places = np.clip(np.floor(values / step), first, last).astype(np.int64) - first
    is_whole = step >= 1 and bool((values == np.floor(values)).all())
    label = _label_day if domain.kind is Kind.DATE else partial(_label_number, is_whole=is_whole)
    edges = [label(number * step, (number + 1) * step) for number in range(first, last)]
    end = f"{_name(last * step, domain)} or more"
    if values[0] < first * step:
        edges[:1] = [f"below {_name((first + 1) * step, domain)}"]
    return places, [*edges, end]


def _origin(domain: Domain) -> float:
    """The value of code 0, from which the scale counts."""
    text = as_text(domain.cells[:1])[0].strip()
    if domain.kind is Kind.DATE:
        return float((date.fromisoformat(text[:10]) - date(1970, 1, 1)).days) if "-" in text else 0.0
    return float(text)


def _round_step(least: float, *, has_days: bool) -> float:
    """The smallest 1, 2 or 5 times a power of ten that is not less; of dates at least a day."""
    least = max(least, 1.0) if has_days else least
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-12))


def _label_number(low: float, high: float, *, is_whole: bool) -> str:
    if is_whole:
        return f"{low:,.0f}" if high - low == 1 else f"{low:,.0f} to {high - 1:,.0f}"
    return f"{low:,.6g} to {high:,.6g}"


def _label_day(low: float, high: float) -> str:
    return f"{_day(low)} to {_day(high - 1)}"


def _name(value: float, domain: Domain) -> str:
    return _day(value) if domain.kind is Kind.DATE else f"{value:,.6g}"


def _day(number: float) -> str:
    return str(date(1970, 1, 1) + timedelta(days=number))
