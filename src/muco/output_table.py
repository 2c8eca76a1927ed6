"""The random output table of Definition 1, as a reader of the paper wants to see it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muco._core import Tables
from muco.microdata import Group


@dataclass(frozen=True, slots=True)
class OutputTable:
    """p_ij, the probability that record i of a group outputs value j (Definition 1), for one attribute.

    Rows stand in the order of the group's records, columns in the order of the domain. Probabilities are exact:
    `numerators[i, j]` / `total`. It prints as Figure 3 of the paper does, so it may not leave the curator's hands;
    its repr shows no value.
    """

    group: Group
    attribute: str
    original: tuple[Any, ...]  # the value of each record
    values: tuple[Any, ...]  # v_1, ..., v_n
    numerators: NDArray[np.uint64]
    total: int
    tables: Tables

    def __repr__(self) -> str:
        return f"OutputTable({self.attribute}, {len(self.original)} records, {len(self.values)} values)"

    def __str__(self) -> str:
        heads = [_shown(value) for value in self.values]
        lefts = [_shown(value) for value in self.original]
        left = max(map(len, [*lefts, self.attribute]))
        widths = [max(len(head), 6) for head in heads]
        lines = [f"{self.attribute:<{left}}  " + "  ".join(f"{h:>{w}}" for h, w in zip(heads, widths))]
        for name, row in zip(lefts, self.probabilities):
            cells = (f"{p:>{w}.4f}" if p else f"{'0':>{w}}" for p, w in zip(row, widths))
            lines.append(f"{name:<{left}}  " + "  ".join(cells))
        return "\n".join(line.rstrip() for line in lines)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """p_ij, shape (records, values)."""
        shares: NDArray[np.float64] = self.numerators / self.total
        return shares

    @property
    def delta(self) -> Fraction:
        """The largest max(p_j) / Σ_i p_ij of any column (Definition 3), exactly."""
        columns = ([int(p) for p in column] for column in self.numerators.T)
        return max(Fraction(max(column), sum(column)) for column in columns if any(column))

    @property
    def cost(self) -> float:
        """Σ dis(v_i, v_j) p_ij: what Section 4's linear program minimises, in units of dis_max(attribute, T)."""
        place = self.group.microdata.policy.quasi.index(self.attribute)
        row_codes, members, column_codes, numerators, total = self.tables.table(0, place)
        distance = self.group.microdata.distances[place]
        pairs = np.meshgrid(row_codes, column_codes, indexing="ij")
        apart = distance.between(*(np.ascontiguousarray(codes.ravel()) for codes in pairs))
        return float((apart.reshape(numerators.shape) * numerators * members[:, None]).sum() / total)


def _shown(value: Any) -> str:
    return "missing" if value is None else str(value)
