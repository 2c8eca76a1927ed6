"""All measures of a release in one result: classes, figures, requirements, verdict; worked on four people."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import muco
from muco.assess.alignment import read_record, repeat_rows
from muco.assess.assessment import Assessment, Effort, assess_release
from muco.assess.classes import class_sizes, measure_classes
from muco.assess.comparison import Comparison
from muco.assess.exposure import measure_exposure
from muco.assess.figures import Aspect
from muco.assess.requirement import Requirement, check_bounds
from muco.assess.verdict import THRESHOLDS, Finding, coarse
from muco.errors import PolicyError, TableError

POLICY = muco.Policy.of(quasi="age", sensitive="pay")
PEOPLE = pl.DataFrame({"age": [20, 25, 30, 34], "pay": [1, 2, 3, 3]})
RANGES = PEOPLE.with_columns(age=pl.Series(["20-25", "20-25", "30-34", "30-34"]))


def assess(release: pl.DataFrame = RANGES, **given: Any) -> Assessment:
    return assess_release(PEOPLE, release, POLICY, **given)


def values(assessment: Assessment) -> dict[str, float]:
    return {figure.name: figure.value for figure in assessment.figures}


def groups_of_four(records: int = 8, **switches: Any) -> tuple[pl.DataFrame, Any, Any]:
    """People of distinct ages and pays, whom the median parts into two groups of four, released by muco."""
    table = pl.DataFrame({"age": np.arange(records), "pay": np.arange(records)})
    release, hidden = muco.anonymize_with_hidden(
        table, quasi="age", sensitive="pay", diversity=4, key=bytes(32), **switches
    )
    return table, release, hidden


def test_classes_are_rows_equal_in_every_released_value() -> None:
    found = measure_classes(Comparison.of(PEOPLE, RANGES, POLICY))
    assert (found.number, found.smallest, found.mean, found.alone) == (2, 2, 2.0, 0.0)


def test_the_worst_class_gives_l_in_every_form() -> None:
    # Classes of pays (1, 2) and (3, 3): the second has one value, which fills it, and an entropy of 0.
    (found,) = measure_classes(Comparison.of(PEOPLE, RANGES, POLICY)).diversity
    assert (found.distinct, found.frequency, found.entropy) == (1, 1.0, 1.0)
    assert found.recursive == np.inf  # neither class has ten values


def test_recursive_diversity_compares_the_commonest_with_the_tail() -> None:
    # One class with pays 1, 1, 2, 3: at l = 2 the commonest, 2, is c times the rest, 2: c = 1.
    people = PEOPLE.with_columns(pay=pl.Series([1, 1, 2, 3]), age=pl.Series([20, 20, 20, 20]))
    policy = muco.Policy.of(quasi="age", sensitive="pay", diversity=2)
    (found,) = measure_classes(Comparison.of(people, people, policy)).diversity
    assert (found.recursive, found.level) == (1.0, 2)


def test_closeness_moves_earth_along_the_order_of_values() -> None:
    # Pays 1, 2, 3 with shares 1/4, 1/4, 1/2. The class (1, 2) is off by 1/4 after 1 and 1/2 after 2: (3/4) / 2.
    (found,) = measure_classes(Comparison.of(PEOPLE, RANGES, POLICY)).diversity
    assert found.closeness == pytest.approx(3 / 8)


def test_closeness_of_categories_is_half_the_absolute_difference() -> None:
    # Of a, b, c, c: the class (a, b) is 1/4 + 1/4 + 1/2 away in all, half of it is 1/2; so is (c, c).
    table = PEOPLE.with_columns(pay=pl.Series(["a", "b", "c", "c"]))
    release = table.with_columns(age=RANGES["age"])
    (found,) = measure_classes(Comparison.of(table, release, POLICY)).diversity
    assert found.closeness == pytest.approx(1 / 2)


def test_the_largest_classes_do_not_hide_behind_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muco.assess.classes._BLOCK", 3)  # one class of three values a block
    (found,) = measure_classes(Comparison.of(PEOPLE, RANGES, POLICY)).diversity
    assert found.closeness == pytest.approx(3 / 8)


def test_presence_is_the_share_of_those_covered_who_are_in_the_release() -> None:
    # The second class lost a row: one of the two whom 30-34 covers is in it.
    found = measure_classes(Comparison.of(PEOPLE, RANGES[:3], POLICY))
    assert found.presence == (0.5, 1.0)


def test_class_sizes_count_equal_records() -> None:
    assert class_sizes(np.array([[1, 2], [1, 2], [1, 3]], dtype=np.int32)).tolist() == [2, 2, 1]


def test_every_figure_has_a_name_of_its_own() -> None:
    names = [figure.name for figure in assess().figures]
    assert len(set(names)) == len(names)


def test_identity_and_attribute_come_out_by_hand() -> None:
    # Everybody matches two rows, one of them their own; pay is one of two, one of two, both, both.
    found = values(assess())
    assert (found["identity@1"], found["attribute@1:pay"], found["k"]) == (0.5, 0.75, 2)


def test_the_proof_is_one_over_the_smallest_group() -> None:
    table, release, hidden = groups_of_four()
    assessment = assess_release(table, release, hidden.outcome.groups.microdata.policy, hidden=hidden)
    assert assessment.proven == assessment.risk == 1 / hidden.outcome.smallest_group
    assert "proven, not estimated" in assessment.verdict.sentence


def test_nothing_is_proven_of_preset_paper() -> None:
    table, release, hidden = groups_of_four(delta="1/2")
    assessment = assess_release(table, release, hidden.outcome.groups.microdata.policy, hidden=hidden)
    assert assessment.proven is None and assessment.informed is not None
    assert assessment.risk == assessment.informed.record.rate.value
    assert any("Delta 1/2 limits an average" in limit for limit in assessment.verdict.limits)


def test_without_hidden_the_verdict_says_that_nobody_who_knows_groups_was_tried() -> None:
    assert "nobody who knows it was tried" in assess().verdict.sentence


def test_an_unaligned_release_has_no_risk_and_passes_no_gate() -> None:
    assessment = assess(RANGES[::-1])
    assert assessment.risk is None and "identity@1" not in values(assessment)
    assert "which row is whose" in check_bounds(assessment, max_risk=1.0)[0]


def test_a_hidden_of_another_run_is_refused() -> None:
    table, _, hidden = groups_of_four()
    other = muco.anonymize(table, quasi="age", sensitive="pay", diversity=4, key=b"\1" * 32)
    with pytest.raises(TableError, match="hidden file is of another run"):
        assess_release(table, other, hidden.outcome.groups.microdata.policy, hidden=hidden)


def test_the_same_tables_give_the_same_figures() -> None:
    assert assess().to_json() == assess().to_json()


def test_a_full_effort_asks_wider_queries() -> None:
    assert {e.width for e in assess(effort=Effort.FULL).queries} == {1}  # one quasi-identifier


def test_who_was_told_rows_of_the_group_is_tried_at_full_effort() -> None:
    # Two groups of four with equal rows: told one row of each, 1/3 is left; told half of them, 1/2.
    table, release, hidden = groups_of_four()
    found = values(assess_release(table, release, hidden.policy, hidden=hidden, effort=Effort.FULL))
    assert (found["corruption:1"], found["corruption:2"]) == pytest.approx((1 / 3, 1 / 2))


def test_every_risk_has_its_controls_or_says_why_not() -> None:
    table, release, hidden = groups_of_four(delta="1/2")
    assessment = assess_release(table, release, hidden.policy, hidden=hidden, effort=Effort.FULL)
    for figure in assessment.figures:
        if figure.aspect is Aspect.RISK:
            assert figure.chance is not None, figure.name
            assert figure.raw is not None or "no raw control" in figure.note, figure.name


def test_groups_formed_without_sensitive_values_have_no_minimality_and_say_why() -> None:
    table, release, hidden = groups_of_four(principle="anonymity")
    assessment = assess_release(table, release, hidden.policy, hidden=hidden, effort=Effort.FULL)
    assert "minimality" not in values(assessment)
    assert any("no sensitive value was looked at" in words for words in assessment.verdict.proven)


def test_json_is_plain_and_tells_the_verdict() -> None:
    words = json.loads(assess().to_json())
    assert words["aligned"] and len(words["regulator"]) == 3
    assert next(f for f in words["figures"] if f["name"] == "recursive:pay")["value"] is None


def test_the_notebook_shows_the_verdict_and_no_cell() -> None:
    table = PEOPLE.with_columns(pay=pl.Series(["canary1", "canary2", "canary3", "canary3"]))
    assessment = assess_release(table, table.with_columns(age=RANGES["age"]), POLICY)
    assert "singling out" in assessment._repr_html_()
    assert "canary" not in assessment._repr_html_() + repr(assessment) + assessment.to_json()


def test_a_frame_has_a_row_a_figure() -> None:
    assessment = assess()
    assert assessment.to_frame()["name"].to_list() == [figure.name for figure in assessment.figures]


@pytest.mark.parametrize(
    ("text", "is_met"),
    [
        ("k>=2", True),
        ("k >= 3", False),
        ("l>=1", True),
        ("distinct:pay>1", False),
        ("t<=0.375", True),
        ("identity@1.0<=1/2", True),
        ("attribute@1 < 0.7", False),
        ("k=2", True),
    ],
)
def test_a_requirement_is_a_figure_a_comparison_and_a_number(text: str, is_met: bool) -> None:  # noqa: FBT001
    assert Requirement.parse(text).is_met(assess()) is is_met


@pytest.mark.parametrize("text", ["k", "k>=", ">=5", "k>=five", "k>=1/0", "k==5", "identity@x<1"])
def test_a_requirement_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(PolicyError, match="is not understood"):
        Requirement.parse(text)


def test_a_figure_that_was_not_measured_is_named_with_the_nearest() -> None:
    with pytest.raises(PolicyError, match="no figure nearst was measured: did you mean nearest"):
        Requirement.parse("nearst<1").is_met(assess())


def test_a_failure_says_what_was_asked_and_found() -> None:
    assert check_bounds(assess(), [Requirement.parse("k>=5")]) == ["k >= 5 asked, k is 2"]


def test_risk_above_the_bound_fails_and_at_the_bound_passes() -> None:
    assessment = assess()
    assert check_bounds(assessment, max_risk=0.5) == []
    assert "it is 0.5000" in check_bounds(assessment, max_risk=0.4)[0]


def test_thresholds_are_met_from_the_loosest_on() -> None:
    assert Finding("linkability", 0.06, "").meets == THRESHOLDS[:2]
    assert Finding("linkability", None, "").meets == ()


def test_no_share_in_words_counts_fewer_than_ten_people() -> None:
    shares = np.arange(1, 10) / 500
    assert {coarse(float(share), 500) for share in shares} == {"less than 2 %"}
    assert {coarse(float(1 - share), 500) for share in shares} == {"more than 98 %"}


def test_record_numbers_count_from_nought_or_one() -> None:
    for first in (0, 1):
        release = RANGES.with_columns(id=pl.Series([3, 2, 1, 0]) + first)
        assert read_record(PEOPLE, release, "id").tolist() == [3, 2, 1, 0]


def test_a_key_of_both_tables_tells_whose_a_row_is() -> None:
    key = pl.Series("id", ["d", "a", "c", "b"])
    assert read_record(PEOPLE.with_columns(key), RANGES.with_columns(key.reverse()), "id").tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize(
    ("ids", "message"),
    [([2, 3], "neither from 0 nor from 1"), (["x", "y"], "no record numbers")],
)
def test_numbers_beyond_doubt_or_none(ids: list[Any], message: str) -> None:
    with pytest.raises(TableError, match=message):
        read_record(PEOPLE, RANGES[:2].with_columns(id=pl.Series(ids)), "id")


def test_a_key_that_repeats_or_is_unknown_is_refused() -> None:
    keyed = PEOPLE.with_columns(id=pl.Series([1, 1, 2, 3]))
    with pytest.raises(TableError, match="repeats a value"):
        read_record(keyed, keyed, "id")
    with pytest.raises(TableError, match="1 rows of the release name no record"):
        read_record(
            PEOPLE.with_columns(id=pl.Series([1, 2, 3, 4])), RANGES.with_columns(id=pl.Series([1, 2, 3, 9])), "id"
        )


def test_a_row_of_several_people_becomes_as_many_rows() -> None:
    grouped = pl.DataFrame({"age": ["20-25", "30-34"], "pay": [1, 3], "count": ["2", "1"]})
    assert repeat_rows(grouped, "count").rows() == [("20-25", 1), ("20-25", 1), ("30-34", 3)]


def test_exposure_tells_who_is_unique_and_what_makes_them_so() -> None:
    # Ages 20, 20, 30, 30 with sex 1, 2, 1, 1: the first two are unique, and nobody is by either alone.
    table = pl.DataFrame({"age": [20, 20, 30, 30], "sex": [1, 2, 1, 1], "pay": [1, 2, 3, 3]})
    found = measure_exposure(table, muco.Policy.of(quasi=["age", "sex"], sensitive="pay"))
    assert (found.unique, found.found, found.smallest) == (0.5, 0.75, 1)
    assert [(d.attribute, d.alone, d.without) for d in found.drivers] == [("sex", 0.25, 0.0), ("age", 0.0, 0.25)]
    assert (found.untouched_names, found.untouched) == (("pay",), 0.5)
    assert dict(found.sizes) == {1: 0.5, 2: 0.5, 3: 0, 5: 0, 10: 0, 20: 0}
