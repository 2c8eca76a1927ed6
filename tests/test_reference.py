"""The oracle itself, on worlds worked by hand: every expected value is derived in the comment beside it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pytest import approx

from reference import (
    Distance,
    Principle,
    World,
    divide,
    gather,
    halves,
    is_satisfied,
    line_distance,
    matrix_distance,
    mondrian,
    movers_distance,
    repair_outcomes,
    single_value_risk,
    sweep_order,
    tree_distance,
    widest_first,
)

TWO = Principle("frequency", 2)


def world(
    codes: Sequence[tuple[int, ...]],
    sensitive: Sequence[int],
    distances: list[Distance],
    principle: Principle = TWO,
) -> World:
    """A world with one sensitive attribute, its records tagged by their number."""
    tags = list(range(len(codes)))
    return World(list(codes), [(s,) for s in sensitive], tags, distances, principle, [max(sensitive) + 1], [False])


def on_a_line(sensitive: Sequence[int], principle: Principle = TWO, *, apart: bool = True) -> World:
    """Records at 0, 1, 2, ..., or all at 0, with these sensitive codes."""
    codes = [(i if apart else 0,) for i in range(len(sensitive))]
    return world(codes, sensitive, [line_distance(range(len(sensitive)))], principle)


def groups_of(made: list[tuple[int, list[int]]]) -> list[list[int]]:
    return [group for _, group in made]


# ---- distances


def test_the_line_distance_is_the_gap_over_the_range() -> None:
    # 20, 25, 40: range 20, gaps 5, 15, 20.
    assert line_distance([20, 25, 40]).rows == [[0, 0.25, 1], [0.25, 0, 0.75], [1, 0.75, 0]]


def test_the_tree_distance_is_the_height_of_the_lowest_common_ancestor() -> None:
    # ((a, b), (c, d)): siblings meet half-way up, cousins at the root.
    assert tree_distance([0.5, 1, 0.5]).rows[0] == [0, 0.5, 1, 1]
    assert tree_distance([0.5, 1, 0.5]).rows[2] == [1, 1, 0, 0.5]


def test_an_own_distance_is_divided_by_its_largest() -> None:
    assert matrix_distance([[0, 2, 4], [2, 0, 1], [4, 1, 0]]).rows == [
        [0, 0.5, 1],
        [0.5, 0, 0.25],
        [1, 0.25, 0],
    ]


def test_a_missing_value_is_farthest_from_every_other_value() -> None:
    assert line_distance([3, 4, 7], missing=True).rows[3] == [1, 1, 1, 0]
    assert line_distance([], missing=True).rows == [[0]]
    assert line_distance([3], missing=True).rows == [[0, 1], [1, 0]]


# ---- principles


@pytest.mark.parametrize(
    ("principle", "counts", "kept"),
    [
        (Principle("frequency", 3), (2, 2, 2), True),  # 2 * 3 <= 6
        (Principle("frequency", 3), (3, 2, 1), False),  # 3 * 3 > 6
        (Principle("distinct", 3), (4, 1, 1), True),
        (Principle("distinct", 3), (3, 3), False),
        (Principle("entropy", 2), (2, 2), True),  # ln 2 itself
        (Principle("entropy", 2), (2, 1), False),  # .637 < .693
        (Principle("entropy", 2), (4, 1, 1), True),  # .868
        (Principle("recursive", 2, c=2), (3, 2), True),  # 3 < 2 * 2
        (Principle("recursive", 2, c=2), (4, 2), False),  # 4 < 2 * 2 does not hold
        (Principle("recursive", 2, c=2), (4, 2, 1), True),  # 4 < 2 * (2 + 1)
        (Principle("recursive", 3, c=9), (2, 2), False),  # only two values
        (Principle("anonymity", 4), (4,), True),
        (Principle("anonymity", 5), (4,), False),
        (Principle("distinct", 1), (4,), True),
    ],
)
def test_a_principle_is_kept_by_counts(principle: Principle, counts: tuple[int, ...], kept: bool) -> None:  # noqa: FBT001
    sensitive = [value for value, count in enumerate(counts) for _ in range(count)]
    some = on_a_line(sensitive, principle)
    assert is_satisfied(some, some.everybody) is kept


def test_the_movers_distance_of_ordered_values_counts_how_far() -> None:
    # Table (1, 1, 1), group (1, 0, 0): gaps 2/3, -1/3, -1/3. Unordered: half of 4/3.
    # Ordered: (2/3 + 1/3 + 0) / 2.
    assert movers_distance([1, 0, 0], [1, 1, 1], ordered=False) == approx(2 / 3)
    assert movers_distance([1, 0, 0], [1, 1, 1], ordered=True) == approx(1 / 2)
    assert movers_distance([0, 1, 0], [1, 1, 1], ordered=True) == approx(1 / 3)
    assert movers_distance([2], [5], ordered=True) == 0


def test_closeness_compares_a_group_with_the_table() -> None:
    # Table 4 : 4. Group of records 0..4 has 4 : 1, so its distance is |.8 - .5| = .3.
    sensitive = [0, 0, 0, 0, 1, 1, 1, 1]
    assert is_satisfied(on_a_line(sensitive, Principle("closeness", 2, t=0.3)), range(5))
    assert not is_satisfied(on_a_line(sensitive, Principle("closeness", 2, t=0.29)), range(5))


def test_every_sensitive_attribute_must_keep_the_principle() -> None:
    both: list[tuple[int, ...]] = [(0, 0), (1, 0), (0, 1), (1, 0)]  # 2 : 2 and 3 : 1
    some = World([(0,)] * 4, both, [0] * 4, [line_distance([0])], TWO, [2, 2], [False, False])
    assert not is_satisfied(some, some.everybody)
    assert is_satisfied(some, [1, 2])


# ---- partition


def test_a_node_is_cut_at_its_median_and_below_its_largest_code() -> None:
    even = on_a_line([0, 1, 0, 1])
    assert halves(even, even.everybody, 0) == ([0, 1], [2, 3])
    # codes 0 1 1 1: the median 1 is the largest, so the cut is 0
    top = world([(1,), (1,), (0,), (1,)], [0, 1, 0, 1], [line_distance([5, 6])])
    assert halves(top, top.everybody, 0) == ([2], [0, 1, 3])


def test_the_widest_attribute_comes_first_and_attribute_order_breaks_ties() -> None:
    # Among records 0..2: 4 of 8 wide; 2 of 4 wide; 2 of 2 wide; a single code.
    lines = [line_distance([0, 4, 8]), line_distance([0, 2, 4]), line_distance([0, 2]), line_distance([1, 9])]
    some = world([(0, 0, 0, 0), (1, 1, 1, 0), (0, 0, 0, 0), (2, 2, 1, 1)], [0, 1, 0, 1], lines)
    assert widest_first(some, [0, 1, 2]) == [2, 0, 1]


def test_a_missing_value_beside_another_makes_an_attribute_as_wide_as_can_be() -> None:
    lines = [line_distance([0, 1, 9]), line_distance([0, 1, 9], missing=True)]
    some = world([(0, 0), (1, 3), (2, 1)], [0, 1, 0], lines)
    assert widest_first(some, [0, 1]) == [1, 0]  # 1/9 and 1
    assert widest_first(some, [0, 2]) == [0, 1]  # 1 and 1/9: nothing is missing here
    assert halves(some, [0, 1, 2], 1) == ([0, 2], [1])  # codes 0 1 3: cut at 1


def test_mondrian_cuts_only_where_both_sides_keep_the_principle() -> None:
    assert mondrian(on_a_line([0, 1, 0, 1]), range(4)) == [[0, 1], [2, 3]]
    assert mondrian(on_a_line([0, 0, 1, 1]), range(4)) == [[0, 1, 2, 3]]  # either side would be all one value
    # 5 records: median is the third, 3 and 2; with l = 3 the right side is too small.
    assert mondrian(on_a_line([0] * 5, Principle("anonymity", 2)), range(5)) == [[0, 1, 2], [3, 4]]
    assert mondrian(on_a_line([0] * 5, Principle("anonymity", 3)), range(5)) == [[0, 1, 2, 3, 4]]


def test_mondrian_tries_the_next_widest_attribute() -> None:
    # The first attribute puts both 0s left; the narrower second one splits each pair.
    lines = [line_distance([0, 1, 2, 3]), line_distance([0, 1, 9])]
    some = world([(0, 0), (1, 1), (2, 0), (3, 1)], [0, 0, 1, 1], lines)
    assert mondrian(some, range(4)) == [[0, 2], [1, 3]]


def test_a_leaf_is_listed_by_codes_then_sensitive_code_then_tag() -> None:
    some = World(
        [(1,), (0,), (0,), (0,)],
        [(0,), (1,), (0,), (0,)],
        [0, 0, 9, 8],
        [line_distance([0, 1])],
        TWO,
        [2],
        [False],
    )
    assert mondrian(some, range(4)) == [[3, 2, 1, 0]]


def test_the_sweep_cuts_down_to_equal_records() -> None:
    # Square: the first attribute is cut first (tie), then the second: (0,0) (0,1) (1,0) (1,1);
    # equal records by sensitive code.
    lines = [line_distance([0, 1]), line_distance([0, 1])]
    some = world([(1, 1), (0, 1), (1, 0), (0, 0), (0, 1)], [0, 1, 0, 1, 0], lines)
    assert sweep_order(some, range(5)) == [3, 4, 1, 2, 0]


# ---- groupings


def test_buckets_takes_the_fullest_and_ties_by_whose_record_is_first() -> None:
    # Buckets 3 2 1, l = 2. Six left: 0 and 1 fullest. Then 2 1 1: the tie goes to record 4. Then 1 1.
    some = on_a_line([0, 0, 0, 1, 1, 2], apart=False)
    assert groups_of(divide(some, "buckets")) == [[0, 3], [1, 4], [2, 5]]


def test_neighbours_takes_the_nearest_where_buckets_takes_the_fullest() -> None:
    # In sweep order 2 3 0 0 1 1. Six left: nothing is forced (2 * 2 <= 4), so the first two.
    # Then 2 * 2 > 2 forces both 0 and 1.
    some = on_a_line([2, 3, 0, 0, 1, 1])
    assert groups_of(divide(some, "neighbours", "table")) == [[0, 1], [2, 4], [3, 5]]
    # By fullness 0 and 1 come first, then 2 and 3, whose records are first among four single buckets.
    assert gather(some, some.everybody, "buckets") == [[2, 4], [0, 1], [3, 5]]


def test_neighbours_includes_the_buckets_that_eligibility_forces() -> None:
    # In sweep order 1 2 1 0 0 0: six left, 3 * 2 > 4 forces the 0s, the first record joins them: 0 and 3.
    # Four left, 2 * 2 > 2 forces the 0s again: 1 and 4. Two left: both.
    assert groups_of(divide(on_a_line([1, 2, 1, 0, 0, 0]), "neighbours", "table")) == [[0, 3], [1, 4], [2, 5]]


def test_a_group_grows_until_the_rest_is_eligible() -> None:
    # Three single buckets, l = 2: after two, one is left, and 1 * 2 > 1; so all three at once.
    assert groups_of(divide(on_a_line([0, 1, 2], apart=False), "buckets")) == [[0, 1, 2]]
    # Four buckets of 2, l = 3: after three, 4 buckets have 2 * 3 > 5; four are taken, twice.
    four = on_a_line([0, 0, 1, 1, 2, 2, 3, 3], Principle("frequency", 3), apart=False)
    assert groups_of(divide(four, "buckets")) == [[0, 2, 4, 6], [1, 3, 5, 7]]


def test_with_anonymity_every_record_is_its_own_bucket() -> None:
    # l = 2, five left: two, as 1 * 2 <= 3; three left: 1 * 2 > 1 three times, so all three.
    some = on_a_line([0] * 5, Principle("anonymity", 2))
    assert divide(some, "neighbours", "table") == [(0, [0, 1]), (0, [2, 3, 4])]
    assert divide(some, "neighbours", "leaf") == [(0, [0, 1, 2]), (1, [3, 4])]  # the leaves, as above


def test_with_other_principles_the_leaf_is_the_group() -> None:
    # Cut at the median: 4 and 3 records, each with both values; cut again: 2 and 2, but not 2 and 1.
    some = on_a_line([0, 1, 0, 1, 0, 1, 0], Principle("distinct", 2))
    assert divide(some, "buckets") == [(0, [0, 1]), (1, [2, 3]), (2, [4, 5, 6])]


# ---- Algorithm 2, and the risk of a single value


def test_repair_chooses_by_weight_and_then_any_value() -> None:
    # (A, B), weights 1 and 1/2: A -> 1 by 2/3 * 1/2, B -> 1 or 2 by 1/3 * 1/3 each; of the 5/9 that change
    # anything these are 3/5, 1/5, 1/5.
    outcomes = repair_outcomes((0, 0), [1, 0.5], [[0, 1], [0, 1, 2]], 1)
    assert outcomes == {(1, 0): approx(0.6), (0, 1): approx(0.2), (0, 2): approx(0.2)}


def test_repair_goes_on_until_enough_values_differ_or_none_is_left() -> None:
    assert repair_outcomes((0, 0), [1, 1], [[0, 1], [0, 1]], 2) == {(1, 1): approx(1)}
    assert repair_outcomes((0, 7), [1, 0], [[0, 1], [7]], 2) == {(1, 7): approx(1)}
    assert repair_outcomes((0, 7), [0, 0], [[0], [7]], 1) == {(0, 7): 1}


def test_the_risk_of_a_single_value_is_the_papers_helen() -> None:
    # Figure 3, column 28: .7129 .7129 .4258. Others with 28: none .2871 * .5742 = .1649, both .7129 * .4258
    # = .3036, one the rest .5316; .7129 (.1649 + .5316 / 2 + .3036 / 3) = .3791.
    assert single_value_risk([0.7129, 0.7129, 0.4258], 1) == approx(0.3791, abs=5e-5)
    # own value for certain, two others by a coin each: 1/4 + 1/2 / 2 + 1/4 / 3 = 7/12
    assert single_value_risk([0.5, 1, 0.5], 1) == approx(7 / 12)
