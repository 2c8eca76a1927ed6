"""Distinct values: what is missing, which kind they are of, and what they sort by."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest

from muco.errors import TableError
from muco.moments import moment_keys
from muco.switches import Kind
from muco.values import Distinct, as_text, infer_kind, number_keys, plainest, positions, rank_keys


def distinct(*cells: Any, dtype: Any = None, missing: tuple[str, ...] = ()) -> Distinct:
    return Distinct.of(pl.Series("a", cells, dtype=dtype), missing)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", "-3e2", " 4 "], Kind.CONTINUOUS),
        (["01234", "12345"], Kind.CATEGORICAL),  # a code: as a number it would lose its zero
        (["0", "0.5"], Kind.CONTINUOUS),
        (["2026-07-01", "2026-07-02T13:45"], Kind.DATE),
        (["True", "false"], Kind.BOOLEAN),
        (["yes", "no"], Kind.BOOLEAN),
        (["yes", "maybe"], Kind.CATEGORICAL),
        (["1", "two"], Kind.CATEGORICAL),
        (["", "  "], Kind.CATEGORICAL),
        ([1, 2], Kind.CONTINUOUS),
        ([True, False], Kind.BOOLEAN),
        ([dt.date(2026, 7, 1)], Kind.DATE),
        ([dt.timedelta(seconds=1)], Kind.CONTINUOUS),
        ([None], Kind.CATEGORICAL),
    ],
)
def test_the_kind_of_a_column_is_told_by_all_its_cells(cells: list[Any], kind: Kind) -> None:
    assert infer_kind(distinct(*cells)) is kind


def test_null_nan_blank_text_and_listed_texts_are_missing() -> None:
    assert distinct(None, "", " ", "?", "a", missing=("?",)).known.to_list() == ["a"]
    assert distinct(None, float("nan"), -9.0, 1.0, missing=("-9.0",)).known.to_list() == [1.0]


def test_whole_numbers_stay_integers_however_large() -> None:
    # 2^53 and 2^53 + 1 are one double but two integers.
    keys = number_keys(distinct("9007199254740992", "9007199254740993"))
    assert keys.to_list() == [2**53, 2**53 + 1]
    assert positions(keys).tolist() == [0.0, 1.0]


def test_ascending_keys_give_ascending_positions_even_where_doubles_tie() -> None:
    places = positions(pl.Series([0, 2**100, 2**100 + 1], dtype=pl.Int128))
    assert (places[1:] > places[:-1]).all()


@pytest.mark.parametrize("wild", ["x", "1e400", "inf", "nan", "1_000", "0x10", "١", "1,5"])
def test_what_is_no_finite_number_is_refused_by_row(wild: str) -> None:
    with pytest.raises(TableError, match=r"attribute a: 2 cells cannot be read as a finite number \(rows 2, 4\)"):
        number_keys(distinct("1", wild, "2", wild))


def test_infinity_among_floats_is_refused() -> None:
    with pytest.raises(TableError, match=r"1 cell cannot be read as a finite number \(row 1\)"):
        number_keys(distinct(float("inf"), 1.0))


def test_dates_are_days_with_their_time_of_day_and_reach_back_to_1600() -> None:
    keys = moment_keys(distinct("1970-01-01", "1970-01-02 12:00", "1970-01-03T06:00:00", "1600-02-29"))
    assert keys.to_list() == [-135081.0, 0.0, 1.5, 2.25]  # 1600-02-29 sorts first


@pytest.mark.parametrize("wild", ["2026-02-30", "01/07/2026", "2026-7-1", "20260701"])
def test_what_is_no_date_is_refused(wild: str) -> None:
    with pytest.raises(TableError, match=r"cannot be read as a date such as 2026-07-01 .* \(row 2\)"):
        moment_keys(distinct("2026-01-01", wild))


def test_ranks_follow_the_order_given_or_numbers_or_the_alphabet() -> None:
    assert rank_keys(distinct("high", "low"), ("low", "mid", "high")).to_list() == [2, 0]
    assert rank_keys(distinct("10", "9"), None).to_list() == [2, 1]
    assert rank_keys(distinct("b", "a"), None).to_list() == [1, 2]
    ordered = pl.Enum(["low", "high"])
    assert rank_keys(distinct("high", "low", dtype=ordered), None).to_list() == [1, 2]


def test_a_value_outside_its_order_is_refused_by_row() -> None:
    with pytest.raises(TableError, match=r"2 cells hold a value that its order lacks \(rows 1, 3\): add"):
        rank_keys(distinct("odd", "low", "odd"), ("low",))


def test_only_the_first_five_rows_are_named() -> None:
    with pytest.raises(TableError, match=r"7 cells .* \(rows 1, 2, 3, 4, 5, \.\.\.\)"):
        number_keys(distinct(*"abcdefg"))


def test_durations_and_bytes_have_a_text() -> None:
    assert as_text(pl.Series([dt.timedelta(microseconds=5)])).to_list() == ["5"]
    assert as_text(pl.Series([b"\xff\x00"])).to_list() == ["ff00"]


def test_of_several_forms_the_shortest_is_the_plainest() -> None:
    import numpy as np

    cells = pl.Series(["34.0", "34", "34.00", "7"])
    assert plainest(cells, np.array([0, 0, 0, 1], dtype=np.int32)).tolist() == [1, 3]
