"""Personal cover in slow plain Python: groups joined until each record has as many as it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference import World

NEAR = 8


def apart(world: World, a: int, b: int) -> float:
    """Σ dis over the quasi-identifiers of two records, each as often as it counts."""
    cells = zip(world.distances, world.codes[a], world.codes[b], strict=True)
    return sum(d.weight * d.rows[x][y] for d, x, y in cells)


def mean_apart(world: World, group: Sequence[int], other: Sequence[int]) -> float:
    """The mean distance between the records of two groups."""
    return sum(apart(world, a, b) for a in group for b in other) / (len(group) * len(other))


def join_short(world: World, order: Sequence[int], groups: Sequence[list[int]]) -> list[list[int]]:
    """The groups of a leaf, one after the other: while one is asked for more than it has, its nearest joins it.

    The nearest is sought among the last 8 that are done and the next 8; the first of equals is taken.
    """
    done: list[list[int]] = []
    ahead = list(groups)
    while ahead:
        group = ahead.pop(0)
        while world.asks and max(world.asks[i] for i in group) > len(group):
            near = [*done[-NEAR:], *ahead[:NEAR]]
            nearest = min(near, key=lambda other: mean_apart(world, group, other))
            (done if nearest in done else ahead).remove(nearest)
            group = sorted([*group, *nearest], key=order.index)
        done.append(group)
    return done
