"""Delimited text: what is found of its form, what is refused, and that it is written as it was read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from muco.errors import MucoError, TableError
from muco.files import BadRows, Limits, Source, read_table, write_table
from muco.layout import Layout


def read(tmp_path: Path, content: str | bytes, stated: Layout | None = None, name: str = "t.csv") -> Source:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_table(path, stated=stated)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n01234,x\n?,NA\n-9,\n",
        "a;b\r\n1,5;x\r\n2,5;y\r\n",
        "a\tb\r1\t2\r",
        '"a","b"\n"x","1"\n"","2"\n'.replace('"",', ","),
        '"a","b"\n"x",1\n"y",2\n',
        'a,b\n"1,5",x\n"""q""",y\n',
        "a\n1\n\n3\n",
        "a,=b\n1,=2\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_was_not_changed_is_written_byte_for_byte(tmp_path: Path, text: str, encoding: str) -> None:
    content = text.encode(encoding)
    source = read(tmp_path, content)
    assert write_table(source.table, "out.csv", source) == content
    assert source.layout.encoding == encoding


def test_text_of_western_europe_is_found_and_written_back(tmp_path: Path) -> None:
    content = "Straße,Preis\nGänsemarkt,5 €\n".encode("cp1252")
    source = read(tmp_path, content)
    assert source.table["Straße"].to_list() == ["Gänsemarkt"]
    assert source.notes == ("t.csv: read with encoding cp1252",)
    assert write_table(source.table, "out.csv", source) == content


def test_utf8_with_a_bad_row_is_not_taken_for_another_encoding(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"t.csv: row 2 is not in UTF-8: name the encoding"):
        read(tmp_path, "a,b\né,1\n".encode() + b"\xff,2\n")


def test_a_stated_encoding_that_does_not_fit_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"t.csv: line 3 is not in ascii") as caught:
        read(tmp_path, "a,b\n1,2\nsecreté,2\n", Layout(encoding="ascii"))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__context__ is None


@pytest.mark.parametrize("header", ["a;b,c;d", '"x,y,z";b', "a|b|c,d", "a\tb c"])
def test_the_delimiter_is_the_mark_that_stands_most_often_outside_quotes(tmp_path: Path, header: str) -> None:
    delimiter = {"a;b,c;d": ";", '"x,y,z";b': ";", "a|b|c,d": "|", "a\tb c": "\t"}[header]
    row = delimiter.join("1" * (header.count(delimiter) + 1))
    assert read(tmp_path, f"{header}\n{row}\n").layout.delimiter == delimiter


@pytest.mark.parametrize(
    ("cells", "delimiter", "decimal", "thousands"),
    [
        (["1.234,50", "9,00"], ";", ",", "."),
        (["1,234.50", "9.00"], ";", ".", ","),
        (["1 234,50", "12 000,1"], ";", ",", " "),
        (["1'234.50", "9"], ",", ".", "'"),
        (["3,7", "4"], ";", ",", ""),
        (["1.234.567", "1"], ",", ",", "."),
        (["1,234", "2,345"], ";", ",", ""),  # either: commas do not part the fields here
        (["1,234", "2,345"], ",", ".", ","),  # either: they do here
        (["1.234", "0.5"], ";", ".", ""),
        (["123 456", "123 789"], ";", ".", ""),  # may be codes, so no column says that blanks part thousands
        (["31.12.2020", "1,5x"], ";", ".", ""),
    ],
)
def test_numerals_are_found(tmp_path: Path, cells: list[str], delimiter: str, decimal: str, thousands: str) -> None:
    rows = "\n".join(f'x{delimiter}"{cell}"' for cell in [*cells, "?", ""])
    layout = read(tmp_path, f"a{delimiter}b\n{rows}\n").layout
    assert (layout.decimal, layout.thousands) == (decimal, thousands)


def test_columns_that_disagree_are_noted(tmp_path: Path) -> None:
    source = read(tmp_path, "a;b\n1,5;250.1\n2,5;31.25\n")
    assert source.layout.decimal == ","
    assert "two ways" in source.notes[-1]
    assert not any("two ways" in note for note in read(tmp_path, "a;b\n1,5;2.5\n", Layout(decimal=",")).notes)


def test_what_is_stated_is_not_guessed(tmp_path: Path) -> None:
    stated = Layout(delimiter="|", decimal=".", thousands="", encoding="latin-1", line_end="crlf")
    source = read(tmp_path, "a;b|c\n1;2|3,5\n", stated)
    assert source.table.columns == ["a;b", "c"]
    assert write_table(source.table, "out.csv", source) == b'"a;b"|c\r\n1;2|3,5\r\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "t.csv is empty"),
        (b"a,b\n", "a header and no rows"),
        (b"a,a\n1,2\n", "repeats the column a: each column needs its own name"),
        (b"a,,b\n1,2,3\n", "column 2 has no name"),
        (b",a\n0,1\n", "column 1 has no name: name it in the header, or take it out"),
        (b"a,\n1,2\n", "column 2 has no name"),
        (b" \n1\n", "column 1 has no name"),
        (b"a,b\n1,2\n3\n4,5,6\n", r"2 rows have another number of fields than the header \(2, 3\)"),
        (b'a,b\n1,2\n"3,4\n', "row 2 opens a quote that is never closed"),
        (b'a,b\n1,"2"3\n', "row 1 goes on after a closing quote"),
        (b"a,b\n1,2\x00\n", "row 1 holds a NUL byte"),
        (b"a,b\n1," + b"x" * (1 << 21) + b"\n", "row 1 holds a field of more than 1 MiB"),
        (b"a,b\n1,2,\n3,4,\n", "2 rows have another number of fields"),
        ("a,b\n1,2\n".encode("utf-16-le"), "seems to be UTF-16 without its mark"),
        (b"\xff\xfea\x00,\x00b", "line 1 is not in utf-16"),
    ],
)
def test_bad_text_is_refused_with_its_place(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(TableError, match=message):
        read(tmp_path, content)


def test_a_field_of_100_mb_is_refused_quickly(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="row 1 opens a quote that is never closed"):
        read(tmp_path, b'a,b\n1,"' + b"x" * 100_000_000)


def test_bad_rows_are_dropped_and_counted_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n3\n4,5\n\xff,7\n8,9\n")
    source = read_table(tmp_path / "t.csv", bad_rows=BadRows.DROP)
    assert source.table["a"].to_list() == ["1", "4", "8"]
    assert source.dropped == 2
    assert source.origin.describe([0, 1, 2]) == "rows 1, 3, 5"


@pytest.mark.parametrize("content", [b'a,b\n1,2\n"3,4\n', b"a,\xff\n1,2\n", b"a,b\n1\n2\n"])
def test_what_cannot_be_dropped_is_still_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(TableError, match=r"quote that is never closed|header is not|no row that can be read"):
        read_table(tmp_path / "t.csv", bad_rows=BadRows.DROP)


def test_delimiters_that_end_every_row_are_left_out(tmp_path: Path) -> None:
    source = read(tmp_path, "a;b;\n1;2;\n3;4;\n")
    assert source.table.columns == ["a", "b"]
    assert "every row ends in a delimiter" in source.notes[-1]


def test_a_column_keeps_its_quotes_in_every_cell(tmp_path: Path) -> None:
    source = read(tmp_path, '"a","b"\n"x",1\nNA,2\n')  # R leaves NA bare
    assert source.layout.quoted == ("a",)
    changed = source.table.with_columns(pl.Series("a", ["new", "x"]))
    assert write_table(changed, "out.csv", source) == b'"a","b"\n"new",1\n"x",2\n'


def test_quotes_that_cells_need_are_no_style_of_their_column(tmp_path: Path) -> None:
    content = b'a,b\n"x,y","N""?"\n"0""",NA\n'
    source = read(tmp_path, content)
    assert write_table(source.table, "out.csv", source) == content


def test_a_suffix_that_means_tabs_gets_them(tmp_path: Path) -> None:
    source = read(tmp_path, "a,b\n1,2\n")
    assert write_table(source.table, "out.tsv", source) == b"a\tb\n1\t2\n"


def test_typed_columns_are_written_as_text_that_parses_the_same() -> None:
    table = pl.DataFrame({"n": [1.5, None], "d": ["2020-01-02", "1600-02-29"], "t": [True, False], "i": [2**60, 1]})
    table = table.with_columns(pl.col("d").str.to_date())
    text = write_table(table, "out.csv", Source(table, Layout(decimal=",")))
    assert text == f'n,d,t,i\n"1,5",2020-01-02,true,{2**60}\n,1600-02-29,false,1\n'.encode()


def test_rows_and_bytes_have_limits(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\n1\n2\n3\n")
    with pytest.raises(TableError, match=r"has 3 rows, more than 2 \(MUCO_MAX_ROWS\)"):
        read_table(path, limits=Limits(rows=2))
    with pytest.raises(TableError, match=r"more than 5 bytes \(MUCO_MAX_BYTES\)"):
        read_table(path, limits=Limits(content=5))


def test_limits_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUCO_MAX_ROWS", "7")
    assert Limits.of_environment().rows == 7
    monkeypatch.setenv("MUCO_MAX_ROWS", "1e9")
    with pytest.raises(MucoError, match="MUCO_MAX_ROWS is not a whole number above 0"):
        Limits.of_environment()
