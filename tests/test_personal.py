"""Columns that say something of each record: how much cover it asks for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given

import muco
from muco._core import uniforms
from muco.assess.assessment import Effort, assess_release
from muco.baselines import anatomize, generalize
from muco.errors import InfeasibleError, MucoWarning, PolicyError, TableError
from muco.microdata import Groups
from muco.preflight.whole import find_all
from reference import World, divide, is_satisfied
from reference_seeds import divide_by_seeds
from test_agreement import axes_in_eighths, few, worlds
from twin import Axis, divided

# Eight people; the one aged 20 asks to hide among 4, the rest for nothing.
PEOPLE = pl.DataFrame(
    {
        "age": [20, 21, 30, 31, 40, 41, 50, 51],
        "pay": [1, 2, 1, 2, 1, 2, 1, 2],
        "cover": [4, None, None, None, None, None, None, None],
    }
)


def policy(**switches: Any) -> muco.Policy:
    return muco.Policy.of(**{"quasi": "age", "sensitive": "pay", "diversity": 2, "asks": "cover", **switches})


def members(groups: Groups) -> list[set[int]]:
    return [set(group.records.tolist()) for group in groups]


def census(*, records: int = 3_000) -> pl.DataFrame:
    """Records of which 1 in 50 asks for 40 and as many for 15."""
    age, town, pay, ask = (uniforms(bytes(32), stream, records) for stream in range(4))
    asks = np.select([ask < 0.02, ask < 0.04], [40, 15], default=5)
    numbers = {"age": 18 + age * 62, "zip": town * 60, "pay": pay * 30, "cover": asks}
    return pl.DataFrame(numbers).cast(pl.Int64)


# ---- groups


@pytest.mark.parametrize(
    ("grouping", "sweep"),
    [
        ("leaves", "leaf"),
        ("buckets", "leaf"),
        *((g, s) for g in ("neighbours", "seeds") for s in ("leaf", "table")),
    ],
)
@given(made=worlds(axes_in_eighths), data=st.data())
@few
def test_the_core_meets_asks_as_the_oracle_does(
    made: tuple[World, list[Axis]], data: st.DataObject, grouping: str, sweep: str
) -> None:
    world, axes = made
    records = len(world.codes)
    asks = data.draw(st.lists(st.integers(1, min(9, records)), min_size=records, max_size=records))
    world = replace(world, asks=asks)
    assume(is_satisfied(world, world.everybody))
    takes = world.principle.name == "anonymity" or (world.principle.name == "frequency" and len(world.sizes) == 1)
    by_seeds = takes and grouping == "seeds"
    found = divided(world, axes, grouping, sweep)
    assert found == (divide_by_seeds(world, sweep) if by_seeds else divide(world, grouping, sweep))
    assert all(max(asks[i] for i in group) <= len(group) for _, group in found)
    assert all(is_satisfied(world, group) for _, group in found)


def test_no_cut_leaves_a_record_with_fewer_than_it_asks_for() -> None:
    # Without asks four leaves of two. After the cut above 31 the next is that above 21: it would leave 20 with
    # one other, so the left stays whole.
    found = muco.divide_table(muco.Microdata.of(PEOPLE, policy(grouping="leaves")))
    assert members(found) == [{0, 1, 2, 3}, {4, 5}, {6, 7}]


@pytest.mark.parametrize("sweep", ["leaf", "table"])
def test_a_short_group_joins_its_nearest(sweep: str) -> None:
    # {20, 21} is short and 30, 31 are nearer than 40, 41 or 50, 51.
    found = muco.divide_table(muco.Microdata.of(PEOPLE, policy(sweep=sweep)))
    assert sorted(map(sorted, members(found))) == [[0, 1, 2, 3], [4, 5], [6, 7]]


@pytest.mark.parametrize("grouping", ["buckets", "neighbours", "seeds"])
def test_exchanges_keep_what_is_asked_for(grouping: str) -> None:
    table = census()
    microdata = muco.Microdata.of(table, policy(quasi=["age", "zip"], diversity=5, grouping=grouping, exchanges=4))
    groups = muco.divide_table(microdata)
    sizes = np.repeat(groups.sizes, groups.sizes)
    assert (sizes >= table["cover"].to_numpy()[groups.order]).all()
    assert (groups.sizes < 15).any()


def test_groups_do_not_know_in_which_order_records_with_other_asks_came() -> None:
    # Records that are equal but for what they ask: the tag tells them apart, whichever comes first.
    table = pl.DataFrame({"age": [30] * 6, "pay": [1, 1, 1, 2, 2, 2], "cover": [4, 2, 1, 1, 2, 1]})

    def contents(each: pl.DataFrame, key: bytes) -> list[list[tuple[int, ...]]]:
        groups = muco.divide_table(muco.Microdata.of(each, policy(), key=key))
        return [sorted(each[group.records.tolist()].rows()) for group in groups]

    keys = [bytes([number]) * 32 for number in range(20)]
    assert all(contents(table, key) == contents(table.reverse(), key) for key in keys)


# ---- tables and the promise


def test_delta_of_a_group_is_one_over_the_most_that_is_asked_for() -> None:
    # Ages 20 21 30 31 with delta 1/2, but one of them asks for 4: all rows equal. The other groups keep 1/2.
    microdata = muco.Microdata.of(PEOPLE, policy(delta="1/2", preset="paper"))
    groups = muco.divide_table(microdata)
    deltas = {len(group): muco.calculate_table(group, "age").delta for group in groups}
    assert deltas == {4: Fraction(1, 4), 2: Fraction(1, 2)}


def test_a_weaker_ask_does_not_loosen_delta() -> None:
    table = PEOPLE.with_columns(cover=pl.lit(3))
    chosen = {"delta": "1/4", "diversity": 8, "principle": "anonymity", "cover": "balanced"}
    asked, unasked = (muco.Microdata.of(table, policy(**chosen, asks=name)) for name in ("cover", None))
    tables = [muco.calculate_table(muco.divide_table(microdata)[0], "age") for microdata in (asked, unasked)]
    assert str(tables[0]) == str(tables[1])
    assert Fraction(1, 5) < tables[0].delta <= Fraction(1, 4)


def test_the_certificate_says_what_an_ask_gets_and_nothing_of_asks() -> None:
    release = muco.anonymize(PEOPLE, policy())
    assert release.data.columns == ["age", "pay"]
    assert release.certificate.attributes["removed"] == ("cover",)
    assert "stands in a group of as many as it asks for" in release.certificate.promise[1]
    assert any("looking at what records ask for (cover)" in limit for limit in release.certificate.limits)


@pytest.mark.parametrize("method", [generalize, anatomize])
def test_the_certificate_of_a_baseline_names_what_its_groups_were_formed_by(method: Any) -> None:
    kept = {"age": {"role": "quasi", "keep": 2.0}}
    settings = method(PEOPLE, policy(attributes=kept)).certificate.settings
    assert (settings["asks"], settings["keep"]) == ("cover", {"age": 2.0})


def test_mondrian_promises_what_an_ask_gets() -> None:
    words = generalize(PEOPLE, policy()).certificate.promise[1]
    assert words.startswith("A record that asks for more (cover) stands in a group of as many")


def test_an_ask_leaves_only_where_the_policy_says_so_and_with_a_caution() -> None:
    with pytest.warns(MucoWarning, match="tells of each row how much cover its person asked for"):
        release = muco.anonymize(PEOPLE, policy(attributes={"cover": {"role": "other"}}))
    assert release.data["cover"].drop_nulls().to_list() == [4]


def test_who_asks_for_more_is_found_less() -> None:
    table = census()
    chosen = policy(quasi=["age", "zip"], diversity=5)
    release, hidden = muco.anonymize_with_hidden(table, chosen, key=bytes(32))
    assert assess_release(table, release, chosen, hidden=hidden, effort=Effort.RISKS).verdict
    groups = hidden.outcome.groups
    risks = 1 / np.repeat(groups.sizes, groups.sizes)
    assert (risks <= 1 / table["cover"].to_numpy()[groups.order]).all()


# ---- faults


@pytest.mark.parametrize("cells", [["two", "2"], ["0", "2"], ["-3", "2"], ["2.5", "2"], ["inf", "2"]])
def test_an_ask_that_is_no_whole_number_is_refused_with_its_row(cells: list[str]) -> None:
    table = pl.DataFrame({"age": [1, 2], "pay": [1, 2], "cover": cells})
    with pytest.raises(TableError, match=r"attribute cover: 1 cell .*\(row 1\)"):
        muco.anonymize(table, policy())


def test_more_than_the_table_has_is_refused_with_counts() -> None:
    table = PEOPLE.with_columns(cover=pl.Series([9, 8, 100, 1, 1, 1, 1, 1]))
    with pytest.raises(InfeasibleError, match=r"2 records \(rows 1, 3\) ask to hide .* the 8 records of the table"):
        muco.anonymize(table, policy())


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_what_is_covered_or_protected_asks_for_nothing(role: str) -> None:
    with pytest.raises(
        PolicyError, match=f"asks names cover, which has role {role}: it can be identifier or other"
    ):
        policy(attributes={"cover": {"role": role}})


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(TableError, match="no attribute cover"):
        muco.anonymize(PEOPLE.drop("cover"), policy())


def test_check_finds_bad_asks_and_takes_none_for_a_person(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(policy().to_toml())
    assert not [found for found in find_all(PEOPLE, path) if found.attribute == "cover"]
    bad = PEOPLE.with_columns(cover=pl.Series(["x", *["2"] * 7]))
    found = [each for each in find_all(bad, path) if each.attribute == "cover"]
    assert [(each.severity.value, each.rows) for each in found] == [("error", (1,))]
    assert muco.Policy.read(path) == policy()
