"""Any frame in, the same kind out: what muco asks of pandas, polars and pyarrow, and nothing else.

Released columns are gathered from the caller's own columns, so that types and the form of each cell stay; whatever
else a frame carries (index, attributes, schema metadata, categories without rows) is left behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from muco.errors import TableError
from muco.origin import WHOLE, Origin
from muco.values import as_text

if TYPE_CHECKING:
    import polars as pl

    Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Frame:
    """A table of the caller's, with columns of distinct, non-empty text names; `origin` is where its rows stood."""

    table: nw.DataFrame[Any]
    origin: Origin = WHOLE

    def __repr__(self) -> str:
        return f"Frame({len(self.table)} records, {len(self.names)} attributes)"

    @staticmethod
    def of(frame: Any, origin: Origin | None = None) -> Frame:
        """Wrap a pandas, polars or pyarrow table. Errors: TableError for anything else, or bad column names."""
        if isinstance(frame, Frame):
            return frame
        table, fault = None, "the table repeats a column name: each column needs its own"
        try:
            table = nw.from_native(frame, eager_only=True)
            names = table.columns
        except TypeError:
            lazy = " Collect it first." if hasattr(frame, "collect") else ""
            fault = f"a table must be a pandas, polars or pyarrow frame, not {type(frame).__name__}.{lazy}"
        except nw.exceptions.NarwhalsError:
            table = None
        if table is None:
            raise TableError(fault)
        for place, name in enumerate(names, start=1):
            if not isinstance(name, str) or not name.strip():
                raise TableError(f"column {place} has no name of text: name every column before you start")
        if len(set(names)) < len(names):
            raise TableError(fault)
        return Frame(table, origin or WHOLE)

    @property
    def names(self) -> list[str]:
        """The names of the columns, in their order."""
        return self.table.columns

    def __len__(self) -> int:
        return len(self.table)

    def column(self, name: str) -> pl.Series:
        """One column for encoding. Errors: TableError for cells of mixed kinds."""
        import polars as pl

        series = self.table.get_column(name)
        found, fault = None, ""
        try:
            found = pl.Series(name, series.to_polars())
        except ImportError:
            fault = "reading a pandas frame needs pyarrow: install it with `pip install pyarrow`"
        except Exception:
            fault = f"attribute {name} holds cells of different kinds, such as text beside numbers: make them one"
            found = _large_integers(series)
        if found is None:  # raised out here, because what a back end raises quotes cells even as a context
            raise TableError(fault)
        found = _ranked(found, series)
        if found.dtype == pl.Object or found.dtype.is_nested():
            raise TableError(f"attribute {name} holds objects or lists, which cannot be compared: leave it out")
        return found

    def plain_text(self, name: str) -> pl.Series:
        """One column as text that does not tell what kind of frame it came in: whole floats read as integers."""
        import polars as pl

        column = self.column(name)
        if column.dtype.is_float() and (column.is_null() | column.is_nan() | (column % 1 == 0)).all():
            column = column.fill_nan(None)
            if (column.abs() < 2**53).all():
                column = column.cast(pl.Int64)
        return as_text(column)

    def released(self, order: Rows, covered: Mapping[str, Rows], dropped: frozenset[str]) -> Any:
        """The frame that may leave, in the caller's kind: record `order[i]` becomes row i.

        A column named in `covered` takes row i's value from the record `covered[name][i]`; `dropped` columns go.
        """
        columns = [
            _compact(self.table.get_column(name)[covered.get(name, order)]).alias(name)
            for name in self.names
            if name not in dropped
        ]
        if not columns:
            raise TableError("nothing is left to release: every column is an identifier")
        frames = [nw.maybe_reset_index(column.to_frame()) for column in columns]
        return _bare(nw.concat(frames, how="horizontal").to_native(), self.table)


def _large_integers(series: nw.Series[Any]) -> pl.Series | None:
    """A column of Python integers that 64 bits do not hold; None for what is no such column."""
    import polars as pl

    with suppress(Exception):  # what is raised quotes cells
        return pl.Series(series.name, series.to_list(), dtype=pl.Int128)
    return None


def _ranked(found: pl.Series, series: nw.Series[Any]) -> pl.Series:
    """A categorical with an order as an Enum, whose codes are its ranks, whatever kind of frame it came in."""
    import polars as pl

    if isinstance(found.dtype, pl.Enum):
        return found
    if isinstance(series.dtype, nw.Enum):
        order = pl.Series(series.dtype.categories)
    elif series.implementation.is_pyarrow() and getattr(series.to_native().type, "ordered", False):
        order = pl.Series(series.to_native().unify_dictionaries().chunk(0).dictionary.to_pylist())
    else:
        return found
    return found.cast(pl.String).cast(pl.Enum(order.cast(pl.String)))


def _compact(column: nw.Series[Any]) -> nw.Series[Any]:
    """The same values without the categories that no row has."""
    if not isinstance(column.dtype, nw.Categorical | nw.Enum):  # in a set, one Enum is not another
        return column
    native = column.to_native()
    if column.implementation.is_pandas_like():
        return nw.from_native(native.cat.remove_unused_categories(), series_only=True)
    if column.implementation.is_pyarrow():
        return nw.from_native(_compact_arrow(native), series_only=True)
    return nw.from_native(_compact_polars(native), series_only=True)


def _compact_polars(native: pl.Series) -> pl.Series:
    import polars as pl

    if not isinstance(native.dtype, pl.Enum):
        return native  # a Categorical is written with the categories its rows have
    seen = set(native.unique().drop_nulls().cast(pl.String))
    return native.cast(pl.String).cast(pl.Enum([name for name in native.dtype.categories if name in seen]))


def _compact_arrow(native: Any) -> Any:
    import pyarrow as pa

    whole = native.unify_dictionaries().combine_chunks()
    codes = whole.indices
    used, places = np.unique(codes.drop_null().to_numpy(zero_copy_only=False), return_inverse=True)
    filled = np.zeros(len(codes), np.int64)
    missing = codes.is_null().to_numpy(zero_copy_only=False)
    filled[~missing] = places
    indices = pa.array(filled, mask=missing).cast(whole.type.index_type)
    values = whole.dictionary.take(pa.array(used))
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, values, ordered=whole.type.ordered)])


def _bare(native: Any, original: nw.DataFrame[Any]) -> Any:
    """The frame without what pandas and pyarrow hang on it; nullability stays as declared."""
    if original.implementation.is_pandas_like():
        native.attrs.clear()
    if original.implementation.is_pyarrow():
        import pyarrow as pa

        declared = original.to_native().schema
        fields = [
            pa.field(name, native.schema.field(name).type, nullable=declared.field(name).nullable)
            for name in native.column_names
        ]
        return pa.table(list(native.columns), schema=pa.schema(fields))
    return native
