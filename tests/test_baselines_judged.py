"""Releases of Mondrian and Anatomy are judged on the same scale as those of mutual cover, also from their files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from muco.assess.assessment import Effort, assess_release
from muco.assess.evidence import Evidence
from muco.assess.groups import measure_groups
from muco.assess.public import tell_achieved
from muco.baselines import anatomize_with_groups, generalize_with_groups
from muco.errors import TableError
from muco.policy import Policy
from muco.release import Parts
from shell import muco

KEY = bytes(32)
# Ages 20 20 30 40 with pays 1 2 1 2, l = 2: every group of Anatomy has one of each pay.
TABLE = pl.DataFrame({"age": [20, 20, 30, 40], "pay": [1, 2, 1, 2]})
POLICY = Policy.of(quasi="age", sensitive="pay", diversity=2)


def figures(text: str) -> dict[str, dict[str, Any]]:
    return {figure["name"]: figure for figure in json.loads(text)["figures"]}


def parts(group: list[int], pay: list[tuple[int, int, int]]) -> Parts:
    second = pl.DataFrame(pay, schema=["group", "pay", "count"], orient="row")
    return Parts.of(TABLE.select("age", group=pl.Series(group)), second, POLICY)


def test_rows_of_a_group_that_look_alike_share_the_guess() -> None:
    # Both aged 20 are one group: each row is theirs with 1/2. The group of 30 and 40 tells its rows apart.
    seen = Evidence.of(TABLE, parts([7, 7, 8, 8], [(7, 1, 1), (7, 2, 1), (8, 1, 1), (8, 2, 1)]), POLICY)
    found = seen.measure_informed()
    assert found is not None and found.record.rate.value == pytest.approx((1 / 2 + 1 / 2 + 1 + 1) / 4)
    assert found.attribute["pay"].rate.value == 1 / 2
    assert found.record.chance is not None and found.record.chance.value == 1 / 2


def test_a_group_of_one_pay_tells_it() -> None:
    # Group 7 holds pay 1 twice, group 8 pay 2 twice: who knows the group knows the pay.
    told = parts([7, 8, 7, 8], [(7, 1, 2), (8, 2, 2)])
    found = {figure.name: figure.value for figure in assess_release(TABLE, told, POLICY).figures}
    assert (found["informed-inference:pay"], found["l:pay"], found["loss"]) == (1.0, 1.0, 0.0)


def test_mondrian_links_with_one_over_its_groups_and_no_more() -> None:
    # The median cut at 20 leaves pays 1 2 on either side: two groups of two.
    release, kept = generalize_with_groups(TABLE, POLICY, key=KEY)
    judged = assess_release(TABLE, release, POLICY, hidden=kept)
    assert judged.proven == 1 / 2 and judged.informed is not None
    assert judged.informed.record.rate.value == 1 / 2
    assert "the groups and every quasi-identifier" in judged.verdict.sentence
    assert "random output tables" not in " ".join((judged.verdict.sentence, *judged.verdict.proven))


def test_the_verdict_on_anatomy_says_that_rows_are_found_and_values_are_not() -> None:
    anatomy, kept = anatomize_with_groups(TABLE, POLICY, key=KEY)
    sentence = assess_release(TABLE, anatomy, POLICY, hidden=kept).verdict.sentence
    assert sentence.startswith("Quasi-identifiers are released as they are")
    assert "with probability at most 50 %" in sentence


def test_both_tables_are_aligned_by_what_anatomy_publishes_of_a_person() -> None:
    # Rows in another order: 40 20 30 20. Which of the two aged 20 a row is given does not matter.
    table = pl.DataFrame({"age": [40, 20, 30, 20], "group": [1, 2, 1, 2]})
    second = pl.DataFrame({"group": [1, 1, 2, 2], "pay": [1, 2, 1, 2], "count": [1, 1, 1, 1]})
    seen = Evidence.of(TABLE, Parts.of(table, second, POLICY), POLICY).comparison
    assert seen.record is not None and sorted(seen.record) == [0, 1, 2, 3]
    assert TABLE["age"].to_numpy()[seen.record].tolist() == [40, 20, 30, 20]


def test_tables_of_other_people_stay_unaligned() -> None:
    other = Parts(
        TABLE.select(age=pl.Series([1, 2, 3, 4]), group=pl.Series([1, 1, 2, 2])), second(), "group", "count"
    )
    assert Evidence.of(TABLE, other, POLICY).comparison.record is None


def second() -> pl.DataFrame:
    return pl.DataFrame({"group": [1, 1, 2, 2], "pay": [1, 2, 1, 2], "count": [1, 1, 1, 1]})


@pytest.mark.parametrize(
    ("group", "pay", "message"),
    [
        ([1, 1, 2, 2], [(1, 1, 1), (2, 2, 1)], "2 groups have another number of rows than of sensitive values"),
        ([1, 1, 1, 1], [(1, 1, 4), (2, 2, 1)], "1 groups have another number"),
        ([1, 1, 1, 1], [(1, 1, 0)], "a count from 1"),
    ],
)
def test_tables_that_do_not_belong_together_are_refused(
    group: list[int], pay: list[tuple[int, int, int]], message: str
) -> None:
    with pytest.raises(TableError, match=message):
        assess_release(TABLE, parts(group, pay), POLICY)


def test_a_second_table_of_another_form_is_refused() -> None:
    with pytest.raises(TableError, match=r"not Anatomy's two tables: .* \(1 found\).* have \(0\).* counts \(0\)"):
        Parts.of(TABLE.select("age"), TABLE.select("pay"), POLICY)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    # Ages 0 to 59 once each, pays 0 to 5 in turn.
    table = pl.DataFrame({"age": range(60), "pay": [place % 6 for place in range(60)]})
    table.write_csv(tmp_path / "in.csv")
    return tmp_path


ROLES = ("--quasi", "age", "--sensitive", "pay")


def publish(folder: Path, method: str, *more: str) -> Any:
    return muco(
        "anonymize",
        folder / "in.csv",
        "-o",
        folder / "out.csv",
        *ROLES,
        "--diversity",
        "3",
        "--method",
        method,
        *more,
    )


def test_anatomys_second_table_is_found_beside_the_first(folder: Path) -> None:
    assert publish(folder, "anatomy").code == 0
    ran = muco("assess", folder / "in.csv", folder / "out.csv", *ROLES, "--json")
    found = figures(ran.out)
    assert found["nearest"]["value"] == 1 and found["loss"]["value"] == 0 and found["l:pay"]["value"] >= 3
    assert found["informed-inference:pay"]["value"] == pytest.approx(1 / 3, abs=0.01)
    (folder / "out.sensitive.csv").rename(folder / "second.csv")
    named = muco(
        "assess",
        folder / "in.csv",
        folder / "out.csv",
        *ROLES,
        "--json",
        "--sensitive-table",
        folder / "second.csv",
    )
    assert named.out == ran.out
    assert "has no attribute pay" in muco("assess", folder / "in.csv", folder / "out.csv", *ROLES).err


def test_compare_scores_anatomys_files_like_its_own_run(folder: Path) -> None:
    publish(folder, "anatomy")
    given = ("--runs", "1", "--json", "--release", f"files={folder / 'out.csv'}")
    rows = {
        row["setting"]: row
        for row in json.loads(muco("compare", folder / "in.csv", *ROLES, "--diversity", "3", *given).out)
    }
    assert rows["files"]["nearest"] == rows["Anatomy"]["nearest"] == 1 and rows["files"]["informed"] == 1


@pytest.mark.parametrize(("method", "found"), [("mondrian", "proven"), ("anatomy", "informed")])
def test_certificates_of_baselines_tell_achieved_risks(folder: Path, method: str, found: str) -> None:
    assert publish(folder, method).code == 0
    achieved = json.loads((folder / "out.certificate.json").read_text())["achieved"]
    risks = {risk["figure"]: risk for risk in achieved["risks"]}
    assert found in risks and {"value", "interval", "raw_table", "chance"} <= risks["nearest"].keys()
    assert [each["question"] for each in achieved["regulator"]] == ["singling out", "linkability", "inference"]


def test_a_reason_lets_a_baseline_pass_and_is_recorded(folder: Path) -> None:
    assert publish(folder, "anatomy", "--max-risk", "0.5").code == 4
    assert not (folder / "out.csv").exists() and not (folder / "out.sensitive.csv").exists()
    assert publish(folder, "anatomy", "--max-risk", "0.5", "--accept-risk", "for the audit").code == 0
    gate = json.loads((folder / "out.certificate.json").read_text())["gate"]
    assert (gate["informed_risk"], gate["accepted_because"]) == (1.0, "for the audit")


@pytest.mark.parametrize("method", ["mondrian", "anatomy"])
def test_the_gate_and_the_judge_find_the_same(method: str) -> None:
    run = generalize_with_groups if method == "mondrian" else anatomize_with_groups
    release, kept = run(TABLE, POLICY.model_copy(update={"max_risk": 1.0}), key=KEY)
    judged = assess_release(TABLE, release, POLICY, hidden=kept, effort=Effort.RISKS)
    assert release.certificate.gate["informed_risk"] == round(judged.risk or 0, 4)
    assert tell_achieved(judged)["risks"]


def test_without_scikit_learn_a_judgement_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    models = assess_release(TABLE, TABLE, POLICY).models
    assert models is not None and models.propensity is None and "pip install muco[ml]" in models.missing


def test_models_tell_how_many_people_they_saw() -> None:
    table = pl.DataFrame({"age": range(40), "pay": [place // 20 for place in range(40)]})
    judged = assess_release(table, table, POLICY)
    assert judged.models is not None and judged.models.note == ""
    learned = next(figure for figure in judged.figures if figure.name == "learning:pay")
    # The original teaches as much as itself.
    assert learned.value == learned.raw


def test_groups_count_their_own_members() -> None:
    # Ranges 20-25 twice and 30-34 twice in groups of two: 1/2; known to stand in one group of four: 1/2 still.
    ranges = TABLE.with_columns(age=pl.Series(["20-25", "20-25", "30-40", "30-40"]))
    seen = Evidence.of(TABLE, ranges, POLICY).comparison
    assert measure_groups(seen, np.array([0, 0, 0, 0])).record.rate.value == 1 / 2
