"""Dates, booleans, large and decimal numbers and categoricals with an order: covered as what they are."""

from __future__ import annotations

import decimal
from datetime import date, datetime
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import muco
from muco.errors import PolicyError, TableError
from muco.moments import find_forms
from muco.policy import Policy
from muco.switches import Kind

RECORDS = 24


def release(values: list[Any], dtype: Any = None, **attribute: Any) -> pl.Series:
    """One quasi-identifier repeated to 24 records and released with groups of four."""
    table = pl.DataFrame({"x": pl.Series((values * RECORDS)[:RECORDS], dtype=dtype), "s": list(range(RECORDS))})
    data = muco.anonymize(table, quasi="x", sensitive="s", diversity=4, attributes={"x": attribute}).data
    assert isinstance(data, pl.DataFrame)
    assert data["x"].dtype == table["x"].dtype
    return data["x"]


def kind_of(column: Any, **attribute: Any) -> tuple[Kind, list[int]]:
    """The kind of a column `x` beside a sensitive one, and the codes of its records."""
    policy = Policy.of(quasi="x", sensitive="s", diversity=1, attributes={"x": attribute})
    microdata = muco.Microdata.of(column, policy)
    return microdata.quasi[0].kind, microdata.codes[:, 0].tolist()


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["31.12.1999", "01.02.2001", "17.06.1980"], "%d.%m.%Y"),
        (["12/31/1999", "2/1/2001", "6/17/1980"], "%m/%d/%Y"),
        (["1999-12-31T23:59", "2001-02-01T00:00", "1980-06-17T12:30"], None),
        (["1999-12-31 23:59:59", "2001-02-01 00:00:00", "1980-06-17 12:30:01"], None),
        (["31 Dec 1999", "1 Feb 2001", "17 Jun 1980"], "%d %b %Y"),
        (["1999-12", "2001-02", "1980-06"], "%Y-%m"),
        (["1999-12-31T23:59:00Z", "2001-02-01T00:00:00Z"], "%Y-%m-%dT%H:%M:%S%z"),
    ],
)
def test_dates_of_text_leave_in_the_form_they_came_in(values: list[str], form: str | None) -> None:
    released = release(values, kind="date", **({"form": form} if form else {}))
    assert sorted(set(released)) == sorted(values)


@pytest.mark.parametrize("values", [[date(1999, 12, 31), date(1600, 1, 1)], [datetime(1999, 12, 31, 23, 59)]])
def test_dates_of_their_own_type_keep_it(values: list[Any]) -> None:
    assert set(release(values)) == set(values)


def test_dates_lie_as_far_apart_as_their_days() -> None:
    """1 and 2 January are a day apart, 11 January ten: shares .1 and 1 of the longest way, in any form."""
    table = pl.DataFrame({"x": ["01.01.2000", "02.01.2000", "11.01.2000"], "s": [1, 2, 3]})
    policy = Policy.of(quasi="x", sensitive="s", diversity=1, attributes={"x": {"form": "%d.%m.%Y"}})
    microdata = muco.Microdata.of(table, policy)
    first, others = microdata.codes[[0, 0], 0], microdata.codes[[1, 2], 0]
    assert microdata.quasi[0].distance.between(first, others).tolist() == [0.1, 1.0]


def test_a_cell_that_is_no_date_of_the_form_is_refused_by_its_row() -> None:
    with pytest.raises(TableError, match=r"2 cells cannot be read as a date of the form %d.%m.%Y \(rows 2, 4"):
        kind_of(pl.DataFrame({"x": ["1.1.2000", "2000-01-01"] * 2, "s": [1, 2, 3, 4]}), form="%d.%m.%Y")


@pytest.mark.parametrize("form", ["%d", "%Y", "%H:%Y-%m", "%Y-%m %Q"])
def test_a_form_without_year_and_month_is_none(form: str) -> None:
    with pytest.raises(PolicyError, match=r"attributes.x.form has"):
        Policy.of(attributes={"x": {"role": "quasi", "form": form}})


def test_a_form_goes_with_dates_only() -> None:
    with pytest.raises(PolicyError, match="form goes with kind date only"):
        Policy.of(attributes={"x": {"role": "quasi", "kind": "ordinal", "form": "%d.%m.%Y"}})


def test_the_forms_that_fit_are_found() -> None:
    assert list(find_forms(pl.Series(["31.12.1999", "01.02.2000"]))) == ["%d.%m.%Y"]
    assert list(find_forms(pl.Series(["01/02/1999"]))) == ["%d/%m/%Y", "%m/%d/%Y"]
    assert list(find_forms(pl.Series(["4711-17-1"]))) == []


@pytest.mark.parametrize(
    ("values", "kind", "codes"),
    [
        (["yes", "no"], Kind.BOOLEAN, [1, 0]),
        (["Ja", "nein"], Kind.BOOLEAN, [0, 1]),
        ([True, False], Kind.BOOLEAN, [1, 0]),
        (["0", "1"], Kind.CONTINUOUS, [0, 1]),
    ],
)
def test_two_answers_are_a_boolean(values: list[Any], kind: Kind, codes: list[int]) -> None:
    assert kind_of(pl.DataFrame({"x": values, "s": [1, 2]})) == (kind, codes)


def test_answers_in_any_casing_are_one_value() -> None:
    table = pl.DataFrame({"x": ["Yes", "no", "YES", "NO", "yes"], "s": [1, 2, 3, 4, 5]})
    assert kind_of(table) == (Kind.BOOLEAN, [1, 0, 1, 0, 1])


def test_numbers_may_be_made_a_boolean() -> None:
    assert kind_of(pl.DataFrame({"x": [0, 1], "s": [1, 2]}), kind="boolean") == (Kind.BOOLEAN, [0, 1])


def test_integers_beyond_64_bits_stay_apart() -> None:
    """2^70 and 2^70 + 1 are one double, and two codes."""
    values = [2**70 + 1, 2**70, 5]
    assert kind_of(pl.DataFrame({"x": [str(v) for v in values], "s": [1, 2, 3]}))[1] == [2, 1, 0]
    assert kind_of(pd.DataFrame({"x": values, "s": [1, 2, 3]}))[1] == [2, 1, 0]
    data = muco.anonymize(pd.DataFrame({"x": values, "s": [1, 2, 3]}), quasi="x", sensitive="s", diversity=3).data
    assert sorted(data["x"]) == sorted(values)


def test_decimals_stay_decimals() -> None:
    values = [decimal.Decimal("1.50"), decimal.Decimal("2.25")]
    assert set(release(values, dtype=pl.Decimal(10, 2))) == set(values)
    assert set(release(["1.50", "2.25", "10"])) == {"1.50", "2.25", "10"}


@pytest.mark.parametrize(
    "column",
    [
        pl.Series(["mid", "low", "high"], dtype=pl.Enum(["low", "mid", "high"])),
        pd.Series(pd.Categorical(["mid", "low", "high"], categories=["low", "mid", "high"], ordered=True)),
        pa.DictionaryArray.from_arrays(pa.array([1, 0, 2]), pa.array(["low", "mid", "high"]), ordered=True),
    ],
    ids=["polars", "pandas", "pyarrow"],
)
def test_a_categorical_with_an_order_is_ordinal(column: Any) -> None:
    beside = {"x": column, "s": [1, 2, 3]}
    make = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.table}
    table = make[type(column).__module__.split(".")[0]](beside)
    assert kind_of(table) == (Kind.ORDINAL, [1, 0, 2])


def test_a_categorical_without_an_order_has_none() -> None:
    assert kind_of(pd.DataFrame({"x": pd.Categorical(["b", "a"]), "s": [1, 2]}))[0] is Kind.CATEGORICAL


def test_long_text_is_refused_as_a_quasi_identifier() -> None:
    with pytest.raises(TableError, match="free text is no quasi-identifier"):
        kind_of(pl.DataFrame({"x": ["a" * 201], "s": [1]}))
