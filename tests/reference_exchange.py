"""Exchanges between near groups in slow plain Python: the best ones, and the exact law of random ones.

A part of the oracle. Sums are of single precision and in the core's order, so that what ties there ties here.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from reference import World, halves, widest_first

NEAR, BINS, GAIN = 8, 64, np.float32(1e-5)
Partition = tuple[tuple[int, ...], ...]
single = np.float32


def apart(world: World, a: int, b: int) -> np.float32:
    """Σ dis over the quasi-identifiers of two records, each as often as it counts."""
    cells = zip(world.distances, world.codes[a], world.codes[b], strict=True)
    return total(single(d.weight * d.rows[x][y]) for d, x, y in cells)


def total(numbers: Iterator[np.float32]) -> np.float32:
    """The sum, one number after the other."""
    return sum(numbers, single(0))


def is_diverse(world: World, members: Sequence[int]) -> bool:
    """Frequency l-diversity of the sensitive attribute, if there is one."""
    if not world.sizes:
        return True
    return max(world.counts(members, 0)) * world.principle.diversity <= len(members)


# ---- near groups


def profile(world: World, members: Sequence[int], lines: Sequence[bool]) -> list[np.float32]:
    """Mean positions on lines (and the share that is missing), half shares of runs of values elsewhere."""
    share, found = single(1) / single(len(members)), []
    for attribute, (distance, is_line) in enumerate(zip(world.distances, lines, strict=True)):
        bins = [single(0)] * (2 if is_line else min(len(distance.rows), BINS))
        weight = single(distance.weight)
        for code in world.values(members, attribute):
            if is_line and code == distance.missing_code:
                bins[1] += weight * share
            elif is_line:
                bins[0] += share * single(distance.weight * distance.rows[0][code])
            else:
                bins[code * len(bins) // len(distance.rows)] += weight * share / single(2)
        found += bins
    return found


def nearest(world: World, groups: Sequence[Sequence[int]], lines: Sequence[bool]) -> list[list[int]]:
    """The eight groups nearest to each by their profiles, nearest first, then by number."""
    profiles = [profile(world, group, lines) for group in groups]
    far = [[total(abs(a - b) for a, b in zip(one, other)) for other in profiles] for one in profiles]
    others = [[h for h in range(len(groups)) if h != g] for g in range(len(groups))]
    return [sorted(others[g], key=lambda h: (far[g][h], h))[:NEAR] for g in range(len(groups))]


def side_by_side(world: World, groups: Sequence[Sequence[int]], turn: int, shard: int) -> list[int]:
    """The groups' numbers as they are dealt into shards: by their medians from the second round on."""
    if turn == 0 or len(groups) <= shard:
        return list(range(len(groups)))
    width = len(world.distances)
    first = [(at + turn - 1) % width for at in range(width)]
    median = [[sorted(world.values(group, at))[len(group) // 2] for at in first] for group in groups]
    return sorted(range(len(groups)), key=lambda g: (median[g], g))


def shards(order: Sequence[int], shard: int) -> list[Sequence[int]]:
    """The order in runs of a shard."""
    return [order[at : at + shard] for at in range(0, len(order), shard)]


# ---- best exchanges


def exchange(
    world: World, groups: Sequence[Sequence[int]], lines: Sequence[bool], *, rounds: int, shard: int
) -> list[list[int]]:
    """Rounds of best exchanges; each group in canonical order."""
    parts = [list(group) for group in groups]
    for turn in range(rounds):
        for numbers in shards(side_by_side(world, parts, turn, shard), shard):
            improve(world, parts, numbers, lines)
    return [sorted(part, key=lambda i: (world.codes[i], world.sensitive[i], world.tags[i])) for part in parts]


def improve(world: World, parts: list[list[int]], numbers: Sequence[int], lines: Sequence[bool]) -> None:
    """Best exchanges between near groups of one shard, until no pair gains; each pair has one turn."""
    near = nearest(world, [parts[g] for g in numbers], lines)
    for g, others in enumerate(near):
        for h in others:
            if h < g and g in near[h]:
                continue
            left, right = parts[numbers[g]], parts[numbers[h]]
            while best := best_exchange(world, left, right):
                a, b = best
                left[a], right[b] = right[b], left[a]


def best_exchange(world: World, left: list[int], right: list[int]) -> tuple[int, int] | None:
    """The places of the two records whose exchange gains most, the first of several, if any gains."""
    best, least = None, -GAIN
    for (a, i), (b, j) in itertools.product(enumerate(left), enumerate(right)):
        change = loss_change(world, (left, i), (right, j))
        if change < least and is_allowed(world, left, right, a, b):
            best, least = (a, b), change
    return best


def loss_change(world: World, one: tuple[Sequence[int], int], other: tuple[Sequence[int], int]) -> np.float32:
    """2/m_g (S_jg - d_ij - S_ig) + 2/m_h (S_ih - d_ij - S_jh)."""
    (left, i), (right, j) = one, other
    to = {(x, side): total(apart(world, x, k) for k in (left, right)[side]) for x in (i, j) for side in (0, 1)}
    across = apart(world, i, j)
    change: np.float32 = single(2) / single(len(left)) * (to[j, 0] - across - to[i, 0]) + single(2) / single(
        len(right)
    ) * (to[i, 1] - across - to[j, 1])
    return change


def is_allowed(world: World, left: Sequence[int], right: Sequence[int], a: int, b: int) -> bool:
    """Whether the values that join stay frequent enough in both groups."""
    for side, at, joining in ((left, a, right[b]), (right, b, left[a])):
        if world.asks and world.asks[joining] > len(side):
            return False
        if not world.sizes:
            continue
        value = world.sensitive[joining][0]
        equal = sum(world.sensitive[i][0] == value for place, i in enumerate(side) if place != at) + 1
        if equal * world.principle.diversity > len(side):
            return False
    return True


# ---- random exchanges: the exact law


def first_groups(world: World) -> Partition:
    """Runs of the sweep, as many as l allows; twins stand in the order of their tags."""
    order = sweep(world, world.everybody)
    count = max(len(order) // world.principle.diversity, 1)
    cuts = [run * len(order) // count for run in range(count + 1)]
    return tuple(tuple(sorted(order[a:b])) for a, b in itertools.pairwise(cuts))


def sweep(world: World, members: Sequence[int]) -> list[int]:
    """The recursive median order, blind to sensitive values."""
    attributes = widest_first(world, members)
    if not attributes:
        return sorted(members, key=lambda i: world.tags[i])
    left, right = halves(world, members, attributes[0])
    return sweep(world, left) + sweep(world, right)


def loss(world: World, groups: Partition) -> float:
    """Σ over groups of Σ_ij dis(i, j) / m."""
    return sum(float(apart(world, a, b)) / len(group) for group in groups for a in group for b in group)


def repeats(world: World, groups: Partition) -> int:
    """How many values stand in a group beside an equal one."""
    return sum(count - 1 for group in groups for count in Counter(world.sensitive[i][0] for i in group).values())


def scale(world: World, groups: Partition) -> float:
    """The mean distance between two records of one of the first groups."""
    within = sum(float(apart(world, a, b)) for group in groups for a in group for b in group)
    return within / sum(len(group) * (len(group) - 1) for group in groups)


def stationary(world: World, temperature: float) -> dict[Partition, float]:
    """exp(-loss / temperature) over the diverse partitions into groups of the first groups' sizes."""
    first = first_groups(world)
    heat = temperature * scale(world, first)
    weights = {
        groups: math.exp(-loss(world, groups) / heat)
        for groups in partitions(tuple(world.everybody), [len(group) for group in first])
        if not repeats(world, groups)
    }
    return {groups: weight / sum(weights.values()) for groups, weight in weights.items()}


def partitions(records: tuple[int, ...], sizes: Sequence[int]) -> Iterator[Partition]:
    """All ways to fill groups of these sizes, group by group."""
    if not sizes:
        yield ()
        return
    for group in itertools.combinations(records, sizes[0]):
        rest = tuple(i for i in records if i not in group)
        yield from ((group, *others) for others in partitions(rest, sizes[1:]))


def exact_law(world: World, lines: Sequence[bool], temperature: float, *, rounds: int) -> dict[Partition, float]:
    """How likely each partition is after some rounds, from first groups in which no value stands twice."""
    first = first_groups(world)
    heat, near = temperature * scale(world, first), nearest(world, first, lines)
    known: dict[tuple[Partition, tuple[int, int]], list[tuple[Partition, float]]] = {}
    steps = [(g, h) for g, others in enumerate(near) for h in others for _ in range(len(first[g]) * len(first[h]))]
    law = {first: 1.0}
    for g, h in steps * rounds:
        further: dict[Partition, float] = {}
        for groups, chance in law.items():
            if (groups, (g, h)) not in known:
                known[groups, (g, h)] = list(moves(world, groups, (g, h), heat))
            for new, share in known[groups, (g, h)]:
                further[new] = further.get(new, 0.0) + chance * share
        law = further
    return law


def moves(world: World, groups: Partition, pair: tuple[int, int], heat: float) -> Iterator[tuple[Partition, float]]:
    """One step of Metropolis between two groups: where it leads, and how likely."""
    (left, right), stay = (groups[pair[0]], groups[pair[1]]), 0.0
    for i, j in itertools.product(left, right):
        sides = {
            pair[0]: tuple(sorted({*left} - {i} | {j})),
            pair[1]: tuple(sorted({*right} - {j} | {i})),
        }
        new = tuple(sides.get(at, group) for at, group in enumerate(groups))
        change, more = loss(world, new) - loss(world, groups), repeats(world, new) - repeats(world, groups)
        taken = 1.0 if more < 0 else 0.0 if more > 0 else min(1.0, math.exp(-change / heat))
        stay += (1 - taken) / len(left) / len(right)
        yield new, taken / len(left) / len(right)
    yield groups, stay
