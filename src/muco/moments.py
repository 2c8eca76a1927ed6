"""Dates and times: the forms in which text writes them, and their places on the line, in days since 1970.

Without a form a date is written as 2026-07-01 or 2026-07-01 13:45 (ISO 8601); any other form is stated in the
policy, because 03/04/2026 alone does not say which is the month.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from muco.values import Distinct

MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?$"
_DAY = 86_400_000_000  # microseconds
_DATES = (
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d %b %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%b %d %Y",
    "%d%b%Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d-%b-%y",
    "%Y%m%d",
    "%Y-%m",
    "%m/%Y",
)
_TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", "T%H:%M:%S%z", " %I:%M %p", " %I:%M:%S %p")
_DIRECTIVES = frozenset("YymdbBHMSIpfz")
_SAMPLE = 500


def check_form(form: str) -> str:
    """A form of dates in strptime's words, when it has a year and a month; else ValueError."""
    used = re.findall(r"%(.)", form.replace("%%", "").replace("%.f", "%f"))
    if unknown := [word for word in used if word not in _DIRECTIVES]:
        raise ValueError(
            f"has %{unknown[0]}: a form is made of {', '.join(f'%{word}' for word in 'YymdbBHMSIpfz')}"
        )
    if not {"Y", "y"} & {*used} or not {"m", "b", "B"} & {*used}:
        raise ValueError("has no year or no month: a form such as %d.%m.%Y has both")
    if {"H", "I"} & {*used} and "M" not in used:
        raise ValueError("has hours without minutes: add %M")
    return form


def find_forms(text: pl.Series) -> Iterator[str]:
    """The forms, likeliest first, in which every one of the distinct texts reads as a date of 1800 to 2200."""
    if text.is_empty() or not text.str.contains(r"^[0-9A-Za-z][0-9A-Za-z ,.:/+-]{5,34}$").all():
        return
    sample = text[:_SAMPLE]
    for date in _DATES:
        # One reading of the day tells whether the times are worth trying.
        for time in _TIMES:
            if _fit(sample, date + time) and (len(text) <= _SAMPLE or _fit(text, date + time)):
                yield date + time


def read_moments(text: pl.Series, form: str | None) -> pl.Series:
    """Texts as datetimes of microseconds, null where one is no date; by a form, or ISO 8601 without one."""
    import polars as pl

    if form is None:
        is_moment = text.str.contains(MOMENT)
        text = text.str.replace("T", " ", literal=True)
        whole = pl.select(pl.when(text.str.len_chars() == 10).then(text + " 00:00").otherwise(text)).to_series()
        found = whole.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
        found = found.fill_null(whole.str.to_datetime("%Y-%m-%d %H:%M", time_unit="us", strict=False))
        return pl.select(pl.when(is_moment).then(found)).to_series()
    if "%d" not in form:  # a month stands for its first day
        text, form = text + " 01", f"{form} %d"
    if "%H" not in form and "%I" not in form:
        return text.str.to_date(form, strict=False).cast(pl.Datetime("us"))
    if "%z" in form:
        zoned = text.str.replace("Z$", "+0000").str.to_datetime(form, time_unit="us", strict=False, time_zone="UTC")
        return zoned.dt.replace_time_zone(None)
    return text.str.to_datetime(form, time_unit="us", strict=False)


def moment_keys(values: Distinct, form: str | None = None) -> pl.Series:
    """The known cells as days since 1970, to the microsecond. Raises TableError for a cell that is no date."""
    import polars as pl

    known = values.known
    known = known.to_physical() if known.dtype == pl.Duration else known
    if not known.dtype.is_temporal():
        known = read_moments(known.cast(pl.String, strict=False).str.strip_chars(), form)
        as_is = f"of the form {form}" if form else "such as 2026-07-01 or 2026-07-01 13:45"
        other = "correct the form" if form else 'state their form, such as form = "%d.%m.%Y"'
        values.refuse(
            known.is_null().to_numpy(),
            f"cannot be read as a date {as_is}",
            f"mend them, {other}, list them as missing, or give the attribute another kind",
        )
    if known.dtype == pl.Time:
        return known.cast(pl.Int64) // 1000 / _DAY
    return known.cast(pl.Datetime("us")).to_physical() / _DAY


def _fit(text: pl.Series, form: str) -> bool:
    found = read_moments(text, form)
    if found.null_count():
        return False
    years = found.dt.year().to_numpy()
    return bool(np.all((years >= 1800) & (years <= 2200)))
