"""The policy as a whole: files, round trips, switches that go together, and hostile files."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muco.cli.options import SWITCHES
from muco.errors import InfeasibleError, PolicyError
from muco.policy import Policy
from muco.switches import Columns, Cover, Draw, Grouping, Preset, Principle, Role, Sweep

UNLIKE = {"delta", "blocks"}  # read into another type than the one given
FULL = """
schema_version = 1
preset = "paper"
delta = "1/6"
diversity = 8
missing = ["?"]
[attributes.ssn]
role = "identifying"
[attributes.age]
role = "quasi-identifying"
kind = "continuous"
missing = ["n/a"]
[attributes.degree]
role = "QI"
order = ["low", "high"]
[attributes.job]
role = "quasi"
[attributes.job.hierarchy.tree]
Office = ["clerk", "manager"]
Field = ["farmer"]
[attributes.wage]
role = "quasi"
[attributes.wage.hierarchy.intervals]
widths = [10, 20]
[attributes.size]
role = "quasi"
[attributes.size.hierarchy.ordered]
values = ["S", "M", "L"]
sizes = [2]
[attributes.town]
role = "quasi"
[attributes.town.distances]
values = ["A", "B"]
matrix = [[0, 1.5], [1.5, 0]]
[attributes.ill]
role = "sensitive"
"""


def saved(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(text)
    return path


def test_a_policy_file_says_everything_and_reads_back_equal(tmp_path: Path) -> None:
    policy = Policy.read(saved(tmp_path, FULL))
    assert policy.named(Role.IDENTIFIER) == ("ssn",)
    assert policy.quasi == ("age", "degree", "job", "wage", "size", "town")
    assert policy.sensitive == ("ill",)
    assert Policy.read(saved(tmp_path, policy.to_toml())) == policy


def test_a_written_policy_has_every_switch_so_that_later_defaults_cannot_change_it() -> None:
    text = Policy.of(quasi="a", sensitive="b", principle="recursive").to_toml()
    for switch in (*SWITCHES, "c", "schema_version"):
        assert f"\n{switch} = " in f"\n{text}" or switch == "temperature"
    drawn = Policy.of(quasi="a", sensitive="b", grouping="sampled").to_toml()
    assert "\ntemperature = 0.15\n" in drawn and "\nexchanges = 4\n" in drawn


@settings(deadline=None)  # the machine may be shared
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "delta": st.sampled_from(["tight", "1/2", "0.1667", 1]),
            "diversity": st.integers(6, 30),
            "principle": st.sampled_from(list(Principle)),
            "grouping": st.sampled_from(list(Grouping)),
            "sweep": st.sampled_from(list(Sweep)),
            "cover": st.sampled_from(list(Cover)),
            "columns": st.sampled_from(list(Columns)),
            "draw": st.sampled_from(list(Draw)),
            "repair": st.integers(0, 2),
            "exchanges": st.integers(0, 4),
            "blocks": st.sampled_from([[["a", "b"]], [["a"], ["b"]], []]),
            "preset": st.sampled_from(list(Preset)),
        },
    )
)
def test_switches_are_refused_with_words_or_survive_a_round_trip(switches: dict[str, Any]) -> None:
    try:
        policy = Policy.of(quasi=["a", "b"], sensitive="c", **switches)
    except PolicyError as error:
        assert str(error)
        return
    again = Policy.parse(tomllib.loads(policy.to_toml()))
    assert again == policy
    assert all(getattr(again, name) == value for name, value in switches.items() if name not in UNLIKE)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"diversty": 3}, "unknown key diversty: did you mean diversity?"),
        ({"attributes": {"a": {"role": "quasi", "knd": "date"}}}, "attributes.a.knd: did you mean kind?"),
        ({"attributes": {"a": {"role": "quasi", "hierarchy": {"tre": []}}}}, "hierarchy.tre: did you mean tree?"),
        ({"attributes": {"a": {"kind": "date"}}}, "attributes.a.role is missing: it must be given"),
        ({"attributes": {"a": {"role": "key"}}}, "attributes.a.role must be 'identifier'"),
        ({"schema_version": 2}, "schema_version must be 1"),
        ({"preset": "papr"}, "preset must be 'paper' or 'provable'"),
        ({"diversity": 2.5}, "diversity must be a valid integer"),
        ({"diversity": 0}, "diversity must be greater than or equal to 1"),
        ({"diversity": True}, "diversity must be a valid integer"),
        ({"preset": ["paper"]}, "preset must be"),
        ({"principle": ["x"]}, "principle must be"),
        ({"grouping": {}, "principle": "distinct", "attributes": {"a": {"role": "sa"}}}, "grouping must be"),
        ({"delta": []}, "delta must be a number such as 1/6"),
        ({"attributes": 3}, "attributes must be a table"),
        ({"attributes": "ab"}, "attributes must be a table"),
        ({"attributes": {"a": 3}}, "attributes.a must be a table"),
        ({"blocks": "ab"}, "blocks must be a list"),
    ],
)
def test_a_fault_is_named_with_its_place_and_what_was_meant(words: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.parse(words)
    assert message in str(caught.value)


def test_every_fault_of_a_policy_is_named_at_once() -> None:
    with pytest.raises(PolicyError, match=r"(?s)schema_version must be 1\nunknown key x"):
        Policy.parse({"x": 1, "schema_version": 9})


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ({"delta": "tight", "repair": 1}, "delta tight does not go with repair"),
        ({"delta": "1/2", "repair": 4}, "repair is 4 but there are 2 quasi-identifiers"),
        ({"preset": "paper"}, "preset paper needs delta"),
        ({"cover": "balanced", "columns": "domain", "delta": "1/2"}, "columns domain does not go with cover"),
        ({"c": 2}, "c belongs to principle recursive"),
        ({"t": 0.1}, "t belongs to principle closeness"),
        ({"principle": "distinct", "grouping": "buckets"}, "grouping buckets keeps frequency l-diversity"),
        ({"sweep": "table", "grouping": "leaves"}, "sweep belongs to groupings neighbours and seeds"),
        ({"sweep": "table", "delta": "1/6"}, "sweep belongs to groupings neighbours and seeds"),
        ({"sensitive": [], "principle": "frequency"}, "principle frequency needs a sensitive attribute"),
    ],
)
def test_switches_that_do_not_go_together_are_refused(switches: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        Policy.of(**{"quasi": ["a", "b"], "sensitive": ["s"], **switches})


def test_delta_below_property_1_is_refused_with_the_numbers() -> None:
    with pytest.raises(InfeasibleError, match=r"delta is 1/20 .* diversity 10 .* at least 1/10 \(Property 1\)"):
        Policy.of(quasi="a", sensitive="b", delta="0.05")


def test_an_attribute_has_one_role() -> None:
    with pytest.raises(PolicyError, match="attribute a is given as quasi and as sensitive"):
        Policy.of(quasi="a", sensitive="a")


def test_attributes_add_kinds_to_the_lists_of_names() -> None:
    policy = Policy.of(quasi=["a"], sensitive="s", attributes={"a": {"kind": "ordinal"}, "n": {}})
    assert policy.attributes["a"].kind == "ordinal"
    assert policy.named(Role.OTHER) == ("n",)


def test_changes_win_over_a_file(tmp_path: Path) -> None:
    policy = Policy.read(saved(tmp_path, FULL), delta="1/4", quasi="town", sensitive=["job"])
    assert policy.delta == Fraction(1, 4)
    assert policy.attributes["town"].role is Role.QUASI
    assert policy.sensitive == ("job", "ill")


def test_hierarchy_files_become_part_of_the_policy(tmp_path: Path) -> None:
    (tmp_path / "job.csv").write_text("clerk;Office;*\nfarmer;Field;*\n")
    path = saved(tmp_path, '[attributes.job]\nrole = "quasi"\nhierarchy.file = "job.csv"\n')
    spec = Policy.read(path).attributes["job"].hierarchy
    assert spec is not None
    assert spec.file is None
    assert spec.tree == [{"Office": ["clerk"]}, {"Field": ["farmer"]}]


@pytest.mark.parametrize("file", ["../job.csv", "/etc/passwd", "a/../../job.csv", "a\x00b", ""])
def test_a_hierarchy_file_outside_the_policy_s_folder_is_refused(tmp_path: Path, file: str) -> None:
    path = saved(tmp_path, f'[attributes.job]\nrole = "quasi"\nhierarchy.file = {json.dumps(file)}\n')
    with pytest.raises(PolicyError, match="must name a file in the policy's folder or below it"):
        Policy.read(path)


def test_a_link_that_leads_out_of_the_policy_s_folder_is_refused(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "job.csv").write_text("clerk;*\n")
    (inner / "job.csv").symlink_to(tmp_path / "job.csv")
    path = saved(inner, '[attributes.job]\nrole = "quasi"\nhierarchy.file = "job.csv"\n')
    with pytest.raises(PolicyError, match=r"job\.csv leads out of the policy's folder"):
        Policy.read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("delta = 1e309", "delta must be a number such as 1/6 or 0.1667"),
        ("delta = nan", "delta must be a number"),
        ('delta = "1e999999999"', "delta must be a number"),
        ('delta = "1e-999999999"', "delta must be a number"),
        (f"delta = {'9' * 5000}", "is not TOML: its form is wrong"),
        (f"missing = {'[' * 3000}{']' * 3000}", "is not TOML: its form is wrong"),
        ("delta = \n", "is not TOML: see line 1, column 9"),
        ("delta = 1\ndelta = 2", "is not TOML: see"),
        ("attributes = 3", "attributes must be a table"),
        ("[attributes]\ntown = 3", "attributes.town must be"),
    ],
)
def test_a_hostile_file_is_one_policy_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.read(saved(tmp_path, text), quasi=["town"] if "town" not in text else [])
    assert message in str(caught.value)


def test_a_deep_tree_is_refused(tmp_path: Path) -> None:
    deep = '{"x" = ' * 80 + '["leaf"]' + "}" * 80
    with pytest.raises(PolicyError, match="is deeper than 64 levels"):
        Policy.read(saved(tmp_path, f'[attributes.a]\nrole = "quasi"\nhierarchy.tree = {deep}\n'))


def test_a_huge_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    with path.open("wb") as file:
        file.truncate(65 * 2**20)
    with pytest.raises(PolicyError, match="larger than 64 MiB"):
        Policy.read(path)


def test_a_policy_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot be read: No such file"):
        Policy.read(tmp_path / "none.toml")
    with pytest.raises(PolicyError, match=r"is not a regular file|Is a directory"):
        Policy.read(tmp_path)


def test_no_fault_quotes_the_cells_that_a_policy_holds() -> None:
    secret = "canary-7f3a"  # noqa: S105
    faulty: list[dict[str, Any]] = [
        {"order": [secret, secret]},
        {"order": [secret], "missing": [secret]},
        {"distances": {"values": [secret], "matrix": [[1]]}},
        {"hierarchy": {"tree": {secret: []}}},
        {"hierarchy": {"tree": {"a": [secret], "b": [secret]}}},
        {"missing": secret},
    ]
    for words in faulty:
        try:
            Policy.parse({"attributes": {"a": {"role": "quasi", **words}}})
        except PolicyError as error:
            assert secret not in str(error)


def check_schema(node: Any, definitions: dict[str, Any]) -> None:
    """A JSON Schema's own form, as far as ours uses it."""
    if isinstance(node, list):
        for part in node:
            check_schema(part, definitions)
    if not isinstance(node, dict):
        return
    if "$ref" in node:
        assert node["$ref"].removeprefix("#/$defs/") in definitions
    if isinstance(node.get("type"), str):
        assert node["type"] in {"object", "array", "string", "number", "integer", "boolean", "null"}
    for part in node.values():
        check_schema(part, definitions)


def test_the_schema_is_one_and_describes_every_key() -> None:
    schema = Policy.model_json_schema()
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(Policy.model_fields)
    assert all(part.get("description") for part in schema["properties"].values())
    check_schema(schema, schema["$defs"])
