"""An original and a release over one domain: what a released cell covers, and which row is whose."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from muco.assess.comparison import Comparison
from muco.errors import TableError
from muco.layout import Layout
from muco.policy import Policy

AGES = pl.DataFrame({"age": [20, 25, 30, 34], "pay": [1, 2, 3, 4]})
POLICY = Policy.of(quasi="age", sensitive="pay")


def spans(cells: list[str], policy: Policy = POLICY) -> list[tuple[int, int]]:
    release = pl.DataFrame({"age": cells, "pay": AGES["pay"][: len(cells)]})
    made = Comparison.of(AGES, release, policy)
    return list(zip(made.low[:, 0].tolist(), made.high[:, 0].tolist()))


@pytest.mark.parametrize(
    ("cell", "span"),
    [
        ("25", (1, 1)),
        ("[20, 30)", (0, 1)),  # 25 is in it, 30 is not
        ("[20, 30[", (0, 1)),
        ("]20, 30]", (1, 2)),
        ("20-29", (0, 1)),
        ("20~34", (0, 3)),
        ("[25-30]", (1, 2)),
        ("['20-25']", (0, 1)),
        (">=30", (2, 3)),
        ("<30", (0, 1)),
        ("30+", (2, 3)),
        ("*", (0, 3)),
        ("{20, 34}", (0, 3)),
        ("26-29", (2, 1)),  # covers nobody
    ],
)
def test_a_released_cell_covers_the_codes_within_it(cell: str, span: tuple[int, int]) -> None:
    assert spans([cell, "20", "25", "30"])[0] == span


@pytest.mark.parametrize(
    ("cell", "span"),
    [
        ("20,5", (1, 1)),  # a number, no range from 20 to 5
        ("1.020,5", (3, 3)),
        ("[20,5; 30,5)", (1, 1)),  # 20,5 is in it, 30,5 is not
        ("[20,5, 30,5]", (1, 2)),
        ("[20, 30[", (0, 1)),
        ("20,5-30,5", (1, 2)),
        (">30", (2, 3)),
        ("30,5+", (2, 3)),
        ("<= 20,5", (0, 1)),
        ("[20; 1.020,5)", (0, 2)),
        ("{20,5; 30,5}", (1, 2)),
        ("{20, 30,5}", (0, 2)),
    ],
)
def test_a_range_is_written_as_the_numbers_of_its_table_are(cell: str, span: tuple[int, int]) -> None:
    policy = POLICY.model_copy(update={"table": Layout(decimal=",", thousands=".")})
    ages = AGES.with_columns(age=pl.Series(["20", "20,5", "30,5", "1.020,5"]))
    release = ages.with_columns(age=pl.Series([cell, "20", "20,5", "30,5"]))
    made = Comparison.of(ages, release, policy)
    assert (made.low[0, 0], made.high[0, 0]) == span


def test_a_comma_between_thousands_is_no_comma_between_ends() -> None:
    policy = POLICY.model_copy(update={"table": Layout(thousands=",")})
    ages = AGES.with_columns(age=pl.Series(["200", "1,000", "1,500", "2,000"]))
    release = ages.with_columns(age=pl.Series(["[1,000, 2,000)", "1,000", "200-1,000", "1,500+"]))
    made = Comparison.of(ages, release, policy)
    assert list(zip(made.low[:, 0], made.high[:, 0])) == [(1, 2), (1, 1), (0, 1), (2, 3)]


def test_a_label_of_the_hierarchy_covers_its_leaves() -> None:
    tree = {"South": ["a", "b"], "North": ["c"]}
    policy = Policy.of(quasi="town", sensitive="pay", attributes={"town": {"hierarchy": {"tree": tree}}})
    towns = pl.DataFrame({"town": ["a", "b", "c"], "pay": [1, 2, 3]})
    made = Comparison.of(towns, towns.with_columns(town=pl.Series(["South", "b", "North"])), policy)
    # North has one leaf, so it is that leaf.
    assert list(zip(made.low[:, 0], made.high[:, 0])) == [(0, 1), (1, 1), (2, 2)]


def test_a_value_that_nobody_has_gets_a_code_of_its_own() -> None:
    made = Comparison.of(AGES, AGES.with_columns(age=pl.Series([20, 27, 30, 34])), POLICY)
    assert made.original[:, 0].tolist() == [0, 1, 3, 4]
    assert made.low[:, 0].tolist() == [0, 2, 3, 4]


def test_categories_that_are_numbers_stand_in_their_order() -> None:
    policy = Policy.of(quasi="age", sensitive="pay", attributes={"age": {"kind": "categorical"}})
    table = pl.DataFrame({"age": ["9", "10", "11", "100"], "pay": [1, 2, 3, 4]})
    made = Comparison.of(table, table.with_columns(age=pl.Series(["9-11", "10", "11", "100"])), policy)
    assert made.original[:, 0].tolist() == [0, 1, 2, 3]
    assert (made.low[0, 0], made.high[0, 0]) == (0, 2)


def test_rows_are_aligned_where_everything_untouched_agrees() -> None:
    assert Comparison.of(AGES, AGES, POLICY).row.tolist() == [0, 1, 2, 3]
    assert Comparison.of(AGES, AGES[::-1], POLICY).record is None
    given = Comparison.of(AGES, AGES[::-1][:3], POLICY, record=np.array([3, 2, 1]))
    assert given.row.tolist() == [-1, 2, 1, 0]


def test_what_cannot_be_compared_is_named() -> None:
    with pytest.raises(TableError, match="the release has no attribute age"):
        Comparison.of(AGES, AGES.drop("age"), POLICY)
    with pytest.raises(TableError, match="each needs one record of its own"):
        Comparison.of(AGES, AGES, POLICY, record=np.array([0, 0, 1, 2]))
    with pytest.raises(TableError, match="not known: name a record column"):
        Comparison.of(AGES, AGES[::-1], POLICY).row  # noqa: B018


def test_the_controls_are_the_original_and_shuffled_rows() -> None:
    made = Comparison.of(AGES, AGES.with_columns(age=pl.Series(["*"] * 4)), POLICY)
    assert made.is_generalized and not made.raw().is_generalized
    assert made.raw().permuted(np.array([3, 0, 1, 2])).low[:, 0].tolist() == [3, 0, 1, 2]


@pytest.mark.parametrize("empty", [None, "NA"])
def test_a_cell_that_another_tool_suppressed_may_be_anything(empty: str | None) -> None:
    # The original always has a town, so the empty cell covers both; where it has none itself, empty is a value.
    table = pl.DataFrame({"town": ["a", "a", "b"], "pay": [1, 2, 3]})
    policy = Policy.of(quasi="town", sensitive="pay")
    made = Comparison.of(table, table.with_columns(town=pl.Series(["a", "a", empty])), policy)
    assert (made.low[2, 0], made.high[2, 0]) == (0, 1) and (made.low[:2] == made.high[:2]).all()
    missing = table.with_columns(town=pl.Series(["a", empty, "b"]))
    assert not Comparison.of(missing, missing, policy).is_generalized
