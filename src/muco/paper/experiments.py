"""Every experiment of Section 5, as frames with one row a measurement.

divide once a reading and l ─ tables once a delta ─ draw once a run ─ measure, all runs under the same queries
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from muco._core import Tables
from muco.arrays import Codes
from muco.assess.comparison import Comparison
from muco.assess.linkage import link_nearest
from muco.baselines import anatomize, join_tables
from muco.baselines.labels import spans_of_groups
from muco.errors import InfeasibleError
from muco.microdata import Batch, Groups, Key, Microdata
from muco.paper.measures import (
    Row,
    Workload,
    compare,
    measure_losses,
    measure_matches,
    spread,
)
from muco.paper.plan import (
    BASELINE_DIVERSITIES,
    DELTAS,
    DIVERSITY,
    READINGS,
    SWEPT_DELTA,
    SWEPT_DIVERSITIES,
    Plan,
    key_of,
)
from muco.paper.readings import Reading
from muco.steps import calculate_tables, draw_values, repair_tuples
from muco.switches import Grouping, Method

if TYPE_CHECKING:
    import polars as pl

# Called with what is measured, how many settings are done, and of how many.
Watch = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Results:
    """What came out, one row a measurement; `notes` say what could not be run, and why.

    Columns `method`, `reading`, `diversity`, `delta` (as 1/6) and `run` name the setting. `disclosure` has
    `match_probability`, `identity`, `attribute`; `loss` has `move`, `width`; `queries` has `predicates` and what is
    reported of the relative errors; `partition` counts groups and the share of records no draw changed.
    """

    disclosure: pl.DataFrame
    loss: pl.DataFrame
    queries: pl.DataFrame
    partition: pl.DataFrame
    linkage: float  # of the nearest row, at the first delta below, for who knows every quasi-identifier
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Log:
    """Rows as they come."""

    disclosure: list[Row] = field(default_factory=list)
    loss: list[Row] = field(default_factory=list)
    queries: list[Row] = field(default_factory=list)
    partition: list[Row] = field(default_factory=list)
    linkage: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Bench:
    """What every setting is measured with."""

    plan: Plan
    original: Comparison
    workload: Workload
    log: _Log

    def divide(self, reading: Reading, grouping: Grouping, diversity: int) -> Groups | None:
        """The groups, or None and a note where no partition keeps this l."""
        policy = self.plan.policy_for(grouping, diversity)
        try:
            # The key only orders records that are equal in all that leaves, so that one serves every run.
            return reading.divide(Microdata.of(self.plan.table, policy, key=key_of(0)))
        except InfeasibleError:
            note = f"l = {diversity} was not run: one sensitive value is more than 1/{diversity} of the records"
            if note not in self.log.notes:
                self.log.notes.append(note)
            return None


def run_experiments(plan: Plan, watch: Watch | None = None) -> Results:
    """Section 5 whole: disclosure, information loss, queries, and the influence of l.

    Raises what `Microdata.of` raises for a table that does not fit the plan's policy, InfeasibleError where it
    cannot bear l = 10; a larger l that it cannot bear is left out, with a note.
    """
    import polars as pl

    told = watch or _ignore
    told("drawing queries", 0, 1)
    original = compare(Microdata.of(plan.table, plan.policy_for(Grouping.LEAVES, DIVERSITY), key=key_of(0)))
    bench = _Bench(plan, original, Workload.of(plan, original), _Log())
    settings = list(_settings())
    for done, (method, reading, diversity, deltas) in enumerate(settings):
        told(f"{method}, l = {diversity}", done, len(settings))
        if method == Method.MUCO:
            _cover(bench, reading, diversity, deltas)
        elif method == Method.MONDRIAN:
            _generalize(bench, reading, diversity)
        else:
            _anatomize(bench, diversity)
    told("done", len(settings), len(settings))
    log = bench.log
    disclosure, loss, queries, partition = (
        pl.DataFrame(rows, infer_schema_length=None)
        for rows in (log.disclosure, log.loss, log.queries, log.partition)
    )
    return Results(disclosure, loss, queries, partition, log.linkage[0], tuple(log.notes))


def _settings() -> Iterator[tuple[Method, Reading, int, tuple[Fraction, ...]]]:
    """Method, reading, l, and the deltas under it; Anatomy has no partition to read."""
    for reading in READINGS:
        for diversity in SWEPT_DIVERSITIES:
            yield Method.MUCO, reading, diversity, DELTAS if diversity == DIVERSITY else (SWEPT_DELTA,)
    for reading in dict.fromkeys(reading.generalized for reading in READINGS):
        for diversity in BASELINE_DIVERSITIES:
            yield Method.MONDRIAN, reading, diversity, ()
    for diversity in BASELINE_DIVERSITIES:
        yield Method.ANATOMY, Reading.LEAVES, diversity, ()


def _cover(bench: _Bench, reading: Reading, diversity: int, deltas: tuple[Fraction, ...]) -> None:
    groups = bench.divide(reading, reading.grouping, diversity)
    if groups is None:
        return
    for delta in deltas:
        tables = [(calculate_tables(batch, delta), batch) for batch in groups.batches()]
        named = {"method": str(Method.MUCO), "reading": str(reading), "diversity": diversity, "delta": str(delta)}
        kept = []
        for run in range(bench.plan.runs):
            released, repaired = _draw(tables, Key(key_of(run)))
            kept.append(repaired / len(released))
            release = spread(released, groups.order)
            comparison = replace(bench.original, low=release, high=release)
            _measure(bench, comparison, named, run, is_disclosed=diversity == DIVERSITY)
            if not bench.log.linkage and delta == SWEPT_DELTA:
                bench.log.linkage.append(link_nearest(comparison).identity.rate.value)
        bench.log.partition.append({**named, "groups": len(groups), "unchanged": float(np.mean(kept))})


def _draw(tables: list[tuple[Tables, Batch]], key: Key) -> tuple[Codes, int]:
    """Algorithm 1, lines 6 and 8, over all groups: released codes, and how many tuples no draw had changed."""
    covered, unchanged = [], 0
    for made, batch in tables:
        values, mended, left = repair_tuples(made, draw_values(made, batch, key), batch, key)
        covered.append(values)
        unchanged += mended + left
    return np.concatenate(covered), unchanged


def _measure(bench: _Bench, comparison: Comparison, named: Row, run: int, *, is_disclosed: bool) -> None:
    if is_disclosed:
        bench.log.disclosure.extend({**named, "run": run, **row} for row in measure_matches(comparison))
    bench.log.loss.append({**named, "run": run, **measure_losses(comparison)})
    bench.log.queries.extend({**named, **row} for row in bench.workload.answer(comparison, run))


def _generalize(bench: _Bench, reading: Reading, diversity: int) -> None:
    """Mondrian's ranges: no draw, so that one table serves all runs' queries."""
    groups = bench.divide(reading, Grouping.LEAVES, diversity)
    if groups is None:
        return
    low, high = (spread(np.repeat(end, groups.sizes, axis=0), groups.order) for end in spans_of_groups(groups))
    comparison = replace(bench.original, low=low, high=high)
    named = {"method": str(Method.MONDRIAN), "reading": str(reading), "diversity": diversity, "delta": ""}
    bench.log.disclosure.extend({**named, "run": 0, **row} for row in measure_matches(comparison))
    bench.log.loss.append({**named, "run": 0, **measure_losses(comparison)})
    bench.log.partition.append({**named, "groups": len(groups), "unchanged": None})
    for run in range(bench.plan.runs):
        bench.log.queries.extend({**named, **row} for row in bench.workload.answer(comparison, run))


def _anatomize(bench: _Bench, diversity: int) -> None:
    """Anatomy's groups draw lots, so that a run has its own; each row counts its group's average."""
    named = {"method": str(Method.ANATOMY), "reading": "", "diversity": diversity, "delta": ""}
    policy = bench.plan.policy_for(Grouping.BUCKETS, diversity)
    for run in range(bench.plan.runs):
        try:
            anatomy = anatomize(bench.plan.table, policy, key=key_of(run))
        except InfeasibleError:
            return
        joined, averages = join_tables(anatomy)
        comparison = Comparison.of(bench.plan.table, joined, policy)
        bench.log.queries.extend({**named, **row} for row in bench.workload.answer(comparison, run, averages))


def _ignore(*_: object) -> None:
    """Nobody watches."""
