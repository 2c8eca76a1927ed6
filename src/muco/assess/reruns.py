"""Reruns of groups drawn at random (A10): how likely the groups are after an exchange of sensitive values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from muco._core import tag_records
from muco.arrays import Codes, Offsets
from muco.assess.sample import choose_targets
from muco.microdata import Groups, Key, Microdata
from muco.scale import Reals
from muco.steps import divide_table

RERUNS = 20  # keys under which the partition is run again, for the values as they are and after each exchange


@dataclass(frozen=True, slots=True)
class Exchanged:
    """What the reruns say of one exchange a record: of records `one` with records `other` of their groups.

    `likelihood` is how likely the groups are after the exchange for each time before it; `recurs` and
    `recurs_exchanged` how often the two shared a group before and after.
    """

    one: Offsets
    other: Offsets
    likelihood: Reals
    recurs: Reals
    recurs_exchanged: Reals


def rerun_exchanged(groups: Groups, number: Offsets, *, most: int, reruns: int = RERUNS) -> list[Exchanged]:
    """Every exchange of a sample of records, one a group, with those of their group that have other values.

    Let A be the partitions that are diverse as the values are, B those that are after an exchange. The law gives a
    partition of both the weights w/Z(A) and w/Z(B), and Z(B)/Z(A) = P(B | before) / P(A | after): each is the share
    of reruns that the exchange leaves diverse (docs/algebra/minimality.md). The groups at hand count as a rerun.
    Exchanges of different records are made at once, because they are far apart: one rerun serves them all.
    """
    microdata = groups.microdata
    values = microdata.sensitive_codes[:, 0]
    targets = choose_targets(len(microdata), most)
    targets = targets[np.unique(number[targets], return_index=True)[1]]
    sizes = groups.sizes[number[targets]]
    place = np.empty(len(microdata), dtype=np.int64)
    place[groups.order] = np.arange(len(microdata))
    starts = groups.starts[number[targets]]
    before = [_rerun(microdata, values, run) for run in range(reruns)]
    found = []
    for step in range(1, int(sizes.max())):
        other = groups.order[starts + (place[targets] - starts + step) % sizes]
        differs = (step < sizes) & (values[other] != values[targets])
        one, other = targets[differs], other[differs]
        exchanged = values.copy()
        exchanged[one], exchanged[other] = values[other], values[one]
        after = [_rerun(microdata, exchanged, reruns * step + run) for run in range(reruns)]
        bears_before = _share(_bears(labels, values, one, other) for labels in before)
        bears_after = _share(_bears(labels, exchanged, one, other) for labels in after)
        together = [np.mean([labels[one] == labels[other] for labels in runs], axis=0) for runs in (before, after)]
        found.append(Exchanged(one, other, bears_after / bears_before, *together))
    return found


def _rerun(microdata: Microdata, values: Codes, run: int) -> Offsets:
    """Each record's group with these sensitive values, under a key that everybody knows."""
    key = hashlib.sha256(f"muco rerun {run}".encode()).digest()
    tags = tag_records(key, np.arange(len(microdata), dtype=np.uint64)[:, None])
    again = divide_table(replace(microdata, sensitive_codes=values[:, None].copy(), tags=tags, key=Key(key)))
    return number_groups(again)


def number_groups(groups: Groups) -> Offsets:
    """The number of each record's group, in the order of the records."""
    number = np.empty(len(groups.order), dtype=np.int64)
    number[groups.order] = np.repeat(np.arange(len(groups)), groups.sizes)
    return number


def _bears(number: Offsets, values: Codes, one: Offsets, other: Offsets) -> NDArray[np.bool_]:
    """Whether groups stay diverse when two records exchange values: no value stands twice in a group."""
    width = int(values.max()) + 1
    present = np.unique(number * width + values)
    meets = np.isin(number[one] * width + values[other], present) | np.isin(
        number[other] * width + values[one], present
    )
    stays: NDArray[np.bool_] = (number[one] == number[other]) | ~meets
    return stays


def _share(runs: Iterable[NDArray[np.bool_]]) -> Reals:
    """The share of reruns that bear an exchange, with the groups at hand, which do."""
    borne = np.array(list(runs))
    shares: Reals = (borne.sum(axis=0) + 1) / (len(borne) + 1)
    return shares
