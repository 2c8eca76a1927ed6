"""Packed text, several files as one table, and what a table may unpack to."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import polars as pl
import pytest

from muco.errors import PolicyError, TableError
from muco.files import BadRows, Limits, Source, read_table, write_table
from muco.files.compressed import pack
from muco.formats import Compression, format_of

TABLE = pl.DataFrame({"a": ["1", "2"], "b": ["x", "y"]})


@pytest.mark.parametrize("suffix", ["csv.gz", "tsv.gz", "csv.zst"])
def test_packed_text_comes_back_equal_and_packs_the_same(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(write_table(TABLE, path, Source(TABLE)))
    source = read_table(path)
    assert source.table.equals(TABLE)
    assert write_table(source.table, path, source) == path.read_bytes()


def test_a_file_of_several_members_is_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a\n1\n") + gzip.compress(b"2\n") + b"\0" * 10)
    assert read_table(tmp_path / "t.csv.gz").table["a"].to_list() == ["1", "2"]


@pytest.mark.parametrize("compression", list(Compression))
def test_damage_is_named(tmp_path: Path, compression: Compression) -> None:
    suffix = {"gzip": "gz", "zstd": "zst"}[compression]
    whole = pack(b"a\n" + bytes(range(48, 58)) * 1000, compression)
    for content, message in ((whole[:-6], "ends too early"), (b"no pack", "it is damaged"), (b"", "too early")):
        (tmp_path / f"t.csv.{suffix}").write_bytes(content)
        with pytest.raises(TableError, match=message):
            read_table(tmp_path / f"t.csv.{suffix}")


@pytest.mark.parametrize("compression", list(Compression))
def test_a_bomb_is_stopped_while_it_unpacks(tmp_path: Path, compression: Compression) -> None:
    suffix = {"gzip": "gz", "zstd": "zst"}[compression]
    (tmp_path / f"t.csv.{suffix}").write_bytes(pack(b"a\n" + b"0" * (70 << 20), compression))
    with pytest.raises(TableError, match=r"more than 250 times its size \(MUCO_MAX_RATIO\)"):
        read_table(tmp_path / f"t.csv.{suffix}")
    with pytest.raises(TableError, match=r"more than 1,000 bytes \(MUCO_MAX_BYTES\)"):
        read_table(tmp_path / f"t.csv.{suffix}", limits=Limits(content=1000))


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_small_file_of_many_rows_is_refused_before_it_is_unpacked(tmp_path: Path, form: str) -> None:
    table = pl.DataFrame({"a": pl.repeat(0, 3_000_000, eager=True)})
    path = tmp_path / f"t.{form}"
    path.write_bytes(write_table(table, path))
    with pytest.raises(TableError, match="3,000,000 rows, more than 1,000"):
        read_table(path, limits=Limits(rows=1000))
    with pytest.raises(TableError, match=r"MUCO_MAX_BYTES"):
        read_table(path, limits=Limits(content=8_000_000))
    assert read_table(path, limits=Limits(content=24_000_000)).table.equals(table)


def test_several_files_are_one_table_whose_rows_name_their_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,x\n")
    (tmp_path / "b.csv").write_text("b;a\ny;2\nz\n;3\n")
    source = read_table([tmp_path / "a.csv", tmp_path / "b.csv"], bad_rows=BadRows.DROP)
    assert source.table.rows() == [("1", "x"), ("2", "y"), ("3", "")]
    assert source.origin.describe([0, 2]) == "rows 1 of a.csv, 3 of b.csv"
    assert (source.dropped, source.layout.delimiter) == (1, ",")


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "part-2.csv").write_text("a\n2\n")
    (tmp_path / "part-1.csv").write_text("a\n1\n")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part-1.csv.crc").touch()
    assert read_table(tmp_path).table["a"].to_list() == ["1", "2"]
    (tmp_path / "notes.json").touch()
    with pytest.raises(TableError, match=r"holds notes.json, which is no table"):
        read_table(tmp_path)


def test_an_empty_folder_and_unlike_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="holds no table"):
        read_table(tmp_path)
    (tmp_path / "a.csv").write_text("a,b\n1,x\n")
    (tmp_path / "b.csv").write_text("a,c\n1,x\n")
    with pytest.raises(TableError, match=r"b.csv lacks b and has c, unlike a.csv"):
        read_table(tmp_path)
    pl.DataFrame({"a": [1], "b": ["x"]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(TableError, match=r"column a of b.parquet is Int64, and String in a.csv"):
        read_table([tmp_path / "a.csv", tmp_path / "b.parquet"])


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet", "arrow"])
def test_standard_input_is_told_by_its_first_bytes(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(write_table(TABLE, f"t.{form}")))
    monkeypatch.setattr(sys, "stdin", stream)
    assert read_table("-").table.equals(TABLE)


@pytest.mark.parametrize(
    ("name", "message"),
    [("t.xyz", "no suffix that tells its form"), ("t.parquet.gz", "parquet packs itself"), ("t.gz", "before .gz")],
)
def test_a_name_that_tells_no_form_is_refused(name: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        format_of(name)


@pytest.mark.parametrize("name", ["no.csv", "no.parquet", "no.csv.gz"])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(TableError, match="cannot be read: No such file"):
        read_table(tmp_path / name)
