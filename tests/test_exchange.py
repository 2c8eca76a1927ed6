"""Exchanges of the core are those of the oracle: the best ones exactly, the random ones in law."""

from __future__ import annotations

from collections import Counter

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given
from scipy.stats import chi2

import twin
from reference import Principle, World, divide, is_satisfied
from reference_exchange import (
    Partition,
    exact_law,
    exchange,
    first_groups,
    is_diverse,
    partitions,
    repeats,
    stationary,
)
from test_agreement import axes_in_eighths, fewer, worlds
from twin import Axis, divided

ALPHA = 1e-6
KEYS = 5_000


def takes(world: World) -> bool:
    """Whether groups are made of leaves at all: frequency of one attribute, or anonymity."""
    return world.principle.name == "anonymity" or (world.principle.name == "frequency" and len(world.sizes) == 1)


@pytest.mark.parametrize("grouping", ["buckets", "neighbours"])
@given(made=worlds(axes_in_eighths), rounds=st.integers(1, 3), shard=st.sampled_from([2, 3, 1024]))
@fewer
def test_the_core_exchanges_what_the_oracle_does(
    made: tuple[World, list[Axis]], grouping: str, rounds: int, shard: int
) -> None:
    world, axes = made
    assume(takes(world) and is_satisfied(world, world.everybody))
    before = [group for _, group in divide(world, grouping)]
    expected = exchange(world, before, [axis.is_line for axis in axes], rounds=rounds, shard=shard)
    found = divided(world, axes, grouping, "leaf", exchanges=rounds, shard=shard)
    assert [group for _, group in found] == expected


@given(
    made=worlds(),
    rounds=st.integers(1, 3),
    shard=st.sampled_from([2, 1024]),
    key=st.binary(min_size=32, max_size=32),
)
@fewer
def test_drawn_groups_are_diverse_and_of_sizes_that_no_value_tells(
    made: tuple[World, list[Axis]], rounds: int, shard: int, key: bytes
) -> None:
    world, axes = made
    assume(takes(world) and is_satisfied(world, world.everybody))
    found = divided(world, axes, "sampled", "leaf", exchanges=rounds, temperature=0.3, shard=shard, key=key)
    groups = [group for _, group in found]
    assert sorted(record for group in groups for record in group) == world.everybody
    assert [len(group) for group in groups] == [len(group) for group in first_groups(world)]
    assert all(is_diverse(world, group) for group in groups)


# ---- the law of drawn groups

AGES = [0, 1, 3, 4, 6, 7, 9, 12]


def people(pays: list[int], diversity: int) -> tuple[World, list[Axis]]:
    """People of different ages, youngest first, who earn one of a few pays."""
    axis = twin.line(AGES[: len(pays)])
    rule = Principle("frequency", diversity)
    rows: list[tuple[int, ...]] = [(at,) for at in range(len(pays))]
    values: list[tuple[int, ...]] = [(pay,) for pay in pays]
    return World(rows, values, list(range(len(pays))), [axis.oracle], rule, [8], [False]), [axis]


def drawn(world: World, axes: list[Axis], *, rounds: int, temperature: float) -> Counter[Partition]:
    """The groups under many keys."""
    counts: Counter[Partition] = Counter()
    for number in range(KEYS):
        key = number.to_bytes(32, "big")
        found = divided(world, axes, "sampled", "leaf", exchanges=rounds, temperature=temperature, key=key)
        counts[tuple(tuple(sorted(group)) for _, group in found)] += 1
    return counts


def p_value(counts: Counter[Partition], law: dict[Partition, float]) -> float:
    """Of the chi-square test; what is expected less than five times is one class."""
    assert all(law.get(groups, 0.0) > 0 for groups in counts)
    likely = [(counts[groups], KEYS * chance) for groups, chance in law.items() if KEYS * chance >= 5]
    rest = (KEYS - sum(seen for seen, _ in likely), KEYS - sum(mean for _, mean in likely))
    classes = likely + [rest] * (rest[1] >= 5)
    statistic = sum((seen - mean) ** 2 / mean for seen, mean in classes)
    return float(chi2.sf(statistic, len(classes) - 1))


WORLDS = [([0, 1, 2, 3, 0, 1, 4, 5], 4), ([0, 1, 2, 0, 1, 2], 2), ([0, 1, 2, 0, 3], 2)]


@pytest.mark.parametrize(("pays", "diversity"), WORLDS)
@pytest.mark.parametrize(("rounds", "temperature"), [(1, 0.5), (3, 2.0)])
def test_groups_are_drawn_by_the_law_of_the_oracle(
    pays: list[int], diversity: int, rounds: int, temperature: float
) -> None:
    world, axes = people(pays, diversity)
    law = exact_law(world, [True], temperature, rounds=rounds)
    assert p_value(drawn(world, axes, rounds=rounds, temperature=temperature), law) > ALPHA
    # The test can tell: one round more, or another temperature, is another law.
    other = exact_law(world, [True], 2 * temperature, rounds=rounds)
    assert sum(abs(other.get(groups, 0.0) - chance) for groups, chance in law.items()) > 0.02


def parted(law: dict[Partition, float]) -> Counter[frozenset[tuple[int, ...]]]:
    """The law of partitions whose groups have no order."""
    counts: Counter[frozenset[tuple[int, ...]]] = Counter()
    for groups, chance in law.items():
        counts[frozenset(groups)] += chance  # type: ignore[assignment]
    return counts


@pytest.mark.parametrize(("pays", "diversity"), WORLDS[:2])
def test_rounds_end_in_the_law_that_weighs_a_partition_by_its_loss_alone(pays: list[int], diversity: int) -> None:
    world, _ = people(pays, diversity)
    end, gaps = parted(stationary(world, 1.0)), []
    for rounds in (1, 2, 4):
        law = parted(exact_law(world, [True], 1.0, rounds=rounds))
        gaps.append(sum(abs(law[groups] - chance) for groups, chance in end.items()) / 2)
    assert gaps[-1] < 1e-3 and gaps[-1] < gaps[0]


@pytest.mark.parametrize(("pays", "diversity"), WORLDS[:2])
def test_an_exchange_inside_a_group_leaves_nothing_but_the_ratio_of_constants(
    pays: list[int], diversity: int
) -> None:
    # docs/algebra/minimality.md: over the partitions that hold both records in one group, the likelihood after the
    # exchange is one and the same multiple of that before it, P(exchanged diverse | before) / P(diverse | after)
    # turned round.
    before = stationary(people(pays, diversity)[0], 1.0)
    one, other = 0, len(pays) - 1
    exchanged = [*pays]
    exchanged[one], exchanged[other] = pays[other], pays[one]
    after = stationary(people(exchanged, diversity)[0], 1.0)
    both = sum(chance for groups, chance in before.items() if groups in after)
    back = sum(chance for groups, chance in after.items() if groups in before)
    together = [groups for groups in before if any({one, other} <= {*group} for group in groups)]
    assert together
    assert all(after[groups] / before[groups] == pytest.approx(back / both, rel=1e-9) for groups in together)


def test_first_groups_with_a_value_twice_are_settled() -> None:
    # 0 0 stand together at first; the second goes to the other group, and the one round starts there.
    world, axes = people([0, 0, 1, 2], 2)
    assert first_groups(world) == ((0, 1), (2, 3)) and repeats(world, first_groups(world)) == 1
    found = divided(world, axes, "sampled", "leaf", exchanges=1, temperature=0.0)
    assert [group for _, group in found] in ([[0, 2], [1, 3]], [[1, 2], [0, 3]], [[0, 3], [1, 2]], [[1, 3], [0, 2]])


def test_partitions_are_counted_once() -> None:
    assert len(list(partitions(tuple(range(8)), [4, 4]))) == 70
    assert len(list(partitions(tuple(range(6)), [2, 2, 2]))) == 90
