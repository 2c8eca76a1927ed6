"""The informed adversary: brute force, closed forms, controls, calibration, the rates of docs/risk.md."""

from __future__ import annotations

from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from muco import anonymize_with_hidden
from muco.assess.comparison import Comparison
from muco.assess.informed import (
    Posterior,
    join_releases,
    measure_corruption,
    measure_informed,
    measure_single_value,
)
from muco.errors import TableError
from muco.example import generate
from muco.microdata import Groups, Key
from muco.policy import Policy
from muco.release import Hidden, Outcome
from muco.steps import calculate_tables, draw_values, repair_tuples

DATA = Path(__file__).parents[2] / "shared" / "data"
QUASI = ("SEX", "AGE", "RELATE", "MARST", "RACE", "EDUC", "UHRSWORK")
KEY = bytes(range(32))
SMALL = pl.DataFrame(
    {"age": [20, 22, 25, 31, 38, 40], "town": list("aababb"), "pay": [1, 2, 3, 1, 2, 3], "sex": list("fmfmfm")}
)


def run(table: pl.DataFrame, policy: Policy, key: bytes = KEY) -> tuple[Comparison, Hidden]:
    release, hidden = anonymize_with_hidden(table, policy, key=key)
    return Comparison.of(table, release.data, policy, record=hidden.rows), hidden


def small(**switches: Any) -> Policy:
    given: dict[str, Any] = {"diversity": 3, "grouping": "leaves", **switches}
    return Policy.of(quasi=["age", "town", "sex"], sensitive="pay", **given)


def likelihood(hidden: Hidden, group: int, repair: int) -> NDArray[np.float64]:
    """P(record i becomes row j) in plain Python; repair of one value by its closed form."""
    groups = hidden.outcome.groups
    here = slice(int(groups.starts[group]), int(groups.starts[group + 1]))
    codes, released = hidden.outcome.original[here], hidden.outcome.released[here]
    size, width = codes.shape
    likely, kept = np.ones((size, size)), np.ones(size)
    moves = np.zeros((width, size, size))  # w_a / c_a where only attribute a differs
    change = 0.0
    for a, distance in enumerate(groups.microdata.distances):
        rows, _, columns, numerators, total = hidden.tables[0].table(group, a)
        shares = (numerators / total)[np.searchsorted(rows, codes[:, a])]
        likely *= shares[:, np.searchsorted(columns, released[:, a])]
        kept *= shares[np.arange(size), np.searchsorted(columns, codes[:, a])]
        weight = distance.between(codes[:, a].min(keepdims=True), codes[:, a].max(keepdims=True))[0]
        change += weight * (len(columns) - 1) / len(columns)
        moves[a] = weight / len(columns)
    if not repair:
        return likely
    differs = codes[:, None, :] != released[None, :, :]
    alone = differs & (differs.sum(axis=2, keepdims=True) == 1)
    sent = (moves.transpose(1, 2, 0) * alone).sum(axis=2) / change
    return np.where(differs.any(axis=2), likely + kept[:, None] * sent, 0.0)


def release_of(groups: Groups, key: Key) -> Hidden:
    batches, drawn, tables = list(groups.batches()), [], []
    for batch in batches:
        tables.append(calculate_tables(batch))
        drawn.append(repair_tuples(tables[-1], draw_values(tables[-1], batch, key), batch, key)[0])
    return Hidden(key, Outcome(groups, np.concatenate(drawn), 0, 0), tuple(tables), groups.order)


def blocked(hidden: Hidden, group: int, block: list[int]) -> NDArray[np.float64]:
    """P(record i becomes row j on attributes that share a number): how far their parts of [0, 1) overlap."""
    groups = hidden.outcome.groups
    here = slice(int(groups.starts[group]), int(groups.starts[group + 1]))
    codes, released = hidden.outcome.original[here], hidden.outcome.released[here]
    low, high = np.zeros((len(codes),) * 2), np.ones((len(codes),) * 2)
    for a in block:
        rows, _, columns, numerators, total = hidden.tables[0].table(group, a)
        for i, own in enumerate(codes[:, a]):
            apart = groups.microdata.distances[a].between(np.full_like(columns, own), columns)
            order = np.lexsort((apart, columns != own))  # the own value first, then by distance
            ends = np.cumsum((numerators / total)[np.searchsorted(rows, own)][order])
            place = np.argsort(order)[np.searchsorted(columns, released[:, a])]
            low[i] = np.maximum(low[i], np.concatenate(([0.0], ends))[place])
            high[i] = np.minimum(high[i], ends[place])
    return np.maximum(high - low, 0)


# Every kind of table and draw that A1 follows exactly; under tight tables each posterior is 1/m.
EXACT: dict[str, dict[str, Any]] = {
    "paper": {"delta": "1/2", "repair": 1},
    "paper, repair 0": {"delta": "1/2", "repair": 0},
    "balanced": {"delta": "1/2", "repair": 0, "cover": "balanced"},
    "blocks": {"delta": "1/2", "repair": 0, "blocks": [["town", "sex"]]},
    "tight blocks": {"draw": "independent", "blocks": [["town", "sex"]]},
    "provable": {},
    "provable blocks": {"blocks": [["town", "sex"]]},
}


@pytest.mark.parametrize("switches", EXACT.values(), ids=EXACT)
@pytest.mark.parametrize("seed", range(4))
def test_the_posterior_is_that_of_all_permutations(switches: dict[str, Any], seed: int) -> None:
    made, hidden = run(SMALL, small(**switches), bytes([seed] * 32))
    found, chosen = Posterior.of(made, [hidden]), hidden.outcome.groups.microdata.policy
    starts = hidden.outcome.groups.starts
    for group, (start, end) in enumerate(pairwise(starts)):
        likely = likelihood(hidden, group, chosen.repair)
        if chosen.blocks and chosen.draw == "independent":
            likely = blocked(hidden, group, [0]) * blocked(hidden, group, [1, 2])
        size = end - start
        weights = [np.prod(likely[np.arange(size), list(order)]) for order in permutations(range(size))]
        right = [w * (np.array(o) == np.arange(size)) for w, o in zip(weights, permutations(range(size)))]
        assert found.own[start:end] == pytest.approx(np.sum(right, axis=0) / sum(weights), abs=1e-12)
    assert found.unexplained == 0


def test_equal_rows_leave_one_over_the_group_exactly() -> None:
    made, hidden = run(SMALL, small())
    found = Posterior.of(made, [hidden])
    sizes = hidden.outcome.groups.sizes
    assert (found.own == np.repeat(1 / sizes, sizes)).all()
    # Frequency 3-diversity: each pay stands in a third of the group at most, here exactly.
    assert found.alike[:, 0] == pytest.approx(1 / 3)
    told = measure_corruption(made, hidden, 1)
    asked = Posterior.of(made, [hidden], corrupted=1).own
    assert asked[~np.isnan(asked)] == pytest.approx(np.repeat(1 / (sizes - 1), sizes - 1))
    assert told.raw is not None and told.raw.value == 1.0


@pytest.mark.parametrize("repair", [0, 1])
def test_who_knows_the_groups_leaves_an_exact_match_out_after_repair(repair: int) -> None:
    made, hidden = run(SMALL, small(delta="1/2", repair=repair))
    starts, outcome = hidden.outcome.groups.starts, hidden.outcome
    expected = []
    for start, end in pairwise(starts):
        codes, rows = outcome.original[start:end], outcome.released[start:end]
        for own, record in enumerate(codes):
            apart = np.zeros(len(rows))
            for a, distance in enumerate(outcome.groups.microdata.distances):
                apart += distance.between(np.full(len(rows), record[a], dtype=np.int32), rows[:, a].copy())
            if repair:
                apart[(rows == record).all(axis=1)] = 99
            is_near = apart <= apart.min() + 1e-9
            expected.append(is_near[own] / is_near.sum())
    assert Posterior.of(made, [hidden]).nearest == pytest.approx(expected)


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return generate(10_000).drop("person_id")


def policy(**switches: Any) -> Policy:
    quasi = ["gender", "age", "relationship", "marital_status", "race", "education", "hours_per_week"]
    given: dict[str, Any] = {"diversity": 8, **switches}
    return Policy.of(quasi=quasi, sensitive="salary", **given)


@pytest.fixture(scope="module")
def paper(people: pl.DataFrame) -> tuple[Comparison, Hidden]:
    return run(people, policy(delta="1/6"))


TOGETHER = [["marital_status", "relationship"], ["age", "education"]]


@pytest.mark.parametrize(
    "switches",
    [
        {"delta": "1/6", "blocks": TOGETHER},
        {"delta": "1/6", "repair": 0, "cover": "balanced", "draw": "independent"},
        {"draw": "independent", "blocks": TOGETHER},
        {"blocks": TOGETHER},
        {},
    ],
    ids=["paper, blocks", "balanced", "tight, independent, blocks", "provable, blocks", "provable"],
)
def test_the_posterior_of_ten_thousand_targets_is_calibrated_in_every_setting(
    people: pl.DataFrame, switches: dict[str, Any]
) -> None:
    found = measure_informed(*run(people, policy(**switches)))
    assert abs(found.calibration) < 0.01
    assert "independent" not in found.record.note


@pytest.mark.parametrize("switches", [{"delta": "1/6"}, {"delta": "1/6", "repair": 0, "cover": "balanced"}])
def test_controlled_draws_of_unequal_rows_are_less_certain_than_is_said(
    people: pl.DataFrame, switches: dict[str, Any]
) -> None:
    # The product of independent draws stands in for their law: measured .015 and .017 too sure of itself.
    found = measure_informed(*run(people, policy(**switches, draw="controlled")))
    assert found.record.note == "controlled draws are taken as independent ones"
    assert 0 < found.calibration < 0.03


def test_the_posterior_of_ten_thousand_targets_is_calibrated(paper: tuple[Comparison, Hidden]) -> None:
    found = measure_informed(*paper)
    assert abs(found.calibration) < 0.01
    assert abs(found.record.rate.value - found.top.rate.value) < 0.15
    assert found.record.raw is not None and found.record.raw.value > 0.9  # some people are equal
    sizes = paper[1].outcome.groups.sizes
    chance = len(sizes) / sizes.sum()  # mean of 1/m over records
    for risk in (found.record, found.top, found.nearest_in_group, found.assigned_in_group):
        # Six standard deviations of a mean of 10,000 trials at about 1/9.
        assert risk.chance is not None and abs(risk.chance.value - chance) < 0.02
    assert found.chain_error < 0.05


def test_the_provable_setting_keeps_its_promise(people: pl.DataFrame) -> None:
    made, hidden = run(people, policy())
    found = measure_informed(made, hidden)
    sizes = hidden.outcome.groups.sizes
    assert found.record.rate.value == pytest.approx(len(sizes) / sizes.sum())
    assert found.calibration == pytest.approx(0, abs=1e-12)
    assert found.spread.quantile_99 <= 1 / 8
    # In the raw table all are found but one in ten, who are equal to another; by chance nobody is.
    assert found.raw_spread.above_nine_tenths > 0.85 and found.chance_spread.above_half == 0.0


def test_attributes_that_share_a_number_are_not_taken_as_independent() -> None:
    # Tight tables have equal rows, but a record that keeps its sex keeps its town: the posterior is not 1/m.
    made, hidden = run(SMALL, small(draw="independent", blocks=[["town", "sex"]]))
    found = Posterior.of(made, [hidden])
    sizes = hidden.outcome.groups.sizes
    assert found.unexplained == 0
    assert np.abs(found.own - np.repeat(1 / sizes, sizes)).max() > 0.05


def test_the_order_of_the_records_does_not_matter(people: pl.DataFrame) -> None:
    some = people[:200]
    order = np.argsort(some["salary"].to_numpy(), kind="stable")
    made, hidden = run(some, policy(delta="1/4"))
    again, hidden_again = run(some[order], policy(delta="1/4"))
    own, own_again = np.empty(200), np.empty(200)
    own[hidden.outcome.groups.order] = Posterior.of(made, [hidden]).own
    own_again[order[hidden_again.outcome.groups.order]] = Posterior.of(again, [hidden_again]).own
    assert own_again == pytest.approx(own, abs=1e-9)


def test_several_releases_tell_more_than_one(paper: tuple[Comparison, Hidden]) -> None:
    made, hidden = paper
    alone = join_releases(made, [hidden]).rate.value
    assert alone == pytest.approx(measure_informed(made, hidden).record.rate.value)
    others = [release_of(hidden.outcome.groups, Key(bytes([seed] * 32))) for seed in (1, 2)]
    assert join_releases(made, [hidden, *others]).rate.value > alone + 0.05


def test_only_releases_of_one_partition_are_joined(people: pl.DataFrame, paper: tuple[Comparison, Hidden]) -> None:
    _, other = run(people, policy(delta="1/6", diversity=10))
    with pytest.raises(TableError, match="different groups"):
        join_releases(paper[0], [paper[1], other])


def test_a_hidden_file_of_another_table_is_refused(paper: tuple[Comparison, Hidden]) -> None:
    made, _ = run(SMALL, small())
    with pytest.raises(TableError, match="of a run on another table"):
        measure_informed(made, paper[1])


def test_single_value_risk_by_hand() -> None:
    # One group of 6, tight and balanced: sex f, m three each, everybody outputs either with 1/2. The own row has it
    # with 1/2 and so do k of 5 others, binomially: 1/2 Σ C(5, k) / 32 / (k + 1) = 1/2 (2^6 - 1) / 6 / 32.
    _, hidden = run(SMALL.with_columns(pay=pl.Series(range(6))), small(diversity=6))
    found = {each.attribute: each for each in measure_single_value(hidden)}
    assert found["sex"].mean == pytest.approx(63 / 384)
    assert found["sex"].largest == pytest.approx(63 / 384)
    # Who keeps f is one of three. Half of all are f, as every row here is: chance is the same, (1 - 1/2^6) / 6.
    assert found["sex"].raw == pytest.approx(1 / 3)
    assert found["sex"].chance == pytest.approx(63 / 384)
