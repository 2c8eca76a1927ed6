"""What a column looks like, from its distinct values: how many, how long, which numbers, what means missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muco.moments import MOMENT, find_forms
from muco.values import CODE, NUMBER, Distinct, are_truths, as_text

if TYPE_CHECKING:
    import polars as pl

MARKERS = frozenset(
    {"?", "na", "n/a", "#n/a", "n.a.", "<na>", "nan", "null", "nil", ".", "..", "-", "--", "---", "missing"}
    | {"(missing)", "[missing]", "not available", "not stated", "no answer", "k.a.", "k. a.", "keine angabe"}
    | {"sans réponse", "non renseigné", "sin dato", "sin datos", "s/d", "no responde", "non disponibile", "n.d."}
)
_NEGATIVE = (
    -1,
    -6,
    -7,
    -8,
    -9,
    -66,
    -77,
    -88,
    -96,
    -97,
    -98,
    -99,
    -777,
    -888,
    -997,
    -998,
    -999,
    -9998,
    -9999,
    -99999,
)
_LARGE = (99, 999, 9999, 99999, 999999, 9999999)
_NEAR_UNIQUE = 0.9


@dataclass(frozen=True)
class Traits:
    """One column, seen as a whole. Its repr shows no value."""

    name: str
    distinct: Distinct
    counts: NDArray[np.int64]  # how many records have each known value
    markers: tuple[str, ...]  # texts that mean missing, beside empty cells
    records: int

    def __repr__(self) -> str:
        return f"Traits({self.name}, {len(self.text)} values)"

    @staticmethod
    def of(column: pl.Series) -> Traits:
        """Look at one column."""
        plain = Distinct.of(column, ())
        markers = find_markers(plain)
        distinct = Distinct.of(column, markers) if markers else plain
        counts = np.bincount(distinct.index, minlength=len(distinct.cells))
        return Traits(column.name, distinct, counts[~distinct.is_missing], markers, len(column))

    @cached_property
    def text(self) -> pl.Series:
        """The distinct known values as text without blanks around them."""
        return as_text(self.distinct.known).str.strip_chars()

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The distinct known values as numbers; None for a column of anything else."""
        import polars as pl

        known = self.distinct.known
        if known.is_empty() or known.dtype.is_temporal():
            return None
        if not known.dtype.is_numeric():
            if known.dtype != pl.String or not self.text.str.contains(NUMBER).all():
                return None
            known = self.text.str.strip_prefix("+")
        return known.cast(pl.Float64, strict=False).to_numpy()

    @property
    def known(self) -> int:
        """How many records are not missing."""
        return int(self.counts.sum())

    @property
    def commonest(self) -> int:
        """In how many records the most frequent value stands, a missing one included."""
        return max(int(self.counts.max(initial=0)), self.records - self.known)

    @property
    def uniqueness(self) -> float:
        """Distinct values a known record, in [0, 1]."""
        return len(self.counts) / self.known if self.known else 0.0

    @property
    def is_near_unique(self) -> bool:
        """Whether hardly any two records share a value."""
        return self.known >= 5 and self.uniqueness >= _NEAR_UNIQUE

    @property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.numbers is not None and bool(np.all(self.numbers % 1 == 0))

    @cached_property
    def has_leading_zeros(self) -> bool:
        """Whether some number begins with a zero that a number would lose."""
        return self.numbers is not None and bool(self.text.str.contains(CODE).any())

    @property
    def is_serial(self) -> bool:
        """Whether the values are consecutive whole numbers, each in one record."""
        if not self.is_whole or not self.known or self.uniqueness < 1 or self.numbers is None or self.known < 5:
            return False
        return bool(self.numbers.max() - self.numbers.min() + 1 <= 1.05 * self.known)

    @cached_property
    def lengths(self) -> tuple[int, int]:
        """The fewest and the most characters of a value."""
        sizes = self.text.str.len_chars().to_numpy()
        return (int(sizes.min()), int(sizes.max())) if sizes.size else (0, 0)

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """The forms of dates in which every value can be read; one empty form for ISO 8601 or a column of dates."""
        import polars as pl

        known = self.distinct.known
        if known.dtype.is_temporal():
            return ("",)
        if known.dtype != pl.String or known.is_empty():
            return ()
        return ("",) if self.text.str.contains(MOMENT).all() else tuple(find_forms(self.text))

    @cached_property
    def are_truths(self) -> bool:
        """Whether the values are true and false, in the words of some language."""
        import polars as pl

        known = self.distinct.known
        return known.dtype == pl.Boolean or (known.dtype == pl.String and len(known) > 1 and are_truths(self.text))

    def share(self, pattern: str) -> float:
        """The share of the distinct values that match a pattern."""
        return share_of(self.text, pattern)


def share_of(text: pl.Series, pattern: str) -> float:
    """The share of texts that match a pattern; 0 where there are none."""
    return float(np.mean(text.str.contains(pattern).to_numpy())) if len(text) else 0.0


def find_markers(values: Distinct) -> tuple[str, ...]:
    """The texts in a column that mean missing: words, and numbers that stand apart from all others."""
    import polars as pl

    known = values.known
    if len(known) < 2 or known.dtype.is_temporal() or known.dtype == pl.Boolean:
        return ()
    text = as_text(known).str.strip_chars()
    words = text.filter(text.str.to_lowercase().is_in(list(MARKERS)))
    if len(words) and _are_short_codes(text):
        words = words.filter(words != "NA")  # Namibia, North America: one code among others
    rest = text.filter(~text.is_in(words.to_list()))
    if rest.is_empty():
        return ()
    sentinels = _find_sentinels(rest) if rest.str.contains(NUMBER).all() else []
    return (*sorted(set(words.to_list())), *sentinels)


def _are_short_codes(text: pl.Series) -> bool:
    return len(text) > 10 and share_of(text, "^[A-Z]{2}$") > 0.8


def _find_sentinels(text: pl.Series) -> list[str]:
    """Numbers such as -9 below numbers that are never negative, or 9999 far above all others."""
    import polars as pl

    numbers = text.cast(pl.Float64, strict=False)
    found = _are_of(numbers, _NEGATIVE)
    plain = numbers.filter(~found)
    if len(plain) < 2 or _lowest(plain) < 0:
        found = found & False
    usual = plain.filter(~_are_of(plain, _LARGE))
    if len(usual) > 1 and _lowest(usual) >= 0:
        found = found | (_are_of(numbers, _LARGE) & (numbers > 2 * float(np.max(usual.to_numpy()))))
    # 9.0 and 9 are one marker among numbers.
    return sorted({word.removesuffix(".0") for word in text.filter(found).to_list()})


def _are_of(numbers: pl.Series, sentinels: tuple[int, ...]) -> pl.Series:
    return numbers.is_in([float(number) for number in sentinels])


def _lowest(numbers: pl.Series) -> float:
    return float(np.min(numbers.to_numpy()))
