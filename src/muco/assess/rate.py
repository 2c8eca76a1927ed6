"""A rate with its interval and its controls: the one shape of every risk that is measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muco.assess.shown import Shown

_Z = 1.959964  # two-sided 95 %


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of records, or a mean probability, in [0, 1], with a 95 % interval over `trials` records.

    The interval says how far the figure would move for another sample of such records; an `exact` rate is over all
    of them.
    """

    value: float
    low: float
    high: float
    trials: int
    exact: bool = True

    @staticmethod
    def of(chances: NDArray[np.floating], *, exact: bool = True) -> Rate:
        """The mean of one probability (or 0 and 1) a record.

        >>> Rate.of(np.array([1.0, 0.0, 1.0, 0.0])).value
        0.5
        """
        return Rate.of_mean(float(chances.mean()) if len(chances) else 0.0, len(chances), exact=exact)

    @staticmethod
    def of_mean(value: float, trials: int, *, exact: bool = True) -> Rate:
        """Wilson's interval, which is no narrower than that of any mean of probabilities with this value.

        >>> rate = Rate.of_mean(0.5, 100)
        >>> round(rate.low, 3), round(rate.high, 3)
        (0.404, 0.596)
        """
        if not trials:
            return Rate(value, 0.0, 1.0, 0, exact)
        scale = 1 + _Z**2 / trials
        middle = (value + _Z**2 / (2 * trials)) / scale
        half = _Z / scale * math.sqrt(max(value * (1 - value), 0) / trials + _Z**2 / (4 * trials**2))
        return Rate(value, max(0.0, min(middle - half, value)), min(1.0, max(middle + half, value)), trials, exact)

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True)
class Risk(Shown):
    """How often one adversary links a released row, or a sensitive value, to the right person.

    `raw` is the same adversary on the unprotected table (near 1 where the attack works at all) and `chance` on rows
    whose quasi-identifiers were shuffled; None where the control has no meaning, which `note` then says.
    """

    adversary: str  # the row of the table of adversaries, such as A3
    knows: str
    rate: Rate
    raw: Rate | None = None
    chance: Rate | None = None
    note: str = ""
