"""Files of SPSS, Stata and SAS: labels, missing codes and kinds through a round trip."""

from __future__ import annotations

import io
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyreadstat
import pytest

from muco.anonymize import anonymize
from muco.errors import PolicyError, TableError
from muco.files import Limits, check_writable, read_table, write_table
from muco.files.magic import form_of_content
from muco.formats import Format
from muco.frame import Frame
from muco.policy import Policy

TABLE = pl.DataFrame(
    {
        "age": [20, 30, 99, None],
        "sex": [1, 2, 1, 2],
        "name": ["a", "b", "", "déf"],
        "born": [date(2000, 1, 1), date(1600, 2, 29), None, date(1999, 12, 31)],
        "x": [1.5, 2.25, -1.0, 8.0],
    }
)


@pytest.fixture
def spss(tmp_path: Path) -> Path:
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(
        TABLE,
        path,
        column_labels={"age": "Age in years"},
        variable_value_labels={"sex": {1: "m", 2: "f"}, "age": {99: "refused"}},
        missing_ranges={"age": [99], "x": [{"lo": -9, "hi": -1}]},
        variable_measure={"sex": "nominal"},
        variable_format={"age": "F3.0"},
    )
    return path


def test_labels_and_missing_codes_of_spss_go_through(spss: Path) -> None:
    source = read_table(spss)
    assert source.table.equals(TABLE)
    assert source.missing == {"age": ("99",), "x": ("-1.0",)}
    spss.write_bytes(write_table(source.table, spss, source))
    again = read_table(spss)
    assert (again.labels, again.missing) == (source.labels, source.missing)
    assert again.table.equals(source.table)
    assert write_table(again.table, spss, again) == spss.read_bytes()  # no time of writing in it
    _, meta = pyreadstat.read_sav(spss)
    assert meta.variable_value_labels == {"age": {99: "refused"}, "sex": {1: "m", 2: "f"}}
    assert meta.original_variable_types["age"] == "F3.0"


def test_lettered_missing_values_of_stata_go_through(tmp_path: Path) -> None:
    path = tmp_path / "t.dta"
    frame = pd.DataFrame({"age": [20.0, 30.0, "a", float("nan")], "sex": [1, 2, 1, 2]})
    words: Any = {"age": {"a": "refused"}, "sex": {1: "m", 2: "f"}}
    pyreadstat.write_dta(frame, path, missing_user_values={"age": ["a"]}, variable_value_labels=words)
    source = read_table(path)
    assert source.table["age"].to_list() == ["20", "30", ".a", None]
    assert source.missing == {"age": (".a",)}
    path.write_bytes(write_table(source.table, path, source))
    again = read_table(path)
    assert again.table.equals(source.table)
    assert again.labels == source.labels
    assert write_table(again.table, path, again) == path.read_bytes()


def test_a_declared_missing_code_means_missing_in_a_run(spss: Path) -> None:
    source = read_table(spss)
    policy = source.complete(Policy.of(quasi="age", sensitive="sex", diversity=2))
    assert policy.attributes["age"].missing == ("99",)
    release = anonymize(Frame.of(source.table.select("age", "sex"), source.origin), policy)
    # Two ages and two missing ones: of their two forms the commonest, here the shorter, is released.
    assert set(release.data["age"]) <= {20, 30, 99, None}


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta"])
def test_a_table_from_elsewhere_fits(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    table = TABLE.with_columns(pl.Series("big", [2**53 + 1, 1, 2, 3]), pl.Series("e", ["q", "r", "q", None]))
    path.write_bytes(write_table(table.with_columns(pl.col("e").cast(pl.Categorical)), path))
    read = read_table(path).table
    assert read["big"].to_list() == [str(2**53 + 1), "1", "2", "3"]
    assert read.select(TABLE.columns).equals(TABLE)


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta"])
def test_what_comes_on_standard_input_is_read_as_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = tmp_path / f"t{suffix}"
    pyreadstat.write_sav(TABLE, path) if suffix != ".dta" else pyreadstat.write_dta(TABLE, path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    source, named = read_table("-"), read_table(path)
    assert source.table.equals(named.table)
    assert (source.layout, source.labels) == (named.layout, named.labels)
    plain = "t.dta" if suffix == ".dta" else "t.sav"  # what standard output carries
    assert write_table(source.table, "-", source) == write_table(named.table, plain, named)


def test_limits_hold_on_standard_input(spss: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for limits, message in ((Limits(rows=3), "the input has 4 rows"), (Limits(content=99), "MUCO_MAX_BYTES")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(spss.read_bytes())))
        with pytest.raises(TableError, match=message):
            read_table("-", limits=limits)


def test_old_files_of_stata_and_files_of_sas_are_told_by_their_beginning(tmp_path: Path) -> None:
    for version in (8, 10, 12, 13, 14, 15):
        pyreadstat.write_dta(TABLE.select("age"), tmp_path / "t.dta", version=version)
        assert form_of_content((tmp_path / "t.dta").read_bytes()) == (Format.STATA, None), version
    assert form_of_content(bytes(12) + b"\xc2\xea\x81\x60" + bytes(16)) == (Format.SAS, None)
    assert form_of_content(b"name,age\n") == form_of_content(b"s") == form_of_content(b"") == (Format.CSV, None)


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".sas7bdat"])
def test_damage_is_named_without_a_cell(tmp_path: Path, spss: Path, suffix: str) -> None:
    path = tmp_path / f"d{suffix}"
    for content in (b"", b"secret" * 100, spss.read_bytes()[:300]):
        path.write_bytes(content)
        with pytest.raises(TableError, match="it is damaged, or not the") as caught:
            read_table(path)
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None


def test_limits_hold(spss: Path) -> None:
    with pytest.raises(TableError, match="4 rows, more than 3"):
        read_table(spss, limits=Limits(rows=3))


def test_names_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TableError, match="does not fit a file of spss"):
        write_table(pl.DataFrame({"a b": [1]}), "t.sav")


def test_sas_is_read_and_not_written() -> None:
    with pytest.raises(PolicyError, match="this form cannot be written"):
        check_writable("t.sas7bdat")
