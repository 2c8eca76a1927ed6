"""Adversaries who score every row (A2, A5) or turn on the choice of groups (A8, A10)."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from muco import anonymize_with_hidden
from muco.assess.partition import intersect_partitions, measure_minimality
from muco.assess.reruns import number_groups, rerun_exchanged
from muco.assess.scores import search_without_groups, simulate_method
from muco.errors import TableError
from muco.example import generate
from muco.microdata import Groups
from muco.policy import Policy
from muco.release import Hidden
from reference_exchange import stationary
from test_exchange import people as world_of

QUASI = ["gender", "age", "relationship", "marital_status", "race", "education", "hours_per_week"]


def hidden_of(table: pl.DataFrame, policy: Policy) -> Hidden:
    return anonymize_with_hidden(table, policy, key=bytes(32))[1]


def four(pays: list[int], **switches: Any) -> Hidden:
    table = pl.DataFrame({"age": [1, 2, 3, 4], "pay": pays})
    return hidden_of(table, Policy.of(quasi="age", sensitive="pay", diversity=2, grouping="leaves", **switches))


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return generate(3_000).drop("person_id")


@pytest.fixture(scope="module")
def paper(people: pl.DataFrame) -> Hidden:
    return hidden_of(people, Policy.of(quasi=QUASI, sensitive="salary", diversity=8, delta="1/6"))


def test_tables_alone_lead_to_the_rows_of_the_own_group() -> None:
    # Groups of ages 1 2 and 3 4: each person's table gives both of the group's rows with 1/2, and no other.
    assert search_without_groups(four([1, 2, 1, 2])).rate.value == pytest.approx(0.5)
    # One group of four: each row with 1/4.
    assert search_without_groups(four([1, 1, 2, 2])).rate.value == pytest.approx(0.25)


def test_scores_beat_chance_and_repeat(paper: Hidden) -> None:
    tables, simulated = search_without_groups(paper), simulate_method(paper, simulations=3)
    for risk in (tables, simulated):
        assert risk.chance is not None and risk.chance.high < 0.02
        assert 0.05 < risk.rate.value <= 1
    assert simulate_method(paper, simulations=3) == simulated
    note = "3 simulations; no raw control: the raw table is no release of the method; 2000 records tried"
    assert simulated.note == note


def test_two_partitions_leave_who_is_in_both_groups() -> None:
    # Groups {0 1 2 3} and {0 1}{2 3} of four, pays 1 1 1 2: 0 and 1 are left with two of pay 1.
    hidden = four([1, 2, 1, 2])
    whole = Groups(hidden.outcome.groups.microdata, np.arange(4), np.array([0, 4]), np.array([0]))
    halves = Groups(hidden.outcome.groups.microdata, np.arange(4), np.array([0, 2, 4]), np.array([0, 1]))
    found = intersect_partitions(whole, halves, np.array([1, 1, 1, 2]))
    assert (found.candidates, found.left, found.pinned.value) == (4.0, 2.0, 0.5)
    with pytest.raises(TableError, match="different numbers of records"):
        intersect_partitions(whole, halves, np.array([1, 1]))


def test_an_exchange_that_would_allow_a_cut_did_not_happen() -> None:
    # Ages 1 2 3 4 with pays 1 1 2 2 are one group: halves would have one pay each. After any exchange of a 1 and a
    # 2 both halves have both, and Mondrian cuts: so whoever reruns it knows every pay.
    found = measure_minimality(four([1, 1, 2, 2]))
    assert (found.unchanged.value, found.before.value, found.remaining.value) == (0.0, 0.5, 1.0)
    # With pays 1 2 1 2 the halves are cut, and an exchange inside one changes nothing.
    found = measure_minimality(four([1, 2, 1, 2]))
    assert (found.unchanged.value, found.before.value, found.remaining.value) == (1.0, 0.5, 0.5)


def test_a_large_table_of_drawn_groups_is_judged_by_a_sample_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # Eight different pays in groups of two; of six of these people every partition is as likely after an exchange.
    hidden = drawn([1, 2, 3, 4, 5, 6, 7, 8])
    assert measure_minimality(hidden).note.startswith("4 records tried")  # one a group
    monkeypatch.setattr("muco.assess.partition.MOST_RERUN", 6)
    found = measure_minimality(hidden)
    assert found.note.startswith("groups drawn from 6 of 8 records; 3 records tried")
    assert (found.before.value, found.remaining.value) == (0.5, 0.5)


def test_groups_made_without_sensitive_values_give_nothing_away() -> None:
    found = measure_minimality(four([1, 1, 2, 2], principle="anonymity"))
    assert found.remaining == found.before and found.unchanged.trials == 0


# ---- groups drawn at random


def drawn(pays: list[int], diversity: int = 2) -> Hidden:
    table = pl.DataFrame({"age": AGES[: len(pays)], "pay": pays})
    switches: dict[str, Any] = {"grouping": "sampled", "temperature": 1.0}
    return hidden_of(table, Policy.of(quasi="age", sensitive="pay", diversity=diversity, **switches))


AGES = [0, 1, 3, 4, 6, 7, 9, 12]


def test_drawn_groups_of_different_values_are_as_likely_after_any_exchange() -> None:
    # All pays differ: every partition is diverse before and after, so each of two stays as likely as the other.
    found = measure_minimality(drawn([1, 2, 3, 4, 5, 6]))
    assert (found.unchanged.value, found.before.value, found.remaining.value) == (1.0, 0.5, 0.5)


def test_the_likelihood_of_an_exchange_is_the_ratio_of_the_laws_constants() -> None:
    # Pays 0 1 2 3 0 1 4 5 in two groups of four: the oracle enumerates all 70 partitions before and after each
    # exchange. A share of 2,000 reruns has se .011 at most, and 5 se of a ratio of two near .7 are .12.
    pays = [0, 1, 2, 3, 0, 1, 4, 5]
    groups = drawn(pays, 4).outcome.groups
    found = rerun_exchanged(groups, number_groups(groups), most=1, reruns=2_000)
    assert found
    for part in found:
        one, other = int(part.one[0]), int(part.other[0])
        exchanged = [*pays]
        exchanged[one], exchanged[other] = pays[other], pays[one]
        before, after = (stationary(world_of(values, 4)[0], 1.0) for values in (pays, exchanged))
        both = sum(chance for groups, chance in before.items() if groups in after)
        back = sum(chance for groups, chance in after.items() if groups in before)
        assert part.likelihood[0] == pytest.approx(back / both, abs=0.12)
        recurs = sum(chance for groups, chance in before.items() if any({one, other} <= {*g} for g in groups))
        assert part.recurs[0] == pytest.approx(recurs, abs=0.06)
