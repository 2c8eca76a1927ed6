"""The compiled core equals the oracle: partition, groups and repair, on tables that Hypothesis makes."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from scipy.stats import chi2

import twin
from muco import _core
from reference import Principle, World, divide, is_satisfied, repair_outcomes
from reference_seeds import divide_by_seeds
from twin import Axis, divided, tables_of

few = settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
fewer = settings(few, max_examples=60)
missings = st.booleans()
sizes = st.integers(2, 12)


@st.composite
def lines(draw: Any) -> Axis:
    """Numbers of any spacing, or ranks."""
    places = draw(st.lists(st.integers(-30, 60), min_size=1, max_size=7, unique=True))
    unit = draw(st.sampled_from([1, 0.1, 86_400]))
    return twin.line([place * unit for place in sorted(places)], missing=draw(missings))


@st.composite
def trees(draw: Any) -> Axis:
    """Leaves under a tree of height 1 (a 0/1 distance), 2 or 3."""
    height = draw(st.integers(1, 3))
    steps = draw(st.lists(st.integers(1, height), max_size=6))
    return twin.tree([step / height for step in steps], missing=draw(missings))


@st.composite
def matrices(draw: Any) -> Axis:
    """A symmetric square of distances, which may be 0 between different values, and break the triangle rule."""
    size = draw(st.integers(1, 5))
    rows = [[0] * size for _ in range(size)]
    for a in range(size):
        for b in range(a):
            rows[a][b] = rows[b][a] = draw(st.integers(0, 6))
    return twin.matrix(rows, missing=draw(missings))


axes_of_every_kind = st.one_of(lines(), trees(), matrices())

# Distances in eighths: sums of them are exact, so that the oracle and the core find the same ones equal.
axes_in_eighths = st.one_of(
    st.lists(st.integers(1, 7), max_size=5, unique=True).map(lambda inner: twin.line([0, *sorted(inner), 8])),
    st.lists(st.sampled_from([0.25, 0.5, 1]), max_size=6).map(lambda steps: twin.tree([*steps, 1])),
)


@st.composite
def principles(draw: Any) -> Principle:
    name = draw(st.sampled_from([*["frequency"] * 6, "distinct", "entropy", "recursive", "closeness", "anonymity"]))
    c, t = draw(st.sampled_from([0.5, 1, 1.5, 3])), draw(st.sampled_from([0.1, 0.2, 0.25, 0.5]))
    return Principle(name, draw(st.integers(1, 4)), c=c, t=t)


@st.composite
def worlds(draw: Any, kinds: st.SearchStrategy[Axis] = axes_of_every_kind) -> tuple[World, list[Axis]]:
    """Up to 40 records on up to 3 quasi-identifiers, with up to 2 sensitive attributes."""
    counts = st.sampled_from([1, 1, 0.5, 3])  # how often an attribute counts
    axes = [axis.weighted(draw(counts)) for axis in draw(st.lists(kinds, min_size=1, max_size=3))]
    records = draw(st.integers(1, 40))
    domains = draw(
        st.one_of(*[st.lists(sizes, min_size=1, max_size=1)] * 3, st.lists(sizes, min_size=2, max_size=2))
    )
    principle = draw(principles())
    if principle.name == "anonymity":
        domains = []
    rows = st.tuples(*(st.integers(0, axis.size - 1) for axis in axes))
    values = st.tuples(*(st.integers(0, size - 1) for size in domains))
    codes = draw(st.lists(rows, min_size=records, max_size=records))
    sensitive = draw(st.lists(values, min_size=records, max_size=records))
    tags = draw(st.permutations(range(records)))
    ordered = [draw(st.booleans()) for _ in domains]
    oracle = [axis.oracle for axis in axes]
    return World(codes, sensitive, list(tags), oracle, principle, domains, ordered), axes


GROUPINGS = [("leaves", "leaf"), ("buckets", "leaf"), ("neighbours", "leaf"), ("neighbours", "table")]


# ---- Algorithm 1, line 2


@pytest.mark.parametrize(("grouping", "sweep"), GROUPINGS)
@given(made=worlds())
@few
def test_the_core_divides_a_table_as_the_oracle_does(
    made: tuple[World, list[Axis]], grouping: str, sweep: str
) -> None:
    world, axes = made
    if is_satisfied(world, world.everybody):
        assert divided(world, axes, grouping, sweep) == divide(world, grouping, sweep)
    else:
        with pytest.raises(ValueError, match="does not keep the principle"):
            divided(world, axes, grouping, sweep)


@pytest.mark.parametrize("sweep", ["leaf", "table"])
@given(made=worlds(axes_in_eighths))
@few
def test_the_core_groups_around_seeds_as_the_oracle_does(made: tuple[World, list[Axis]], sweep: str) -> None:
    world, axes = made
    assume(is_satisfied(world, world.everybody))
    takes = world.principle.name == "anonymity" or (world.principle.name == "frequency" and len(world.sizes) == 1)
    expected = divide_by_seeds(world, sweep) if takes else divide(world, "leaves")
    assert divided(world, axes, "seeds", sweep) == expected


@pytest.mark.parametrize(("grouping", "sweep"), GROUPINGS)
@given(made=worlds(), data=st.data())
@fewer
def test_groups_do_not_know_in_which_order_records_came(
    made: tuple[World, list[Axis]], grouping: str, sweep: str, data: st.DataObject
) -> None:
    world, axes = made
    assume(is_satisfied(world, world.everybody))
    shuffle = data.draw(st.permutations(world.everybody))
    other = World(
        [world.codes[i] for i in shuffle],
        [world.sensitive[i] for i in shuffle],
        [world.tags[i] for i in shuffle],
        world.distances,
        world.principle,
        world.sizes,
        world.ordered,
    )
    back = [(leaf, [shuffle[i] for i in group]) for leaf, group in divided(other, axes, grouping, sweep)]
    assert back == divided(world, axes, grouping, sweep)


@given(made=worlds())
@few
def test_the_core_judges_a_table_by_every_principle_as_the_oracle_does(made: tuple[World, list[Axis]]) -> None:
    world, _ = made
    rule = world.principle
    core = _core.Principle(rule.name, rule.diversity, c=rule.c, t=rule.t)
    if world.sizes:  # without a sensitive attribute only the number of records counts
        codes = np.array(world.sensitive, dtype=np.int32)
        assert core.holds(codes, world.sizes, world.ordered) == is_satisfied(world, world.everybody)


@pytest.mark.parametrize(
    ("principle", "counts", "kept"),
    [
        (Principle("frequency", 3), (2, 2, 2), True),  # 2 * 3 <= 6
        (Principle("frequency", 3), (2, 1, 1, 1), False),  # 2 * 3 > 5
        (Principle("distinct", 3), (4, 1), False),
        (Principle("entropy", 2), (3, 3), True),  # ln 2 itself
        (Principle("entropy", 2), (4, 3), False),  # .683 < .693
        (Principle("recursive", 2, c=2), (4, 2), False),  # 4 < 2 * 2 does not hold
        (Principle("recursive", 2, c=2), (4, 2, 1), True),  # 4 < 2 * (2 + 1)
        (Principle("anonymity", 5), (4,), False),
    ],
)
def test_the_core_draws_the_line_of_a_principle_where_it_stands(
    principle: Principle,
    counts: tuple[int, ...],
    kept: bool,  # noqa: FBT001
) -> None:
    codes = np.repeat(np.arange(len(counts), dtype=np.int32), counts)[:, None]
    core = _core.Principle(principle.name, principle.diversity, c=principle.c, t=principle.t)
    assert core.holds(np.ascontiguousarray(codes), [len(counts)], [False]) is kept


# ---- Algorithm 2


REPAIRS = [
    # (codes of the group on three attributes, how many values must differ)
    ([(0, 0, 0), (1, 2, 0), (0, 1, 0)], 1),
    ([(0, 0, 1), (1, 2, 0), (2, 1, 1), (0, 0, 1)], 2),
    ([(0, 3, 1), (1, 3, 0), (2, 3, 1)], 3),  # only two attributes vary
]


@pytest.mark.parametrize(("group", "repair"), REPAIRS)
def test_repair_falls_as_often_on_each_outcome_as_the_oracle_says(
    group: list[tuple[int, ...]], repair: int
) -> None:
    # 20,000 copies of the group, all unchanged; chi-square of every record's outcomes at alpha 1e-6 in total.
    copies = 20_000
    axes = [twin.line([0, 1, 4]), twin.line([0, 2, 3, 9]), twin.tree([1.0])]
    tables = tables_of([group] * copies, axes, None, "cheapest", "observed")
    drawn = np.tile(np.array(group, dtype=np.int32), (copies, 1))
    made, repaired, left = _core.randomize_unchanged_tuples(tables, drawn, bytes(32), first_group=0, repair=repair)
    assert (repaired, left) == (copies * len(group), 0)
    values = [sorted({record[a] for record in group}) for a in range(3)]
    weights = [axis.oracle.widest([record[a] for record in group]) for a, axis in enumerate(axes)]
    for number, record in enumerate(group):
        expected = repair_outcomes(record, weights, values, repair)
        found, counts = np.unique(made[number :: len(group)], axis=0, return_counts=True)
        seen = {tuple(outcome): int(count) for outcome, count in zip(found.tolist(), counts)}
        assert set(seen) <= set(expected)
        likely = {outcome: copies * chance for outcome, chance in expected.items() if chance > 1e-12}
        statistic = sum((seen.get(outcome, 0) - mean) ** 2 / mean for outcome, mean in likely.items())
        assert chi2.sf(statistic, max(len(likely) - 1, 1)) > 1e-6 / len(group)


def test_repair_counts_the_tuples_of_a_group_of_equal_records() -> None:
    axes = [twin.line([0, 1]), twin.line([0, 1])]
    tables = tables_of([[(0, 1)] * 3, [(0, 0), (0, 1)]], axes, None, "cheapest", "observed")
    drawn = np.array([(0, 1)] * 3 + [(0, 0), (0, 0)], dtype=np.int32)
    made, repaired, left = _core.randomize_unchanged_tuples(tables, drawn, bytes(32), first_group=0, repair=1)
    assert (repaired, left) == (1, 3)
    assert made.tolist() == [[0, 1]] * 3 + [[0, 1], [0, 0]]
