"""Random queries: what is asked, what boxes answer, and how errors are summarised."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muco.assess.answers import OPERATORS, Answers
from muco.assess.comparison import Comparison
from muco.assess.query import Aggregate, Queries
from muco.errors import PolicyError, TableError
from muco.policy import Policy

AGES = pl.DataFrame({"age": [20, 25, 30, 34], "town": ["a", "a", "b", "b"], "pay": [1, 2, 3, 10]})
POLICY = Policy.of(quasi=["age", "town"], sensitive="pay")
SUM, COUNT, AVG = Aggregate.SUM, Aggregate.COUNT, Aggregate.AVG


def comparison(release: pl.DataFrame, policy: Policy = POLICY) -> Comparison:
    return Comparison.of(AGES, release, policy)


def asked(*predicates: tuple[int, str, int]) -> Queries:
    """One query by hand: (attribute, operator, rank of the value), with its true answers."""
    attribute, operator, rank = zip(*predicates)
    numbers = [OPERATORS.index(word) for word in operator]
    made = Queries(len(rank), "pay", np.array([attribute]), np.array([numbers]), np.array([rank]), {})
    return made._asked(Answers.of_original(comparison(AGES)), comparison(AGES))


@pytest.mark.parametrize(
    ("operator", "total", "records"),
    [("=", 2, 1), ("!=", 14, 3), ("<", 1, 1), ("<=", 3, 2), (">", 13, 2), (">=", 15, 3)],
)
def test_a_number_is_asked_in_six_ways(operator: str, total: int, records: int) -> None:
    # Against the second age, 25: pays are 1, 2, 3, 10.
    query = asked((0, operator, 1))
    assert query.truth[SUM].tolist() == [total]
    assert query.truth[COUNT].tolist() == [records]
    assert query.truth[AVG].tolist() == [total / records]


def test_predicates_must_all_hold() -> None:
    # age > 25 and town = b: 3 and 10; age <= 30 and town = b: 3.
    assert asked((0, ">", 1), (1, "=", 1)).truth[SUM].tolist() == [13]
    assert asked((0, "<=", 2), (1, "=", 1)).truth[SUM].tolist() == [3]


def test_a_query_that_no_record_meets_is_not_asked() -> None:
    assert len(asked((0, "<", 0))) == 0
    assert len(asked((0, "=", 0), (1, "=", 1))) == 0


def test_a_box_answers_with_the_share_of_its_values() -> None:
    release = AGES.with_columns(
        age=pl.Series(["20-30", "20-30", "20-30", "34"]), town=pl.Series(["*", "*", "*", "b"])
    )
    made = comparison(release)
    # age >= 25 holds for 2 of 20, 25, 30, town = b for 1 of 2: each of the three rows counts 1/3. 34 and b: 1.
    error = asked((0, ">=", 1), (1, "=", 1)).answer(Answers.of(made), made)
    # Truth: 2 records, 13. Answered: 3 / 3 + 1 = 2 and (1 + 2 + 3) / 3 + 10 = 12.
    assert error[COUNT].mean == 0
    assert error[SUM].mean == pytest.approx(1 / 13)
    assert error[AVG].mean == pytest.approx(0.5 / 6.5)


def test_group_averages_answer_for_anatomy() -> None:
    # Groups {20, 25} and {30, 34} average 1.5 and 6.5. age > 25 and <= 30 is one record of pay 3, answered 6.5.
    made = comparison(AGES)
    answers = Answers.of(made, values=np.array([1.5, 1.5, 6.5, 6.5]))
    assert asked((0, "=", 2)).answer(answers, made)[SUM].mean == pytest.approx(3.5 / 3)
    assert asked((0, ">", 1)).answer(answers, made)[SUM].mean == 0


def test_a_missing_number_is_neither_below_nor_above_any() -> None:
    table = AGES.with_columns(age=pl.Series([20, 25, None, 34]))
    made = Comparison.of(table, table, POLICY)
    for operator, records in (("<", 1), (">=", 2), ("!=", 3)):
        query = Queries(
            1, None, np.array([[0]]), np.array([[OPERATORS.index(operator)]]), np.array([[1]]), {}
        )._asked(Answers.of_original(made), made)
        assert query.truth[COUNT].tolist() == [records]


def test_a_value_that_only_the_release_has_moves_no_query() -> None:
    made = comparison(AGES.with_columns(age=pl.Series([21, 25, 30, 34])))
    # The first of the original's ages is 20, though 21 now has a code too.
    assert asked((0, "=", 0)).answer(Answers.of(made), made)[SUM].mean == 1


def test_every_release_of_an_original_is_asked_the_same() -> None:
    one = Queries.of(comparison(AGES), width=2, count=50)
    other = Queries.of(comparison(AGES.with_columns(age=pl.Series(["*"] * 4))), width=2, count=50)
    for name in ("attribute", "operator", "rank"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert len(one) == 50 and (one.truth[COUNT] > 0).all()


def test_another_key_asks_other_queries() -> None:
    one, other = (Queries.of(comparison(AGES), count=50, width=2, key=bytes([key]) * 32) for key in (0, 1))
    assert not np.array_equal(one.rank, other.rank)


def test_attributes_of_a_query_differ_and_categories_are_only_equalled() -> None:
    queries = Queries.of(comparison(AGES), width=2, count=200)
    assert (queries.attribute[:, 0] != queries.attribute[:, 1]).all()
    assert (queries.operator[queries.attribute == 1] == 0).all()
    assert set(queries.operator[queries.attribute == 0].tolist()) == set(range(6))


def test_values_are_drawn_evenly_from_the_domain() -> None:
    # 4,000 queries of age alone: `!=` is never empty, so its ranks are uniform over 4. A share strays from 1/4 by
    # .09 (over 5 standard deviations of 667 draws, sqrt(.1875 / 667) = .017) once in 10^6 runs at most; key fixed.
    queries = Queries.of(comparison(AGES, Policy.of(quasi="age", sensitive="pay")), width=1, count=4000)
    ranks = queries.rank[queries.operator == 1]
    assert np.abs(np.bincount(ranks, minlength=4) / len(ranks) - 0.25).max() < 0.09


def test_words_can_only_be_counted() -> None:
    table = AGES.with_columns(pay=pl.Series(["low", "low", "mid", "high"]))
    made = Comparison.of(table, table, POLICY)
    assert set(Queries.of(made, width=1, count=10).answer(Answers.of(made), made)) == {COUNT}
    with pytest.raises(PolicyError, match="pay is no sensitive attribute of numbers"):
        Queries.of(made, width=1, summed="pay")


def test_what_cannot_be_asked_is_named() -> None:
    with pytest.raises(PolicyError, match="1 to 2 predicates, one a quasi-identifier, not 3"):
        Queries.of(comparison(AGES), width=3)
    with pytest.raises(PolicyError, match="at least 1"):
        Queries.of(comparison(AGES), width=1, count=0)
    nothing = AGES.with_columns(pay=pl.Series([0, 0, 0, 0]))
    with pytest.raises(TableError, match="no query of 1 predicates has a true answer"):
        Queries.of(Comparison.of(nothing, nothing, POLICY), width=1)


def test_the_mean_over_supported_queries_leaves_small_ones_out() -> None:
    table = pl.DataFrame({"age": [20] * 150 + [30] * 2, "pay": [1] * 151 + [2]})
    policy = Policy.of(quasi="age", sensitive="pay", attributes={"age": {"kind": "categorical"}})
    released = table.with_columns(age=pl.Series([20] * 151 + [30]))
    made = Comparison.of(table, released, policy)
    error = Queries.of(made, width=1, count=100).answer(Answers.of(made), made)[COUNT]
    # age = 20 is answered 151 for 150, age = 30 is answered 1 for 2.
    assert error.supported == pytest.approx(1 / 150)
    assert error.mean > 1 / 150 and 0 < error.supported_queries < 100


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.integers(1, 9)), min_size=1, max_size=8))
def test_the_original_itself_answers_exactly(rows: list[tuple[int, str, int]]) -> None:
    table = pl.DataFrame(rows, schema=["age", "town", "pay"], orient="row")
    made = Comparison.of(table, table, POLICY)
    for error in Queries.of(made, width=2, count=20).answer(Answers.of(made), made).values():
        assert (error.mean, error.variance, error.median) == (0, 0, 0)
