"""Delimited text out, in one form for all cells: a changed one never looks different from an unchanged one."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from muco.errors import TableError
from muco.files.dialect import DELIMITERS
from muco.numerals import PLAIN
from muco.values import as_text

if TYPE_CHECKING:
    import polars as pl

    from muco.layout import Layout

_ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r", None: "\n"}
_DANGEROUS = r"^[=+\-@\t\r]"  # what a spreadsheet takes for a formula


def render(table: pl.DataFrame, layout: Layout) -> bytes:
    """The table as delimited text in the given layout, which reads back equal. Raises TableError for lists."""
    import polars as pl

    delimiter = layout.delimiter or ","
    # One column has no delimiter that could be found in its header: one in a cell must not be taken for it.
    marks = DELIMITERS + delimiter
    header = pl.Series(table.columns)
    is_all = layout.header_quoted or header[0].startswith("\ufeff")
    names = _quoted(pl.col("name"), marks, is_all=bool(is_all))
    head = header.alias("name").to_frame().select(names).to_series()
    quoted = set(table.columns) if layout.quoted == "all" else set(layout.quoted or ())
    cells = marks if len(table.columns) == 1 else delimiter
    columns = [_quoted(pl.nth(place), cells, is_all=name in quoted) for place, name in enumerate(table.columns)]
    end = _ENDS[layout.line_end]
    text = io.BytesIO()
    _texts_of(table, layout).select(columns).write_csv(
        text, separator=delimiter, line_terminator=end, include_header=False, quote_style="never"
    )
    content = (delimiter.join(head) + end).encode() + text.getvalue()
    encoding = layout.encoding or "utf-8"
    return content if encoding == "utf-8" else content.decode().encode(encoding)


def _quoted(cell: pl.Expr, marks: str, *, is_all: bool) -> pl.Expr:
    """An empty cell is written as nothing: null and blank look alike in such a text."""
    import polars as pl

    whole = pl.concat_str(pl.lit('"'), cell.str.replace_all('"', '""', literal=True), pl.lit('"'))
    needed = cell != "" if is_all else cell.str.contains(rf'["\r\n{re.escape(marks)}]')
    return pl.when(needed).then(whole).otherwise(cell.fill_null("")).name.keep()


def _texts_of(table: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Every column as text, numbers with the layout's decimal mark. Raises TableError for lists and objects."""
    import polars as pl

    columns = []
    for column in table.iter_columns():
        if column.dtype.is_nested() or column.dtype == pl.Object:
            raise TableError(
                f"attribute {column.name} holds lists or objects, which text cannot hold: leave it out"
            )
        text = as_text(column)
        if layout.decimal == "," and (column.dtype.is_float() or column.dtype.is_decimal()):
            text = text.str.replace(".", ",", literal=True)
        columns.append(text)
    return pl.DataFrame(columns)


def find_formulas(table: pl.DataFrame, layout: Layout) -> dict[str, int]:
    """How many text cells of each column a spreadsheet would run: they begin with = + - @ or tab, no number."""
    import polars as pl

    counts = table.select(_is_formula(pl.nth(place), layout).sum() for place in _texts(table))
    return {name: count for name, count in zip(counts.columns, counts.row(0)) if count}


def disarm(table: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """The table with an apostrophe before every text cell and name that a spreadsheet would run."""
    import polars as pl

    armed = [
        pl.when(_is_formula(pl.nth(place), layout))
        .then(pl.concat_str(pl.lit("'"), pl.nth(place)))
        .otherwise(pl.nth(place))
        .name.keep()
        for place in _texts(table)
    ]
    names = {name: f"'{name}" for name in table.columns if re.match(_DANGEROUS, name)}
    return table.with_columns(armed).rename(names)


def _texts(table: pl.DataFrame) -> list[int]:
    import polars as pl

    return [place for place, dtype in enumerate(table.dtypes) if dtype == pl.String]


def _is_formula(cell: pl.Expr, layout: Layout) -> pl.Expr:
    number = layout.numerals.pattern
    is_number = cell.str.contains(number) | cell.str.contains(PLAIN.pattern)
    return cell.str.contains(_DANGEROUS) & is_number.not_()
