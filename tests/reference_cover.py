"""Algorithm 1, line 5 (calculate_table) in slow plain Python and HiGHS: the other half of the oracle.

One row a record, nothing reduced. The centre is found without following a path: first the optimal face, by
linear programs, then the maximum of the log barrier over it, by Newton's method inside the face.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from reference import Distance

Reals = NDArray[np.floating[Any]]
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def column_codes(codes: Sequence[int], distance: Distance, columns: str) -> list[int]:
    """The values a table may output: `observed` in the group, or of the `domain` within the group's range."""
    present = set(codes)
    known = present - {distance.missing_code}
    if columns == "domain" and known:
        present |= set(range(min(known), max(known) + 1))
    return sorted(present)


@dataclass(frozen=True, slots=True)
class Program:
    """Over p_11, p_12, ..., p_mn: least `cost` p with `equal` p = `right`, p >= 0, `limits` p >= 0.

    Row (i, j) of `limits` is δ Σ_i' p_i'j - p_ij, Definition 3.
    """

    cost: Reals
    equal: Reals
    right: Reals
    limits: Reals

    @property
    def slacks(self) -> Reals:
        """Every quantity that must not be negative, as a row over p."""
        return np.vstack([np.eye(len(self.cost)), self.limits])


def program(
    codes: Sequence[int], columns: Sequence[int], distance: Distance, delta: Fraction, cover: str
) -> Program:
    """calculate_table's linear program for records with these codes; `balanced` adds S_b = m_b."""
    m, n = len(codes), len(columns)
    cost = np.array([distance.rows[a][b] for a in codes for b in columns])
    row_sums: Reals = np.kron(np.eye(m), np.ones((1, n)))
    column_sums = np.kron(np.ones((1, m)), np.eye(n))
    limits = float(delta) * np.tile(column_sums, (m, 1)) - np.eye(m * n)
    if cover == "cheapest":
        return Program(cost, row_sums, np.ones(m), limits)
    counts = Counter(codes)
    right = np.array([1.0] * m + [float(counts[b]) for b in columns])
    equal: Reals = np.vstack([row_sums, column_sums])
    return Program(cost, equal, right, limits)


def least(lp: Program) -> Any:
    """HiGHS's answer, at tolerances of 1e-10."""
    answer = linprog(
        lp.cost, A_ub=-lp.limits, b_ub=np.zeros(len(lp.limits)), A_eq=lp.equal, b_eq=lp.right, options=TIGHT
    )
    assert answer.status == 0, answer.message
    return answer


def optimal_cost(lp: Program) -> float:
    """The least Σ dis(v_i, v_j) p_ij."""
    return float(least(lp).fun)


def inside_of_face(lp: Program) -> tuple[Reals, NDArray[np.bool_]]:
    """A point of the optimal face where no slack is 0 but those that are 0 all over it, and which are not.

    A slack with a positive price in one optimal dual is 0 all over the face, and the feasible points that
    have those at 0 are the face. Over its cone {(τp, τ): τ >= 1} the greatest Σ z with z <= 1 and z <= slack
    has each z at 1 or 0.
    """
    answer = least(lp)
    priced = np.concatenate([answer.lower.marginals, -answer.ineqlin.marginals]) > 1e-7
    slacks, size = lp.slacks, len(lp.cost)
    count = len(slacks)
    equal = np.block([[lp.equal, -lp.right[:, None]], [slacks[priced], np.zeros((priced.sum(), 1))]])
    equal = np.hstack([equal, np.zeros((len(equal), count))])
    below = np.hstack([-slacks, np.zeros((count, 1)), np.eye(count)])
    cone = linprog(
        np.concatenate([np.zeros(size + 1), -np.ones(count)]),
        A_ub=below,
        b_ub=np.zeros(count),
        A_eq=equal,
        b_eq=np.zeros(len(equal)),
        bounds=[(0, None)] * size + [(1, None)] + [(0, 1)] * count,
        options=TIGHT,
    )
    assert cone.status == 0, cone.message
    scaled, tau, z = np.split(cone.x, [size, size + 1])
    assert np.all((z < 1e-6) | (z > 1 - 1e-6)), "the optimal face is not clear-cut"
    return scaled / tau, z > 0.5


def null_space(matrix: Reals) -> Reals:
    """The directions that leave `matrix` x as it is, as columns."""
    _, values, right = np.linalg.svd(matrix)
    return right[int((values > 1e-9 * values[0]).sum()) :].T


def centre(lp: Program, m: int) -> Reals:
    """The analytic centre of the optimal face, shape (m, columns): greatest Σ log p_ij + log(δ S_j - p_ij).

    Terms that are 0 all over the face are left out. Newton's steps are damped by 1 / (1 + λ), which keeps
    inside (self-concordance), until λ, which bounds the relative error of every slack, is small and they
    converge quadratically.
    """
    point, positive = inside_of_face(lp)
    fixed = np.vstack([lp.equal, lp.slacks[~positive]])
    right = np.concatenate([lp.right, np.zeros((~positive).sum())])
    point = point - np.linalg.lstsq(fixed, fixed @ point - right)[0]
    free = null_space(fixed)
    decrement = np.inf if free.size else 0.0
    rounds = 0
    while decrement > 1e-11 and rounds < 200:
        slack = lp.slacks[positive] @ point
        assert slack.min() > 0
        scaled = (lp.slacks[positive] @ free) / slack[:, None]
        step = np.linalg.lstsq(scaled, np.ones(len(slack)))[0]
        decrement = float(np.linalg.norm(scaled @ step))
        point = point + free @ step / (1 + (decrement if decrement > 0.1 else 0))
        rounds += 1
    assert decrement < 1e-9, decrement
    table: Reals = point.reshape(m, -1)
    return table


def calculate_table(
    codes: Sequence[int],
    distance: Distance,
    delta: Fraction,
    *,
    cover: str = "cheapest",
    columns: str = "observed",
) -> tuple[list[int], Reals, float]:
    """Algorithm 1, line 5, for one group and attribute: (column codes, p_ij at the centre, optimal cost)."""
    assert delta * len(codes) >= 1, "Property 1"
    offered = column_codes(codes, distance, columns)
    lp = program(codes, offered, distance, delta, cover)
    return offered, centre(lp, len(codes)), optimal_cost(lp)
