"""Parquet and Arrow IPC: typed columns in, rebuilt from values without metadata or statistics on the way out."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from muco.errors import TableError
from muco.files.damage import attempt
from muco.files.source import Source
from muco.formats import Format
from muco.layout import Layout
from muco.memory import check_memory

if TYPE_CHECKING:
    from typing import BinaryIO

    import polars as pl

    from muco.files.limits import Limits

_WIDEST = 16  # bytes that a cell takes at least where its width is not known, as a view of a text does


def read_columnar(file: BinaryIO, name: str, form: Format, limits: Limits) -> Source:
    """A table from Parquet or Arrow IPC, whose size is checked before its columns are unpacked.

    Raises TableError; whatever a reader says of damage may quote cells and is not repeated.
    """
    message = f"{name} cannot be read: it is damaged, or not the {form} file its suffix says"
    return Source(attempt(lambda: _unpack(file, name, form, limits), message), Layout(format=form))


def _unpack(file: BinaryIO, name: str, form: Format, limits: Limits) -> pl.DataFrame:
    import polars as pl

    scan = pl.scan_parquet(file) if form is Format.PARQUET else pl.scan_ipc(file)
    try:
        rows = scan.select(pl.len()).collect().item()
    except pl.exceptions.DuplicateError:
        raise TableError(
            f"{name} cannot be read: it repeats the name of a column, but each needs its own"
        ) from None
    limits.check_rows(rows, name)
    size = sum(_width(dtype) for dtype in scan.collect_schema().dtypes()) * rows // 8
    limits.check_content(size, name)
    check_memory(2 * size, f"reading {name}")
    file.seek(0)
    return pl.read_parquet(file) if form is Format.PARQUET else pl.read_ipc(file)


def _width(dtype: pl.DataType) -> int:
    """The bits that a cell of this type takes in memory."""
    import polars as pl

    widths = {pl.Boolean: 1, pl.Int8: 8, pl.UInt8: 8, pl.Int16: 16, pl.UInt16: 16, pl.Int32: 32, pl.UInt32: 32}
    widths |= {pl.Float32: 32, pl.Date: 32, pl.Int64: 64, pl.UInt64: 64, pl.Float64: 64}
    return widths.get(dtype.base_type(), 8 * _WIDEST)


def write_columnar(table: pl.DataFrame, form: Format) -> bytes:
    """The table as Parquet or Arrow IPC."""
    content = io.BytesIO()
    if form is Format.PARQUET:
        table.write_parquet(content, statistics=False)
    else:
        table.write_ipc(content, compression="zstd")
    return content.getvalue()
