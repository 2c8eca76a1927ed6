"""The same world twice: for the oracle (`reference`, `reference_cover`) and for the compiled core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reference
from muco import _core
from muco.arrays import Codes


@dataclass(frozen=True, slots=True)
class Axis:
    """One attribute's distance, for both."""

    oracle: reference.Distance
    core: _core.Distance
    is_line: bool = False

    def weighted(self, weight: float) -> Axis:
        """The same, counted so often where groups are formed."""
        return replace(self, oracle=replace(self.oracle, weight=weight), core=self.core.weighted(weight))

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.oracle.rows)


def line(positions: Sequence[float], *, missing: bool = False) -> Axis:
    """Definition 5: numbers, days or ranks, ascending."""
    core = _core.Distance.line(np.array(positions, dtype=np.float64), missing=missing)
    return Axis(reference.line_distance(positions, missing=missing), core, is_line=True)


def tree(steps: Sequence[float], *, missing: bool = False) -> Axis:
    """Leaves in depth-first order, and how high one climbs between neighbours."""
    core = _core.Distance.tree(np.array(steps, dtype=np.float64), leaves=len(steps) + 1, missing=missing)
    return Axis(reference.tree_distance(steps, missing=missing), core)


def matrix(rows: Sequence[Sequence[float]], *, missing: bool = False) -> Axis:
    """An own distance."""
    core = _core.Distance.matrix(np.array(rows, dtype=np.float64), missing=missing)
    return Axis(reference.matrix_distance(rows, missing=missing), core)


def divided(
    world: reference.World, axes: Sequence[Axis], grouping: str, sweep: str, **exchanges: Any
) -> list[tuple[int, list[int]]]:
    """The core's groups in the oracle's form: (leaf, records in order).

    `exchanges` are those of `_core.divide_table`: how many rounds, and what else tells how.
    """
    principle = world.principle
    order, starts, leaves = _core.divide_table(
        np.array(world.codes, dtype=np.int32).reshape(len(world.codes), len(axes)),
        np.array(world.sensitive, dtype=np.int32).reshape(len(world.codes), len(world.sizes)),
        np.array(world.tags, dtype=np.uint64),
        [axis.core for axis in axes],
        _core.Principle(principle.name, principle.diversity, c=principle.c, t=principle.t),
        sizes=world.sizes,
        ordered=world.ordered,
        grouping=grouping,
        sweep=sweep,
        asks=np.array(world.asks, dtype=np.uint32),
        **{"exchanges": 0, "temperature": 0.0, "key": bytes(32), **exchanges},
    )
    parts = np.split(order, starts[1:-1])
    return [(int(leaf), part.tolist()) for leaf, part in zip(leaves, parts, strict=True)]


def tables_of(
    groups: Sequence[Sequence[Sequence[int]]],
    axes: Sequence[Axis],
    delta: Fraction | None,
    cover: str,
    columns: str,
) -> _core.Tables:
    """The core's tables of groups of records, each record its codes on every axis."""
    records = [record for group in groups for record in group]
    starts = np.cumsum([0, *(len(group) for group in groups)], dtype=np.int64)
    return _core.calculate_tables(
        np.array(records, dtype=np.int32).reshape(len(records), len(axes)),
        np.arange(len(records), dtype=np.int64),
        starts,
        [axis.core for axis in axes],
        delta=None if delta is None else (delta.numerator, delta.denominator),
        cover=cover,
        columns=columns,
    )


@dataclass(frozen=True, slots=True)
class Table:
    """One exact table of the core, a row a record of the group it is of."""

    codes: Codes
    columns: Codes
    numerators: NDArray[np.uint64]
    total: int

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """p_ij, shape (records, columns)."""
        shares: NDArray[np.float64] = self.numerators / self.total
        return shares

    @property
    def sums(self) -> list[int]:
        """Σ_i of each column's numerators."""
        return [sum(map(int, column)) for column in self.numerators.T]

    def cost(self, distance: reference.Distance) -> float:
        """Σ dis(v_i, v_j) p_ij."""
        apart = np.array(distance.rows)[np.ix_(self.codes, self.columns)]
        return float((apart * self.probabilities).sum())

    def keeps(self, delta: Fraction) -> bool:
        """Definitions 1 and 3 in integers: rows sum to the total, and p_ij <= δ Σ p_ij in every column."""
        rows = all(sum(map(int, row)) == self.total for row in self.numerators)
        return rows and all(
            max(map(int, column)) <= delta * total for column, total in zip(self.numerators.T, self.sums)
        )


def table_of(
    codes: Sequence[int], axis: Axis, delta: Fraction | None, *, cover: str = "cheapest", columns: str = "observed"
) -> Table:
    """The core's table of one group with these codes on one axis."""
    return entry(tables_of([[(code,) for code in codes]], [axis], delta, cover, columns), codes)


def entry(tables: _core.Tables, codes: Sequence[int], *, group: int = 0, attribute: int = 0) -> Table:
    """One table of a batch, its rows spread over the records."""
    row_codes, _, column_codes, numerators, total = tables.table(group, attribute)
    own = np.array(codes, dtype=np.int32)
    return Table(own, column_codes, numerators[np.searchsorted(row_codes, own)], total)
