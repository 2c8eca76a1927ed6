"""Information loss in two units: what a move and a width are, over the original's own range."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muco.assess.comparison import Comparison
from muco.assess.loss import Loss, measure_loss
from muco.policy import Policy

AGES = pl.DataFrame({"age": [20, 22, 24, 29], "pay": [1, 2, 3, 4]})
POLICY = Policy.of(quasi="age", sensitive="pay")


def loss_of(cells: list[str | None], table: pl.DataFrame = AGES, policy: Policy = POLICY) -> Loss:
    name = policy.quasi[0]
    return measure_loss(Comparison.of(table, table.with_columns(pl.Series(name, cells)), policy))


def test_a_number_moves_by_its_difference_over_the_extent() -> None:
    # Extent 29 - 20 + 1 = 10: moves 2, 0, 0, 5; a value has no width.
    loss = loss_of(["22", "22", "24", "24"])
    assert loss.total_move == pytest.approx(0.7)
    assert loss.total_width == 0
    assert loss.changed == {"age": 0.5}


def test_a_range_moves_by_the_mean_over_the_values_it_covers() -> None:
    # [20, 24] covers 20, 22, 24. From 20: (0 + 2 + 4) / 3 = 2, from 22: 4 / 3, from 24: 2. Widths 4 each, over 10.
    loss = loss_of(["[20, 24]", "[20, 24]", "[20, 24]", "29"])
    assert loss.total_move == pytest.approx((2 + 4 / 3 + 2) / 10)
    assert loss.total_width == pytest.approx(12 / 10)


def test_a_range_that_leaves_its_value_out_moves_all_of_its_draws() -> None:
    # From 29 to [20, 22]: (9 + 7) / 2 = 8; from 20 to [24, 29]: (4 + 9) / 2 = 6.5.
    assert loss_of(["[24, 29]", "22", "24", "[20, 22]"]).total_move == pytest.approx((6.5 + 8) / 10)


def test_the_extent_is_that_of_the_original() -> None:
    # 129 is nobody's age: the extent stays 10, so the move is 100 / 10.
    assert loss_of(["20", "22", "24", "129"]).total_move == pytest.approx(10)


def test_a_missing_value_is_a_whole_unit_from_all_others() -> None:
    table = pl.DataFrame({"age": [20, None, 24, 29], "pay": [1, 2, 3, 4]})
    # A number lost: 1. A number for none: 1. The star covers 20, 24, 29 and missing: from missing 3 / 4.
    assert loss_of([None, "20", "24", "29"], table).total_move == pytest.approx(2)
    assert loss_of(["20", "*", "24", "29"], table).total_move == pytest.approx(3 / 4)
    # From 24 the star moves (4 + 0 + 5) / 10 and 1 for missing, over 4 values.
    assert loss_of(["20", None, "*", "29"], table).total_move == pytest.approx((0.9 + 1) / 4)


def test_categories_move_by_their_tree_and_count_their_leaves() -> None:
    tree = {"South": ["a", "b"], "North": ["c", "d"]}
    policy = Policy.of(quasi="town", sensitive="pay", attributes={"town": {"hierarchy": {"tree": tree}}})
    table = pl.DataFrame({"town": ["a", "b", "c", "d"], "pay": [1, 2, 3, 4]})
    loss = loss_of(["b", "South", "*", "d"], table, policy)
    # a to b: 1/2. b in South: (1/2 + 0) / 2. c anywhere: (1 + 1 + 0 + 1/2) / 4. Widths (2 - 1) / 4 and (4 - 1) / 4.
    assert loss.total_move == pytest.approx(1 / 2 + 1 / 4 + 2.5 / 4)
    assert loss.total_width == pytest.approx(1 / 4 + 3 / 4)


def test_without_alignment_only_widths_are_measured() -> None:
    shuffled = pl.DataFrame({"age": ["[20, 24]", "20", "22", "24"], "pay": [4, 1, 2, 3]})
    loss = measure_loss(Comparison.of(AGES, shuffled, POLICY))
    assert loss.move is None and loss.total_move is None and loss.changed is None
    assert loss.total_width == pytest.approx(0.4)
    assert loss.to_frame()["move"].null_count() == 1


def test_suppressed_records_are_counted_and_not_summed() -> None:
    loss = measure_loss(Comparison.of(AGES, AGES[:2], POLICY, record=np.array([0, 1])))
    assert (loss.records, loss.suppressed, loss.total_move) == (2, 2, 0)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc")), min_size=2, max_size=8))
def test_the_original_itself_loses_nothing(rows: list[tuple[int, str]]) -> None:
    table = pl.DataFrame(rows, schema=["age", "town"], orient="row").with_row_index("pay")
    policy = Policy.of(quasi=["age", "town"], sensitive="pay")
    loss = measure_loss(Comparison.of(table, table, policy))
    assert (loss.total_move, loss.total_width) == (0, 0)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(-3, 12), min_size=2, max_size=8), st.data())
def test_ranges_move_as_a_plain_sum_over_their_values_says(ages: list[int], data: st.DataObject) -> None:
    ends = [sorted(data.draw(st.tuples(st.sampled_from(ages), st.sampled_from(ages)))) for _ in ages]
    table = pl.DataFrame({"age": ages, "pay": range(len(ages))})
    extent = max(ages) - min(ages) + 1
    covered = [[v for v in set(ages) if a <= v <= b] for a, b in ends]
    moves = [sum(abs(v - age) for v in values) / len(values) for age, values in zip(ages, covered)]
    loss = loss_of([f"[{a}, {b}]" for a, b in ends], table)
    assert loss.total_move == pytest.approx(sum(moves) / extent)
    assert loss.total_width == pytest.approx(sum(b - a for a, b in ends) / extent)
