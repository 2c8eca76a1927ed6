"""Settings side by side, and the search for the one that keeps a risk at the least loss."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from muco.anonymize import anonymize
from muco.assess.comparison import Comparison
from muco.errors import PolicyError
from muco.example import generate
from muco.policy import Policy
from muco.switches import Grouping, Method
from muco.tune.advice import records_to_leave_out
from muco.tune.blocks import describe_blocks, propose_blocks, with_proposed_blocks
from muco.tune.frontier import Frontier, Standing, compare_settings
from muco.tune.goal import Adversary, Goal, Keep
from muco.tune.score import Score, Yardstick
from muco.tune.search import tune
from muco.tune.setting import Setting, switched, usual_settings
from muco.tune.space import Choice, Space
from muco.tune.trials import Trials
from shell import muco

PEOPLE = generate(600).select("age", "gender", "marital_status", "salary")
ROLES = Policy.of(quasi=["age", "gender", "marital_status"], sensitive="salary", diversity=5)


def standing(name: str, *, loss: float, nearest: float | None = 0.1, runs: int = 1) -> Standing:
    score = Score(0.1, None, None, nearest, 0.0, 0.2, 0.1, 0.01, {"age": loss})
    return Standing(Setting(name, ROLES), (score,) * runs)


def test_a_setting_is_beaten_by_one_that_is_nowhere_worse_and_somewhere_better() -> None:
    good, worse, other = (
        standing("good", loss=1),
        standing("worse", loss=2),
        standing("other", loss=3, nearest=0.05),
    )
    frontier = Frontier((good, worse, other), 3)
    assert [frontier.beaten_by(each) for each in (good, worse, other)] == [(), ("good",), ()]
    assert frontier.to_frame()["beaten_by"].to_list() == ["", "good", ""]


def test_a_figure_that_is_not_told_counts_as_the_worst() -> None:
    told, untold = standing("told", loss=1), standing("untold", loss=1, nearest=None)
    assert Frontier((told, untold), 2).beaten_by(untold) == ("told",)
    assert untold.mean("nearest") is None


def test_the_mean_and_its_error_are_over_the_runs() -> None:
    scores = [Score(None, None, None, share, 0.0, 0.0, 0.0, 0.0, None) for share in (0.1, 0.3)]
    both = Standing(Setting("x", ROLES), tuple(scores))
    # Standard deviation .1414 of two runs over the root of 2.
    assert both.mean("nearest") == pytest.approx(0.2) and both.spread("nearest") == pytest.approx(0.1)
    assert both.mean("loss") is None and standing("one", loss=1).spread("nearest") == 0


def test_other_switches_leave_roles_and_principle_as_they_are() -> None:
    paper = switched(ROLES, delta=Fraction(1, 4))
    assert paper.grouping is Grouping.BUCKETS and paper.repair == 1
    assert (paper.quasi, paper.sensitive, paper.diversity) == (ROLES.quasi, ROLES.sensitive, 5)


def test_the_usual_settings_hold_the_paper_the_provable_ones_and_both_baselines() -> None:
    settings = list(usual_settings(ROLES))
    assert {setting.method for setting in settings} == set(Method)
    assert [setting.name for setting in settings if "paper" in setting.name] == ["paper 1/5"]  # 1/6 is below 1/l


def test_attributes_that_tell_of_each_other_are_proposed_as_a_block() -> None:
    table = pl.DataFrame({"a": range(60), "b": [2 * x for x in range(60)], "c": [x * 37 % 60 for x in range(60)]})
    policy = Policy.of(quasi=["c", "a", "b"], principle="anonymity", diversity=2)
    raw = Comparison.of(table, table, policy)
    assert propose_blocks(raw) == (("a", "b"),)


def test_proposed_blocks_are_written_out_into_the_policy() -> None:
    # b is twice a, c is neither's: one block, which reads back and holds in a run.
    table = pl.DataFrame({"a": range(60), "b": [2 * x for x in range(60)], "c": [x * 37 % 60 for x in range(60)]})
    policy = with_proposed_blocks(table, Policy.of(quasi=["c", "a", "b"], principle="anonymity", diversity=2))
    assert Policy.parse(tomllib.loads(policy.to_toml())).blocks == (("a", "b"),)
    assert describe_blocks(policy).endswith("proposes: a, b")
    released = anonymize(table, policy, key=bytes(32)).data
    assert (released["b"] == 2 * released["a"]).all()


def test_weak_associations_propose_no_block() -> None:
    table = pl.DataFrame({"a": [1, 1, 2, 2] * 20, "b": [1, 2] * 40})
    policy = with_proposed_blocks(table, Policy.of(quasi=["a", "b"], principle="anonymity", diversity=2))
    assert policy.blocks == () and "no two quasi-identifiers are associated by 0.3" in describe_blocks(policy)


def test_every_setting_meets_the_same_queries_and_a_refusal_is_told() -> None:
    settings = [
        Setting("provable", ROLES),
        Setting("out of reach", switched(ROLES, diversity=500)),
        Setting("Mondrian", ROLES, Method.MONDRIAN),
        Setting("itself", ROLES, release=PEOPLE),
    ]
    frontier = compare_settings(PEOPLE, settings, runs=2)
    provable, beyond, mondrian, raw = frontier.standings
    assert (len(provable.scores), len(mondrian.scores), frontier.runs) == (2, 1, 4)
    assert provable.mean("proven") == pytest.approx(1 / 5) and "out of reach" in beyond.refusal
    assert [raw.mean(figure) for figure in ("query", "loss", "association")] == pytest.approx([0, 0, 0])
    assert (raw.mean("exact") or 0) > 0.3 > (mondrian.mean("nearest") or 1)


def test_two_settings_of_one_name_are_refused() -> None:
    with pytest.raises(PolicyError, match="two settings are called x"):
        compare_settings(PEOPLE, [Setting("x", ROLES), Setting("x", ROLES)])


def test_the_policy_that_is_found_keeps_the_risk_and_says_how_many_runs_it_took() -> None:
    found = tune(PEOPLE, ROLES, Goal(0.1, keep=Keep.LOSS), budget=3)
    assert found.policy is not None and found.chosen is not None
    assert found.policy.is_provable and found.policy.diversity >= 10 and found.policy.max_risk == 0.1
    assert found.policy.tried == found.frontier.runs > 3
    assert "probability at most 0.1000" in found.words[0]
    # Keys that chose nothing: who keeps what is proven keeps it at once, and stands once more, with three of them.
    held = [each for each in found.frontier.standings if "held-out" in each.setting.name]
    assert [len(each.scores) for each in held] == [3]


def test_what_cannot_be_reached_is_said_with_what_would_help() -> None:
    # A value that stands in 300 of 600 records bears l = 2; 1/10 needs 10: (300 * 10 - 600) / 9 = 266.7 less.
    table = PEOPLE.with_columns(salary=pl.Series([0] * 300 + list(range(1, 301))))
    found = tune(table, ROLES, Goal(0.1), budget=1)
    assert found.policy is None
    assert "leaving out 267 of the 600 records" in " ".join(found.words)
    # Only rows of that value, and every row of them that is named is named once.
    rows = found.leave_out["salary"]
    assert len(set(rows)) == 267 and max(rows) <= 300


def test_records_are_left_out_until_no_value_is_too_frequent_the_rarest_first() -> None:
    # Values 0 0 0 0 1 2 at one in two: four of six are too many, three of five too, two of four are not.
    codes, alike = np.array([0, 0, 0, 0, 1, 2], dtype=np.int32), np.array([1, 2, 2, 1, 1, 1])
    assert records_to_leave_out(codes, alike, 2).tolist() == [0, 3]
    assert records_to_leave_out(codes, alike, 1).tolist() == []


def test_where_nothing_is_near_the_attribute_that_would_have_to_go_is_named() -> None:
    # Two values of pay bear groups of two: who knows the age finds about every second. By sex alone 20 are alike.
    table = pl.DataFrame({"age": range(20, 60), "sex": ["m"] * 20 + ["f"] * 20, "pay": [0, 1] * 20})
    policy = Policy.of(quasi=["age", "sex"], sensitive="pay", diversity=2)
    found = tune(table, policy, Goal(0.2, Adversary.NEAREST), budget=1)
    assert found.policy is None and "releasing without age" in " ".join(found.words)


def test_a_risk_that_fewer_records_than_it_needs_cannot_keep_names_no_rows() -> None:
    tiny = pl.DataFrame({"age": range(20, 28), "pay": range(8)})
    found = tune(tiny, Policy.of(quasi="age", sensitive="pay", diversity=2), Goal(0.1), budget=1)
    assert "The table has fewer records, 8" in " ".join(found.words) and found.leave_out == {}


def test_a_run_that_was_made_is_not_made_again() -> None:
    trials = Trials(Yardstick.of(PEOPLE, ROLES))
    heard: list[str] = []
    same = Setting("the same", ROLES.model_copy(update={"max_risk": 0.5, "tried": 7}))
    first, second = trials.make([Setting("provable", ROLES), same], range(2), told=heard.append)
    assert first == second and (trials.runs, len(heard)) == (2, 2)
    assert trials.make([same], range(2), told=heard.append)[0] == first and len(heard) == 2


def test_a_trial_that_is_stopped_stops_the_others() -> None:
    def stop(name: str) -> None:
        raise KeyboardInterrupt(name)

    trials = Trials(Yardstick.of(PEOPLE, ROLES))
    with pytest.raises(KeyboardInterrupt, match="provable"):
        trials.make([Setting("provable", ROLES)], range(8), told=stop)
    assert trials.runs < 8


def test_every_way_of_the_space_is_a_setting_somewhere() -> None:
    space = Space.of(ROLES, (20,), 20, (("age", "gender"),))
    near = {choice for place in range(2) for choice in space.near(Choice(20, blocks=place), {20})}
    made = {choice for choice in near if space.setting(choice)}
    assert {choice.groups for choice in made} == set(range(len(space.groups)))
    assert {choice.draw for choice in made} == set(range(len(space.draws)))
    assert {choice.level for choice in made} == {11, 20}  # halfway to 2; 30 is beyond reach


def test_ranges_tell_one_over_the_size_of_their_class() -> None:
    # Two classes of two rows: the mean of 1/2 over all rows.
    table = pl.DataFrame({"age": [20, 25, 30, 34], "pay": [1, 2, 3, 4]})
    release = table.with_columns(age=pl.Series(["20-25", "20-25", "30-34", "30-34"]))
    policy = Policy.of(quasi="age", sensitive="pay", diversity=2)
    made = compare_settings(table, [Setting("ranges", policy, release=release)], runs=3)
    assert made.standings[0].mean("informed") == 0.5 and made.runs == 1


def test_the_nearest_row_can_be_what_is_bounded() -> None:
    found = tune(PEOPLE, ROLES, Goal(0.5, Adversary.NEAREST, ("age",)), budget=2)
    assert found.policy is not None and found.policy.max_risk is None
    assert "no proof" in found.words[0] and "information loss of age" in found.words[2]


@pytest.mark.parametrize(
    ("goal", "message"),
    [(lambda: Goal(0.0), "a risk is above 0"), (lambda: Goal(0.5, keep=("pay",)), "pay is no quasi-identifier")],
)
def test_a_goal_that_makes_no_sense_is_refused(goal: object, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        tune(PEOPLE, ROLES, goal())  # type: ignore[operator]


def test_the_commands_print_a_policy_that_runs_and_figures_for_machines(tmp_path: Path) -> None:
    PEOPLE.write_csv(tmp_path / "people.csv")
    roles = ("--quasi", "age,gender,marital_status", "--sensitive", "salary", "--diversity", "5")
    made = muco("compare", tmp_path / "people.csv", *roles, "--runs", "1", "--json")
    assert made.code == 0, made.err
    assert {"provable", "Mondrian", "Anatomy"} <= {row["setting"] for row in json.loads(made.out)}
    policy = tmp_path / "policy.toml"
    words = ("--max-risk", "0.1", "--budget", "2s", "-o", policy)
    tuned = muco("tune", tmp_path / "people.csv", *roles, *words)
    assert tuned.code == 0 and "at most 0.1000" in tuned.err, tuned.err
    ran = muco("anonymize", tmp_path / "people.csv", "-c", policy, "-o", tmp_path / "out.csv", "--assess", "none")
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "out.certificate.json").read_text())["settings"]["tried"] > 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("tune", "t.csv", "--quasi", "q"), 2, "Name it with --max-risk"),
        (("tune", "t.csv", "--quasi", "q", "--max-risk", "0.1", "--budget", "soon"), 2, "write 90s, 5m or 1h"),
        (("compare", "t.csv", "--quasi", "q", "--release", "arx.csv"), 2, "does not say NAME=FILE"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    tmp_path: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    pl.DataFrame({"q": range(20)}).write_csv(tmp_path / "t.csv")
    ran = muco(words[0], tmp_path / words[1], *words[2:])
    assert ran.code == code and message in ran.err, ran.err


def test_blocks_are_proposed_where_they_are_asked_for(tmp_path: Path) -> None:
    # Of the example's columns, age and marital status tell most of each other.
    table, policy = tmp_path / "people.csv", tmp_path / "policy.toml"
    PEOPLE.write_csv(table)
    asked = ("--quasi", "age,gender,marital_status", "--sensitive", "salary", "--diversity", "5", "--block", "auto")
    ran = muco("anonymize", table, *asked, "--dry-run", "--json")
    assert json.loads(ran.out)["settings"]["blocks"] == [["age", "marital_status"]]
    assert "drawn together, as their association in the original proposes: age, marital_status" in ran.err
    assert muco("init", table, "--blocks", "-o", policy).code == 0
    assert ["age", "marital_status"] in tomllib.loads(policy.read_text())["blocks"]
    assert muco("anonymize", table, "-c", policy, "--dry-run").code == 0
