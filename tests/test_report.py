"""The page of a release: structure, escapes, and what a public one may not tell."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from markupsafe import escape

import muco
import shell
from muco._core import uniforms
from muco.assess.comparison import Comparison
from muco.assess.histogram import count_values
from muco.errors import MucoError
from muco.policy import Policy
from muco.report import Audience, Contents, render_page
from muco.report.words import Reader

KEY = "11" * 32
HOSTILE = "<script>alert(1)</script>"
FORMULA = "=1+1"
SECTIONS = ["verdict", "risk", "disclosure", "beside", "distributions", "association", "queries", "loss"]
SECTIONS += ["models", "repeat"]


def table(records: int = 400) -> pl.DataFrame:
    """Towns are a to e, but for three people of a town of their own; pay has a long tail."""
    towns, ages, pays, tails = uniforms(bytes(32), 5, 4 * records).reshape(4, -1)
    names = np.array(list("abcde"))[(towns * 5).astype(int)].astype("<U12")
    names[:3] = "canarytown"
    return pl.DataFrame(
        {
            HOSTILE: names,
            FORMULA: (18 + 60 * ages).astype(int),
            "c": np.where(tails < 0.5, "x", "y"),
            "d": (8 * tails).astype(int),
            "pay": (1000 * (1 + (9 * pays).astype(int))),
        }
    )


POLICY = Policy.of(quasi=[HOSTILE, FORMULA, "c", "d"], sensitive="pay", diversity=4)


@cache
def contents() -> Contents:
    release, hidden = muco.anonymize_with_hidden(table(), POLICY, key=KEY)
    assessment = muco.assess_release(table(), release, POLICY, hidden=hidden)
    return Contents.gather(assessment, table(), release, title="a & <b>")


@cache
def page(audience: Audience = Audience.PUBLIC) -> str:
    return render_page(contents(), audience)


class Tags(HTMLParser):
    """Every tag with its attributes, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(params=list(Audience))
def html(request: pytest.FixtureRequest) -> str:
    return page(request.param)


def test_the_verdict_comes_first_and_every_section_follows(html: str) -> None:
    sections = [attrs["id"] for tag, attrs in Tags(html).found if tag == "section"]
    assert sections == SECTIONS
    assert html.index(escape(contents().assessment.verdict.sentence).replace(" %", "\u00a0%")) < html.index(
        "<table"
    )


def test_a_page_loads_and_runs_nothing(html: str) -> None:
    found = Tags(html).found
    assert {tag for tag, _ in found}.isdisjoint(
        {"script", "link", "img", "iframe", "object", "base", "image", "use"}
    )
    names = {name for _, attrs in found for name in attrs}
    assert not {name for name in names if name.startswith("on") or name in {"src", "href", "xlink:href"}}
    assert not re.search(r"https?:|//[a-z]|@import|@font-face|url\((?!#)", html)


def test_every_chart_has_words_and_a_table(html: str) -> None:
    found = Tags(html).found
    figures = [place for place, (tag, _) in enumerate(found) if tag == "figure"]
    assert len(figures) > 10
    for tag, attrs in found:
        assert tag != "svg" or attrs["aria-hidden"] == "true"
    assert all(attrs["aria-label"] for _, attrs in found if attrs.get("role") == "img")


def test_names_inside_charts_are_unique(html: str) -> None:
    names = [attrs["id"] for _, attrs in Tags(html).found if "id" in attrs]
    assert len(names) == len(set(names))
    assert set(re.findall(r"url\(#([^)]*)\)", html)) <= set(names)


def test_hostile_names_are_text(html: str) -> None:
    assert HOSTILE not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert FORMULA in html
    assert "a &amp; &lt;b&gt;" in html


def test_neither_kind_tells_a_key_or_a_rare_value(html: str) -> None:
    assert KEY not in html
    assert "canarytown" not in html
    assert "all others" in html


def test_only_the_internal_page_tells_of_single_people() -> None:
    assert "one value known:" not in page(Audience.PUBLIC)
    assert "one value known:" in page(Audience.INTERNAL)
    # 400 people: ten of them are 2.5 %, and no smaller share is told in public.
    told = re.findall(r"<t[dh][^>]*>(\d+(?:\.\d+)?)\u00a0%</t", page(Audience.PUBLIC).split('id="disclosure"')[0])
    assert all(float(share) == 0 or 2.5 <= float(share) <= 97.5 or float(share) == 100 for share in told)


def test_no_kind_shows_a_cell_of_a_table_whose_cells_are_all_unique() -> None:
    names = [f"canary{number}" for number in range(40)]
    tree = {"canaryroot": names[:20], "canaryleft": names[20:]}
    frame = pl.DataFrame({"a": names, "b": names[::-1], "s": names, "note": names, "id": names})
    attributes = {
        "a": {"role": "quasi", "hierarchy": {"tree": tree}},
        "b": {"role": "quasi", "missing": ["canary3"]},
    }
    roles = {"s": {"role": "sensitive", "order": names}, "id": {"role": "identifier"}, "note": {"role": "other"}}
    policy = Policy.parse({"diversity": 4, "missing": ["canaryx"], "attributes": {**attributes, **roles}})
    release, hidden = muco.anonymize_with_hidden(frame, policy, key=KEY)
    assessment = muco.assess_release(frame, release, policy, hidden=hidden)
    made = Contents.gather(assessment, frame, release)
    assert "canary" not in "".join([repr(made), *(render_page(made, audience) for audience in Audience)])


def bars(values: list[str]) -> dict[str, float]:
    frame = pl.DataFrame({"a": values, "pay": [1, 2] * (len(values) // 2) + [1] * (len(values) % 2)})
    made = Comparison.of(frame, frame, Policy.of(quasi="a", sensitive="pay"))
    return {bar.label: bar.before * len(values) for bar in count_values(made)[0].bars}


def test_rare_bars_are_pooled_with_the_smallest_kept_one_until_the_pool_is_ten() -> None:
    assert bars(["a"] * 20 + ["b"] * 12 + ["c"] * 9) == pytest.approx({"a": 20, "all others": 21})
    assert bars(["a"] * 20 + ["b"] * 12 + ["c"] * 9 + ["d"]) == pytest.approx({"a": 20, "b": 12, "all others": 10})
    assert bars(["a"] * 3 + ["b"] * 2) == pytest.approx({"all others": 5})


def test_a_page_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MucoError, match=r"altair.*pip install 'muco\[report\]'"):
        render_page(contents())


@pytest.fixture
def files(tmp_path: Path) -> Iterator[list[Path]]:
    table().write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.toml").write_text(POLICY.to_toml())
    muco.anonymize(table(), POLICY).data.write_csv(tmp_path / "out.csv")
    yield [tmp_path / name for name in ("in.csv", "out.csv", "policy.toml", "page.html")]


def test_the_door_writes_a_page_once_unless_forced(files: list[Path]) -> None:
    original, release, policy, target = files
    given = ("report", original, release, "-c", policy, "-o", target)
    assert shell.muco(*given).code == 0
    assert "internal:" not in target.read_text()
    assert "exists: use --force" in shell.muco(*given).err
    assert shell.muco(*given, "--force", "--kind", "internal").code == 0
    assert "internal: not to be published" in target.read_text()


def test_a_run_writes_its_page_beside_the_release_or_neither(files: list[Path]) -> None:
    original, _, policy, target = files
    release = target.with_name("new.csv")
    given = ("anonymize", original, "-c", policy, "-o", release, "--report", target)
    assert "--report writes what was measured" in shell.muco(*given, "--assess", "none").err
    assert not target.exists()
    assert not release.exists()
    ran = shell.muco(*given)
    assert (ran.code, f"report: {target}" in ran.err) == (0, True)
    assert "this release" in target.read_text()
    assert "exists: use --force" in shell.muco(*given).err


def test_a_command_that_needs_the_extra_stops_before_it_measures(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    original, release, policy, target = files
    ran = shell.muco("report", original, release, "-c", policy, "-o", target)
    assert (ran.code, "pip install 'muco[report]'" in ran.err, target.exists()) == (1, True, False)


def test_rules_are_counted_and_their_values_are_told_nowhere() -> None:
    """8 single young and 12 married old people in one group: none need break the rule."""
    table = pl.DataFrame({"age": [10] * 8 + [40] * 12, "status": ["solo"] * 8 + ["wedded"] * 12, "pay": range(20)})
    rule = {"name": "no young couples", "forbid": {"age": "< 15", "status": ["wedded"]}}
    policy = Policy.of(quasi=["age", "status"], sensitive="pay", diversity=20, rules=[rule])
    release, hidden = muco.anonymize_with_hidden(table, policy, key=bytes(32))
    made = Contents.gather(muco.assess_release(table, release, policy, hidden=hidden), table, release)
    assert [(each.original, each.released) for each in made.rules] == [(0, 0)]
    for audience in Audience:
        html = render_page(made, audience)
        assert "no young couples" in html and "&lt; 15" not in html
    assert [Reader(audience, 20).count(9) for audience in Audience] == ["fewer than 10", "9"]
