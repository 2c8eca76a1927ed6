"""Algorithm 1 line by line on small data, as someone does who reads the paper beside it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import muco
import twin
from muco.errors import InfeasibleError, PolicyError, TableError
from muco.microdata import Group
from muco.output_table import OutputTable

KEY = bytes(32)


def group_of(table: dict[str, list[Any]], **switches: Any) -> Group:
    """The one group of a small table."""
    policy = muco.Policy.of(**{"quasi": ["age"], "sensitive": "pay", "diversity": 3, **switches})
    groups = muco.divide_table(muco.Microdata.of(pl.DataFrame(table), policy, key=KEY))
    assert len(groups) == 1
    return groups[0]


@pytest.fixture
def group() -> Group:
    return group_of({"age": [28, 28, 29], "pay": [1, 2, 3]})


def test_a_table_is_divided_into_groups_that_can_be_looked_at() -> None:
    table = pl.DataFrame({"age": [28, 40, 29, 41], "pay": [1, 2, 2, 1]})
    groups = muco.divide_table(muco.Microdata.of(table, muco.Policy.of(quasi="age", sensitive="pay", diversity=2)))
    assert sorted(sorted(group.records.tolist()) for group in groups) == [[0, 2], [1, 3]]
    assert (len(groups), groups.sizes.tolist(), len(groups[-1])) == (2, [2, 2], 2)
    with pytest.raises(IndexError, match="there are 2 groups"):
        groups[2]


def test_the_paper_s_example_is_solved_and_printed_as_in_figure_3() -> None:
    # Ages 28, 28, 29 at delta = 1/2: cost 1, and P(28 -> 29) = q is the root of 5/q = 2/(1-q) + 6/(1-2q).
    table = muco.calculate_table(group_of({"age": [28, 28, 29], "pay": [1, 2, 3]}, delta="1/2"), "age")
    assert str(table) == "age      28      29\n28   0.7089  0.2911\n28   0.7089  0.2911\n29   0.4179  0.5821"
    q = table.probabilities[0, 1]
    assert 5 / q == pytest.approx(2 / (1 - q) + 6 / (1 - 2 * q), rel=1e-4)
    assert table.cost == pytest.approx(1)
    assert table.delta <= Fraction(1, 2)
    assert table.probabilities.sum(axis=1).tolist() == [1, 1, 1]


def test_a_table_of_delta_1_is_the_identity_and_prints_zeros(group: Group) -> None:
    assert str(muco.calculate_table(group, "age", 1)) in {
        "age      28      29\n28   1.0000       0\n28   1.0000       0\n29        0  1.0000",
    }


def test_a_tight_table_has_equal_rows(group: Group) -> None:
    table = muco.calculate_table(group, "age", "tight")
    assert (table.numerators == table.numerators[0]).all()
    assert table.delta == Fraction(1, 3)


def test_texts_and_missing_values_print_in_line() -> None:
    group = group_of({"age": ["young", None, "old"], "pay": [1, 2, 3]})
    lines = str(muco.calculate_table(group, "age")).splitlines()
    assert lines[0].split() == ["age", "old", "young", "missing"]
    assert [line.split()[0] for line in lines[1:]] == [
        {0: "young", 1: "missing", 2: "old"}[record] for record in group.records.tolist()
    ]
    assert len({len(line) for line in lines}) == 1


def test_what_no_table_can_meet_is_refused(group: Group) -> None:
    with pytest.raises(InfeasibleError, match=r"delta is 1/4 but the smallest group has 3 records.* at least 1/3"):
        muco.calculate_table(group, "age", "1/4")
    with pytest.raises(PolicyError, match="delta must be above 0 and at most 1"):
        muco.calculate_table(group, "age", 2)
    with pytest.raises(PolicyError, match="pay is no quasi-identifier: there are age"):
        muco.calculate_table(group, "pay")


def test_values_drawn_alone_are_those_of_a_whole_run() -> None:
    table = pl.DataFrame({"age": [28, 28, 29, 31, 35, 40], "pay": [1, 2, 3, 1, 2, 3]})
    policy = muco.Policy.of(quasi="age", sensitive="pay", diversity=3, delta="1/2", repair=0)
    _, hidden = muco.anonymize_with_hidden(table, policy, key=KEY)
    drawn: list[int] = []
    for group in hidden.outcome.groups:
        drawn += muco.output_values(muco.calculate_table(group, "age"), key=KEY)
    domain = hidden.outcome.groups.microdata.quasi[0]
    assert drawn == domain.cells.gather(hidden.outcome.released[:, 0]).to_list()


def test_the_provable_draw_is_a_permutation(group: Group) -> None:
    table: OutputTable = muco.calculate_table(group, "age", "tight")
    for number in range(20):
        assert sorted(muco.output_values(table, key=bytes([number]) * 32)) == [28, 28, 29]


def test_unchanged_tuples_are_perturbed_and_others_left() -> None:
    group = group_of({"age": [28, 40, 29], "pay": [1, 2, 3], "zip": ["a", "a", "b"]}, quasi=["age", "zip"])
    ages = [[28, 40, 29][record] for record in group.records.tolist()]
    zips = [["a", "a", "b"][record] for record in group.records.tolist()]
    moved = [40, *ages[1:]] if ages[0] != 40 else [28, *ages[1:]]
    done = muco.randomize_unchanged_tuples(group, {"age": moved, "zip": zips}, key=KEY)
    # The first record had changed already; of the other two one value each differs now.
    assert (done["age"][0], done["zip"][0]) == (moved[0], zips[0])
    for at in (1, 2):
        assert (done["age"][at] != ages[at]) + (done["zip"][at] != zips[at]) == 1
    assert set(done["age"]) <= {28, 29, 40}


def test_a_group_of_equal_records_is_left_as_it_is() -> None:
    group = group_of({"age": [28, 28, 28], "pay": [1, 2, 3]})
    assert muco.randomize_unchanged_tuples(group, {"age": [28, 28, 28]}, key=KEY) == {"age": [28, 28, 28]}


def test_outputs_must_be_whole_and_of_the_domain(group: Group) -> None:
    with pytest.raises(PolicyError, match="outputs are needed for each quasi-identifier: age"):
        muco.randomize_unchanged_tuples(group, {}, key=KEY)
    with pytest.raises(TableError, match="attribute age: 1 values are not of its domain"):
        muco.randomize_unchanged_tuples(group, {"age": [28, 28, 77]}, key=KEY)
    with pytest.raises(TableError, match="attribute age has 2 outputs, but its group has 3 records"):
        muco.randomize_unchanged_tuples(group, {"age": [28, 28]}, key=KEY)
    with pytest.raises(TableError, match="attribute age: 3 values are not of its domain"):
        muco.randomize_unchanged_tuples(group, {"age": ["x", "y", "z"]}, key=KEY)


@pytest.mark.parametrize("repair", [-1, 2])
def test_no_more_values_are_replaced_than_there_are(group: Group, repair: int) -> None:
    with pytest.raises(PolicyError, match="but there are 1 quasi-identifiers"):
        muco.randomize_unchanged_tuples(group, {"age": [28, 28, 29]}, key=KEY, repair=repair)


@pytest.mark.parametrize("key", ["", "zz" * 32, b"short", "5c" * 31, 7, bytes(33)])
def test_a_key_is_32_bytes_and_is_never_quoted(group: Group, key: Any) -> None:
    with pytest.raises(PolicyError, match="a key is 32 bytes, or 64 hexadecimal digits") as caught:
        muco.output_values(muco.calculate_table(group, "age"), key=key)
    assert "zz" not in str(caught.value)


def test_an_output_table_shows_no_value_but_when_printed(group: Group) -> None:
    assert repr(muco.calculate_table(group, "age")) == "OutputTable(age, 3 records, 2 values)"
    assert repr(group) == "Group(3 records)"
    assert np.issubdtype(muco.calculate_table(group, "age").numerators.dtype, np.uint64)


def test_problems_that_differ_in_distances_only_are_solved_each() -> None:
    # Three values once each in both attributes; only the middle one's distances differ (1/2 and 1/10 of the range).
    axes = [twin.line([0, 5, 10]), twin.line([0, 1, 10])]
    tables = twin.tables_of([[(0, 0), (1, 1), (2, 2)]], axes, Fraction(1, 2), "cheapest", "observed")
    for place, axis in enumerate(axes):
        alone = twin.table_of([0, 1, 2], axis, Fraction(1, 2))
        together = twin.entry(tables, [0, 1, 2], attribute=place)
        assert together.numerators.tolist() == alone.numerators.tolist()
    assert twin.entry(tables, [0, 1, 2]).numerators.tolist() != together.numerators.tolist()
