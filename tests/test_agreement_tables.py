"""The compiled core equals the oracle: random output tables, at their cost and centre, on any group."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings
from pytest import approx

import twin
from reference_cover import calculate_table
from test_agreement import axes_of_every_kind, few, matrices
from twin import Axis, entry, table_of, tables_of


@st.composite
def problems(draw: Any) -> tuple[Axis, list[int], Fraction, str, str]:
    """A group of up to 9 records on one attribute, and any delta in [1/m, 1]."""
    axis = draw(axes_of_every_kind)
    codes = draw(st.lists(st.integers(0, axis.size - 1), min_size=1, max_size=9))
    m = len(codes)
    whole = st.integers(1, m).map(lambda k: Fraction(1, k))
    between = st.fractions(Fraction(1, m), 1, max_denominator=60)
    cover, columns = draw(
        st.sampled_from([("cheapest", "observed"), ("cheapest", "domain"), ("balanced", "observed")])
    )
    return axis, codes, draw(st.one_of(whole, between)), cover, columns


@given(problem=problems())
@settings(few, max_examples=300)
def test_a_table_of_the_core_has_the_oracles_columns_cost_and_centre(
    problem: tuple[Axis, list[int], Fraction, str, str],
) -> None:
    axis, codes, delta, cover, columns = problem
    made = table_of(codes, axis, delta, cover=cover, columns=columns)
    offered, centre, cost = calculate_table(codes, axis.oracle, delta, cover=cover, columns=columns)
    assert made.columns.tolist() == offered
    assert made.keeps(delta)
    assert made.cost(axis.oracle) == approx(cost, abs=1e-9)
    assert np.abs(made.probabilities - centre).max() < 1e-6


@st.composite
def uneven_problems(draw: Any) -> tuple[Axis, list[int], Fraction, str, str]:
    """The same with up to 12 records on a line where some values lie 10,000 times nearer than others."""
    near, far = st.integers(0, 9), st.integers(0, 10_000)
    axis = twin.line(sorted(draw(st.lists(st.one_of(near, far), min_size=2, max_size=6, unique=True))))
    codes = draw(st.lists(st.integers(0, axis.size - 1), min_size=2, max_size=12))
    delta = draw(st.fractions(Fraction(1, len(codes)), 1, max_denominator=60))
    return axis, codes, delta, *draw(st.sampled_from([("cheapest", "observed"), ("balanced", "observed")]))


@given(problem=uneven_problems())
@settings(few, max_examples=200)
def test_a_table_has_that_cost_and_centre_where_some_values_lie_far_nearer_than_others(
    problem: tuple[Axis, list[int], Fraction, str, str],
) -> None:
    axis, codes, delta, cover, columns = problem
    made = table_of(codes, axis, delta, cover=cover, columns=columns)
    _, centre, cost = calculate_table(codes, axis.oracle, delta, cover=cover, columns=columns)
    assert made.keeps(delta)
    assert made.cost(axis.oracle) == approx(cost, abs=1e-9 * max(map(max, axis.oracle.rows)))
    assert np.abs(made.probabilities - centre).max() < 1e-6


@given(problem=problems())
@few
def test_a_balanced_table_keeps_the_groups_counts(
    problem: tuple[Axis, list[int], Fraction, str, str],
) -> None:
    axis, codes, delta, _, _ = problem
    made = table_of(codes, axis, delta, cover="balanced")
    counts = [codes.count(code) for code in made.columns]
    # Closed forms are exact; solved tables are off by what rounding to integers moves.
    off = max(abs(total - count * made.total) for total, count in zip(made.sums, counts))
    assert off <= (1e-10 * made.total if made.total == 2**48 else 0)


@given(problem=problems(), data=st.data())
@few
def test_the_order_of_records_moves_no_probability(
    problem: tuple[Axis, list[int], Fraction, str, str], data: st.DataObject
) -> None:
    axis, codes, delta, cover, columns = problem
    shuffle = data.draw(st.permutations(range(len(codes))))
    made = table_of(codes, axis, delta, cover=cover, columns=columns)
    other = table_of([codes[i] for i in shuffle], axis, delta, cover=cover, columns=columns)
    assert np.array_equal(other.numerators, made.numerators[shuffle])


@given(positions=st.lists(st.integers(0, 40), min_size=2, max_size=6, unique=True), data=st.data())
@few
def test_a_line_read_backwards_shifted_or_stretched_gives_the_same_table(
    positions: list[int], data: st.DataObject
) -> None:
    ahead = sorted(positions)
    codes = data.draw(st.lists(st.integers(0, len(ahead) - 1), min_size=2, max_size=9))
    delta = data.draw(st.fractions(Fraction(1, len(codes)), 1, max_denominator=30))
    made = table_of(codes, twin.line(ahead), delta)
    moved = table_of(codes, twin.line([3 * place - 700 for place in ahead]), delta)
    back = table_of([len(ahead) - 1 - code for code in codes], twin.line([-place for place in ahead[::-1]]), delta)
    assert moved.probabilities == approx(made.probabilities, abs=1e-8)
    assert back.probabilities[:, ::-1] == approx(made.probabilities, abs=1e-8)


@given(rows=matrices(), data=st.data())
@few
def test_values_under_other_names_give_the_same_table(rows: Axis, data: st.DataObject) -> None:
    codes = data.draw(st.lists(st.integers(0, rows.size - 1), min_size=2, max_size=8))
    delta = data.draw(st.fractions(Fraction(1, len(codes)), 1, max_denominator=30))
    rename = data.draw(st.permutations(range(rows.size)))
    square = np.array(rows.oracle.rows)
    renamed = np.empty_like(square)
    renamed[np.ix_(rename, rename)] = square
    if not square.any():
        return
    made = table_of(codes, twin.matrix(square.tolist()), delta)
    other = table_of([rename[code] for code in codes], twin.matrix(renamed.tolist()), delta)
    places = np.searchsorted(other.columns, [rename[code] for code in made.columns])
    assert other.probabilities[:, places] == approx(made.probabilities, abs=1e-8)


def test_tight_is_one_over_m_for_every_group_of_a_batch() -> None:
    axis = twin.line([1, 2, 5, 9])
    groups = [[(0,), (1,)], [(0,), (2,), (2,)], [(3,)] * 4]
    tables = tables_of(groups, [axis], None, "cheapest", "observed")
    for number, group in enumerate(groups):
        codes = [code for (code,) in group]
        alone = table_of(codes, axis, Fraction(1, len(codes)))
        assert np.array_equal(entry(tables, codes, group=number).probabilities, alone.probabilities)
