"""Trees whose leaves are ranges of numbers or dates, such as Amnesia's: the values of a column stand below them.

A range holds what lies from its low to its high end; an end that two share belongs to the one that begins there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from calendar import monthrange
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import TYPE_CHECKING

from muco.errors import PolicyError
from muco.moments import read_moments
from muco.numerals import PLAIN, Numerals

if TYPE_CHECKING:
    import polars as pl

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_RANGE = re.compile(rf"^[\[(]?\s*({_DAY}|{PLAIN.number})\s*(?:,|;|-|–)\s*({_DAY}|{PLAIN.number})\s*([\])\[]?)$")
_FORMS = (None, "%d/%m/%Y", "%d.%m.%Y")  # ISO 8601, Amnesia's, and with points
_FIRST = date(1970, 1, 1)


def read_word(word: str, *, is_date: bool) -> str | None:
    """A node of Amnesia's file, `0.0,10.0` or `1/2000,12/2000`, as [0, 10]; None for its node of nulls.

    Raises ValueError for what is no range.
    """
    low, _, high = word.partition(",")
    if low.lower() in {"null", "nan"}:
        return None
    if is_date:
        return f"[{_day(low, is_end=False)}, {_day(high or low, is_end=True)}]"
    if not (re.fullmatch(PLAIN.number, low) and re.fullmatch(PLAIN.number, high or low)):
        raise ValueError
    return f"[{_plain(low)}, {_plain(high or low)}]"


def place_values(values: pl.Series, leaves: Sequence[str], numerals: Numerals) -> list[tuple[str, int]] | None:
    """Each distinct text with the place of the range that holds it, ascending; None where a leaf is no range.

    What no range holds is left out. Raises PolicyError for ranges that overlap.
    """
    found = [_RANGE.match(leaf) for leaf in leaves]
    if not all(found):
        return None
    is_date = all(re.match(_DAY, match[1]) for match in found if match)
    ends = [(_end(match[1]), _end(match[2]), match[3] in {")", "["}) for match in found if match]
    order = sorted(range(len(ends)), key=lambda place: ends[place][:2])
    if any(ends[one][1] > ends[other][0] for one, other in pairwise(order)):
        raise PolicyError("a hierarchy has ranges that overlap: each value must have one place")
    lows = [ends[place][0] for place in order]
    placed = []
    for text, number in _numbers(values, numerals, is_date=is_date):
        at = bisect_right(lows, number) - 1
        if at < 0:
            continue
        low, high, is_open = ends[order[at]]
        beyond = number - high if not is_date else Fraction(floor(number)) - high  # a date's end is a whole day
        if beyond < 0 or (beyond == 0 and not is_open) or number == low:
            placed.append((number, text, order[at]))
    return [(text, place) for _, text, place in sorted(placed)]


def _numbers(values: pl.Series, numerals: Numerals, *, is_date: bool) -> list[tuple[str, Fraction]]:
    """The texts that are numbers, or dates as days since 1970."""
    import polars as pl

    text = values.cast(pl.String).unique()
    if not is_date:
        plain = numerals.plain(text.str.strip_chars())
        small = plain.str.contains(r"[eE][+-]?[0-9]{3}").not_()  # 1e999999999 as a fraction would fill the memory
        return [
            (cell, Fraction(number)) for cell, number, is_small in zip(text, plain, small) if number and is_small
        ]
    moments = read_moments(text.str.strip_chars(), _FORMS[0])
    for form in _FORMS[1:]:
        moments = moments.fill_null(read_moments(text.str.strip_chars(), form))
    days = moments.to_physical()
    return [(cell, Fraction(day, 86_400_000_000)) for cell, day in zip(text, days) if day is not None]


def _end(text: str) -> Fraction:
    if re.fullmatch(_DAY, text):
        return Fraction((date.fromisoformat(text) - _FIRST).days)
    return Fraction(text)


def _day(text: str, *, is_end: bool) -> str:
    """2000, 3/2000 or 15/3/2000 as its first or last day."""
    numbers = [int(part) for part in text.split("/")]
    year, month, day = [*reversed(numbers), None, None][:3]
    if len(numbers) > 3 or year is None:
        raise ValueError
    month = month or (12 if is_end else 1)
    return date(year, month, day or (monthrange(year, month)[1] if is_end else 1)).isoformat()


def _plain(number: str) -> str:
    """10.0 as 10 and 1.0E7 as 10000000, so that what Java writes reads as people write it."""
    exact = Decimal(number)
    if not -30 < exact.adjusted() < 30:
        raise ValueError
    return f"{exact.quantize(Decimal(1)) if exact == exact.to_integral_value() else exact.normalize():f}"
