"""The paper, address by address: its definitions, property, corollary, examples and the lines of its algorithms."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import polars as pl
import pytest
from pytest import approx

import muco
from muco.errors import InfeasibleError, PolicyError
from muco.example import generate
from muco.microdata import Groups
from muco.release import Hidden
from reference import single_value_risk

KEY = "5a" * 32
# Figure 4's kind of table: eight people, ages and genders, and a disease each.
PEOPLE = pl.DataFrame(
    {
        "age": [28, 28, 29, 31, 45, 46, 46, 52],
        "gender": ["F", "M", "M", "F", "M", "F", "M", "F"],
        "disease": ["flu", "gastritis", "flu", "bronchitis", "pneumonia", "ulcer", "bronchitis", "gastritis"],
    }
)
QUASI = ("age", "gender")


def groups_of(**switches: Any) -> Groups:
    switches = {"delta": "1/2", "diversity": 4, **switches}
    policy = muco.Policy.of(quasi=QUASI, sensitive="disease", **switches)
    return muco.divide_table(muco.Microdata.of(PEOPLE, policy, key=KEY))


@pytest.fixture(scope="module")
def run() -> tuple[muco.Release, Hidden]:
    """Preset paper on 2,000 records of the example table."""
    table = generate(2_000).drop("person_id", "gender")
    quasi = [name for name in table.columns if name != "salary"]
    return muco.anonymize_with_hidden(table, quasi=quasi, sensitive="salary", delta="1/4", diversity=6, key=KEY)


def ages(*years: int) -> muco.OutputTable:
    """The table of one group of people with these ages, at delta 1/2."""
    frame = pl.DataFrame({"age": years, "disease": range(len(years))})
    policy = muco.Policy.of(quasi="age", sensitive="disease", delta="1/2", diversity=len(years))
    return muco.calculate_table(muco.divide_table(muco.Microdata.of(frame, policy))[0], "age")


# ---- Section 3


def test_definition_1_a_random_output_table_has_a_row_a_record_and_rows_that_sum_to_one() -> None:
    for group in groups_of():
        for attribute in QUASI:
            table = muco.calculate_table(group, attribute)
            assert table.numerators.shape == (len(group), len(table.values))
            assert table.numerators.min() >= 0
            assert [sum(map(int, row)) for row in table.numerators] == [table.total] * len(group)


def test_definition_2_the_strategy_puts_each_record_in_one_group_and_draws_from_its_tables() -> None:
    groups = groups_of()
    assert sorted(record for group in groups for record in group.records) == list(range(8))
    for group in groups:
        for attribute in QUASI:
            table = muco.calculate_table(group, attribute)
            drawn = muco.output_values(table, key=KEY)
            for row, value in zip(table.numerators, drawn, strict=True):
                assert row[table.values.index(value)] > 0


@pytest.mark.parametrize("delta", ["1/2", "1/3", "0.3", "2/5", "1/4", "1"])
def test_definition_3_no_probability_is_above_delta_of_its_column(delta: str) -> None:
    for group in groups_of(delta=delta):
        for attribute in QUASI:
            assert muco.calculate_table(group, attribute).delta <= Fraction(delta)


def test_example_1_three_people_of_28_28_and_29_cover_for_each_other_at_cost_one() -> None:
    # On the optimal face P(28 -> 29) = q and P(29 -> 28) = 1 - 2q: cost 2q + 1 - 2q = 1, in units of one year.
    table = ages(28, 28, 29)
    q = table.probabilities[0, 1]
    assert table.cost == approx(1, abs=1e-9)
    assert q == approx(0.29105, abs=5e-6)
    assert 5 / q == approx(2 / (1 - q) + 6 / (1 - 2 * q), abs=1e-6)
    assert table.probabilities == approx(np.array([[1 - q, q], [1 - q, q], [1 - 2 * q, 2 * q]]))


def test_figure_3_the_papers_own_table_lies_in_the_same_optimal_set() -> None:
    # It prints .7129 .2871 twice and .4258 .5742: rows sum to one, cost .2871 + .2871 + .4258 = 1 = ours, and
    # both columns keep 1/2: .7129 <= (.7129 + .7129 + .4258)/2 and .5742 <= (.2871 + .2871 + .5742)/2.
    printed = [[0.7129, 0.2871], [0.7129, 0.2871], [0.4258, 0.5742]]
    assert [sum(row) for row in printed] == approx([1, 1, 1])
    assert printed[0][1] + printed[1][1] + printed[2][0] == approx(ages(28, 28, 29).cost)
    assert all(max(column) <= sum(column) / 2 + 1e-12 for column in zip(*printed))


def test_figure_3_is_how_a_table_prints() -> None:
    assert str(ages(28, 28, 29)) == (
        "age      28      29\n28   0.7089  0.2911\n28   0.7089  0.2911\n29   0.4179  0.5821"
    )


def test_example_1_helen_is_found_by_her_age_with_probability_3791() -> None:
    # Of the others with 28: none .2871 * .5742 = .16485, both .7129 * .4258 = .30355, one .53160.
    # .7129 (.16485 + .53160 / 2 + .30355 / 3) = .37914. The paper prints .3741.
    exact = 0.7129 * (0.2871 * 0.5742 + (1 - 0.2871 * 0.5742 - 0.7129 * 0.4258) / 2 + 0.7129 * 0.4258 / 3)
    assert exact == approx(0.3791, abs=5e-5)
    assert single_value_risk([0.7129, 0.7129, 0.4258], 1) == approx(exact)


@pytest.mark.parametrize("delta", ["1/5", "0.2499", "1/1000000"])
def test_property_1_a_delta_below_one_over_m_is_refused_before_any_work(delta: str) -> None:
    with pytest.raises(InfeasibleError, match=r"delta must be at least 1/4 \(Property 1\)"):
        groups_of(delta=delta)
    with pytest.raises(InfeasibleError, match=r"delta must be at least 1/4 \(Property 1\)"):
        muco.calculate_table(groups_of()[0], "age", delta)


def test_property_1_one_over_m_itself_is_met_by_equal_rows() -> None:
    table = muco.calculate_table(groups_of()[0], "age", "1/4")
    assert table.delta == Fraction(1, 4)
    assert (table.numerators == table.numerators[0]).all()


def test_property_1_at_delta_1_nothing_is_limited_and_above_it_there_is_no_delta() -> None:
    table = muco.calculate_table(groups_of()[0], "age", 1)
    assert table.cost == 0
    for delta in (0, -1, 1.1, "7/6"):
        with pytest.raises(PolicyError, match=r"must be above 0 and at most 1 \(Definition 3\)"):
            muco.calculate_table(groups_of()[0], "age", delta)


def test_corollary_1_each_value_of_every_table_of_a_run_may_come_from_four_records(
    run: tuple[muco.Release, Hidden],
) -> None:
    _, hidden = run
    groups, tables = hidden.outcome.groups, hidden.tables[0]
    checked = 0
    for number, group in enumerate(groups):
        for attribute in range(len(groups.microdata.quasi)):
            _, members, columns, numerators, _ = tables.table(number, attribute)
            strength = (members[:, None] * (numerators > 0)).sum(axis=0)
            assert set(strength[strength > 0] >= ceil(1 / Fraction(1, 4))) == {True}
            checked += len(columns)
        assert len(group) >= 6
    assert checked > 5_000


def test_corollary_1_counts_one_more_record_where_one_over_delta_is_not_whole() -> None:
    # 1/delta = 2.5: three records.
    for attribute in QUASI:
        table = muco.calculate_table(groups_of()[0], attribute, "2/5")
        strength = (table.numerators > 0).sum(axis=0)
        assert all(count >= 3 for count in strength if count)


# ---- Algorithm 1


def test_algorithm_1_line_1_the_microdata_are_copied_and_stay_as_they_are() -> None:
    before = PEOPLE.clone()
    release = muco.anonymize(PEOPLE, quasi=QUASI, sensitive="disease", delta="1/2", diversity=4)
    assert PEOPLE.equals(before)
    assert release.data is not PEOPLE


def test_algorithm_1_line_2_no_group_has_a_disease_in_more_than_one_of_l_records() -> None:
    groups = groups_of(delta="1/2", diversity=2)
    assert len(groups) > 1
    for group in groups:
        assert PEOPLE["disease"][group.records.tolist()].value_counts()["count"].max() * 2 <= len(group)


def test_algorithm_1_lines_3_and_4_every_group_and_every_attribute_has_one_table(
    run: tuple[muco.Release, Hidden],
) -> None:
    _, hidden = run
    groups, (tables,) = hidden.outcome.groups, hidden.tables
    found = set(zip(*(column.tolist() for column in tables.flat()[:2])))
    assert found == {(g, a) for g in range(len(groups)) for a in range(len(groups.microdata.quasi))}


def test_algorithm_1_line_5_the_objective_is_least_among_tables_that_meet_the_constraints() -> None:
    # Ages 28 28 29: with P(28 -> 29) = q twice and P(29 -> 28) = r the cost is 2q + r. Column 29 asks for
    # 1 - r <= delta (1 - r + 2q). At 1/2: r >= 1 - 2q, cost 1. At 2/3: r >= 1 - 4q, least at q = 1/4: 1/2.
    table = ages(28, 28, 29)
    assert muco.calculate_table(table.group, "age", "2/3").cost == approx(1 / 2, abs=1e-9)
    assert table.cost == approx(1, abs=1e-9)


def test_algorithm_1_line_5_takes_its_columns_from_the_domain_within_the_group() -> None:
    values = groups_of(delta="1/2", columns="domain")[0]
    table = muco.calculate_table(values, "age")
    low, high = min(table.original), max(table.original)
    assert table.values == tuple(age for age in sorted(set(PEOPLE["age"])) if low <= age <= high)


def test_algorithm_1_line_by_line_gives_the_run() -> None:
    policy = muco.Policy.of(quasi=QUASI, sensitive="disease", delta="1/2", diversity=4)
    made: list[tuple[Any, ...]] = []
    for group in muco.divide_table(muco.Microdata.of(PEOPLE, policy, key=KEY)):
        tables = {attribute: muco.calculate_table(group, attribute) for attribute in QUASI}
        outputs = {attribute: muco.output_values(table, key=KEY) for attribute, table in tables.items()}
        outputs = muco.randomize_unchanged_tuples(group, outputs, key=KEY)
        made += zip(*outputs.values(), PEOPLE["disease"][group.records.tolist()], strict=True)
    release = muco.anonymize(PEOPLE, policy, key=KEY)
    assert sorted(made) == sorted(release.data.rows())


def test_algorithm_1_line_10_the_anonymized_table_has_the_form_of_the_microdata() -> None:
    release = muco.anonymize(PEOPLE, quasi=QUASI, sensitive="disease", delta="1/2", diversity=4)
    assert release.data.schema == PEOPLE.schema
    assert len(release.data) == len(PEOPLE)


# ---- Section 4


def test_definition_4_a_distance_is_never_negative() -> None:
    for distance in groups_of()[0].microdata.distances:
        codes = np.arange(distance.size, dtype=np.int32)
        pairs = [np.ascontiguousarray(side.ravel()) for side in np.meshgrid(codes, codes)]
        apart = distance.between(*pairs).reshape(distance.size, distance.size)
        assert apart.min() == 0
        assert (apart == apart.T).all()


def test_definition_5_numbers_are_as_far_apart_as_their_difference() -> None:
    distance = groups_of()[0].microdata.distances[0]  # ages 28 29 31 45 46 52: a range of 24 years
    first = np.zeros(6, dtype=np.int32)
    apart = distance.between(first, np.arange(6, dtype=np.int32)) * distance.scale
    assert apart.tolist() == approx([0, 1, 3, 17, 18, 24])


# ---- Algorithm 2


def repaired(outputs: dict[str, list[Any]], repair: int = 1, **switches: Any) -> tuple[list[tuple[Any, ...]], ...]:
    """The tuples of the first group before and after Algorithm 2."""
    group = groups_of(**switches)[0]
    after = muco.randomize_unchanged_tuples(group, outputs, key=KEY, repair=repair)
    return list(zip(*outputs.values(), strict=True)), list(zip(*after.values(), strict=True))


def originals(**switches: Any) -> dict[str, list[Any]]:
    records = groups_of(**switches)[0].records.tolist()
    return {attribute: PEOPLE[attribute][records].to_list() for attribute in QUASI}


def test_algorithm_2_line_1_an_attribute_that_does_not_vary_in_the_group_has_no_weight() -> None:
    table = pl.DataFrame({"age": [1, 1, 1, 9], "zip": [3, 4, 5, 6], "disease": [1, 2, 3, 4]})
    policy = muco.Policy.of(quasi=["age", "zip"], sensitive="disease", delta="1/3", diversity=3)
    group = muco.divide_table(muco.Microdata.of(table[:3], policy))[0]
    outputs = {"age": [1, 1, 1], "zip": table["zip"][group.records.tolist()].to_list()}
    for key in range(50):
        after = muco.randomize_unchanged_tuples(group, outputs, key=bytes([key] * 32))
        assert after["age"] == [1, 1, 1]


def test_algorithm_2_lines_2_to_4_only_unchanged_tuples_are_touched_until_they_differ() -> None:
    outputs = originals()
    outputs["age"][0] = 29 if outputs["age"][0] != 29 else 28  # the first tuple has changed already
    before, after = repaired(outputs)
    assert after[0] == before[0]
    assert all(a != b for a, b in zip(before[1:], after[1:], strict=True))


def test_algorithm_2_lines_5_and_6_a_new_value_lies_in_the_range_of_the_group() -> None:
    outputs = originals()
    for key in range(50):
        after = muco.randomize_unchanged_tuples(groups_of()[0], outputs, key=bytes([key] * 32))
        assert min(outputs["age"]) <= min(after["age"])
        assert max(after["age"]) <= max(outputs["age"])
        assert set(after["gender"]) <= set(outputs["gender"])


def test_algorithm_2_footnote_as_many_values_are_perturbed_as_are_asked_for() -> None:
    whole: dict[str, Any] = {"principle": "anonymity", "diversity": 8}  # one group, where both vary
    before, after = repaired(originals(**whole), repair=2, **whole)
    assert all(a != b for x, y in zip(before, after, strict=True) for a, b in zip(x, y, strict=True))


def test_algorithm_2_line_9_the_group_comes_back_whole() -> None:
    before, after = repaired(originals())
    assert len(after) == len(before) == len(groups_of()[0])


def test_section_5_1_nobody_is_found_by_all_quasi_identifiers(run: tuple[muco.Release, Hidden]) -> None:
    release, hidden = run
    outcome = hidden.outcome
    same = (outcome.original == outcome.released).all(axis=1)
    assert same.sum() == outcome.unrepairable
    repaired_tuples = release.certificate.repair["repaired"]
    assert isinstance(repaired_tuples, int) and repaired_tuples > 0
