"""Nearest-record linkage: who knows every quasi-identifier takes the released row that lies nearest (A3, A7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muco._core import find_nearest
from muco.arrays import Offsets
from muco.assess.comparison import Comparison
from muco.assess.rate import Rate, Risk
from muco.assess.sample import choose_targets, encode_for_core, framed, shuffle_rows
from muco.assess.shown import Shown
from muco.errors import TableError

MOST_TARGETS = 100_000  # beyond, a keyed sample of targets; its interval is narrower than .004
_NEAREST_OF_RANGE = "a range is as near as its nearest value"


@dataclass(frozen=True, slots=True)
class Linkage(Shown):
    """How often the nearest row is the right one, and how often it has the right sensitive value.

    `attribute` holds, a sensitive attribute, the share of nearest rows with the record's own value: attribute
    inference by nearest rows.
    """

    identity: Risk
    without_exact: Risk
    attribute: dict[str, Risk]


@dataclass(frozen=True, slots=True)
class _Found:
    """One search for the nearest rows of some targets."""

    chance: NDArray[np.float64]  # 1/ties where the own row is among the nearest
    alike: NDArray[np.float64]  # (targets, sensitive attributes)
    is_exact: bool

    @staticmethod
    def of(comparison: Comparison, blocks: tuple[Offsets, Offsets], targets: Offsets, among: str) -> _Found:
        _, ties, has_own, alike = find_nearest(
            encode_for_core(comparison), comparison.distances, blocks, targets, among=among
        )
        chance = np.divide(has_own, ties, out=np.zeros(len(ties)), where=ties > 0)
        return _Found(chance, alike, len(targets) == len(comparison.original))

    def rate(self, place: int | None = None) -> Rate:
        return Rate.of(self.chance if place is None else self.alike[:, place], exact=self.is_exact)


def link_nearest(comparison: Comparison, *, most: int = MOST_TARGETS) -> Linkage:
    """A3: all quasi-identifiers are known, and nothing but the release is seen.

    The row with the smallest sum of normalised distances over the whole release is taken, rows equally near share
    the guess (docs/measures/nearest.md). A missing value lies at 1 from every other; a range is as near as its
    nearest value. `without_exact` leaves rows out that equal the record, for one who knows that they are wrong. At
    most `most` records are tried, a keyed sample of them. Raises TableError where it is not known which row is
    whose.
    """
    nobody = np.zeros(len(comparison.original), dtype=np.int64), np.zeros(len(comparison.low), dtype=np.int64)
    return _link(comparison, nobody, "A3", "all quasi-identifiers", most)


def rate_nearest(comparison: Comparison, *, most: int = MOST_TARGETS) -> Rate:
    """A3 alone, without the controls of `link_nearest`, which are alike for all releases of one table."""
    nobody = np.zeros(len(comparison.original), dtype=np.int64), np.zeros(len(comparison.low), dtype=np.int64)
    targets = choose_targets(len(comparison.original), most)
    return _Found.of(comparison, nobody[::-1], targets, "all").rate()


def link_with_sensitive(comparison: Comparison, *, most: int = MOST_TARGETS) -> Linkage:
    """A7: the record's sensitive values are known too: the nearest among the rows that have them."""
    blocks = _number(comparison.original_sensitive, comparison.released_sensitive)
    return _link(comparison, blocks, "A7", "all quasi-identifiers and the sensitive values", most)


def link_with_untouched(comparison: Comparison, *, most: int = MOST_TARGETS) -> Linkage:
    """A7: the sensitive values and every untouched column are known: the nearest among the rows that have them."""
    records = np.column_stack((comparison.original_sensitive, comparison.original_untouched))
    rows = np.column_stack((comparison.released_sensitive, comparison.released_untouched))
    knows = "all quasi-identifiers, the sensitive values and every untouched column"
    return _link(comparison, _number(records, rows), "A7", knows, most)


def _number(records: NDArray[Any], rows: NDArray[Any]) -> tuple[Offsets, Offsets]:
    """Equal combinations in either table, numbered alike: of records, then of rows."""
    both = np.concatenate((records, rows)).astype(np.int64)
    numbers = np.zeros(len(both), dtype=np.int64)
    for column in both.T:
        _, place = np.unique(column, return_inverse=True)
        _, numbers = np.unique(numbers * (place.max(initial=0) + 1) + place, return_inverse=True)
    return numbers[: len(records)], numbers[len(records) :]


def _link(
    comparison: Comparison, blocks: tuple[Offsets, Offsets], adversary: str, knows: str, most: int
) -> Linkage:
    """`blocks` numbers records, then rows."""
    if comparison.record is None:
        raise TableError("which row stands for which record is not known: name a record column")
    targets = choose_targets(len(comparison.original), most)
    records, rows = blocks
    given = (rows, records)
    released, nearby = (_Found.of(comparison, given, targets, among) for among in ("all", "different"))
    raw = _Found.of(comparison.raw(), (records, records), targets, "all")
    # Without equal rows nobody is found in the raw table: the control of that search is the shuffled one alone.
    mixed = shuffle_rows(comparison)
    chance, far = (_Found.of(mixed, given, targets, among) for among in ("all", "different"))
    note = "; ".join(
        ([] if released.is_exact else [f"{len(targets)} of {len(comparison.original)} records tried"])
        + ([_NEAREST_OF_RANGE] if comparison.is_generalized else [])
    )
    others = "; ".join(["no raw control: there the own row is equal", *([note] if note else [])])
    names = [domain.attribute for domain in comparison.sensitive]
    return Linkage(
        framed(adversary, knows, [found.rate() for found in (released, raw, chance)], note),
        framed(f"{adversary} without exact matches", knows, [nearby.rate(), None, far.rate()], others),
        {
            name: framed(f"{adversary} for {name}", knows, [f.rate(place) for f in (released, raw, chance)], note)
            for place, name in enumerate(names)
        },
    )
