"""The oracle's random output tables, on worlds worked by hand: expected values are derived in the comments."""

from __future__ import annotations

from fractions import Fraction

import pytest
from pytest import approx

from reference import line_distance, tree_distance
from reference_cover import calculate_table, column_codes


def test_the_papers_example_has_cost_one_and_its_centre() -> None:
    # Ages 28, 28, 29 at 1/2: on the optimal face P(28->29) = q, P(29->28) = 1 - 2q, cost 2q + 1 - 2q = 1.
    # The barrier 2 log q (1-q) + 2 log (.5-q) q + log (1-2q) 2q (the limits of 29 are constant, .5 and 0) is
    # greatest where 5/q = 2/(1-q) + 6/(1-2q).
    columns, p, cost = calculate_table([0, 0, 1], line_distance([28, 29]), Fraction(1, 2))
    q = float(p[0, 1])
    assert columns == [0, 1]
    assert cost == approx(1, abs=1e-9)
    assert q == approx(0.29105, abs=5e-6)
    assert 5 / q - 2 / (1 - q) - 6 / (1 - 2 * q) == approx(0, abs=1e-7)
    assert p.tolist() == [approx([1 - q, q]), approx([1 - q, q]), approx([1 - 2 * q, 2 * q])]


def test_a_limit_that_binds_nobody_still_counts_for_the_centre() -> None:
    # Values 0, 1 (four times), 2 on a line, balanced, delta 1/2: 0 and 2 stay with 1/2, go to 1 with x and to
    # each other with 1/2 - x; then each 1 goes to 0 and to 2 with x/4. Cost 4 * 2 * x/4 + 2 (x + 2 (1/2 - x))
    # = 2 whatever x is, over the length 2. Limits: 2 for column 1, 1/2 for the others. The barrier per side is
    # log x (2-x) + log (.5-x) x + 4 log x/4 (.5 - x/4), and for staying at 1, 4 log (1 - x/2)(1 + x/2).
    _, p, cost = calculate_table([0, 1, 1, 1, 1, 2], line_distance([0, 1, 2]), Fraction(1, 2), cover="balanced")
    x = float(p[0, 1])
    assert cost == approx(1, abs=1e-9)
    assert 6 / x - 7 / (2 - x) - 2 / (1 - 2 * x) + 2 / (2 + x) == approx(0, abs=1e-7)
    assert p[1].tolist() == approx([x / 4, 1 - x / 2, x / 4], abs=1e-9)


def test_delta_one_gives_the_identity() -> None:
    _, p, cost = calculate_table([0, 2, 2], line_distance([0, 1, 5]), Fraction(1))
    assert p.tolist() == [approx([1, 0]), approx([0, 1]), approx([0, 1])]
    assert cost == approx(0, abs=1e-9)


def test_the_smallest_delta_gives_the_weighted_median_spread_over_ties() -> None:
    # 0 0 1 3: columns 0 and 1 cost 4 each, 2 and 3 cost 6 and 8; over the length 3.
    columns, p, cost = calculate_table([0, 0, 1, 3], line_distance(range(4)), Fraction(1, 4), columns="domain")
    assert columns == [0, 1, 2, 3]
    assert cost == approx(4 / 3, abs=1e-9)
    assert p.tolist() == [approx([0.5, 0.5, 0, 0], abs=1e-9)] * 4


def test_the_smallest_delta_balanced_gives_everybody_the_groups_distribution() -> None:
    # Each 0 pays 1/4 * 1/3 + 1/4 * 1, the 1 pays 1/2 * 1/3 + 1/4 * 2/3, the 3 pays 1/2 + 1/4 * 2/3: 5/3.
    _, p, cost = calculate_table([0, 0, 1, 3], line_distance(range(4)), Fraction(1, 4), cover="balanced")
    assert p.tolist() == [approx([0.5, 0.25, 0.25], abs=1e-9)] * 4
    assert cost == approx(5 / 3, abs=1e-9)


def test_three_values_alike_share_what_they_give_away() -> None:
    # 0/1 distance, delta 1/2, balanced: the diagonal is 1/2; p_01 = x makes p_02 = 1/2 - x; by symmetry 1/4.
    _, p, cost = calculate_table([0, 1, 2], tree_distance([1, 1]), Fraction(1, 2), cover="balanced")
    assert cost == approx(1.5, abs=1e-9)
    assert p.tolist() == [approx([0.5, 0.25, 0.25]), approx([0.25, 0.5, 0.25]), approx([0.25, 0.25, 0.5])]


def test_the_columns_are_observed_or_the_domain_within_the_range() -> None:
    line = line_distance(range(6), missing=True)
    assert column_codes([4, 1, 6, 4], line, "observed") == [1, 4, 6]
    assert column_codes([4, 1, 6, 4], line, "domain") == [1, 2, 3, 4, 6]
    assert column_codes([6, 6], line, "domain") == [6]


def test_a_value_that_nobody_has_may_be_offered_but_only_by_the_domain() -> None:
    # 0 and 2 at 1/2 = 1/m: every column of the line costs 2/2, so the domain's three share evenly.
    columns, p, _ = calculate_table([0, 2], line_distance([0, 1, 2]), Fraction(1, 2), columns="domain")
    assert columns == [0, 1, 2]
    assert p.tolist() == [approx([1 / 3] * 3)] * 2


def test_a_missing_value_is_covered_like_any_other() -> None:
    # 5 and missing at 1/2: one apart, so either column costs 1 and they share evenly.
    columns, p, cost = calculate_table([0, 2], line_distance([5, 9], missing=True), Fraction(1, 2))
    assert columns == [0, 2]
    assert cost == approx(1, abs=1e-9)
    assert p.tolist() == [approx([0.5, 0.5])] * 2


def test_property_1_refuses_a_delta_below_one_over_m() -> None:
    with pytest.raises(AssertionError, match="Property 1"):
        calculate_table([0, 1, 1], line_distance([0, 1]), Fraction(33, 100))
