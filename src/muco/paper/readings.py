"""How the paper's partition can be read, and the groups of each reading.

program   attributes ranked by sums of squares as they stand, leaves cut again into buckets: the authors' program
buckets   attributes ranked by range over dis_max(attribute, T), leaves cut again into buckets
leaves    the same ranking, the leaf is the group: the paper's text, which cites Mondrian and names nothing else
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from muco.microdata import Groups, Microdata
from muco.steps import divide_table
from muco.switches import Grouping, Partition


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
        partition = Partition.PROGRAM if self is Reading.PROGRAM else Partition.RANGE
        return divide_table(replace(microdata, partition=partition))
