"""Trees by rules and by other programs' files."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from muco.anonymize import anonymize
from muco.cli.hierarchy import command
from muco.errors import PolicyError, TableError
from muco.hierarchy import Hierarchy
from muco.hierarchy_formats import is_table
from muco.hierarchy_spec import Dates, HierarchySpec, Redaction, Side
from muco.numerals import PLAIN, Numerals
from muco.policy import Policy

AMNESIA = """distinct
name place
type string
height 3

Greece has Athens Patra
Italy has Rome

Europe has Greece Italy
"""
SAME = "Athens;Greece;*\nPatra;Greece;*\nRome;Italy;*\n"
MOSAICROWN = {
    "cat": "Europe",
    "subcats": [
        {"cat": "Greece", "subcats": [{"cat": "Athens", "subcats": None}, {"cat": "Patra", "subcats": []}]},
        {"cat": "Italy", "subcats": {"cat": "Rome", "subcats": None}},
    ],
}
GRAPH = {
    "nodes": [
        {"id": number, "label": name}
        for number, name in enumerate(["Europe", "Greece", "Italy", "Athens", "Patra", "Rome"])
    ],
    "edges": [{"from": a, "to": b} for a, b in [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)]],
}
FLAT = [
    {"id": "e", "parent": "#", "text": "Europe"},
    {"id": "g", "parent": "e", "text": "Greece"},
    {"id": "i", "parent": "e", "text": "Italy"},
    {"id": "1", "parent": "g", "text": "Athens"},
    {"id": "2", "parent": "g", "text": "Patra"},
    {"id": "3", "parent": "i", "text": "Rome"},
]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("arx.csv", SAME),
        ("anjana.csv", SAME.replace(";", ",")),
        ("amnesia.txt", AMNESIA),
        ("amnesia.json", json.dumps(GRAPH)),
        ("flat.json", json.dumps(FLAT)),
        ("mosaicrown.json", json.dumps(MOSAICROWN)),
        ("nested.json", json.dumps({"Greece": ["Athens", "Patra"], "Italy": ["Rome"]})),
        ("hand.toml", 'Greece = ["Athens", "Patra"]\nItaly = ["Rome"]\n'),
    ],
)
def test_every_form_gives_the_same_tree(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert Hierarchy.read(path).to_arx() == SAME


def test_a_policy_may_name_any_of_them(tmp_path: Path) -> None:
    (tmp_path / "place.json").write_text(json.dumps(MOSAICROWN), encoding="utf-8")
    (tmp_path / "policy.toml").write_text('[attributes.x]\nrole = "qi"\nhierarchy.file = "place.json"\n', "utf-8")
    spec = Policy.read(tmp_path / "policy.toml").attributes["x"].hierarchy
    assert spec is not None
    assert spec.tree == [{"Greece": ["Athens", "Patra"]}, {"Italy": ["Rome"]}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (AMNESIA.replace("Italy has Rome", "Italy Rome"), "line 7: Amnesia writes"),
        (AMNESIA.replace("Italy has Rome", "Italy has Rome Athens"), "a second parent"),
        (AMNESIA.replace("Europe has Greece Italy", ""), "2 nodes without a parent"),
        ("range\nname age\ntype int\nheight 2\n\n0,10 has 0,5 secret,10\n", "on line 6: Amnesia writes a range"),
        ("range\ntype date\n\n2000,2001 has 31/2/2000,1/3/2000\n", "on line 4: Amnesia writes a range"),
        ('[{"subcats": []}]', "a node without a name"),
        ('{"nodes": [], "edges": [{"from": 1, "to": 2}]}', "nodes that are not there"),
        ('{"a": 1', "cannot be read|has no levels|unequal"),
    ],
)
def test_a_file_that_is_no_tree_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "tree.txt").write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError, match=words):
        Hierarchy.read(tmp_path / "tree.txt")


def test_a_node_may_bear_any_name() -> None:
    assert is_table("name;a;*\n")
    assert is_table('{x};a;*\n"[y]";a;*\n')


def test_dates_climb_by_what_they_share() -> None:
    """31 December 1999 and 1 January 2000 share neither month, quarter, year nor decade, only the top."""
    spec = Dates(levels=("month", "quarter", "year", "decade"))
    tree = Hierarchy.from_dates(["2000-01-01", "1999-12-31", "1999-10-02"], spec)
    assert tree.to_arx().splitlines() == [
        "1999-10-02;1999-10;1999-Q4;1999;1990-1999;*",
        "1999-12-31;1999-12;1999-Q4;1999;1990-1999;*",
        "2000-01-01;2000-01;2000-Q1;2000;2000-2009;*",
    ]
    assert tree.steps.tolist() == [0.4, 1.0]


def test_dates_keep_the_form_they_came_in() -> None:
    tree = Hierarchy.from_dates(["31.12.1999"], Dates(levels=("year",), form="%d.%m.%Y"))
    assert tree.to_arx() == "31.12.1999;1999;*\n"
    with pytest.raises(TableError, match=r"of the form %d.%m.%Y: 1 of the distinct values are none"):
        Hierarchy.from_dates(["1999-12-31"], Dates(levels=("year",), form="%d.%m.%Y"))


def test_codes_are_masked_from_either_end() -> None:
    assert Hierarchy.from_redaction(["81667"], Redaction()).levels[:2] == (("8166*",), ("816**",))
    assert Hierarchy.from_redaction(["81667"], Redaction(side=Side.LEFT)).levels[0] == ("*1667",)


def test_prefixes_bring_neighbours_together() -> None:
    """10115 and 10117 meet on the first of three levels, 10115 and 20095 at the top."""
    tree = Hierarchy.from_prefixes(["20095", "10117", "10115"], [3, 1])
    assert tree.leaves == ("10115", "10117", "20095")
    assert tree.steps.tolist() == pytest.approx([1 / 3, 1])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"dates": {"levels": ["year", "month"]}}, "must go from fine to coarse"),
        ({"dates": {"levels": ["year"], "form": "%q"}}, "has %q"),
        ({"prefixes": {"lengths": [3, 4]}}, "must fall from level to level"),
        ({"redaction": {"mask": "**"}}, "mask"),
    ],
)
def test_a_rule_that_makes_no_tree_is_refused(words: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        Policy.of(attributes={"x": {"role": "quasi", "hierarchy": words}})


def invoke(*given: object) -> tuple[int, str]:
    shown = CliRunner().invoke(command, [str(word) for word in given])
    return shown.exit_code, shown.output if shown.exception is None else str(shown.exception)


def test_the_command_makes_a_tree_of_a_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age\n25\n31\n", encoding="utf-8")
    assert invoke("make", tmp_path / "t.csv", "age", "--widths", "5,10")[1] == (
        "25;[25, 30);[20, 30);*\n31;[30, 35);[30, 40);*\n"
    )
    assert invoke("make", "--ordered", "a,b,c", "--sizes", "2")[1] == "a;[a, b];*\nb;[a, b];*\nc;c;*\n"
    assert "name one of" in invoke("make", tmp_path / "t.csv", "age")[1]


def test_the_command_rewrites_a_peers_tree_in_arx_form(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(AMNESIA, encoding="utf-8")
    assert invoke("make", "--from", tmp_path / "a.txt", "-o", tmp_path / "arx.csv")[0] == 0
    assert (tmp_path / "arx.csv").read_text("utf-8") == SAME


def test_the_command_draws_a_bounded_tree(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(SAME, encoding="utf-8")
    drawn = invoke("show", tmp_path / "a.csv", "--most", "1")[1]
    assert "Athens" in drawn and "Patra" not in drawn
    assert drawn.count("and 1 more") == 2


def test_the_command_checks_a_tree_against_a_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(SAME, encoding="utf-8")
    (tmp_path / "t.csv").write_text("place\nRome\nCanary\n", encoding="utf-8")
    shown = CliRunner().invoke(command, ["check", str(tmp_path / "a.csv"), str(tmp_path / "t.csv"), "place"])
    assert shown.exit_code == 3
    assert "1 of the 2 different values" in shown.output
    assert "Canary" not in shown.output


@pytest.mark.data
def test_the_trees_of_arx_hold_every_value_of_their_table() -> None:
    folder = Path(__file__).parents[2] / "shared" / "data" / "adult"
    if not folder.exists():
        pytest.skip("needs ../shared/data")
    table = pl.read_csv(folder / "adult.csv", separator=";", infer_schema=False)
    for name in table.columns:
        tree = Hierarchy.read(folder / f"hierarchy_{name}.csv")
        assert (tree.index_of(table[name], attribute=name) >= 0).all()
        assert Hierarchy.from_arx(tree.to_arx()) == tree


AGES = """range
name age
type int
height 3

0.0,20.0 has 0.0,10.0 10.0,20.0
20.0,1.0E2 has 20.0,100.0

0.0,100.0 has 0.0,20.0 20.0,100.0 null,null

"""
VISITS = """range
name visit
type date
height 3

1/2000,6/2000 has 1/1/2000,31/3/2000 1/4/2000,30/6/2000
7/2000,12/2000 has 1/7/2000,31/12/2000

2000 has 1/2000,6/2000 7/2000,12/2000
"""


def held(tmp_path: Path, text: str, values: list[str], numerals: Numerals = PLAIN) -> list[tuple[str, ...]]:
    """The values of a column below the ranges of a file: each with its ancestors but the top."""
    (tmp_path / "r.txt").write_text(text, encoding="utf-8")
    tree = Hierarchy.of(HierarchySpec(file="r.txt"), values=pl.Series(values), folder=tmp_path, numerals=numerals)
    return list(zip(tree.leaves, *tree.levels[:-1]))


def test_numbers_stand_below_amnesias_ranges(tmp_path: Path) -> None:
    # 10 begins the second range, 100 ends the last; 101 and x lie in none and are for `check` to name.
    assert held(tmp_path, AGES, ["9", "10", "100", "20.0", "101", "x"]) == [
        ("9", "[0, 10]", "[0, 20]"),
        ("10", "[10, 20]", "[0, 20]"),
        ("20.0", "[20, 100]", "[20, 100]"),
        ("100", "[20, 100]", "[20, 100]"),
    ]


def test_dates_stand_below_amnesias_ranges_to_the_end_of_their_last_day(tmp_path: Path) -> None:
    half, whole = "[2000-01-01, 2000-06-30]", "[2000-07-01, 2000-12-31]"
    assert held(tmp_path, VISITS, ["2000-03-31 23:59", "01/04/2000", "31.12.2000", "2001-01-01"]) == [
        ("2000-03-31 23:59", "[2000-01-01, 2000-03-31]", half),
        ("01/04/2000", "[2000-04-01, 2000-06-30]", half),
        ("31.12.2000", whole, whole),
    ]


def test_ranges_hold_numbers_as_their_table_writes_them(tmp_path: Path) -> None:
    found = held(tmp_path, AGES, ["9,5", "1.0,0", "12"], Numerals(",", ""))  # 1.0,0 is no number there
    assert [value for value, *_ in found] == ["9,5", "12"]
    spec = HierarchySpec.model_validate({"intervals": {"widths": [10]}})
    tree = Hierarchy.of(spec, values=["9,5", "1.012"], folder=tmp_path, numerals=Numerals(",", "."))
    assert (tree.leaves, tree.levels[0]) == (("9,5", "1.012"), ("[0, 10)", "[1010, 1020)"))


def test_ranges_of_any_form_hold_values_and_a_tree_of_bands_stays_one(tmp_path: Path) -> None:
    bands = "0-9;young;*\n10-19;young;*\n"
    assert [value for value, *_ in held(tmp_path, bands, ["3", "19", "9.5"])] == ["3", "19"]
    assert held(tmp_path, bands, ["0-9", "10-19", "30"])[0] == ("0-9", "young")
    with pytest.raises(PolicyError, match="ranges that overlap"):
        held(tmp_path, "0-9;young;*\n5-19;young;*\n", ["3"])


def test_a_policy_with_a_file_of_ranges_runs_and_names_what_they_lack(tmp_path: Path) -> None:
    (tmp_path / "age.txt").write_text(AGES, encoding="utf-8")
    (tmp_path / "p.toml").write_text(
        'diversity = 2\nattributes.age = { role = "quasi", hierarchy = { file = "age.txt" } }\n'
        'attributes.pay.role = "sensitive"\n'
    )
    policy = Policy.read(tmp_path / "p.toml")
    assert Policy.parse(tomllib.loads(policy.to_toml())) == policy
    ages = pl.DataFrame({"age": [1, 5, 15, 17, 30, 40], "pay": [1, 2, 1, 2, 1, 2]})
    assert len(anonymize(ages, policy).data) == 6
    with pytest.raises(TableError, match=r"attribute age: 1 cell hold a value that its hierarchy lacks \(row 2\)"):
        anonymize(ages.with_columns(age=pl.Series([1, 500, 15, 17, 30, 40])), policy)
