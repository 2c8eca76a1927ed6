"""Delimited text in: cell for cell as text, so that 01234 keeps its zero and what is written is what was read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from muco._core import scan_csv
from muco.errors import TableError
from muco.files.dialect import decode, sniff_delimiter, sniff_encoding, sniff_numerals
from muco.files.source import Source
from muco.formats import BadRows, Format
from muco.layout import Layout
from muco.origin import Origin

if TYPE_CHECKING:
    import polars as pl

    from muco.files.limits import Limits

_FAULTS = {  # of one row, and of several
    "ragged": ("has", "have", "another number of fields than the header"),
    "after_quote": ("goes", "go", "on after a closing quote"),
    "open_quote": ("opens", "open", "a quote that is never closed"),
    "nul": ("holds", "hold", "a NUL byte"),
    "not_utf8": ("is", "are", "not in UTF-8"),
    "too_long": ("holds", "hold", "a field of more than 1 MiB"),
}
_ADVICE = {"not_utf8": "name the encoding if it has another", "open_quote": "where it ends is unknown"}
_MARK = b"\xef\xbb\xbf"
_ENDS: tuple[Literal["lf", "crlf", "cr"], ...] = ("lf", "crlf", "cr")
_MARK_NAMES = {"\t": "tab", " ": "blank", "\u00a0": "fixed blank", "\u202f": "narrow fixed blank"}


class _Walked(NamedTuple):
    """The text of the good rows and what the walk found."""

    columns: list[str]
    rows: int
    bad: list[int]
    text: bytes
    layout: Layout


def read_delimited(content: bytes, name: str, stated: Layout, bad_rows: BadRows, limits: Limits) -> Source:
    """A table from the bytes of a delimited text; `stated` is not guessed.

    Raises TableError with row numbers, and never a cell, for rows that are not as the header says, unless
    `bad_rows` drops them.
    """
    import polars as pl

    encoding = stated.encoding or sniff_encoding(content, name)
    walked = _walk(decode(content, encoding, name), name, stated, bad_rows)
    good = walked.rows - len(walked.bad)
    limits.check_rows(walked.rows, name)
    if not good:
        what = "no row that can be read" if walked.rows else "a header and no rows"
        raise TableError(f"{name} has {what}" if walked.columns else f"{name} is empty")
    delimiter = walked.layout.delimiter or ","
    table = pl.read_csv(
        # Polars takes a mark of UTF-8 at the start for one, and a cell may begin with it.
        _MARK * walked.text.startswith(_MARK) + walked.text,
        separator=delimiter,
        infer_schema=False,
        empty_string_is_null=False,
        has_header=False,
        new_columns=walked.columns,
    )
    if table.shape != (good, len(walked.columns)):
        raise TableError(f"{name} was read as {table.shape} and not as {good} rows of {len(walked.columns)} fields")
    table, notes = _without_edge(table, name)
    numerals, is_unsure = sniff_numerals(table, delimiter)
    found = walked.layout.model_copy(
        update={"encoding": encoding, "decimal": numerals.decimal, "thousands": numerals.thousands}
    )
    layout = stated.over(found)
    is_unsure &= stated.decimal is None
    return Source(
        table,
        layout,
        origin=_origin(name, walked),
        dropped=len(walked.bad),
        notes=(*_describe(name, layout, is_unsure=is_unsure), *notes),
    )


def _walk(text: bytes, name: str, stated: Layout, bad_rows: BadRows) -> _Walked:
    delimiter = stated.delimiter or sniff_delimiter(text)
    header, rows, faults, start, good, (is_header_quoted, quoted, ends) = scan_csv(text, ord(delimiter))
    final = bad_rows is BadRows.REFUSE
    _refuse_faults([fault for fault in faults if final or fault[0] == 0 or fault[1] == "open_quote"], name)
    columns = [column.decode() for column in header]
    if repeated := [column for column, count in Counter(columns).items() if count > 1 and column.strip()]:
        raise TableError(f"{name} repeats the column {', '.join(repeated)}: each column needs its own name")
    nameless = [place for place, column in enumerate(columns, start=1) if not column.strip()]
    if nameless and (nameless[0] < len(columns) or len(columns) == 1):
        raise TableError(f"{name}: column {nameless[0]} has no name: name it in the header, or take it out")
    layout = Layout(
        format=Format.CSV,
        delimiter=delimiter,
        quoted="all" if len(quoted) == len(columns) else tuple(columns[place] for place in quoted),
        header_quoted=is_header_quoted,
        line_end=_ENDS[ends.index(max(ends))],
    )
    return _Walked(columns, rows, [row for row, _, _ in faults], text[start:] if good is None else good, layout)


def _without_edge(table: pl.DataFrame, name: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Delimiters that end every row, the header's too, make a last column without name: it goes if it is empty."""
    last = table.columns[-1]
    if last.strip():
        return table, ()
    if not (table[last] == "").all():
        place = len(table.columns)
        raise TableError(f"{name}: column {place} has no name: name it in the header, or take it out")
    return table.drop(last), (f"{name}: every row ends in a delimiter; the empty column after it is left out",)


def _origin(name: str, walked: _Walked) -> Origin:
    if not walked.bad:
        return Origin()
    return Origin(((name, np.delete(np.arange(1, walked.rows + 1), np.array(walked.bad) - 1)),))


def _describe(name: str, layout: Layout, *, is_unsure: bool) -> list[str]:
    """What was found, where it is not the plainest form."""
    said = []
    if layout.encoding != "utf-8":
        said.append(f"encoding {layout.encoding}")
    if layout.delimiter != ",":
        said.append(f"delimiter {_MARK_NAMES.get(layout.delimiter or '', layout.delimiter)}")
    if layout.decimal == ",":
        said.append("decimal comma")
    if layout.thousands:
        said.append(f"thousands mark {_MARK_NAMES.get(layout.thousands, layout.thousands)}")
    notes = [f"{name}: read with {', '.join(said)}"] if said else []
    if is_unsure:
        style = "decimals" if layout.decimal == "," else "thousands" if layout.thousands == "," else "no numbers"
        notes.append(
            f"{name}: numbers can be read in two ways; a comma in them is taken for {style}. State --decimal"
        )
    return notes


def _refuse_faults(faults: list[tuple[int, str, int]], name: str) -> None:
    if not faults:
        return
    lines = []
    for kind in dict.fromkeys(kind for _, kind, _ in faults):
        rows = ["the header" if row == 0 else str(row) for row, found, _ in faults if found == kind]
        one, several, what = _FAULTS[kind]
        if len(rows) > 1:
            shown = ", ".join(rows[:5]) + ", ..." * (len(rows) > 5)
            line = f"{name}: {len(rows)} rows {several} {what} ({shown})"
        else:
            line = f"{name}: {rows[0] if rows[0] == 'the header' else f'row {rows[0]}'} {one} {what}"
        lines.append(line + (f": {_ADVICE[kind]}" if kind in _ADVICE else ""))
    raise TableError("\n".join(lines) + "\nRows count from 1 after the header. Mend them in the file")
