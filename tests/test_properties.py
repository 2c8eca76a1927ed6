"""What every release keeps, under every preset and switch: checked against the hidden groups and tables."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from math import ceil
from typing import Any

import numpy as np
import polars as pl
import pytest
from pytest import approx

import muco
from muco.errors import PolicyError
from muco.example import generate
from muco.release import Hidden
from reference import RULES, Principle, movers_distance

KEY = "c3" * 32
TABLE = generate(400).with_row_index("note")  # a column that is released untouched, and tells records apart
QUASI = ["gender", "age", "education", "hours_per_week"]  # the last two have missing values
ROLES: dict[str, Any] = {
    "quasi": QUASI,
    "sensitive": "salary",
    "identifier": "person_id",
    "attributes": {
        name: {"role": "other"} for name in TABLE.columns if name not in {*QUASI, "salary", "person_id"}
    },
}

GROUPINGS: list[dict[str, Any]] = [
    {"grouping": "leaves"},
    {"grouping": "buckets"},
    {"grouping": "neighbours", "sweep": "leaf"},
    {"grouping": "neighbours", "sweep": "table"},
    {"grouping": "seeds", "sweep": "table"},
    {"grouping": "buckets", "exchanges": 2},
    {"grouping": "sampled", "exchanges": 2},
]
COVERS: list[dict[str, Any]] = [
    {"cover": "cheapest", "columns": "observed"},
    {"cover": "cheapest", "columns": "domain"},
    {"cover": "balanced", "columns": "observed"},
]
DELTAS: list[dict[str, Any]] = [
    {"delta": "tight"},
    {"delta": "1/4", "repair": 0},
    {"delta": "0.3", "repair": 1},
    {"delta": "1", "repair": 2},
]
DRAWS: list[dict[str, Any]] = [{"draw": "independent"}, {"draw": "controlled"}]
EVERY = [{**a, **b, **c, **d} for a, b, c, d in product(GROUPINGS, COVERS, DELTAS, DRAWS)]
PRINCIPLES: list[dict[str, Any]] = [
    {"principle": "distinct"},
    {"principle": "entropy", "diversity": 4},
    {"principle": "recursive", "c": 2.0, "diversity": 4},
    {"principle": "closeness", "t": 0.25},
    {"principle": "anonymity"},
    {"principle": "anonymity", "grouping": "leaves"},
]


def anonymized(**switches: Any) -> tuple[muco.Release, Hidden]:
    return muco.anonymize_with_hidden(TABLE, muco.Policy.of(**ROLES, **{"diversity": 5, **switches}), key=KEY)


def check_rows(release: muco.Release, hidden: Hidden) -> None:
    """The form of the release; what is untouched beside its own record; values of the domain."""
    data: pl.DataFrame = release.data
    assert data.schema == TABLE.drop("person_id").schema
    rows = hidden.rows.tolist()
    assert sorted(rows) == list(range(len(TABLE)))
    assert rows != sorted(rows)
    untouched = [name for name in data.columns if name not in QUASI]
    assert data.select(untouched).equals(TABLE[rows].select(untouched))
    for name in QUASI:
        assert set(data[name]) <= set(TABLE[name])
    outcome = hidden.outcome
    place = np.empty(len(rows), dtype=np.int64)
    place[hidden.rows] = np.arange(len(rows))
    for column, domain in enumerate(outcome.groups.microdata.quasi):
        shown = domain.cells.gather(outcome.released[:, column])
        assert data[domain.attribute][place[outcome.groups.order]].equals(shown, null_equal=True)


def check_groups(hidden: Hidden) -> None:
    """Each record in one group, each group by the principle and at least 1/delta strong."""
    groups, policy = hidden.outcome.groups, hidden.outcome.groups.microdata.policy
    assert sorted(groups.order.tolist()) == list(range(len(TABLE)))
    least = 1 if policy.delta == "tight" else ceil(1 / Fraction(policy.delta))
    assert hidden.outcome.smallest_group >= max(policy.diversity, least)
    principle = Principle(policy.principle, policy.diversity, c=policy.c or 0, t=policy.t or 0)
    salaries = TABLE["salary"].rank("dense").fill_null(0).to_list()
    whole = Counter(salaries)
    for group in groups:
        counts = Counter(salaries[record] for record in group.records)
        if policy.principle == "closeness":
            values = sorted(whole, key=lambda rank: (rank == 0, rank))  # a missing salary is the last code
            gap = movers_distance([counts[v] for v in values], [whole[v] for v in values], ordered=True)
            assert gap <= principle.t + 1e-9
        elif policy.principle != "anonymity":
            assert RULES[policy.principle](principle, list(counts.values()))


def check_tables(hidden: Hidden) -> None:
    """Definitions 1 and 3 in exact integers, and no value drawn where its probability is 0."""
    outcome, (tables,) = hidden.outcome, hidden.tables
    policy = outcome.groups.microdata.policy
    for number, group in enumerate(outcome.groups):
        here = slice(outcome.groups.starts[number], outcome.groups.starts[number + 1])
        delta = Fraction(1, len(group)) if policy.delta == "tight" else Fraction(policy.delta)
        for attribute in range(len(QUASI)):
            rows, members, columns, numerators, total = tables.table(number, attribute)
            exact, weight = numerators.astype(object), members.astype(object)
            assert (exact.sum(axis=1) == total).all()
            assert (exact <= delta * (exact * weight[:, None]).sum(axis=0)).all()
            if policy.repair == 0:
                own = np.searchsorted(rows, outcome.original[here, attribute])
                drawn = np.searchsorted(columns, outcome.released[here, attribute])
                assert (numerators[own, drawn] > 0).all()


def check_repair(hidden: Hidden) -> None:
    """No tuple that could be changed is left unchanged."""
    outcome = hidden.outcome
    if outcome.groups.microdata.policy.repair:
        same = (outcome.original == outcome.released).all(axis=1)
        assert same.sum() == outcome.unrepairable == 0
        assert outcome.repaired > 0


@pytest.mark.parametrize("switches", EVERY, ids=lambda s: "-".join(map(str, s.values())))
def test_a_release_keeps_its_promises_under_every_combination_of_switches(switches: dict[str, Any]) -> None:
    if switches["cover"] == "balanced" and switches["delta"] == "1":
        switches = {**switches, "repair": 1}
    release, hidden = anonymized(**switches)
    check_rows(release, hidden)
    check_groups(hidden)
    check_tables(hidden)
    check_repair(hidden)


@pytest.mark.parametrize("switches", PRINCIPLES, ids=lambda s: "-".join(map(str, s.values())))
@pytest.mark.parametrize("delta", ["tight", "1/4"])
def test_a_release_keeps_its_promises_under_every_principle(switches: dict[str, Any], delta: str) -> None:
    release, hidden = anonymized(delta=delta, **switches)
    check_rows(release, hidden)
    check_groups(hidden)
    check_tables(hidden)
    check_repair(hidden)


@pytest.mark.parametrize(
    "preset",
    [
        {"preset": "provable"},
        {"preset": "provable", "blocks": [["gender", "age"], ["education", "hours_per_week"]]},
        {"preset": "paper", "delta": "1/5"},
        {"preset": "paper", "delta": "1/5", "blocks": [["age", "hours_per_week"]]},
    ],
)
def test_both_presets_keep_their_promises(preset: dict[str, Any]) -> None:
    release, hidden = anonymized(**preset)
    check_rows(release, hidden)
    check_groups(hidden)
    check_tables(hidden)
    check_repair(hidden)


@pytest.mark.parametrize("sweep", ["leaf", "table"])
def test_provable_each_attribute_of_a_group_is_a_permutation_of_itself(sweep: str) -> None:
    _, hidden = anonymized(sweep=sweep)
    outcome = hidden.outcome
    assert (outcome.original != outcome.released).any()
    for before, after in zip(
        *(np.split(c, outcome.groups.starts[1:-1]) for c in (outcome.original, outcome.released))
    ):
        assert np.array_equal(np.sort(before, axis=0), np.sort(after, axis=0))


def test_provable_all_rows_of_a_table_are_equal_and_are_the_groups_own_counts() -> None:
    _, hidden = anonymized()
    for number in range(len(hidden.outcome.groups)):
        for attribute in range(len(QUASI)):
            rows, members, columns, numerators, total = hidden.tables[0].table(number, attribute)
            assert np.array_equal(rows, columns)
            assert (numerators * members.sum() == total * members).all()


def test_delta_one_gives_every_record_its_own_values() -> None:
    release, hidden = anonymized(delta=1, repair=0)
    assert release.data.equals(TABLE.drop("person_id")[hidden.rows.tolist()])
    assert release.certificate.changed_share == 0


def test_equal_records_have_equal_rows() -> None:
    _, hidden = anonymized(preset="paper", delta="1/5")
    seen = 0
    for group in list(hidden.outcome.groups)[:20]:
        for attribute in QUASI:
            table = muco.calculate_table(group, attribute)
            rows = zip(table.original, table.numerators.tolist(), strict=True)
            distinct = {(value, tuple(row)) for value, row in rows}
            assert len(distinct) == len(set(table.original))
            seen += len(table.original) - len(distinct)
    assert seen > 100


@pytest.mark.parametrize("cover", ["cheapest", "balanced"])
def test_expected_loss_falls_as_delta_grows(cover: str) -> None:
    _, hidden = anonymized(delta="1/5", cover=cover)
    deltas = ["1/5", "0.21", "2/9", "1/4", "0.3", "1/3", "1/2", "3/4", "1"]
    for group in list(hidden.outcome.groups)[:8]:
        costs = [sum(muco.calculate_table(group, name, delta).cost for name in QUASI) for delta in deltas]
        assert all(less <= more + 1e-7 for more, less in pairwise(costs))
        assert costs[-1] == approx(0, abs=1e-12)


def test_tight_does_not_go_with_repair() -> None:
    with pytest.raises(PolicyError, match="tight does not go with repair"):
        anonymized(delta="tight", repair=1)


def test_two_sensitive_attributes_are_both_kept_diverse() -> None:
    roles = {**ROLES, "sensitive": ["salary", "ward"], "attributes": {}}
    policy = muco.Policy.of(**roles, diversity=3)
    table = TABLE.drop("race", "marital_status", "relationship").with_columns(ward=pl.col("note") % 5).drop("note")
    _, hidden = muco.anonymize_with_hidden(table, policy, key=KEY)
    assert len(hidden.outcome.groups) > 3
    for group in hidden.outcome.groups:
        for name in ("salary", "ward"):
            counts = Counter(table[name][group.records.tolist()].to_list())
            assert max(counts.values()) * 3 <= len(group)
