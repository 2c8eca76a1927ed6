"""Tables in and out: text, Parquet, Arrow IPC, workbooks, files of statistics packages and databases.

    read_table(place) ──> Source: the table, its layout, where its rows stood, what was left out
    write_table(table, source, ...) ──> bytes in the layout of the source

Only a release is written, and only through `atomic` or one transaction.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from muco.errors import PolicyError, TableError
from muco.files.columnar import read_columnar, write_columnar
from muco.files.compressed import pack, read_content
from muco.files.database import Address, read_database
from muco.files.delimited import read_delimited
from muco.files.excel import read_excel, write_excel
from muco.files.extras import need
from muco.files.limits import Limits
from muco.files.magic import form_of_content
from muco.files.rendering import render
from muco.files.several import join_sources, list_folder
from muco.files.source import Source
from muco.files.stat import read_stat, write_stat
from muco.formats import STREAM, BadRows, Format, compression_of, format_of, is_database
from muco.layout import Layout
from muco.memory import check_room

if TYPE_CHECKING:
    from typing import BinaryIO

    import polars as pl

    from muco.formats import Compression

__all__ = ["BadRows", "Format", "Layout", "Limits", "Source", "format_of", "read_table", "write_table"]
_WRITTEN = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".parquet", ".arrow", ".xlsx", ".sav", ".zsav", ".dta")
_NEEDED = {
    Format.EXCEL: ("xlsxwriter", "excel"),
    Format.SPSS: ("pyreadstat", "stat"),
    Format.STATA: ("pyreadstat", "stat"),
}
Place = str | os.PathLike[str]


def read_table(
    place: Place | Sequence[Place],
    *,
    stated: Layout | None = None,
    bad_rows: BadRows = BadRows.REFUSE,
    limits: Limits | None = None,
) -> Source:
    """A table from a file, a folder, several files, the URL of a database, or standard input (`-`).

    What `stated` says of its layout is not guessed. Raises TableError with row numbers, and never a cell, for one
    that cannot be read; PolicyError for a place whose form is not told.
    """
    check_room()
    stated, limits = stated or Layout(), limits or Limits.of_environment()
    places = [place] if isinstance(place, str | os.PathLike) else list(place)
    if not places:
        raise PolicyError("no table is named: name a file, a folder or a URL")
    if len(places) > 1 and any(is_database(one) or str(one) == STREAM for one in places):
        raise PolicyError("several tables are read as one only from files: give a URL or - alone")
    if is_database(places[0]):
        return read_database(str(places[0]), limits)
    paths = [path for one in places for path in _paths(one)]
    sources = [
        (path.name if str(path) != STREAM else "the input", _read(path, stated, bad_rows, limits)) for path in paths
    ]
    return sources[0][1] if len(sources) == 1 else join_sources(sources)


def _paths(place: Place) -> list[Path]:
    path = Path(place)
    try:
        return list_folder(path) if path.is_dir() else [path]
    except OSError as error:
        raise TableError(f"{path.name} cannot be read: {error.strerror}") from None


def _read(path: Path, stated: Layout, bad_rows: BadRows, limits: Limits) -> Source:
    try:
        if str(path) == STREAM:
            content = read_content(sys.stdin.buffer, "the input", None, limits)
            form, packed = form_of_content(content)
            return _read_file(
                io.BytesIO(content), "the input", (stated.format or form, packed), (stated, bad_rows), limits
            )
        form = stated.format if stated.format and not path.suffix else format_of(path)
        if form in {Format.SPSS, Format.STATA, Format.SAS}:
            return read_stat(path, path.name, form, limits)
        # Given a path, Polars would take * and [ in it for patterns and read other files.
        with path.open("rb") as file:
            return _read_file(file, path.name, (form, compression_of(path)), (stated, bad_rows), limits)
    except OSError as error:
        reason = error.strerror or "it is no file that can be read"
    raise TableError(f"{path.name} cannot be read: {reason}")


def _read_file(
    file: BinaryIO,
    name: str,
    form: tuple[Format, Compression | None],
    wanted: tuple[Layout, BadRows],
    limits: Limits,
) -> Source:
    (kind, packed), (stated, bad_rows) = form, wanted
    if kind is Format.CSV:
        return read_delimited(read_content(file, name, packed, limits), name, stated, bad_rows, limits)
    if kind in {Format.PARQUET, Format.ARROW}:
        return read_columnar(file, name, kind, limits)
    if kind is Format.EXCEL:
        return read_excel(read_content(file, name, None, limits), name, stated, limits)
    return read_stat(file, name, kind, limits)


def write_table(table: pl.DataFrame, place: Place, source: Source | None = None) -> bytes:
    """A release as the bytes of a file, in the form that `place` names and the layout of `source`.

    On standard output (`-`) it has the form of the source. Raises PolicyError and TableError.
    """
    source = source or Source(table)
    form = form_for(place, source)
    if form is Format.CSV:
        return pack(render(table, layout_for(place, source)), compression_of(place))
    if form in {Format.PARQUET, Format.ARROW}:
        return write_columnar(table, form)
    if form is Format.EXCEL:
        return write_excel(table, source.layout.sheet)
    suffix = Path(place).suffix.lower() if str(place) != STREAM else {Format.SPSS: ".sav"}.get(form, ".dta")
    return write_stat(table, form, source.labels, suffix=suffix)


def form_for(place: Place, source: Source) -> Format:
    """The form that a release takes at a place."""
    if str(place) != STREAM:
        return format_of(place)
    form = source.layout.format or Format.CSV
    return Format.CSV if form in {Format.DATABASE, Format.SAS} else form


def layout_for(place: Place, source: Source) -> Layout:
    """How text is written at a place: as the source was, but for a suffix that means tabs."""
    layout = source.layout if source.layout.format in {Format.CSV, None} else Layout(decimal=source.layout.decimal)
    return layout.model_copy(update={"delimiter": "\t"}) if ".tsv" in Path(place).suffixes else layout


def check_writable(place: Place) -> None:
    """Raise PolicyError unless a release can take the form that a place names."""
    form = Format.CSV if str(place) == STREAM else format_of(place)
    if form is Format.SAS or (form is Format.EXCEL and Path(place).suffix.lower() != ".xlsx"):
        raise PolicyError(f"{place}: this form cannot be written. Choose one of {', '.join(_WRITTEN)}")
    if form in _NEEDED:
        need(*_NEEDED[form], f"to write {form}")


def place_of(place: Place) -> str:
    """A place as it may be shown."""
    return Address.of(str(place)).shown if is_database(place) else str(place)


def name_of(place: Place) -> str:
    """The name of a place, without its folder."""
    if is_database(place):
        return Address.of(str(place)).shown
    return "stdin" if str(place) == STREAM else Path(place).name
