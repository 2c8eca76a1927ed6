"""What a policy says of one attribute."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from muco.attribute import ROLE_WORDS, Attribute, read_role
from muco.hierarchy_spec import read_tree
from muco.policy import Policy
from muco.switches import Kind, Role


@pytest.mark.parametrize(
    ("word", "role"),
    [
        ("IDENTIFYING_ATTRIBUTE", None),
        ("identifying", Role.IDENTIFIER),
        ("ident", Role.IDENTIFIER),
        ("QUASI_IDENTIFYING", Role.QUASI),
        ("Quasi Identifier", Role.QUASI),
        ("quasi_ident", Role.QUASI),
        ("sens_att", Role.SENSITIVE),
        ("SA", Role.SENSITIVE),
        ("insensitive", Role.OTHER),
        ("other", Role.OTHER),
    ],
)
def test_the_words_of_arx_and_anjana_are_read(word: str, role: Role | None) -> None:
    assert read_role(word) == (role or word)


def test_every_role_word_is_in_the_schema() -> None:
    assert Policy.model_json_schema()["$defs"]["Attribute"]["properties"]["role"]["enum"] == sorted(ROLE_WORDS)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ({}, None),
        ({"kind": "date"}, Kind.DATE),
        ({"order": ["low", "high"]}, Kind.ORDINAL),
        ({"hierarchy": {"tree": ["a", "b"]}}, Kind.CATEGORICAL),
        ({"distances": {"values": ["a", "b"], "matrix": [[0, 1], [1, 0]]}}, Kind.CATEGORICAL),
    ],
)
def test_what_an_attribute_has_tells_its_kind(words: dict[str, Any], kind: Kind | None) -> None:
    assert Attribute(role=Role.QUASI, **words).kind is kind


def matrix(*rows: list[float]) -> dict[str, Any]:
    return {"distances": {"values": ["a", "b"], "matrix": list(rows)}}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"order": ["a"], "kind": "continuous"}, "is continuous, but order goes with kind ordinal only"),
        ({"order": ["a"], "hierarchy": {"tree": ["a"]}}, "order and hierarchy are given"),
        ({"order": ["a", "a"]}, "repeats 1 of its 2 values"),
        ({"order": []}, "at least 1 item"),
        ({"order": {"a", "b"}}, "must be a list"),
        ({"order": ["a"], "missing": ["a"]}, "holds 1 of the texts that mean missing"),
        (matrix([0, 1]), "is not 2 rows of 2 numbers"),
        (matrix([0, 1], [2, 0]), "is not symmetric"),
        (matrix([0, -1], [-1, 0]), "a distance below 0"),
        (matrix([1, 1], [1, 0]), "of a value from itself that is not 0"),
        (matrix([0, 0], [0, 0]), "a matrix of zeros"),
        (matrix([0, float("inf")], [float("inf"), 0]), "must be a finite number"),
        (
            {"hierarchy": {}},
            "exactly one of tree, file, intervals, ordered, dates, prefixes and redaction; it has none",
        ),
        ({"hierarchy": {"tree": ["a"], "file": "b.csv"}}, "it has tree and file"),
        ({"hierarchy": {"intervals": {"widths": [10, 15]}}}, "does not nest"),
        ({"hierarchy": {"intervals": {"widths": []}}}, "is empty"),
        ({"hierarchy": {"intervals": {"widths": [0]}}}, "must be above 0"),
        ({"hierarchy": {"ordered": {"values": ["a"], "sizes": [2.0]}}}, "valid integer"),
        ({"hierarchy": {"tree": {"a": []}}}, "has an empty branch"),
        ({"hierarchy": {"tree": [["a"]]}}, "has a list inside a list"),
        ({"hierarchy": {"tree": {"a": "b"}}}, "neither a table of branches nor a list of leaves"),
    ],
)
def test_what_makes_no_sense_is_refused_with_words(words: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Attribute(role=Role.QUASI, **words)
    assert message in str(caught.value)


def test_bare_numbers_in_lists_mean_their_text() -> None:
    assert Attribute(role=Role.QUASI, order=[1, 2.5, "x"]).order == ("1", "2.5", "x")


def test_a_tree_keeps_the_order_of_its_branches() -> None:
    assert read_tree({"b": ["x"], "a": {"c": [1]}}) == [{"b": ["x"]}, {"a": [{"c": ["1"]}]}]


def test_an_attribute_does_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Attribute(role=Role.QUASI).role = Role.OTHER  # type: ignore[misc]
