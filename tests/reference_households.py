"""Households in slow plain Python: a part of the oracle. -1 is the household of a record that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reference import World, halves, is_satisfied, mondrian, widest_first


def household_of(households: Sequence[int], record: int) -> list[int]:
    """All records of the household of one record."""
    own = households[record]
    return [record] if own < 0 else [i for i, other in enumerate(households) if other == own]


def placed(world: World, households: Sequence[int]) -> World:
    """The world as the partition sees it: each record at its household's middle, asking for l times its size."""
    homes = [household_of(households, record) for record in world.everybody]
    middles = [
        tuple(sorted(world.values(home, place))[(len(home) - 1) // 2] for place in range(len(world.distances)))
        for home in homes
    ]
    asks = [max(world.principle.diversity * len(home), *world.asks[i : i + 1], 1) for i, home in enumerate(homes)]
    return replace(world, codes=middles, asks=asks)


def sweep_households(world: World, households: Sequence[int], members: Sequence[int]) -> list[list[int]]:
    """Whole households in the recursive median order of their middles; `world` is placed."""
    attributes = widest_first(world, members)
    if attributes:
        return [
            home
            for half in halves(world, members, attributes[0])
            for home in sweep_households(world, households, half)
        ]
    homes = {number: [i for i in members if households[i] == number] for number in {households[i] for i in members}}
    alone = sorted(homes.pop(-1, []), key=lambda i: (world.sensitive[i], world.tags[i]))
    return [*(homes[number] for number in sorted(homes)), *([i] for i in alone)]


def shortest_runs(world: World, homes: Sequence[list[int]]) -> list[list[int]]:
    """Runs of households, each as short as it can be; what is left over joins the runs before it.

    A run is looked at again when it has grown by an eighth.
    """
    runs: list[list[int]] = []
    run: list[int] = []
    due = 0
    for home in homes:
        run = [*run, *home]
        if len(run) >= due:
            if is_satisfied(world, run):
                runs, run, due = [*runs, run], [], 0
            else:
                due = len(run) + len(run) // 8 + 1
    while run and runs and not is_satisfied(world, run):
        due = len(run) + len(run) // 8 + 1
        while runs and len(run) < due:
            run = [*runs.pop(), *run]
    return [*runs, run] if run else runs


def divide_households(
    world: World, households: Sequence[int], grouping: str, sweep: str
) -> list[tuple[int, list[int]]]:
    """Algorithm 1, line 2, with households kept whole: each group as (the number of its leaf, its records)."""
    seen = placed(world, households)
    leaves = [world.everybody] if (grouping, sweep) == ("neighbours", "table") else mondrian(seen, world.everybody)
    groups = []
    for number, leaf in enumerate(leaves):
        found = [leaf] if grouping == "leaves" else shortest_runs(seen, sweep_households(seen, households, leaf))
        groups += [(number, sorted(group)) for group in found]
    return groups
