"""Any frame in, the same kind out, and nothing that hung on it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import muco
from muco.errors import MucoWarning, TableError
from muco.frame import Frame

COLUMNS: dict[str, list[Any]] = {"id": list("wxyz"), "age": [1, 2, 3, 4], "ill": list("abcd"), "note": list("efgh")}


def run(table: Any, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MucoWarning)
        return muco.anonymize(
            table, identifier="id", quasi="age", sensitive="ill", diversity=4, key=bytes(32), **more
        )


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_release_is_of_the_caller_s_kind_and_the_same_for_all(kind: Any) -> None:
    release = run(kind(COLUMNS))
    assert isinstance(release.data, pa.Table if kind is pa.table else kind)
    columns = (
        release.data.to_pydict() if kind is pa.table else {n: list(release.data[n]) for n in ("age", "ill", "note")}
    )
    assert list(columns) == ["age", "ill", "note"]
    assert columns == run(pl.DataFrame(COLUMNS)).data.to_dict(as_series=False)


def test_what_pandas_hangs_on_a_frame_is_left_behind() -> None:
    table = pd.DataFrame(COLUMNS, index=pd.Index(["c1", "c2", "c3", "c4"], name="canary"))
    table.attrs["canary"] = 1
    table.columns.name = "canary"
    data = run(table).data
    assert data.index.equals(pd.RangeIndex(4))
    assert (data.attrs, data.columns.name, data.index.name) == ({}, None, None)
    assert table.attrs == {"canary": 1}  # nothing changes what it is given


def test_types_of_pandas_columns_stay() -> None:
    table = pd.DataFrame(COLUMNS).assign(
        age=pd.array([1, None, 3, 4], dtype="Int8"),
        note=pd.Categorical(list("efge"), categories=list("efgz"), ordered=True),
        when=pd.to_datetime(["2026-01-01"] * 4).tz_localize("Europe/Berlin"),
    )
    data = run(table).data
    assert data["age"].dtype == "Int8"
    assert data["when"].dtype == table["when"].dtype
    assert list(data["note"].dtype.categories) == list("efg")
    assert data["note"].dtype.ordered


def test_categories_without_rows_are_dropped_everywhere() -> None:
    wide = pl.Enum(["e", "f", "canary", "g", "h"])
    assert list(run(pl.DataFrame(COLUMNS).cast({"note": wide})).data["note"].dtype.categories) == list("efgh")
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 2, 3, 0], pa.int8()), pa.array(["e", "canary", "g", "h"]))
    note = run(pa.table(COLUMNS).set_column(3, "note", codes)).data["note"].combine_chunks()
    assert note.dictionary.to_pylist() == ["e", "g", "h"]
    assert note.type == codes.type


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_the_declared_order_of_categories_is_the_order_of_their_ranks(kind: str) -> None:
    sizes, order = ["S", "M", "L", "S"], ["S", "M", "L", "XL"]
    codes = pa.array([0, 1, 2, 0], pa.int8())
    column: Any = {
        "polars": pl.DataFrame({"size": pl.Series(sizes, dtype=pl.Enum(order))}),
        "pandas": pd.DataFrame({"size": pd.Categorical(sizes, categories=order, ordered=True)}),
        "pyarrow": pa.table({"size": pa.DictionaryArray.from_arrays(codes, pa.array(order), ordered=True)}),
    }[kind]
    policy = muco.Policy.of(quasi="size", attributes={"size": {"kind": "ordinal"}}, diversity=2)
    assert muco.Microdata.of(column, policy).codes[:, 0].tolist() == [0, 1, 2, 0]


def test_categories_in_no_order_rank_as_text() -> None:
    table = pd.DataFrame({"size": pd.Categorical(["S", "M", "L", "S"], categories=["S", "M", "L"])})
    policy = muco.Policy.of(quasi="size", attributes={"size": {"kind": "ordinal"}}, diversity=2)
    assert muco.Microdata.of(table, policy).codes[:, 0].tolist() == [2, 1, 0, 2]


def test_metadata_of_arrow_is_dropped_and_nullability_kept() -> None:
    fields = [pa.field("id", pa.string()), pa.field("age", pa.int16(), nullable=False, metadata={"c": "canary"})]
    fields += [pa.field("ill", pa.string()), pa.field("note", pa.large_string())]
    schema = run(pa.table(COLUMNS, schema=pa.schema(fields, metadata={"pandas": "canary"}))).data.schema
    assert schema.metadata is None
    assert schema.field("age") == pa.field("age", pa.int16(), nullable=False)
    assert schema.field("age").metadata is None


@pytest.mark.parametrize("column", [[b"\xff", b"\xfe", b"", None], [[1], [2], [3], [4]]])
def test_bytes_are_carried_and_lists_refused(column: list[Any]) -> None:
    table = pl.DataFrame({**COLUMNS, "note": column})
    if isinstance(column[0], list):
        with pytest.raises(TableError, match="attribute note holds objects or lists"):
            run(table)
    else:
        assert set(run(table).data["note"]) == set(column)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1, 2], "a table must be a pandas, polars or pyarrow frame, not list"),
        (pl.LazyFrame({"a": [1]}), "not LazyFrame. Collect it first"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "repeats a column name"),
        (pd.DataFrame([[1, 2]], columns=["a", 7]), "column 2 has no name of text"),
        (pl.DataFrame({" ": [1]}), "column 1 has no name of text"),
        (pa.table([[1], [2]], names=["a", "a"]), "repeats a column name"),
    ],
)
def test_what_is_no_table_is_refused(table: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        Frame.of(table)


def test_cells_of_mixed_kinds_are_refused_without_a_trace_of_them() -> None:
    table = pd.DataFrame(COLUMNS).assign(age=[1, "canary", None, 2.5])
    with pytest.raises(TableError, match="attribute age holds cells of different kinds") as caught:
        run(table)
    assert caught.value.__context__ is None


def test_only_identifiers_leave_nothing() -> None:
    frame = Frame.of(pl.DataFrame({"id": [1]}))
    with pytest.raises(TableError, match="every column is an identifier"):
        frame.released(np.array([0]), {}, frozenset({"id"}))


def test_a_frame_shows_no_cell() -> None:
    assert repr(Frame.of(pl.DataFrame(COLUMNS))) == "Frame(4 records, 4 attributes)"
