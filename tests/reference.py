"""Algorithm 1, line 2, and Algorithm 2 in slow plain Python: the oracle that the compiled core must equal.

Written from the paper and the method alone, one rule a function, for tables of a few dozen records. Line 5 of
Algorithm 1, the random output table, is in `reference_cover`. Nothing here is used by the product.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reference_asks import join_short


@dataclass(frozen=True, slots=True)
class Distance:
    """dis(.) of one attribute (Definition 4): `rows[a][b]` for two codes, the largest of them 1."""

    rows: list[list[float]]
    missing: bool = False
    weight: float = 1.0  # where groups are formed

    @property
    def missing_code(self) -> int | None:
        """The code of a missing value: the last one, if there is any."""
        return len(self.rows) - 1 if self.missing else None

    def widest(self, codes: Sequence[int]) -> float:
        """dis_max(attribute, group): the largest distance between two values of a set of records."""
        present = set(codes)
        return max((self.rows[a][b] for a in present for b in present), default=0.0)


def line_distance(positions: Sequence[float], *, missing: bool = False) -> Distance:
    """Definition 5: the l1 distance of numbers, days or ranks."""
    return matrix_distance([[abs(a - b) for b in positions] for a in positions], missing=missing)


def tree_distance(steps: Sequence[float], *, missing: bool = False) -> Distance:
    """The height of the lowest common ancestor of two leaves: the highest step between them, depth first."""
    leaves = range(len(steps) + 1)
    heights = [[max(steps[min(a, b) : max(a, b)], default=0.0) for b in leaves] for a in leaves]
    return matrix_distance(heights, missing=missing)


def matrix_distance(own: Sequence[Sequence[float]], *, missing: bool = False) -> Distance:
    """An own distance over dis_max(attribute, T); a missing value is that far from every other value."""
    largest = max((max(row) for row in own), default=0.0) or 1.0
    rows = [[value / largest for value in row] for row in own]
    if missing:
        rows = [[*row, 1.0] for row in rows] + [[1.0] * len(rows) + [0.0]]
    return Distance(rows, missing)


@dataclass(frozen=True, slots=True)
class Principle:
    """What every group must keep."""

    name: str
    diversity: int
    c: float = 3.0
    t: float = 0.2


@dataclass(frozen=True, slots=True)
class World:
    """Microdata as codes: one tuple a record, a tag a record, and what is known of the attributes."""

    codes: list[tuple[int, ...]]
    sensitive: list[tuple[int, ...]]
    tags: list[int]
    distances: list[Distance]
    principle: Principle
    sizes: list[int] = field(default_factory=list)
    ordered: list[bool] = field(default_factory=list)
    asks: list[int] = field(default_factory=list)

    @property
    def everybody(self) -> list[int]:
        """All record numbers."""
        return list(range(len(self.codes)))

    def values(self, members: Sequence[int], attribute: int) -> list[int]:
        """The codes of some records on one quasi-identifier."""
        return [self.codes[i][attribute] for i in members]

    def counts(self, members: Sequence[int], attribute: int) -> list[int]:
        """How many of some records have each value of one sensitive attribute, value by value."""
        found = Counter(self.sensitive[i][attribute] for i in members)
        return [found[value] for value in range(self.sizes[attribute])]


def falling(counts: Sequence[int]) -> list[int]:
    """r_1 >= r_2 >= ...: the counts of the values that occur."""
    return sorted((count for count in counts if count), reverse=True)


def is_frequent(principle: Principle, counts: list[int]) -> bool:
    """No sensitive value is above 1/l of the group."""
    return max(counts) * principle.diversity <= sum(counts)


def is_distinct(principle: Principle, counts: list[int]) -> bool:
    """At least l different values."""
    return len(falling(counts)) >= principle.diversity


def is_entropic(principle: Principle, counts: list[int]) -> bool:
    """Entropy at least ln l."""
    shares = [count / sum(counts) for count in counts if count]
    return -sum(p * math.log(p) for p in shares) >= math.log(principle.diversity) - 1e-12


def is_recursive(principle: Principle, counts: list[int]) -> bool:
    """Recursive (c, l)-diversity: r_1 < c (r_l + r_{l+1} + ...)."""
    r = falling(counts)
    return len(r) >= principle.diversity and r[0] < principle.c * sum(r[principle.diversity - 1 :])


RULES: dict[str, Callable[[Principle, list[int]], bool]] = {
    "frequency": is_frequent,
    "distinct": is_distinct,
    "entropy": is_entropic,
    "recursive": is_recursive,
}


def movers_distance(counts: Sequence[int], whole: Sequence[int], *, ordered: bool) -> float:
    """The earth mover's distance of t-closeness between a group's values and the table's."""
    gaps = [a / sum(counts) - b / sum(whole) for a, b in zip(counts, whole, strict=True)]
    if not ordered:
        return sum(abs(gap) for gap in gaps) / 2
    if len(gaps) < 2:
        return 0.0
    return sum(abs(sum(gaps[: i + 1])) for i in range(len(gaps))) / (len(gaps) - 1)


def is_satisfied(world: World, members: Sequence[int]) -> bool:
    """Whether some records keep the principle: l of them, and the rule for each sensitive attribute."""
    principle = world.principle
    if any(world.asks[i] > len(members) for i in members if world.asks):
        return False
    if len(members) < principle.diversity or principle.name == "anonymity":
        return len(members) >= principle.diversity
    for attribute, ordered in enumerate(world.ordered):
        counts = world.counts(members, attribute)
        if principle.name == "closeness":
            whole = world.counts(world.everybody, attribute)
            kept = movers_distance(counts, whole, ordered=ordered) <= principle.t + 1e-12
        else:
            kept = RULES[principle.name](principle, counts)
        if not kept:
            return False
    return True


def widest_first(world: World, members: Sequence[int]) -> list[int]:
    """The attributes that can be cut, widest first, in attribute order where equally wide."""
    widths = {
        attribute: distance.weight * distance.widest(world.values(members, attribute))
        for attribute, distance in enumerate(world.distances)
        if len(set(world.values(members, attribute))) >= 2
    }
    return sorted(widths, key=lambda attribute: -widths[attribute])


def halves(world: World, members: Sequence[int], attribute: int) -> tuple[list[int], list[int]]:
    """A node cut at its median code: codes <= cut, and the rest, which is never empty."""
    codes = sorted(world.values(members, attribute))
    cut = codes[(len(codes) - 1) // 2]
    if cut == codes[-1]:
        cut = max(code for code in codes if code < cut)
    left = [i for i in members if world.codes[i][attribute] <= cut]
    return left, [i for i in members if world.codes[i][attribute] > cut]


def canonical(world: World, members: Sequence[int]) -> list[int]:
    """Records in an order that does not depend on where they stood in the table."""
    return sorted(members, key=lambda i: (world.codes[i], world.sensitive[i], world.tags[i]))


def mondrian(world: World, members: Sequence[int]) -> list[list[int]]:
    """Strict Mondrian: the leaves of a node, left before right."""
    for attribute in widest_first(world, members):
        left, right = halves(world, members, attribute)
        if is_satisfied(world, left) and is_satisfied(world, right):
            return mondrian(world, left) + mondrian(world, right)
    return [canonical(world, members)]


def sweep_order(world: World, members: Sequence[int]) -> list[int]:
    """The recursive median order: Mondrian's cuts with no principle, until all records are equal."""
    attributes = widest_first(world, members)
    if not attributes:
        return sorted(members, key=lambda i: (world.sensitive[i], world.tags[i]))
    left, right = halves(world, members, attributes[0])
    return sweep_order(world, left) + sweep_order(world, right)


def group_size(sizes: Sequence[int], diversity: int) -> int:
    """β: the smallest number of records, at least l, after which the rest of the buckets stays eligible."""
    beta, rest = diversity, sum(sizes)
    while sum(size * diversity > rest - beta for size in sizes) > beta:
        beta += 1
    return beta


def gather(world: World, ordered: Sequence[int], grouping: str) -> list[list[int]]:
    """Records in canonical or sweep order -> the smallest groups that leave the rest eligible."""
    single = world.principle.name == "anonymity" or not world.sizes
    buckets: dict[object, list[int]] = {}
    for place, record in enumerate(ordered):
        buckets.setdefault(place if single else world.sensitive[record][0], []).append(place)
    groups, diversity = [], world.principle.diversity
    while left := [bucket for bucket in buckets.values() if bucket]:
        beta = group_size([len(bucket) for bucket in left], diversity)
        rest = sum(len(bucket) for bucket in left) - beta
        if grouping == "buckets":
            left.sort(key=lambda bucket: (-len(bucket), bucket[0]))
        else:
            left.sort(key=lambda bucket: (len(bucket) * diversity <= rest, bucket[0]))
        groups.append(sorted(bucket.pop(0) for bucket in left[:beta]))
    return [[ordered[place] for place in group] for group in groups]


def divide(world: World, grouping: str = "leaves", sweep: str = "leaf") -> list[tuple[int, list[int]]]:
    """Algorithm 1, line 2: each group as (the number of its leaf, its records in order)."""
    single = world.principle.name == "anonymity" or not world.sizes
    if not single and (world.principle.name != "frequency" or len(world.sizes) > 1):
        grouping = "leaves"
    if grouping == "neighbours" and sweep == "table":
        leaves = [world.everybody]
    else:
        leaves = mondrian(world, world.everybody)
    groups = []
    for number, leaf in enumerate(leaves):
        if grouping == "leaves":
            groups.append((number, leaf))
        else:
            order = canonical(world, leaf) if grouping == "buckets" else sweep_order(world, leaf)
            groups += [(number, group) for group in join_short(world, order, gather(world, order, grouping))]
    return groups


def repair_outcomes(
    original: tuple[int, ...], weights: Sequence[float], values: Sequence[Sequence[int]], repair: int
) -> dict[tuple[int, ...], float]:
    """Algorithm 2: how likely each outcome of an unchanged tuple is; only the tuple itself if none is.

    `weights` are count_weights(group), line 1, and `values` what each attribute may get, equally likely.
    """
    needed = min(repair, sum(weight > 0 for weight in weights))
    choices = [
        (attribute, value, weight / sum(weights) / len(values[attribute]))
        for attribute, weight in enumerate(weights)
        for value in values[attribute]
        if weight > 0
    ]
    walking = {original: 1.0} if needed else {}
    outcomes = {} if needed else {original: 1.0}
    while sum(walking.values()) > 1e-16:
        further: dict[tuple[int, ...], float] = {}
        for state, chance in walking.items():
            for attribute, value, share in choices:
                new = (*state[:attribute], value, *state[attribute + 1 :])
                enough = sum(a != b for a, b in zip(new, original)) >= needed
                into = outcomes if enough else further
                into[new] = into.get(new, 0.0) + chance * share
        walking = further
    return outcomes


def single_value_risk(column: Sequence[float], own: int) -> float:
    """Σ_i p(own = v, num(v) = i) / i for one column v of a table: the paper's p(Helen), Poisson-binomial."""
    counts = [1.0]
    for record, chance in enumerate(column):
        if record != own:
            stay = [*(p * (1 - chance) for p in counts), 0.0]
            counts = [a + b * chance for a, b in zip(stay, [0.0, *counts], strict=True)]
    return column[own] * sum(p / (others + 1) for others, p in enumerate(counts))
