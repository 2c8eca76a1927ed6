"""The frontier as a page: who is beaten, where the numbers stand, and that nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from muco.errors import PolicyError
from muco.example import generate
from muco.policy import Policy
from muco.switches import Method
from muco.tune.frontier import Frontier, Standing
from muco.tune.page import render_frontier, tell_figure, tell_verdict
from muco.tune.panels import draw_panel, edge, family
from muco.tune.score import Score
from muco.tune.setting import Setting, check_settings, switched
from shell import muco

ROLES = Policy.of(quasi=["age", "gender"], sensitive="salary", diversity=5)
PANEL = ("nearest", "share linked"), ("loss", "moves")


def standing(name: str, *, nearest: tuple[float, ...], loss: float, method: Method = Method.MUCO) -> Standing:
    scores = tuple(Score(0.1, None, None, share, 0.0, 0.2, None, 0.01, {"age": loss}) for share in nearest)
    return Standing(Setting(name, ROLES, method), scores)


GOOD = standing("good", nearest=(0.1, 0.3), loss=100)
WORSE = standing("worse", nearest=(0.4, 0.4), loss=200)
OTHER = standing("other", nearest=(0.05, 0.05), loss=400, method=Method.MONDRIAN)
REFUSED = Standing(Setting("refused", ROLES), (), "delta is too small")
FRONTIER = Frontier((GOOD, WORSE, OTHER, REFUSED), 6, ("Nearest rows are sought for 7 of 9 records.",))


def test_the_page_names_who_is_beaten_and_by_whom() -> None:
    assert tell_verdict(FRONTIER) == "Beaten in every figure: worse by good. Not beaten: good, other."
    assert tell_verdict(Frontier((GOOD, OTHER), 4)).startswith("None of the 2 settings is beaten")


def test_a_figure_stands_with_its_interval_and_an_untold_one_as_a_dash() -> None:
    # Two runs, .1 and .3: standard deviation .1414, standard error .1, and 1.96 of it.
    assert tell_figure(GOOD, "nearest") == "0.200 ± 0.196"
    assert (tell_figure(GOOD, "supported"), tell_figure(GOOD, "loss")) == ("–", "100 ± 0")


def test_the_edge_is_what_no_other_beats_in_both_figures() -> None:
    rows = [{"x": 1, "y": 5}, {"x": 2, "y": 5}, {"x": 3, "y": 2}, {"x": 4, "y": 3}]
    assert edge(rows) == [{"x": 1, "y": 5}, {"x": 3, "y": 2}]


def test_a_panel_draws_a_point_and_a_number_for_each_setting_that_tells_both_figures() -> None:
    drawn = draw_panel(FRONTIER, *PANEL)
    assert drawn is not None
    assert [number in re.findall(r">(\d)</text>", drawn) for number in "1234"] == [True, True, True, False]
    assert draw_panel(FRONTIER, PANEL[0], ("supported", "mean error")) is None


def test_provable_settings_others_and_other_methods_have_colours_and_shapes_of_their_own() -> None:
    paper = Setting("paper", switched(ROLES, delta="1/4"))
    outside = Setting("outside", ROLES, release=pl.DataFrame())
    assert [family(each) for each in (GOOD.setting, paper, OTHER.setting, outside)] == [0, 1, 2, 2]


def test_the_page_is_whole_in_itself_and_shows_every_setting_and_what_was_sampled() -> None:
    page = render_frontier(FRONTIER, title="a <b> table")
    assert "a &lt;b&gt; table" in page and "7 of 9 records" in page and "delta is too small" in page
    assert all(f"{place}  {name}" in page for place, name in enumerate(("good", "worse", "other", "refused"), 1))
    # Three adversaries by three losses: of large queries none tells.
    assert page.count("<figure>") == 9
    assert re.findall(r"(?:src|href)=|https?://|<script", page) == []


def test_settings_on_other_attributes_are_refused() -> None:
    with pytest.raises(PolicyError, match="setting mine differs from the others in what is quasi: gender"):
        check_settings([Setting("x", ROLES), Setting("mine", Policy.of(quasi="age", sensitive="salary"))])


def test_compare_writes_the_page_and_the_policy_that_is_picked_with_its_runs(tmp_path: Path) -> None:
    generate(300).select("age", "gender", "salary").write_csv(tmp_path / "t.csv")
    mine = switched(ROLES, delta="1/4")
    (tmp_path / "mine.toml").write_text(mine.to_toml(), "utf-8")
    (tmp_path / "base.toml").write_text(ROLES.model_copy(update={"tried": 10}).to_toml(), "utf-8")
    words = ("-c", tmp_path / "base.toml", "--only", "provable", "--runs", "2")
    named = ("--setting", f"mine={tmp_path / 'mine.toml'}", "--release", f"itself={tmp_path / 't.csv'}")
    targets = ("--report", tmp_path / "page.html", "--pick", "mine", "-o", tmp_path / "picked.toml")
    ran = muco("compare", tmp_path / "t.csv", *words, *named, *targets)
    assert ran.code == 0, ran.err
    assert "provable (base.toml)" in ran.err and "5 runs" in ran.err
    picked = Policy.read(tmp_path / "picked.toml")
    # Two keys for each of two settings and one look at the release, after ten runs that were looked at before.
    assert (picked.delta, picked.tried) == (mine.delta, 15)
    assert "itself" in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--pick", "provable"), "give both, or neither"),
        (("--only", "best"), "--only best is no usual setting: choose among"),
        (("--pick", "Mondrian", "-o", "p.toml"), "--pick Mondrian is no setting with a policy"),
        (("--setting", "mine"), "--setting mine does not say NAME=FILE"),
    ],
)
def test_what_compare_cannot_do_is_said_before_it_runs(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    generate(100).select("age", "salary").write_csv(tmp_path / "t.csv")
    roles = ("--quasi", "age", "--sensitive", "salary", "--diversity", "5")
    ran = muco("compare", tmp_path / "t.csv", *roles, *words)
    assert ran.code == 2 and message in ran.err, ran.err
