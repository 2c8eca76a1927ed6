"""Who knows the groups of a release without random output tables: Mondrian's, which look alike, and Anatomy's."""

from __future__ import annotations

import numpy as np

from muco.arrays import Codes, Offsets
from muco.assess.classes import class_sizes
from muco.assess.comparison import Comparison
from muco.assess.informed import Informed, Spread
from muco.assess.rate import Rate, Risk
from muco.scale import Reals

_KNOWS = "groups and all quasi-identifiers of everybody"


def measure_groups(comparison: Comparison, group: Offsets) -> Informed:
    """A1 for a release whose group i holds row i: exact, for the rows of a group that look alike are as likely.

    A person's row is one of those of the group with the same released cells: all of them after Mondrian, those with
    equal quasi-identifiers after Anatomy. A sensitive value is a person's with its share of the group. In the raw
    control the groups are known too; by chance, every row of a group is as likely.

    >>> import polars as pl
    >>> from muco.policy import Policy
    >>> table = pl.DataFrame({"age": [20, 25, 30, 34], "pay": [1, 2, 3, 3]})
    >>> release = table.with_columns(age=pl.Series(["20-25", "20-25", "30-34", "30-34"]))
    >>> seen = Comparison.of(table, release, Policy.of(quasi="age", sensitive="pay"))
    >>> measure_groups(seen, np.array([0, 0, 1, 1])).record.rate.value
    0.5
    """
    numbers = group.astype(np.int32)[:, None]
    # Of tables that are not aligned no row is anybody's: then the raw table is asked as a whole.
    person = np.arange(len(comparison.original)) if comparison.record is None else comparison.record
    known = np.zeros((len(person), 1), dtype=np.int32) if comparison.record is None else numbers
    before = np.column_stack((known, comparison.original[person]))
    members = class_sizes(numbers)
    own = 1 / class_sizes(np.column_stack((numbers, comparison.low, comparison.high)))
    worlds = own, 1 / class_sizes(before), 1 / members
    spreads = [Spread.of(world) for world in worlds]
    attribute = {}
    for place, domain in enumerate(comparison.sensitive):
        share = _share(numbers, comparison.released_sensitive[:, place])
        raw = _share(before, comparison.original_sensitive[person, place])
        attribute[domain.attribute] = _risk(f"A1 for {domain.attribute}", share, raw, share)
    return Informed(
        record=_risk("A1", *worlds),
        top=_risk("A1 top guess", *worlds),
        spread=spreads[0],
        raw_spread=spreads[1],
        chance_spread=spreads[2],
        calibration=0.0,
        attribute=attribute,
        nearest_in_group=_risk("A1g nearest", *worlds),
        assigned_in_group=_risk("A1g one to one", *worlds),
        sampled=0,
        chain_error=0.0,
    )


def _share(codes: Codes, values: Codes) -> Reals:
    """The share of the records equal to each that have its value."""
    share: Reals = class_sizes(np.column_stack((codes, values))) / class_sizes(codes)
    return share


def _risk(adversary: str, *worlds: Reals) -> Risk:
    rate, raw, chance = (Rate.of(chances) for chances in worlds)
    return Risk(adversary, _KNOWS, rate, raw, chance)
