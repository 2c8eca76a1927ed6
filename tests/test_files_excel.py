"""Workbooks in and out."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter

from muco.errors import MucoError, PolicyError, TableError
from muco.files import Limits, read_table, write_table
from muco.files.extras import need
from muco.layout import Layout

TABLE = pl.DataFrame(
    {
        "code": ["01234", "=1+1", "-5"],
        "n": [1, None, 3],
        "x": [1.5, None, 2.0],
        "day": [date(2020, 1, 1), None, date(1999, 1, 2)],
        "at": [datetime(2020, 1, 1, 3, 4, 5)] * 3,
        "b": [True, False, None],
    }
)


def book(path: Path, rows: list[list[Any]], *, sheets: tuple[str, ...] = ("A",)) -> Path:
    with xlsxwriter.Workbook(path) as workbook:
        pages = [workbook.add_worksheet(name) for name in sheets]
        for row, cells in enumerate(rows):
            pages[-1].write_row(row, 0, cells)
    return path


def test_a_workbook_comes_back_equal_and_has_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(write_table(TABLE, path))
    source = read_table(path)
    assert source.table.with_columns(pl.col("at").dt.cast_time_unit("us")).equals(TABLE)
    assert write_table(source.table, path, source) == path.read_bytes()


def test_text_that_looks_like_a_formula_is_no_formula(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(write_table(TABLE, tmp_path / "t.xlsx"))) as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


def test_what_doubles_cannot_hold_is_written_as_text(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    table = pl.DataFrame({"i": [2**53 + 1], "old": [date(1600, 2, 29)], "nan": [float("nan")]})
    path.write_bytes(write_table(table, path))
    assert read_table(path).table.row(0) == (str(2**53 + 1), "1600-02-29", None)


def test_empty_rows_are_no_records_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    source = read_table(book(tmp_path / "t.xlsx", [[None, None], ["a", 2020], [1, "x"], [None, None], [3, "y"]]))
    assert source.table.columns == ["a", "2020"]
    assert source.table.rows() == [(1, "x"), (3, "y")]
    assert source.origin.describe([1]) == "row 3"


def test_a_sheet_is_chosen_by_name_and_kept(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", [["a"], [1]], sheets=("notes", "people"))
    source = read_table(path, stated=Layout(sheet="people"))
    (tmp_path / "r.xlsx").write_bytes(write_table(source.table, tmp_path / "r.xlsx", source))
    assert read_table(tmp_path / "r.xlsx").layout.sheet == "people"
    with pytest.raises(PolicyError, match=r"has no sheet peple: did you mean people\?"):
        read_table(path, stated=Layout(sheet="peple"))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "is empty"),
        ([["a", "b"]], "a header and no rows"),
        ([["a", None], [1, 2]], "column 2 has no name"),
        ([["a", "a"], [1, 2]], "repeats the column a"),
    ],
)
def test_bad_sheets_are_refused(tmp_path: Path, rows: list[list[Any]], message: str) -> None:
    with pytest.raises(TableError, match=message):
        read_table(book(tmp_path / "t.xlsx", rows))


def test_damage_and_bombs_are_named(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", [["a"], ["secret"]])
    whole = path.read_bytes()
    for content in (b"", b"PK\3\4", whole[:-40], whole.replace(b"sheet1", b"sheet2")):
        path.write_bytes(content)
        with pytest.raises(TableError, match="it is damaged, or not the workbook") as caught:
            read_table(path)
        assert caught.value.__context__ is None
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(70 << 20))
    with pytest.raises(TableError, match="MUCO_MAX_RATIO"):
        read_table(path)
    path.write_bytes(whole)
    with pytest.raises(TableError, match="MUCO_MAX_BYTES"):
        read_table(path, limits=Limits(content=100))


def test_too_much_for_a_sheet_is_refused_before_it_is_written() -> None:
    with pytest.raises(TableError, match="16,384 columns at most"):
        write_table(pl.DataFrame({str(place): [1] for place in range(16_385)}), "t.xlsx")
    with pytest.raises(TableError, match="attribute a has text of more than 32,767 characters"):
        write_table(pl.DataFrame({"a": ["x" * 32_768]}), "t.xlsx")


def test_a_library_that_is_absent_is_named_with_its_extra() -> None:
    with pytest.raises(MucoError, match=r"no_such is needed to read maps, .*: pip install 'muco\[maps\]'"):
        need("no_such.part", "maps", "to read maps")
