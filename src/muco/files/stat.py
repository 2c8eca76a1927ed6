"""Files of SPSS, Stata and SAS, by pyreadstat: labels and missing codes go in, and out again with the columns."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from muco.errors import TableError
from muco.files.damage import attempt
from muco.files.extras import need
from muco.files.numbers import as_doubles, as_integers
from muco.files.source import Source
from muco.formats import Format
from muco.layout import Layout
from muco.memory import check_memory

if TYPE_CHECKING:
    import polars as pl

    from muco.files.limits import Limits

_READERS = {Format.SPSS: "read_sav", Format.STATA: "read_dta", Format.SAS: "read_sas7bdat"}
# Both formats carry the time of writing; with one time equal releases have equal bytes.
_SPSS_TIME = (92, b"01 Jan 7000:00:00")
_STATA_TIME = (rb"(<timestamp>\x11).{17}", rb"\g<1>01 Jan 1970 00:00")


def read_stat(place: Path | BinaryIO, name: str, form: Format, limits: Limits) -> Source:
    """A table with the labels, formats and missing codes of its columns, from a file or what standard input held.

    Whole numbers become integers. Stata's and SAS's lettered missing values come as the texts .a to .z. Raises
    TableError; what a reader says of damage is not repeated.
    """
    read = getattr(need("pyreadstat", "stat", "to read and write SPSS, Stata and SAS"), _READERS[form])
    message = f"{name} cannot be read: it is damaged, or not the {form} file its suffix says"
    table, meta, lettered = attempt(lambda: _load(read, place, name, limits), message)
    if not len(table):
        raise TableError(f"{name} has a header and no rows")
    ranges = (meta.missing_ranges or {}).items()
    missing = {name: _codes(table[name], found) for name, found in ranges if name in table.schema}
    missing |= {name: tuple(f".{letter}" for letter in meta.missing_user_values[name]) for name in lettered}
    return Source(table, Layout(format=form), missing=missing, labels=_labels(meta, form))


def _load(read: Any, place: Path | BinaryIO, name: str, limits: Limits) -> tuple[pl.DataFrame, Any, list[str]]:
    """The table, what the file says of it, and its columns with lettered missing values."""

    def from_start(**words: Any) -> tuple[Any, Any]:
        if not isinstance(place, Path):
            place.seek(0)
        found: tuple[Any, Any] = read(place, **words)
        return found

    _, head = from_start(metadataonly=True)
    rows = head.number_rows or 0
    limits.check_rows(rows, name)
    limits.check_content(8 * rows * len(head.column_names), name)
    check_memory(16 * rows * len(head.column_names), f"reading {name}")
    table, meta = from_start(user_missing=True, output_format="polars", row_limit=limits.rows + 1)
    limits.check_rows(len(table), name)
    lettered = [column for column, dtype in table.schema.items() if dtype.is_object()]
    if lettered:
        numbers, _ = from_start(usecols=lettered, output_format="polars")
        marked = [_with_letters(table[column], as_integers(numbers)[column]) for column in lettered]
        table = table.with_columns(marked)
    return as_integers(table), meta, lettered


def _with_letters(mixed: pl.Series, numbers: pl.Series) -> pl.Series:
    """A column of numbers as text, with .a for the lettered missing value a."""
    import polars as pl

    marks = np.array(mixed.to_list(), dtype=object).astype(str)
    letters = pl.Series(np.where(np.char.str_len(marks) == 1, marks, ""))
    is_letter = letters.str.contains("^[A-Za-z_]$")
    cells = pl.DataFrame({"letter": "." + letters, "number": numbers.cast(pl.String), "is_letter": is_letter})
    return cells.select(pl.when("is_letter").then("letter").otherwise("number").alias(mixed.name)).to_series()


def _codes(column: pl.Series, ranges: list[Any]) -> tuple[str, ...]:
    """The texts of the values of a column that its missing ranges hold."""
    import polars as pl

    known = column.drop_nulls().unique().sort()
    is_code = pl.Series(np.zeros(len(known), dtype=bool))
    for entry in ranges:
        low, high = (entry["lo"], entry["hi"]) if isinstance(entry, Mapping) else (entry, entry)
        if isinstance(low, str) != (known.dtype == pl.String):
            continue
        is_code |= (known >= low) & (known <= high)
    return tuple(known.filter(is_code).cast(pl.String))


def _labels(meta: Any, form: Format) -> dict[str, Any]:
    """What the file says of its columns: a code book, which holds no record."""
    labels = {
        "column_labels": {name: label for name, label in meta.column_names_to_labels.items() if label},
        "variable_value_labels": meta.variable_value_labels,
        "formats": {name: text for name, text in meta.original_variable_types.items() if text},
        "form": form,
    }
    if form is Format.SPSS:
        labels |= {"missing_ranges": meta.missing_ranges, "measure": meta.variable_measure}
        labels |= {"width": meta.variable_display_width}
    if form is Format.STATA:
        labels |= {"missing_user_values": meta.missing_user_values}
    return labels


def write_stat(table: pl.DataFrame, form: Format, labels: Mapping[str, Any], *, suffix: str) -> bytes:
    """The table as a file of SPSS (.sav, .zsav) or Stata (.dta), with the labels of its columns.

    Raises TableError for what the form cannot hold.
    """
    pyreadstat = need("pyreadstat", "stat", "to read and write SPSS, Stata and SAS")
    table = as_doubles(table)
    words: dict[str, Any] = {
        "column_labels": _of_columns(labels.get("column_labels"), table),
        "variable_value_labels": {
            name: {_as(table.schema[name], value): text for value, text in book.items()}
            for name, book in _of_columns(labels.get("variable_value_labels"), table).items()
        },
    }
    if labels.get("form") is form:
        words["variable_format"] = _of_columns(labels.get("formats"), table)
    with tempfile.TemporaryDirectory(prefix="muco-") as folder:
        path = Path(folder, f"release{suffix}")

        def write() -> bytes:
            if form is Format.SPSS:
                more = _spss_words(table, labels)
                pyreadstat.write_sav(table, path, compress=suffix == ".zsav", **words, **more)
            else:
                letters = _of_columns(labels.get("missing_user_values"), table)
                pyreadstat.write_dta(_with_marks(table, letters), path, missing_user_values=letters, **words)
            return _without_time(path.read_bytes(), form)

        return attempt(
            write,
            f"the release does not fit a file of {form}: names of columns have letters, digits and _, at most "
            "64 (32 for Stata). Rename them, or choose another form",
        )


def _of_columns(words: Mapping[str, Any] | None, table: pl.DataFrame) -> dict[str, Any]:
    return {name: word for name, word in (words or {}).items() if name in table.schema}


def _as(dtype: pl.DataType, value: Any) -> Any:
    """A labelled value in the type of its column; a letter of a missing value stays one."""
    import polars as pl

    if dtype == pl.String or isinstance(value, str):
        return value
    return int(value) if dtype.is_integer() and math.isfinite(value) else value


def _spss_words(table: pl.DataFrame, labels: Mapping[str, Any]) -> dict[str, Any]:
    names = {"missing_ranges": "missing_ranges", "measure": "variable_measure", "width": "variable_display_width"}
    return {word: _of_columns(labels.get(name), table) for name, word in names.items()}


def _with_marks(table: pl.DataFrame, letters: Mapping[str, Any]) -> Any:
    """The table with lettered missing values where they are declared, which takes a frame of objects."""
    import polars as pl

    changed = []
    for name in letters:
        text = table[name].cast(pl.String)
        cells = text.cast(pl.Float64, strict=False).fill_null(math.nan).to_numpy().astype(object)
        is_letter = text.str.contains(r"^\.[A-Za-z_]$").fill_null(value=False).to_numpy()
        cells[is_letter] = text.filter(is_letter).str.slice(1).to_list()
        changed.append(pl.Series(name, cells.tolist(), dtype=pl.Object))
    return table.with_columns(changed)


def _without_time(content: bytes, form: Format) -> bytes:
    if form is Format.SPSS:
        at, time = _SPSS_TIME
        return content[:at] + time + content[at + len(time) :]
    return re.sub(*_STATA_TIME, content[:4096], count=1, flags=re.DOTALL) + content[4096:]
