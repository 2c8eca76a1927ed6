"""The unit of one attribute: where its codes stand, how far apart the original's values are, what a span covers.

A cell that stands for several values is taken as a uniform draw from the values, of either table, that it covers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muco.arrays import Codes
from muco.domain import Domain

Reals = NDArray[np.float64]
_BLOCK = 1 << 22  # cells of a block of distances, so that a large domain stays within memory


@dataclass(frozen=True, slots=True)
class Scale:
    """D[A] of the original as a scale for both tables (docs/measures/loss.md).

    `places` are the positions of the codes of an attribute on a line (numbers, dates in days, ranks), 0 for the
    missing code; empty for categories. `extent` is max - min + 1 of the original's, `values` how many values the
    original has.
    """

    domain: Domain
    places: Reals
    extent: float
    values: int

    def __repr__(self) -> str:
        return f"Scale({self.domain.attribute}, {self.values} values)"

    @staticmethod
    def of(domain: Domain, original: Codes) -> Scale:
        """The scale that the codes of an original (records,) set."""
        seen = np.unique(original)
        if not domain.is_ordered:
            return Scale(domain, np.empty(0), 1.0, len(seen))
        codes = np.arange(len(domain.cells), dtype=np.int32)
        places = domain.distance.between(np.zeros_like(codes), codes) * domain.distance.scale
        if domain.has_missing:
            places[-1] = 0
        seen = seen[seen < domain.known]
        extent = float(places[seen[-1]] - places[seen[0]]) if len(seen) else 0.0
        return Scale(domain, places, extent + 1, len(np.unique(original)))

    def move(self, original: Codes, low: Codes, high: Codes) -> Reals:
        """The expected move of each cell, shape (records,).

        |released - original| / (max - min + 1) on a line, dis / dis_max for categories and to or from missing; for
        a span its mean over the values it covers.
        """
        if self.domain.is_ordered:
            return self._move_on_line(original, low, high)
        moves = np.empty(len(original))
        exact = low == high
        moves[exact] = self.domain.distance.between(
            np.ascontiguousarray(original[exact]), np.ascontiguousarray(low[exact])
        )
        if not exact.all():
            moves[~exact] = self._move_over(original[~exact], low[~exact], high[~exact])
        return moves

    def width(self, low: Codes, high: Codes) -> Reals:
        """The width of each cell less one (Xiao & Tao), shape (rows,): 0 for an exact value.

        (high - low) / (max - min + 1) on a line; (values covered - 1) / (values of the original) for categories,
        and on a line for a span that reaches from known values to the missing one.
        """
        counted = (high - low) / self.values
        if not self.domain.is_ordered:
            return counted
        is_known = (high < self.domain.known) | (low == high)
        measured: Reals = np.where(is_known, (self.places[high] - self.places[low]) / self.extent, counted)
        return measured

    def _move_on_line(self, original: Codes, low: Codes, high: Codes) -> Reals:
        """By prefix sums of the places: the values covered below the original's, and those above."""
        last = self.domain.known - 1
        sums = np.concatenate([[0.0], np.cumsum(self.places)])
        top = np.minimum(high, last)
        at = np.clip(original, low - 1, top)
        here = self.places[original]
        below = here * (at - low + 1) - (sums[at + 1] - sums[low])
        above = (sums[top + 1] - sums[at + 1]) - here * (top - at)
        known = np.maximum(top - low + 1, 0)
        apart = np.where(known > 0, below + above, 0.0) / self.extent
        was_missing, is_missing = original > last, high > last
        # Missing is at dis_max from every known value, and at 0 from itself.
        moves: Reals = np.where(was_missing, known, apart + is_missing) / (known + is_missing)
        return moves

    def _move_over(self, original: Codes, low: Codes, high: Codes) -> Reals:
        """By running sums of one row of distances a distinct original value, some rows at a time."""
        size = len(self.domain.cells)
        values, place = np.unique(original, return_inverse=True)
        moves = np.empty(len(original))
        step = max(1, _BLOCK // size)
        columns = np.arange(size, dtype=np.int32)
        for first in range(0, len(values), step):
            rows = values[first : first + step]
            apart = self.domain.distance.between(np.repeat(rows, size), np.tile(columns, len(rows)))
            sums = np.zeros((len(rows), size + 1))
            np.cumsum(apart.reshape(len(rows), size), axis=1, out=sums[:, 1:])
            here = (place >= first) & (place < first + step)
            row = place[here] - first
            total = sums[row, high[here] + 1] - sums[row, low[here]]
            moves[here] = total / (high[here] - low[here] + 1)
        return moves


def whole_spans(low: Codes, high: Codes, size: int | NDArray[np.int32]) -> tuple[Codes, Codes]:
    """Spans that all cover something: one without codes becomes that of its two neighbours."""
    first, last = np.minimum(low, high), np.maximum(low, high)
    return np.clip(first, 0, size - 1), np.clip(last, 0, size - 1)
