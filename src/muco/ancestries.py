"""The ancestors of values by a rule: intervals, dates, prefixes, redaction, neighbours of an ordered list.

Everything here climbs from the distinct values of a column; what it gives, `Hierarchy` arranges into a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from muco.errors import PolicyError, TableError
from muco.hierarchy_files import Ancestry
from muco.hierarchy_spec import DateLevel, Dates, Redaction, Side
from muco.moments import read_moments
from muco.numerals import PLAIN, Numerals

if TYPE_CHECKING:
    import polars as pl


TOP = "*"
LARGEST_EXPONENT = 400


def climb_intervals(
    values: Iterable[Any], widths: Sequence[float], origin: float, numerals: Numerals = PLAIN
) -> list[Ancestry]:
    """Half-open intervals above distinct numbers, ascending: 25 is in [20, 30).

    A number is written as a plain decimal, a text that is a number as it stands. Numbers, widths and origin
    count as the decimals they print as. Raises TableError for a value that is no finite number.
    """
    leaves: dict[str, Fraction] = {}
    wild = 0
    for value in values.tolist() if isinstance(values, np.ndarray) else values:
        try:
            decimal = Decimal(str(value) if numerals == PLAIN else numerals.plain_number(str(value)))
            # Beyond what a double holds, an exact ratio such as that of 1e999999999 would fill the memory.
            number = Fraction(decimal if abs(decimal.adjusted()) < LARGEST_EXPONENT else Decimal("nan"))
        except (ArithmeticError, ValueError):
            wild += 1
        else:
            leaves[value if isinstance(value, str) else _decimal(number)] = number
    if wild:
        raise TableError(f"intervals need finite numbers: {wild} of the distinct values are none")
    start, steps = Fraction(str(origin)), [Fraction(str(width)) for width in widths]
    ascending = sorted(leaves.items(), key=lambda leaf: (leaf[1], leaf[0]))
    return [(leaf, *(_interval(number, start, step) for step in steps)) for leaf, number in ascending]


def climb_ordered(values: Sequence[str], sizes: Sequence[int]) -> list[Ancestry]:
    """Neighbours of an ordered list in groups of the first size, then of the next, and so on."""
    if repeated := len(values) - len(set(values)):
        raise PolicyError(f"an ordered hierarchy repeats {repeated} of its values: each may stand once")
    return [(value, *(_span(values[at - at % size :][:size]) for size in sizes)) for at, value in enumerate(values)]


def climb_dates(values: Iterable[Any], spec: Dates) -> list[Ancestry]:
    """The month, quarter, year, ... of distinct dates, ascending: 2026-07-01, 2026-07, 2026-Q3, 2026, 2020-2029.

    Raises TableError for a value that is no date of the form.
    """
    text = _texts(values)
    moments = read_moments(text.str.strip_chars(), spec.form)
    if wild := moments.null_count():
        form = f"of the form {spec.form}" if spec.form else "such as 2026-07-01"
        raise TableError(f"dates need values {form}: {wild} of the distinct values are none")
    order = moments.arg_sort()
    moments = moments.gather(order)
    levels = [_DATE_LABELS[level](moments).to_list() for level in spec.levels]
    return list(zip(text.gather(order).to_list(), *levels))


def climb_prefixes(values: Iterable[Any], lengths: Sequence[int]) -> list[Ancestry]:
    """The first characters of distinct codes, in the order of the codes: 10115, 1011*, 101*, 1*."""
    text = _texts(values).sort()
    levels = [(text.str.slice(0, length) + TOP).to_list() for length in lengths]
    return list(zip(text.to_list(), *levels))


def climb_redaction(values: Iterable[Any], spec: Redaction) -> list[Ancestry]:
    """Distinct codes masked one character more at each level, short ones as if as long as the longest."""
    text = _texts(values).sort()
    longest = max(int(np.max(text.str.len_chars().to_numpy(), initial=0)), 1)
    return list(zip(text.to_list(), *(_masked(text, kept, longest, spec) for kept in range(longest - 1, 0, -1))))


def _masked(text: pl.Series, kept: int, longest: int, spec: Redaction) -> list[str]:
    """The codes with all but `kept` places masked; what a short code lacks counts as blanks at the masked end."""
    if spec.side is Side.RIGHT:
        return text.str.slice(0, kept).str.pad_end(kept).str.pad_end(longest, spec.mask).to_list()
    return text.str.pad_start(longest).str.tail(kept).str.pad_start(longest, spec.mask).to_list()


def _texts(values: Iterable[Any]) -> pl.Series:
    import polars as pl

    return (values if isinstance(values, pl.Series) else pl.Series(list(values))).cast(pl.String).unique()


def _quarter(moments: pl.Series) -> pl.Series:
    import polars as pl

    return moments.dt.to_string("%Y-Q") + moments.dt.quarter().cast(pl.String)


def _span_of_years(moments: pl.Series, width: int) -> pl.Series:
    import polars as pl

    first = moments.dt.year() // width * width
    return first.cast(pl.String) + "-" + (first + width - 1).cast(pl.String)


_DATE_LABELS: dict[DateLevel, Callable[[pl.Series], pl.Series]] = {
    DateLevel.DAY: lambda moments: moments.dt.to_string("%Y-%m-%d"),
    DateLevel.MONTH: lambda moments: moments.dt.to_string("%Y-%m"),
    DateLevel.QUARTER: _quarter,
    DateLevel.YEAR: lambda moments: moments.dt.to_string("%Y"),
    DateLevel.DECADE: lambda moments: _span_of_years(moments, 10),
    DateLevel.CENTURY: lambda moments: _span_of_years(moments, 100),
}


def _interval(number: Fraction, origin: Fraction, width: Fraction) -> str:
    low = origin + (number - origin) // width * width
    return f"[{_decimal(low)}, {_decimal(low + width)})"


def _decimal(number: Fraction) -> str:
    """A decimal fraction without an exponent and without needless zeros.

    >>> _decimal(Fraction("1e3")), _decimal(Fraction("-0.50"))
    ('1000', '-0.5')
    """
    places = 0
    while (number * 10**places).denominator != 1:
        places += 1
    return (
        str(Decimal(number.numerator))
        if not places
        else f"{Decimal((number * 10**places).numerator).scaleb(-places):f}"
    )


def _span(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"[{values[0]}, {values[-1]}]"
