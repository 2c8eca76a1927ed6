"""Missing values have one meaning everywhere: a value of its own, at distance dis_max from all others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import muco
from muco.microdata import Microdata
from muco.policy import Policy
from muco.switches import Preset

KINDS: dict[str, dict[str, Any]] = {
    "continuous": {},
    "ordinal": {"kind": "ordinal"},
    "date": {"kind": "date"},
    "categorical": {"kind": "categorical"},
    "tree": {"hierarchy": {"prefixes": {"lengths": [1]}}},
}


def encoded(values: list[Any], missing: list[str] | None = None, **attribute: Any) -> Microdata:
    """One quasi-identifier x beside a sensitive s of different values."""
    table = pl.DataFrame({"x": values, "s": list(range(len(values)))}, strict=False)
    words = attribute | ({"missing": missing} if missing else {})
    return Microdata.of(table, Policy.of(quasi="x", sensitive="s", diversity=2, attributes={"x": words}))


@pytest.mark.parametrize("name", KINDS)
def test_a_missing_value_is_the_last_code_and_lies_at_dis_max_from_all(name: str) -> None:
    """Three values and a missing one: distances to code 3 are 1, the largest there is."""
    values = ["2001-01-01", "2001-01-02", "2001-01-04"] if name == "date" else ["10", "11", "13"]
    microdata = encoded([*values, None], **KINDS[name])
    domain = microdata.quasi[0]
    assert microdata.codes[:, 0].tolist() == [0, 1, 2, 3]
    three, last = np.arange(3, dtype=np.int32), np.full(3, 3, dtype=np.int32)
    assert domain.distance.between(three, last).tolist() == [1, 1, 1]
    assert domain.distance.between(last, last).tolist() == [0, 0, 0]


@pytest.mark.parametrize("values", [["a", None], ["a", ""], ["a", "  "], ["a", "?"], ["a", " ? "]])
def test_null_blank_and_listed_text_mean_missing(values: list[str | None]) -> None:
    microdata = encoded(values, missing=["?"])
    assert (microdata.quasi[0].has_missing, microdata.codes[:, 0].tolist()) == (True, [0, 1])


@pytest.mark.parametrize(
    "column",
    [pl.Series([1.0, float("nan")]), pl.Series([1, -9]), pl.Series([1.0, -9.0]), pl.Series(["1", "-9"])],
    ids=["nan", "integer", "float", "text"],
)
def test_a_number_means_missing_in_every_type_of_column(column: pl.Series) -> None:
    assert encoded(column.to_list(), missing=["-9"]).quasi[0].has_missing


def test_a_policy_may_list_markers_for_every_attribute() -> None:
    table = pl.DataFrame({"x": ["a", "?"], "y": ["?", "b"], "s": ["?", "c"]})
    policy = Policy.of(quasi=["x", "y"], sensitive="s", diversity=2, missing=["?"])
    microdata = Microdata.of(table, policy)
    assert [domain.has_missing for domain in (*microdata.quasi, *microdata.sensitive)] == [True] * 3


def test_all_markers_of_a_column_are_one_value_released_in_the_commonest_form() -> None:
    """Three ? and two NA are five missing values; each of them leaves as ?."""
    table = pl.DataFrame({"x": ["a", "a", "?", "?", "?", "NA", "NA", "a"], "s": list(range(8))})
    words = {"x": {"missing": ["?", "NA"]}}
    data = muco.anonymize(table, quasi="x", sensitive="s", diversity=4, attributes=words).data
    assert sorted(data["x"]) == ["?"] * 5 + ["a"] * 3


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_nulls_leave_as_nulls(make: Any) -> None:
    table = make({"x": [1.5, None, 2.5, None], "s": [1, 2, 3, 4]})
    data = muco.anonymize(table, quasi="x", sensitive="s", diversity=4).data
    released = pl.Series(data["x"].to_list() if not isinstance(data, pa.Table) else data["x"].to_pylist())
    assert released.fill_nan(None).null_count() == 2


def test_the_partition_keeps_missing_values_together_first() -> None:
    """Four known ages of 30 to 31 and four missing: they are 1 apart, the ages .01 or less of what 130 would be."""
    microdata = encoded([30, 30, 31, 31, None, None, None, None, 130, 130])
    groups = [set(group.records.tolist()) for group in muco.divide_table(microdata)]
    missing = {4, 5, 6, 7}
    assert all(group <= missing or not group & missing for group in groups)


def test_a_missing_value_is_a_row_and_a_column_of_the_table() -> None:
    """Three records, one missing, tight: all rows are equal, and missing is drawn with probability 1/3."""
    microdata = encoded([20, 20, None])
    policy = microdata.policy.model_copy(update={"diversity": 3})
    group = muco.divide_table(Microdata.of(microdata.frame, policy))[0]
    table = muco.calculate_table(group, "x", "tight")
    assert table.values == (20, None)
    assert np.allclose(table.probabilities, [[2 / 3, 1 / 3]] * 3)


def test_draws_keep_the_count_of_missing_values_in_the_provable_setting() -> None:
    table = pl.DataFrame({"x": [20, None, 30, None, 40, None, 50, 60], "s": list(range(8))})
    for key in ("00" * 32, "11" * 32):
        data = muco.anonymize(table, quasi="x", sensitive="s", diversity=4, key=key).data
        assert data["x"].null_count() == 3


def test_the_paper_preset_may_draw_and_repair_missing_values() -> None:
    table = pl.DataFrame({"x": [20, None, 30, None] * 10, "y": [1, 2, None, 4] * 10, "s": list(range(40))})
    release = muco.anonymize(
        table, quasi=["x", "y"], sensitive="s", diversity=4, preset=Preset.PAPER, delta="1/3", key="22" * 32
    )
    assert set(release.data["x"]) <= {20, 30, None}


def test_losing_a_value_or_finding_one_costs_all_there_is() -> None:
    """|20 - 30| / (30 - 20 + 1) = 10/11 between numbers; 1 between a number and a missing value."""
    domain = encoded([20, 30, None]).quasi[0]
    codes = np.array([0, 0, 2, 2], dtype=np.int32)
    assert domain.loss(codes, np.array([1, 2, 0, 2], dtype=np.int32)).tolist() == [10 / 11, 1, 1, 0]


def test_a_missing_sensitive_value_counts_like_any_other() -> None:
    """Three of four are missing: l can be 1."""
    table = pl.DataFrame({"x": [1, 2, 3, 4], "s": ["a", None, None, None]})
    with pytest.raises(muco.MucoError, match="the commonest stands in 3 of 4"):
        Microdata.of(table, Policy.of(quasi="x", sensitive="s", diversity=2))


def test_an_attribute_without_any_value_is_covered_by_itself() -> None:
    table = pl.DataFrame({"x": pl.Series([None] * 4, dtype=pl.String), "y": [1, 2, 3, 4], "s": [1, 2, 3, 4]})
    data = muco.anonymize(table, quasi=["x", "y"], sensitive="s", diversity=4).data
    assert data["x"].null_count() == 4
