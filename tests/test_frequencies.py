"""Draws fall as often as their tables say and know nothing of each other. False alarms: 1e-6 a test.

A batch may hold the same group many times: each copy is a group of its own to the streams, so that one call draws
as often as wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

import twin
from muco import _core
from twin import Axis, Table, entry, tables_of

ALPHA = 1e-6
KEY = bytes(range(32))
COPIES = 4_000
Drawn = NDArray[np.int32]  # (copies, records, attributes)


def copied(group: Sequence[tuple[int, ...]], axes: list[Axis], copies: int, **terms: object) -> _core.Tables:
    """The tables of a group that occurs many times."""
    delta = terms.get("delta")
    assert delta is None or isinstance(delta, Fraction)
    return tables_of([group] * copies, axes, delta, str(terms.get("cover", "cheapest")), "observed")


def draws(tables: _core.Tables, shape: tuple[int, int, int], draw: str, first_group: int = 0) -> Drawn:
    return _core.output_values(tables, KEY, first_group=first_group, draw=draw, blocks=[]).reshape(shape)


def surprise(counts: NDArray[np.int64], expected: NDArray[np.float64]) -> tuple[float, int]:
    """Chi-square and its degrees of freedom; nothing may fall where nothing is expected."""
    assert not counts[expected == 0].any(), "a value was drawn that has probability 0"
    likely = expected > 0
    statistic = float(((counts[likely] - expected[likely]) ** 2 / expected[likely]).sum())
    return statistic, int(likely.sum()) - 1


def p_value(counts: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    statistic, freedom = surprise(counts, expected)
    return float(chi2.sf(statistic, freedom)) if freedom else 1.0


def counted(drawn: NDArray[np.int32], table: Table, record: int) -> NDArray[np.int64]:
    """How often a record of every copy output each column."""
    return np.array([(drawn[:, record] == column).sum() for column in table.columns])


def assorted() -> list[tuple[list[int], Fraction, str]]:
    """60 groups on one line of 9 values, of 3 to 9 records, at deltas of every sort."""
    made = []
    for number in range(60):
        size = 3 + number % 7
        codes = [(number * 7 + i * i * (1 + number % 4)) % 9 for i in range(size)]
        delta = [Fraction(1, 2), Fraction(2, 5), Fraction(1, size), Fraction(1, 3)][number % 4]
        made.append((codes, delta, "balanced" if number % 3 == 0 else "cheapest"))
    return made


LINE = twin.line([0, 1, 2, 3, 5, 8, 13, 21, 34])


@pytest.mark.parametrize("draw", ["independent", "controlled"])
def test_sixty_tables_are_drawn_as_often_as_they_say(draw: str) -> None:
    # Each record's marginal on its own, at 1e-6 over all 358 of them: so it also holds where draws are dependent.
    marginals = 0
    lowest = 1.0
    for number, (codes, delta, cover) in enumerate(assorted()):
        tables = copied([(code,) for code in codes], [LINE], COPIES, delta=delta, cover=cover)
        drawn = draws(tables, (COPIES, len(codes), 1), draw, first_group=number * COPIES)[:, :, 0]
        table = entry(tables, codes)
        for record in range(len(codes)):
            expected = COPIES * table.probabilities[record]
            expected[expected < 1e-3] = 0  # 2^-48 of rounding is no expectation
            counts = counted(drawn, table, record)
            assert counts.sum() == COPIES
            assert not counts[table.numerators[record] == 0].any()
            lowest = min(lowest, p_value(counts, expected))
            marginals += 1
    assert lowest > ALPHA / marginals


def test_controlled_counts_are_the_floor_or_ceiling_of_their_expectation() -> None:
    for codes, delta, cover in assorted():
        tables = copied([(code,) for code in codes], [LINE], 300, delta=delta, cover=cover)
        drawn = draws(tables, (300, len(codes), 1), "controlled")[:, :, 0]
        table = entry(tables, codes)
        for column, total in zip(table.columns, table.sums):
            counts = (drawn == column).sum(axis=1)
            floor = total // table.total
            assert set(counts.tolist()) <= {floor, floor + (total % table.total > 0)}


def test_equal_rows_whose_expectations_are_not_whole_are_drawn_without_bias() -> None:
    # 0 0 1 1 2, all one apart, at 1/5: values 0 and 1 tie, so each record outputs either by a coin, 2.5 expected.
    codes = [0, 0, 1, 1, 2]
    tables = tables_of([[(code,) for code in codes]] * COPIES, [twin.tree([1, 1])], None, "cheapest", "observed")
    drawn = draws(tables, (COPIES, 5, 1), "controlled")[:, :, 0]
    half = np.full(2, COPIES / 2)
    assert set((drawn == 0).sum(axis=1).tolist()) == {2, 3}
    for record in range(5):
        assert p_value(np.bincount(drawn[:, record], minlength=2), half) > ALPHA / 5


def test_independent_counts_do_vary() -> None:
    # Four values, tight and balanced: each count is binomial(4, 1/4); one of each in all 4,000 is impossible.
    tables = copied([(0,), (1,), (2,), (3,)], [LINE], COPIES, cover="balanced")
    drawn = draws(tables, (COPIES, 4, 1), "independent")[:, :, 0]
    assert set((drawn == 0).sum(axis=1).tolist()) == {0, 1, 2, 3, 4}


# ---- independence


GROUP = [(0, 0), (0, 2), (1, 1), (3, 2)]
AXES = [twin.line([0, 1, 2, 3]), twin.tree([0.5, 1])]


def dependence(
    one: NDArray[np.signedinteger[Any]],
    other: NDArray[np.signedinteger[Any]],
    p: NDArray[np.float64],
    q: NDArray[np.float64],
) -> float:
    """The p-value of two cells, drawn again and again, being independent with these probabilities."""
    joint = np.zeros((len(p), len(q)), dtype=np.int64)
    np.add.at(joint, (one, other), 1)
    return p_value(joint, len(one) * np.outer(p, q))


def independences(drawn: Drawn, tables: _core.Tables) -> dict[str, float]:
    """The lowest p-value of pairs across groups, attributes and records."""
    places, shares = [], []
    for attribute in range(2):
        table = entry(tables, [record[attribute] for record in GROUP], attribute=attribute)
        places.append(np.searchsorted(table.columns, drawn[:, :, attribute]).astype(np.int32))
        shares.append(table.probabilities)
    found: dict[str, list[float]] = {"groups": [], "attributes": [], "records": []}
    for i in range(len(GROUP)):
        for a in range(2):
            found["groups"].append(dependence(places[a][:-1, i], places[a][1:, i], shares[a][i], shares[a][i]))
        for j in range(len(GROUP)):
            pair = dependence(places[0][:, i], places[1][:, j], shares[0][i], shares[1][j])
            found["attributes"].append(pair)
        for j in range(i):
            for a in range(2):
                found["records"].append(dependence(places[a][:, i], places[a][:, j], shares[a][i], shares[a][j]))
    return {name: min(values) * len(values) for name, values in found.items()}


def test_independent_draws_know_nothing_of_other_groups_attributes_and_records() -> None:
    tables = copied(GROUP, AXES, 20_000, delta=Fraction(2, 5))
    found = independences(draws(tables, (20_000, 4, 2), "independent"), tables)
    assert min(found.values()) > ALPHA, found


def test_controlled_draws_know_nothing_of_other_groups_and_attributes() -> None:
    # Within a group they must: what one record takes another cannot.
    tables = copied(GROUP, AXES, 20_000, delta=Fraction(2, 5))
    found = independences(draws(tables, (20_000, 4, 2), "controlled"), tables)
    assert min(found["groups"], found["attributes"]) > ALPHA, found
    assert found["records"] < ALPHA


def test_a_generator_reseeded_in_every_group_is_caught() -> None:
    # The authors' fault, planted: every group is drawn under the address of group 0.
    tables = copied(GROUP, AXES, 1, delta=Fraction(2, 5))
    same = np.concatenate([draws(tables, (1, 4, 2), "independent") for _ in range(2_000)])
    assert independences(same, tables)["groups"] < ALPHA
    assert len(np.unique(same, axis=0)) == 1


def test_a_stream_shared_by_attributes_or_records_is_caught() -> None:
    group = [(0, 0), (0, 0), (1, 1), (2, 2)]
    axes = [twin.line([0, 1, 2])] * 2
    tables = copied(group, axes, 2_000, delta=Fraction(2, 5))
    drawn = draws(tables, (2_000, 4, 2), "independent").copy()
    p = entry(tables, [record[0] for record in group]).probabilities
    assert dependence(drawn[:, 0, 0], drawn[:, 0, 1], p[0], p[0]) > ALPHA
    drawn[:, :, 1] = drawn[:, :, 0]  # the second attribute drawn from the first one's stream
    assert dependence(drawn[:, 0, 0], drawn[:, 0, 1], p[0], p[0]) < ALPHA
    drawn[:, 1] = drawn[:, 0]  # the second record drawn with the first one's number
    assert dependence(drawn[:, 0, 0], drawn[:, 1, 0], p[0], p[0]) < ALPHA


def test_two_keys_draw_independently() -> None:
    tables = copied(GROUP, AXES, 20_000, delta=Fraction(2, 5))
    p = entry(tables, [record[0] for record in GROUP]).probabilities
    one, other = (
        np.searchsorted(
            [0, 1, 3], _core.output_values(tables, bytes([k] * 32), first_group=0, draw="independent", blocks=[])
        )
        for k in (1, 2)
    )
    pairs = [dependence(one[i::4, 0], other[i::4, 0], p[i], p[i]) for i in range(4)]
    assert min(pairs) > ALPHA / 4


# ---- the provable setting


@pytest.mark.parametrize("codes", [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 1, 1]])
def test_every_arrangement_of_a_groups_values_over_its_records_is_equally_likely(codes: list[int]) -> None:
    # Tight, balanced, controlled: 24, 12 and 10 arrangements, each of 24,000 draws' fair share.
    copies = 24_000
    tables = copied([(code,) for code in codes], [LINE], copies, cover="balanced")
    drawn = draws(tables, (copies, len(codes), 1), "controlled")[:, :, 0]
    arrangements = sorted(set(permutations(codes)))
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    assert [tuple(row) for row in found.tolist()] == arrangements
    assert p_value(counts, np.full(len(arrangements), copies / len(arrangements))) > ALPHA


def test_arrangements_of_two_attributes_are_independent() -> None:
    copies = 36_000
    tables = copied([(0, 0), (1, 1), (2, 2)], [twin.line([0, 1, 2])] * 2, copies, cover="balanced")
    drawn = draws(tables, (copies, 3, 2), "controlled")
    _, counts = np.unique(drawn.reshape(copies, 6), axis=0, return_counts=True)
    assert len(counts) == 36
    assert p_value(counts, np.full(36, copies / 36)) > ALPHA


@pytest.mark.parametrize(("delta", "cover"), [(Fraction(2, 5), "cheapest"), (Fraction(1, 2), "balanced")])
def test_a_block_that_shares_a_random_number_leaves_each_table_as_it_is(delta: Fraction, cover: str) -> None:
    copies = 20_000
    tables = copied(GROUP, AXES, copies, delta=delta, cover=cover)
    drawn = _core.output_values(tables, KEY, first_group=0, draw="independent", blocks=[[0, 1]])
    drawn = drawn.reshape(copies, len(GROUP), 2)
    tied = 0
    for record in range(len(GROUP)):
        places, shares = [], []
        for attribute in range(2):
            table = entry(tables, [each[attribute] for each in GROUP], attribute=attribute)
            counts = counted(drawn[:, :, attribute], table, record)
            expected = copies * table.probabilities[record]
            expected[expected < 1e-3] = 0
            assert p_value(counts, expected) > ALPHA / 8
            places.append(np.searchsorted(table.columns, drawn[:, record, attribute]).astype(np.int32))
            shares.append(np.where(expected > 0, table.probabilities[record], 0))
        tied += dependence(places[0], places[1], shares[0], shares[1]) < ALPHA
    assert tied  # or the block would be no block


def test_a_permuted_block_leaves_each_table_as_it_is() -> None:
    copies = 20_000
    tables = copied(GROUP, AXES, copies, cover="balanced")
    drawn = _core.output_values(tables, KEY, first_group=0, draw="controlled", blocks=[[0, 1]])
    drawn = drawn.reshape(copies, len(GROUP), 2)
    for record in range(len(GROUP)):
        for attribute in range(2):
            table = entry(tables, [each[attribute] for each in GROUP], attribute=attribute)
            expected = copies * table.probabilities[record]
            assert p_value(counted(drawn[:, :, attribute], table, record), expected) > ALPHA / 8


def test_every_order_of_the_released_rows_is_equally_likely() -> None:
    keys = [number.to_bytes(32, "little") for number in range(12_000)]
    _, counts = np.unique([_core.shuffled(key, 4) for key in keys], axis=0, return_counts=True)
    assert len(counts) == 24
    assert p_value(counts, np.full(24, 500.0)) > ALPHA
