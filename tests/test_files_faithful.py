"""Whatever bytes come: a named error without a cell, or a table that is written and read back equal."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from muco.errors import MucoError
from muco.files import Limits, read_table, write_table
from muco.files.delimited import read_delimited
from muco.formats import BadRows
from muco.layout import Layout

# Texts of marks: where delimiters, quotes, line ends, encodings and numbers meet.
PIECES = [
    "a",
    "b",
    ",",
    ";",
    "\t",
    "|",
    '"',
    '""',
    "\n",
    "\r\n",
    "\r",
    " ",
    "1",
    "0",
    ".",
    "\ufeff",
    "é",
    "€",
    "\0",
]
PIECES += ["-9", "NA", "1.234,5", "=", "'", "\u2028", "x\ny"]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp1252"]
texts = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
encoded = st.builds(lambda text, encoding: text.encode(encoding, "replace"), texts, st.sampled_from(ENCODINGS))
cells = st.text(st.sampled_from("ab\",;|\t\n\r ='\ufeffé1.0"), max_size=4)
CANARY = "cänary"
DAMAGED = ["parquet", "arrow", "csv.gz", "csv.zst", "xlsx", "sav", "zsav", "dta"]


def check(content: bytes, bad_rows: BadRows = BadRows.REFUSE) -> None:
    try:
        source = read_delimited(content, "t.csv", Layout(), bad_rows, Limits())
    except MucoError as error:
        assert error.__context__ is None or error.__suppress_context__
        return
    layout = source.layout
    written = write_table(source.table, "t.csv", source)
    again = read_delimited(written, "t.csv", layout, BadRows.REFUSE, Limits())
    assert again.table.equals(source.table)
    assert write_table(again.table, "t.csv", again) == written  # what was written stays as it is


@given(encoded | st.binary(max_size=60), st.sampled_from(list(BadRows)))
@settings(max_examples=400, deadline=None)
@example(b'"a\nb",c\n1,2\n', BadRows.REFUSE)
@example(b"a\n\n\n", BadRows.REFUSE)
@example(b"\xef\xbb\xbf\xef\xbb\xbfa\n1\n", BadRows.REFUSE)
@example(b"a,b\r1,\r\r\n2,3", BadRows.DROP)
@example(b"\xff\xfe", BadRows.REFUSE)
@example(b"\xfe\xff\x00a\x00\n\x00", BadRows.REFUSE)
def test_any_bytes_give_a_named_error_or_a_table_that_reads_back_equal(content: bytes, bad_rows: BadRows) -> None:
    check(content, bad_rows)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_any_table_of_text_is_written_so_that_it_is_found_again(data: st.DataObject) -> None:
    names = data.draw(st.lists(cells.filter(str.strip), min_size=1, max_size=4, unique=True))
    rows = data.draw(st.lists(st.lists(cells, min_size=len(names), max_size=len(names)), min_size=1, max_size=4))
    table = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    written = write_table(table, "t.csv")
    source = read_delimited(written, "t.csv", Layout(), BadRows.REFUSE, Limits())
    assert source.table.equals(table)


@given(st.binary(max_size=200), st.sampled_from(DAMAGED), st.sampled_from([0, 9999]))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_files_give_a_named_error(tmp_path: Path, noise: bytes, form: str, skipped: int) -> None:
    path = tmp_path / f"t.{form}"
    whole = write_table(pl.DataFrame({"a": [CANARY, CANARY + "2"]}), path)
    at = len(whole) * len(noise) // 201
    path.write_bytes(whole[:at] + noise + whole[at + len(noise) + skipped :])
    try:
        read_table(path)
    except MucoError as error:
        assert CANARY not in str(error)
        assert error.__context__ is None
