"""How the paper's partition can be read, and the groups of each reading.

program   attributes ranked by their range as it stands, leaves cut again into buckets: the authors' program, but
          that it ranks by sums of squares
buckets   attributes ranked by range over dis_max(attribute, T), leaves cut again into buckets
leaves    the same ranking, the leaf is the group: the paper's text, which cites Mondrian and names nothing else
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

import numpy as np

from muco._core import Distance
from muco.domain import Domain
from muco.microdata import Groups, Microdata
from muco.steps import divide_table
from muco.switches import Grouping


class Reading(StrEnum):
    """One way to read Algorithm 1, line 2."""

    PROGRAM = "program"
    BUCKETS = "buckets"
    LEAVES = "leaves"

    @property
    def grouping(self) -> Grouping:
        """What becomes of a leaf."""
        return Grouping.LEAVES if self is Reading.LEAVES else Grouping.BUCKETS

    @property
    def generalized(self) -> Reading:
        """The reading under which Mondrian's ranges have the same ranking of attributes."""
        return Reading.PROGRAM if self is Reading.PROGRAM else Reading.LEAVES

    def divide(self, microdata: Microdata) -> Groups:
        """The groups, by the microdata's own grouping."""
        if self is not Reading.PROGRAM:
            return divide_table(microdata)
        reach = 2 * max(float(np.ptp(_places(domain))) for domain in microdata.quasi) + 1
        ranked = replace(microdata, quasi=tuple(_unscaled(domain, reach) for domain in microdata.quasi))
        groups = divide_table(ranked)
        return Groups(microdata, groups.order, groups.starts, groups.leaves)


def _places(domain: Domain) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The codes as numbers: those on a line where they stand, others by rank, a missing one next to the last."""
    codes = np.arange(domain.known, dtype=np.int32)
    places = codes.astype(np.float64)
    if domain.is_ordered and domain.known:
        places = domain.distance.between(np.zeros_like(codes), codes) * domain.distance.scale
    return np.append(places, places[-1:] + 1) if domain.has_missing and domain.known else places


def _unscaled(domain: Domain, reach: float) -> Domain:
    # A code that no record has, equally far in every attribute, makes dis_max(attribute, T) the same for all.
    places = _places(domain)
    return replace(domain, distance=Distance.line(np.append(places, places[:1] + reach), missing=False))
