"""The grouping `seeds` in slow plain Python, for leaves that the core looks at whole: a part of the oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reference import World, group_size, mondrian, sweep_order
from reference_asks import apart, join_short


def divide_by_seeds(world: World, sweep: str) -> list[tuple[int, list[int]]]:
    """Algorithm 1, line 2, by seeds: each group as (the number of its leaf, its records in the sweep's order)."""
    leaves = [world.everybody] if sweep == "table" else mondrian(world, world.everybody)
    groups = []
    for number, leaf in enumerate(leaves):
        order = sweep_order(world, leaf)
        groups += [(number, group) for group in join_short(world, order, gather_around_seeds(world, order))]
    return groups


def gather_around_seeds(world: World, ordered: Sequence[int]) -> list[list[int]]:
    """The record farthest from its leaf, then its nearest, one a bucket, with the buckets eligibility forces in.

    The first in the sweep goes first where two are equally far or near.
    """
    single = world.principle.name == "anonymity" or not world.sizes
    bucket = {record: record if single else world.sensitive[record][0] for record in ordered}
    far = {a: sum(apart(world, a, b) for b in ordered) for a in ordered}
    left, groups = list(ordered), []
    while left:
        sizes = Counter(bucket[record] for record in left)
        beta = group_size(list(sizes.values()), world.principle.diversity)
        forced = {b for b, size in sizes.items() if size * world.principle.diversity > len(left) - beta}
        room = {True: len(forced), False: beta - len(forced)}
        seed = max(left, key=far.__getitem__)
        group: dict[int, int] = {}
        for record in sorted(left, key=lambda other: apart(world, seed, other)):
            is_forced = bucket[record] in forced
            if bucket[record] not in group and room[is_forced]:
                group[bucket[record]] = record
                room[is_forced] -= 1
        groups.append([record for record in left if record in group.values()])
        left = [record for record in left if record not in group.values()]
    return groups
