"""Hierarchy trees: built, read, checked and arranged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muco.errors import PolicyError, TableError
from muco.hierarchy import Hierarchy
from muco.hierarchy_files import Problem, find_problems, read_lines

ARX = "Bachelors;Undergraduate;Higher;*\n11th;High School;Secondary;*\nSome-college;Undergraduate;Higher;*\n"


def test_an_arx_file_is_read_and_siblings_are_brought_together() -> None:
    tree = Hierarchy.from_arx(ARX)
    assert tree.leaves == ("Bachelors", "Some-college", "11th")
    assert tree.levels[0] == ("Undergraduate", "Undergraduate", "High School")
    # Height 3: siblings meet one level up, the rest at the top.
    assert tree.steps.tolist() == pytest.approx([1 / 3, 1])


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
def test_delimiters_quotes_blank_lines_and_a_missing_top_are_understood(delimiter: str) -> None:
    text = f'"a{delimiter}1"{delimiter}A\r\n\r\nb{delimiter}A\r\nc{delimiter}C\r\n'
    tree = Hierarchy.from_arx("\ufeff" + text)
    assert tree.leaves == (f"a{delimiter}1", "b", "c")
    assert tree.height == 2


def test_trees_of_unequal_depth_are_padded_with_the_leaf() -> None:
    tree = Hierarchy.from_tree([{"A": [{"B": ["a", "b"]}]}, "c"])
    assert tree.levels == (("B", "B", "c"), ("A", "A", "c"), ("*", "*", "*"))
    assert tree.steps.tolist() == pytest.approx([1 / 3, 1])


def test_intervals_are_half_open_and_exact() -> None:
    tree = Hierarchy.from_intervals(["0.3", 25, 20, -1], [0.1, 10])
    assert tree.leaves == ("-1", "0.3", "20", "25")
    assert tree.levels[0] == ("[-1, -0.9)", "[0.3, 0.4)", "[20, 20.1)", "[25, 25.1)")
    assert tree.levels[1] == ("[-10, 0)", "[0, 10)", "[20, 30)", "[20, 30)")


def test_a_restricted_tree_keeps_its_heights() -> None:
    tree = Hierarchy.from_arx(ARX).restricted(np.array([0, 2]))
    assert (tree.leaves, tree.height, tree.steps.tolist()) == (("Bachelors", "11th"), 3, [1])


@settings(deadline=None)  # the machine may be shared
@given(
    st.recursive(
        st.lists(st.integers(0, 10**6), min_size=1, max_size=3),
        lambda below: st.lists(below, min_size=1, max_size=3),
        max_leaves=8,
    )
)
def test_a_tree_survives_its_own_words(shape: Any) -> None:
    numbers = iter(range(10**6))

    def branch(part: Any) -> list[Any]:
        return [
            {f"node {next(numbers)}": branch(b)} if isinstance(b, list) else f"leaf {next(numbers)}" for b in part
        ]

    tree = Hierarchy.from_tree(branch(shape))
    again = Hierarchy.from_tree(tree.tree)
    assert again == tree
    assert again.steps.tolist() == tree.steps.tolist()
    assert ((tree.steps > 0) & (tree.steps <= 1)).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no levels"),
        ("a\nb\n", "has no levels"),
        ("a;A;*\nb;*\n", r"is of unequal depth.* on 1 line \(2\)"),
        ("a;A;*\nb;A;*\na;A;*\n", r"repeats leaves on 1 line \(3\): each may stand once"),
        ("a;;*\n", r"has an empty label on 1 line \(1\)"),
        ("a;A;X;*\nb;A;Y;*\n", r"gives a label of one level a second parent on 1 line \(2\)"),
        ('a;"A;*\n', "cannot be read on line 1"),
    ],
)
def test_what_is_no_tree_is_refused_by_line(text: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        Hierarchy.from_arx(text)


def test_every_problem_of_a_file_is_found_at_once() -> None:
    problems = find_problems(read_lines("a;A;*\na;A;*\nb;;*\nc;*\n"))
    assert [problem.lines for problem in problems] == [(4,), (3,), (2,)]
    assert str(Problem("has x", tuple(range(1, 8)), "do y")) == "has x on 7 lines (1, 2, 3, 4, 5, ...): do y"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hierarchy.from_tree({"A": ["x"], "B": ["x"]}), "repeats 1 of its 2 leaves"),
        (lambda: Hierarchy.from_tree({"A": {"S": ["x"]}, "B": {"S": ["y"]}}), "one level below two parents"),
        (lambda: Hierarchy.from_tree({}), "has an empty branch"),
        (lambda: Hierarchy.from_ordered(["a", "a"], [2]), "repeats 1 of its values"),
        (lambda: Hierarchy.from_ordered(["a", "b"], [2, 3]), "does not nest"),
        (lambda: Hierarchy.from_intervals([1], []), "is empty: give the size of each level"),
    ],
)
def test_what_cannot_be_built_is_refused(make: Any, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        make()


def test_a_file_in_another_encoding_is_refused_by_line(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_bytes(b"a;*\nb\xff;*\n")
    with pytest.raises(PolicyError, match=r"h\.csv is not in UTF-8 \(line 2\)") as caught:
        Hierarchy.from_arx(tmp_path / "h.csv")
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;x;*\na;y;*\n", r"town\.csv repeats leaves on 1 line \(2\)"),
        ("a\n", r"town\.csv has no levels"),
        ('"a;*\n', r"town\.csv cannot be read on line 1"),
    ],
)
def test_a_file_that_is_no_hierarchy_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "town.csv").write_text(text)
    with pytest.raises(PolicyError, match=message):
        Hierarchy.from_arx(tmp_path / "town.csv")


def test_cells_are_found_among_leaves_and_strays_named_by_row() -> None:
    tree = Hierarchy.from_tree(["a", "b"])
    assert tree.index_of(["b", None, "a"], attribute="x").tolist() == [1, -1, 0]
    with pytest.raises(TableError, match=r"attribute x: 2 cells hold a value .* \(rows 1, 3\)"):
        tree.index_of(["z", "a", "z"], attribute="x")
    with pytest.raises(TableError, match="attribute x: its hierarchy needs a column of text"):
        tree.index_of([["a"]], attribute="x")  # type: ignore[list-item]


def test_a_tree_shows_no_leaf() -> None:
    assert repr(Hierarchy.from_tree(["canary", "x"])) == "Hierarchy(2 leaves, height 1)"
