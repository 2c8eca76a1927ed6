"""Total variation and associations, by hand and against plain definitions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats.contingency import association

from muco.assess.comparison import Comparison
from muco.assess.distribution import Association, Distributions, measure_distributions
from muco.policy import Policy

TABLE = pl.DataFrame({"age": [20, 20, 30, 30], "town": ["a", "b", "b", "b"], "pay": [1, 2, 3, 4]})
POLICY = Policy.of(quasi=["age", "town"], sensitive="pay")


def measured(release: pl.DataFrame, table: pl.DataFrame = TABLE, policy: Policy = POLICY) -> Distributions:
    return measure_distributions(Comparison.of(table, release, policy))


def test_total_variation_is_half_the_summed_difference() -> None:
    found = measured(TABLE.with_columns(age=pl.Series([20, 30, 30, 30]), town=pl.Series(["c", "c", "b", "b"])))
    # Ages 1/2, 1/2 become 1/4, 3/4. Towns a 1/4, b 3/4 become b 1/2, c 1/2.
    assert found.total_variation == {"age": 0.25, "town": 0.5, "pay": 0}


def test_a_range_is_spread_evenly_over_its_values() -> None:
    found = measured(TABLE.with_columns(age=pl.Series(["20-30", "20-30", "20", "20"])))
    # Each range is half a record at 20 and at 30: 3 and 1 of 4, against 2 and 2.
    assert found.total_variation["age"] == 0.25


def test_each_pair_takes_the_measure_of_its_kinds() -> None:
    kinds = {(p.first, p.second): p.kind for p in measured(TABLE).pairs}
    assert kinds == {
        ("age", "town"): Association.RATIO,
        ("age", "pay"): Association.PEARSON,
        ("town", "pay"): Association.RATIO,
    }


def test_the_three_associations_are_those_of_the_textbook() -> None:
    table = TABLE.with_columns(gender=pl.Series(["x", "x", "y", "y"]))
    policy = Policy.of(quasi=["age", "town", "gender"], sensitive="pay")
    pairs = {(p.first, p.second): p.original for p in measured(table, table, policy).pairs}
    assert pairs["age", "pay"] == pytest.approx(np.corrcoef([20, 20, 30, 30], [1, 2, 3, 4])[0, 1])
    # Pay by gender: means 1.5 and 3.5 about 2.5 give variance 1, of 1.25 in all.
    assert pairs["gender", "pay"] == pytest.approx(np.sqrt(1 / 1.25))
    # Town by gender: 1 1 / 0 2; chi² = 4 (1 / (2 1) + 1 / (2 3) + 4 / (2 3) - 1) = 4 / 3, over 4 records.
    assert pairs["town", "gender"] == pytest.approx(np.sqrt(1 / 3))


def test_a_range_keeps_its_own_spread_in_a_correlation() -> None:
    table = pl.DataFrame({"age": [0, 2, 4, 6], "pay": [0, 2, 4, 6]})
    policy = Policy.of(quasi="age", sensitive="pay")
    found = measured(table.with_columns(age=pl.Series(["0-2", "0-2", "4-6", "4-6"])), table, policy)
    # Age means 1 1 5 5: covariance (0 + 2 + 20 + 30) / 4 - 9 = 4; both variances (0 + 4 + 16 + 36) / 4 - 9 = 5.
    assert found.pairs[0].original == pytest.approx(1)
    assert found.pairs[0].released == pytest.approx(4 / 5)
    assert found.largest_change == found.mean_change == pytest.approx(1 / 5)


def test_a_pair_of_sets_is_spread_over_its_box() -> None:
    table = pl.DataFrame({"town": ["a", "b"], "gender": ["x", "y"], "pay": [1, 2]})
    policy = Policy.of(quasi=["town", "gender"], sensitive="pay")
    stars = table.with_columns(town=pl.Series(["*", "*"]), gender=pl.Series(["*", "*"]))
    pair = measured(stars, table, policy).pairs[0]
    assert [pair.original, pair.released] == pytest.approx([1, 0])


def test_an_attribute_without_variety_has_no_association() -> None:
    table = TABLE.with_columns(age=pl.Series([7] * 4), town=pl.Series(["a"] * 4))
    found = measured(table, table)
    assert [pair.original for pair in found.pairs] == [0, 0, 0]


def test_records_without_the_number_take_no_part() -> None:
    table = TABLE.with_columns(age=pl.Series([20, None, 30, 30]))
    pairs = {(p.first, p.second): p.original for p in measured(table, table).pairs}
    assert pairs["age", "pay"] == pytest.approx(np.corrcoef([20, 30, 30], [1, 3, 4])[0, 1])


ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.sampled_from("xy"), st.integers(0, 5)),
    min_size=2,
    max_size=8,
)
WIDE = Policy.of(quasi=["age", "town", "gender"], sensitive="pay")


def frame(rows: list[tuple[int, str, str, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["age", "town", "gender", "pay"], orient="row")


@settings(deadline=None, max_examples=50)
@given(ROWS)
def test_the_original_itself_changes_nothing(rows: list[tuple[int, str, str, int]]) -> None:
    found = measured(frame(rows), frame(rows), WIDE)
    assert set(found.total_variation.values()) == {0} and found.largest_change == 0


@settings(deadline=None, max_examples=50)
@given(ROWS)
def test_new_names_of_categories_change_no_measure(rows: list[tuple[int, str, str, int]]) -> None:
    table, release = frame(rows), frame(rows[1:] + rows[:1])
    names = {"a": "r", "b": "q", "c": "p"}
    renamed = [t.with_columns(pl.col("town").replace(names)) for t in (table, release)]
    one, other = measured(release, table, WIDE), measured(renamed[1], renamed[0], WIDE)
    assert one.total_variation == pytest.approx(other.total_variation)
    assert [p.released for p in one.pairs] == pytest.approx([p.released for p in other.pairs])


@settings(deadline=None, max_examples=50)
@given(ROWS)
def test_cramers_v_is_that_of_scipy(rows: list[tuple[int, str, str, int]]) -> None:
    table = frame(rows)
    counts = table.pivot("town", index="gender", values="pay", aggregate_function="len").fill_null(0)
    square = counts.drop("gender").to_numpy()
    pair = next(p for p in measured(table, table, WIDE).pairs if p.kind is Association.CRAMER)
    if min(square.shape) > 1:
        assert pair.original == pytest.approx(association(square, method="cramer"), abs=1e-9)
    else:
        assert pair.original == 0
