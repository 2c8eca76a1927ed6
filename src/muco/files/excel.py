"""Workbooks: one sheet in, by fastexcel, and one sheet out, by XlsxWriter."""

from __future__ import annotations

import io
import logging
import zipfile
from collections import Counter
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from muco.errors import PolicyError, TableError
from muco.fault import suggest
from muco.files.damage import attempt
from muco.files.extras import need
from muco.files.numbers import as_dates, as_doubles, as_integers
from muco.files.source import Source
from muco.formats import Format
from muco.layout import Layout
from muco.memory import check_memory
from muco.origin import WHOLE, Origin

if TYPE_CHECKING:
    import polars as pl

    from muco.files.limits import Limits

_CHUNK = 1 << 20
_ROWS, _COLUMNS, _TEXT = 1_048_576, 16_384, 32_767  # what a sheet and a cell of it can hold
_FIRST_DAY = date(1900, 3, 1)  # Excel has a 29 February 1900: earlier days are written as text
_STYLES = {"date": "yyyy-mm-dd", "datetime": "yyyy-mm-dd hh:mm:ss", "time": "hh:mm:ss"}


def read_excel(content: bytes, name: str, stated: Layout, limits: Limits) -> Source:
    """A table from one sheet, whose first row that is not empty names its columns.

    Raises PolicyError for a sheet that is not there, TableError for what cannot be read.
    """
    fastexcel = need("fastexcel", "excel", "to read workbooks")
    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it tells of each column without cells
    message = f"{name} cannot be read: it is damaged, or not the workbook its suffix says"

    def load() -> tuple[pl.DataFrame, list[str], str, list[str]]:
        _check_zip(content, name, limits)
        book = fastexcel.read_excel(content)
        sheet = _choose(book.sheet_names, stated.sheet, name)
        names, skipped = _header(book, sheet)
        body = book.load_sheet(
            sheet, header_row=None, skip_rows=skipped, column_names=_placed(names), schema_sample_rows=None
        )
        limits.check_rows(body.height, name)
        return as_dates(as_integers(body.to_polars())), names, sheet, book.sheet_names

    table, names, sheet, sheets = attempt(load, message)
    return _named(table, names, name, Layout(format=Format.EXCEL, sheet=sheet), sheets)


def _check_zip(content: bytes, name: str, limits: Limits) -> None:
    """Unpack a workbook that is a zip, to nowhere: what its directory says of sizes may be false."""
    if not content.startswith(b"PK"):
        return
    total = 0
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            with archive.open(member) as file:
                while piece := file.read(_CHUNK):
                    total += len(piece)
                    limits.check_content(total, name, packed=len(content))
    check_memory(2 * total, f"reading {name}")


def _choose(sheets: list[str], wanted: str | None, name: str) -> str:
    if wanted is None:
        return sheets[0]
    if wanted not in sheets:
        raise PolicyError(f"{name} has no sheet {wanted}{suggest(wanted, sheets)}")
    return wanted


def _header(book: Any, sheet: str) -> tuple[list[str], int]:
    """The cells of the first row that is not empty, and how many rows end with it."""
    rows = 16
    while True:
        head = book.load_sheet(sheet, header_row=None, skip_rows=0, n_rows=rows, dtypes="string").to_polars()
        for place, cells in enumerate(head.iter_rows()):
            if any(cell is not None for cell in cells):
                return [cell or "" for cell in cells], place + 1
        if len(head) < rows:
            return [], 0
        rows *= 16


def _placed(names: list[str]) -> list[str]:
    """Names that do not repeat, until the real ones have been checked."""
    return [str(place) for place in range(len(names))]


def _named(table: pl.DataFrame, names: list[str], name: str, layout: Layout, sheets: list[str]) -> Source:
    import polars as pl

    bare = [place for place, title in zip(table.columns, names) if not title.strip()]
    filled = [int(place) + 1 for place in bare if table[place].null_count() < len(table)]
    if filled:
        raise TableError(f"{name}: column {filled[0]} has no name: name it in the first row, or take it out")
    kept = [title for title in names if title.strip()]
    if repeated := [title for title, count in Counter(kept).items() if count > 1]:
        raise TableError(f"{name} repeats the column {', '.join(repeated)}: each column needs its own name")
    if not kept or not len(table):
        raise TableError(f"{name} has a header and no rows" if kept else f"{name} is empty")
    table = table.drop(bare)
    table.columns = kept
    is_row = table.select(~pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()
    if is_row.all() or len(kept) == 1:
        origin = WHOLE
    else:
        origin = Origin(((name, np.flatnonzero(is_row) + 1),))
        table = table.filter(is_row)
    notes = (f"{name}: sheet {layout.sheet} is read, the first of {len(sheets)}",) if len(sheets) > 1 else ()
    return Source(table, layout, origin=origin, notes=notes)


def write_excel(table: pl.DataFrame, sheet: str | None) -> bytes:
    """The table as a workbook of one sheet, without formulas or links, with the same bytes each time.

    Raises TableError for a table that no sheet can hold.
    """
    xlsxwriter = need("xlsxwriter", "excel", "to write workbooks")
    table = _fitting(as_doubles(table))
    content = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(content, options)
    book.set_properties({"created": datetime(2000, 1, 1, tzinfo=UTC)})
    page = book.add_worksheet(sheet)
    page.write_row(0, 0, table.columns)
    for place, column in enumerate(table.iter_columns()):
        page.write_column(1, place, column.to_list(), _style(book, column))
    book.close()
    return content.getvalue()


def _style(book: Any, column: pl.Series) -> Any:
    kind = str(column.dtype).lower().split("(")[0]
    return book.add_format({"num_format": _STYLES[kind]}) if kind in _STYLES else None


def _fitting(table: pl.DataFrame) -> pl.DataFrame:
    """The table in cells that a sheet can hold: no NaN, no day before March 1900."""
    import polars as pl

    if len(table) >= _ROWS or len(table.columns) > _COLUMNS:
        raise TableError(
            f"a sheet has {_ROWS:,} rows and {_COLUMNS:,} columns at most, and the release {len(table) + 1:,} and "
            f"{len(table.columns):,}: choose another form"
        )
    changed = []
    for column in table.iter_columns():
        if column.dtype.is_float():
            changed.append(pl.select(pl.when(column.is_finite()).then(column)).to_series().alias(column.name))
        elif column.dtype in {pl.Date, pl.Datetime} and not (column.cast(pl.Date) >= _FIRST_DAY).all():
            changed.append(column.cast(pl.String))
        elif column.dtype == pl.String and (column.str.len_chars() > _TEXT).any():
            raise TableError(
                f"attribute {column.name} has text of more than {_TEXT:,} characters: choose another form"
            )
        elif column.dtype.is_nested() or column.dtype in {pl.Object, pl.Binary, pl.Duration}:
            raise TableError(f"attribute {column.name} holds what no cell of a sheet can: choose another form")
    return table.with_columns(changed)
