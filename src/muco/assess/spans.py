"""Released cells as spans of codes, so that a generalised table of any tool is measured on the scale of ours.

A value is the span of its own code. `[20, 30)`, `20-29`, `20~29`, `>=65`, `*`, `{a, b}` and the labels of a
hierarchy span several. A span without codes (low above high) covers no value of either table. Numbers are written
as the table's are: where a comma is the decimal mark, `[20,5; 30,5)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muco.arrays import Codes
from muco.domain import Domain
from muco.moments import MOMENT, moment_keys
from muco.numerals import Numerals
from muco.switches import Kind
from muco.values import Distinct

if TYPE_CHECKING:
    import polars as pl

    Labels = Mapping[str, tuple[int, int]]

ANYTHING = {"*", "**", "any", "suppressed"}
_SUPPRESSED = ["NA", "<NA>", "NaN"]  # sdcMicro writes R's missing value where it suppressed one
_SET = r"^\{(.*)\}$"


def _range(numerals: Numerals) -> str:
    """A bracket, an end, what parts the ends, an end, a bracket; ARX writes [20, 30[ for [20, 30)."""
    # A comma that may stand in a number parts two of them only before a blank.
    comma = r",\s" if "," in {numerals.decimal, numerals.thousands} else ","
    end = _end(numerals)
    return rf"^([\[\](]?)\s*({end})\s*(?:{comma}|;|~|\.\.|:|-|–|_|\bto\b)\s*({end})\s*([\[\])]?)$"


def _half(numerals: Numerals) -> str:
    return rf"^(<=|>=|<|>|≤|≥)\s*({_end(numerals)})$"


def _from(numerals: Numerals) -> str:
    return rf"^({_end(numerals)})\s*\+$"


def _end(numerals: Numerals) -> str:
    return rf"{numerals.number}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}"


def read_plain(cells: pl.Series) -> pl.Series:
    """Cells as plain text: anonypy writes ['20-29'] for 20-29, and text marked as text '=1 for =1."""
    return cells.str.strip_chars().str.replace(r"^\['(.*)'\]$", "$1").str.strip_chars()


def fill_suppressed(original: pl.Series, released: pl.Series) -> pl.Series:
    """Released cells with `*` for what another tool left empty: a value where the original always has one."""
    import polars as pl

    def is_empty(cells: pl.Series) -> pl.Series:
        return (cells.is_null() | cells.str.strip_chars().is_in(["", *_SUPPRESSED])).fill_null(value=True)

    if is_empty(original).any():
        return released
    return pl.select(pl.when(is_empty(released)).then(pl.lit("*")).otherwise(released)).to_series()


def is_range(cells: pl.Series, numerals: Numerals) -> pl.Series:
    """Which texts are ranges, half-open ranges, sets or a star, by their form alone."""
    import polars as pl

    shaped = pl.Series([False]).gather(np.zeros(len(cells), dtype=np.int64))
    for pattern in (_range(numerals), _half(numerals), _from(numerals), _SET):
        shaped |= cells.str.contains(pattern).fill_null(value=False)
    # 1999-12-31 has the form of a range of 1999 and -12 followed by more; a date is one value, and so is a number.
    for single in (MOMENT, numerals.pattern):
        shaped &= ~cells.str.contains(single).fill_null(value=False)
    return shaped | cells.str.to_lowercase().is_in(list(ANYTHING)).fill_null(value=False)


def spans_of(cells: pl.Series, domain: Domain, labels: Labels) -> tuple[Codes, Codes, NDArray[np.bool_]]:
    """The first and last code that each text covers, and which were understood; `labels` name nodes."""
    import polars as pl

    known = len(domain.cells) - domain.has_missing
    low, high = np.zeros(len(cells), dtype=np.int32), np.full(len(cells), -1, dtype=np.int32)
    is_read = np.zeros(len(cells), dtype=bool)

    def settle(where: NDArray[np.bool_], first: NDArray[np.integer], last: NDArray[np.integer]) -> None:
        low[where], high[where] = first, last
        is_read[where] = True

    text = domain.cells[:known].cast(pl.String)
    for number, cell in enumerate(cells.to_list()):  # distinct labels, of which a tree has few
        if cell in labels:
            settle(np.arange(len(cells)) == number, *np.array(labels[cell]).reshape(2, 1))
        elif found := _set_of(cell, text, domain.numerals):
            settle(np.arange(len(cells)) == number, *np.array(found).reshape(2, 1))
    star = cells.str.to_lowercase().is_in(list(ANYTHING)).fill_null(value=False).to_numpy() & ~is_read
    settle(star, *np.broadcast_to([[0], [len(domain.cells) - 1]], (2, int(star.sum()))))
    keys = _line(domain, known)
    parts = cells.str.extract_groups(_range(domain.numerals)).struct.unnest()
    opening, closing = parts.to_series(0), parts.to_series(3)
    ends = [_positions(parts.to_series(place), domain, keys) for place in (1, 2)]
    both = ~np.isnan(ends[0]) & ~np.isnan(ends[1]) & ~is_read
    after = opening.is_in(["(", "]"]).to_numpy()
    before = closing.is_in([")", "["]).to_numpy()
    settle(both, _first(keys, ends[0], after)[both], _last(keys, ends[1], before)[both])
    for pattern, sign, end in ((_half(domain.numerals), 0, 1), (_from(domain.numerals), None, 0)):
        parts = cells.str.extract_groups(pattern).struct.unnest()
        limit = _positions(parts.to_series(end), domain, keys)
        word = parts.to_series(sign).to_list() if sign is not None else [">="] * len(cells)
        upward = np.array([str(w)[:1] in ">≥" for w in word])
        strict = np.array([w in ("<", ">") for w in word])
        here = ~np.isnan(limit) & ~is_read
        settle(here & upward, _first(keys, limit, strict)[here & upward], np.array(known - 1))
        settle(here & ~upward, np.array(0), _last(keys, limit, strict)[here & ~upward])
    return low, high, is_read


def _set_of(cell: str | None, text: pl.Series, numerals: Numerals) -> tuple[int, int] | None:
    """The smallest and largest code of the values in {a, b}: a set is measured as the span around it."""
    if cell is None or not (cell.startswith("{") and cell.endswith("}")):
        return None
    between = r";|,\s" if numerals.decimal == "," else ","
    parts = re.split(between, cell[1:-1])
    places = [at for at in (text.index_of(part.strip(" '\"")) for part in parts) if at is not None]
    return (min(places), max(places)) if places else None


def _line(domain: Domain, known: int) -> NDArray[np.float64]:
    """The known values as ascending positions; ranks where they are no numbers or dates."""
    import polars as pl

    cells = domain.cells[:known]
    values = Distinct(domain.attribute, cells, np.arange(known, dtype=np.int32), np.zeros(known, dtype=bool))
    if domain.kind is Kind.DATE:
        return moment_keys(values, domain.form).cast(pl.Float64).to_numpy()
    keys = domain.numbers
    return keys if keys is not None and (np.diff(keys) > 0).all() else np.empty(0)


def _positions(ends: pl.Series, domain: Domain, keys: NDArray[np.float64]) -> NDArray[np.float64]:
    """The ends of ranges on the same line, NaN where there is none."""
    import polars as pl

    if not keys.size:
        return np.full(len(ends), np.nan)
    if domain.kind is Kind.DATE:
        days = ends.str.to_date("%Y-%m-%d", strict=False).to_physical()
        return days.cast(pl.Float64).fill_null(np.nan).to_numpy()
    return domain.numerals.plain(ends).cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def _first(keys: NDArray[np.float64], ends: NDArray[np.float64], after: NDArray[np.bool_]) -> NDArray[np.integer]:
    return np.where(after, np.searchsorted(keys, ends, "right"), np.searchsorted(keys, ends, "left"))


def _last(keys: NDArray[np.float64], ends: NDArray[np.float64], before: NDArray[np.bool_]) -> NDArray[np.integer]:
    return np.where(before, np.searchsorted(keys, ends, "left"), np.searchsorted(keys, ends, "right")) - 1
