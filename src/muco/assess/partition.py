"""What the choice of groups itself gives away: two partitions (A8), and the minimality attack (A10)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from muco.arrays import Offsets
from muco.assess.rate import Rate
from muco.assess.reruns import number_groups, rerun_exchanged
from muco.assess.sample import choose_targets
from muco.assess.shown import Shown
from muco.errors import TableError
from muco.microdata import Groups
from muco.release import Hidden
from muco.steps import divide_table
from muco.switches import Grouping

MOST_TARGETS, MOST_SAMPLED = 20, 200  # records tried: each alone, or all at once
MOST_RERUN = 20_000  # records that are grouped at random some 200 times; of more, a keyed sample


@dataclass(frozen=True, slots=True)
class Intersection(Shown):
    """A8: who knows the groups of two releases of the same records, and a record's group in both.

    `candidates` is the mean number of records in one group and `left` in both at once; `pinned` the share of
    records whose candidates all have one sensitive value.
    """

    candidates: float
    left: float
    pinned: Rate


def intersect_partitions(one: Groups, other: Groups, sensitive: NDArray[np.integer]) -> Intersection:
    """A8 over all records; `sensitive` holds one sensitive code a record.

    Raises TableError for different tables.
    """
    if len(one.order) != len(other.order) or len(sensitive) != len(one.order):
        raise TableError("the partitions are of tables with different numbers of records")
    groups = [number_groups(partition) for partition in (one, other)]
    _, cell, counts = np.unique(np.stack(groups, axis=1), axis=0, return_inverse=True, return_counts=True)
    cell = cell.ravel()
    pairs = np.unique(np.stack((cell, sensitive), axis=1), axis=0)
    values = np.bincount(pairs[:, 0])
    return Intersection(
        float(one.sizes[groups[0]].mean()), float(counts[cell].mean()), Rate.of((values[cell] == 1).astype(float))
    )


@dataclass(frozen=True, slots=True)
class Minimality(Shown):
    """A10: who reruns the partition knows how likely these groups were, had two sensitive values been exchanged.

    `unchanged` is the mean, over exchanges of two different sensitive values inside a group, of how likely the
    groups are after the exchange for each time before it, 1 at most. Where nothing is random it is the share of
    exchanges that leave all groups as they are. `before` is the mean chance of a record's own value among the
    group's, `remaining` the same after weighing each exchange so.

    For groups drawn at random, `recurs` is how often two records of a group share one under other keys, and
    `recurs_exchanged` how often when their values were exchanged: their ratio must tell what `unchanged` does.
    """

    unchanged: Rate
    before: Rate
    remaining: Rate
    recurs: Rate | None = None
    recurs_exchanged: Rate | None = None
    note: str = ""


def measure_minimality(hidden: Hidden, *, most: int | None = None) -> Minimality:
    """A10 on a keyed sample of records: the partition is run again after exchanges with each other of the group.

    Only single exchanges are tried, so that `remaining` is an estimate of the posterior, not a bound: matchings
    that need several exchanges at once may be possible where none of them alone is. It is the costliest measure:
    some hundreds of runs of the partition. Groups formed without sensitive values change under none; several
    sensitive attributes are exchanged together. Of a large table whose groups are drawn at random, a sample of the
    records is grouped by the same policy and stands for the table, which `note` says.
    """
    groups = hidden.outcome.groups
    microdata = groups.microdata
    if microdata.policy.grouping is Grouping.SAMPLED and microdata.sensitive_codes.shape[1]:
        some = _sample_groups(groups)
        found = _weigh_exchanges(some, MOST_SAMPLED if most is None else most)
        is_whole = len(some.order) == len(groups.order)
        told = "" if is_whole else f"groups drawn from {len(some.order)} of {len(groups.order)} records; "
    else:
        found, told = _rerun_exchanges(groups, MOST_TARGETS if most is None else most), ""
    tried = found.before.trials
    note = f"{told}{tried} records tried; no raw control: groups, not rows, are what this adversary sees"
    return replace(found, note=note)


def _sample_groups(groups: Groups) -> Groups:
    """The groups themselves, or of a large table those of a keyed sample; not where households must stay whole."""
    microdata = groups.microdata
    if len(microdata) <= MOST_RERUN or microdata.households is not None:
        return groups
    some = choose_targets(len(microdata), MOST_RERUN)
    sample = replace(
        microdata,
        codes=np.ascontiguousarray(microdata.codes[some]),
        sensitive_codes=np.ascontiguousarray(microdata.sensitive_codes[some]),
        tags=np.ascontiguousarray(microdata.tags[some]),
        asks=microdata.asks[some] if len(microdata.asks) else microdata.asks,
    )
    return divide_table(sample)


def _rerun_exchanges(groups: Groups, most: int) -> Minimality:
    microdata = groups.microdata
    labels, group_of = _labels(groups), number_groups(groups)
    kept: list[float] = []
    before, remaining = [], []
    for record in choose_targets(len(microdata), most).tolist():
        group = group_of[record]
        members = groups.order[groups.starts[group] : groups.starts[group + 1]]
        others = members[members != record]
        codes = microdata.sensitive_codes
        differ = others[(codes[others] != codes[record]).any(axis=1)]
        alike = len(members) - len(differ)
        stays = [_is_unchanged(groups, labels, record, int(other)) for other in differ]
        kept += stays
        before.append(alike / len(members))
        remaining.append(alike / (alike + sum(stays)))
    exact = len(before) == len(microdata)
    parts = (kept, before, remaining)
    unchanged, own, left = (Rate.of(np.array(part, dtype=float), exact=exact) for part in parts)
    return Minimality(unchanged, own, left)


def _is_unchanged(groups: Groups, labels: Offsets, one: int, other: int) -> bool:
    codes = groups.microdata.sensitive_codes.copy()
    if codes.shape[1] == 0:
        return True
    codes[[one, other]] = codes[[other, one]]
    again = divide_table(replace(groups.microdata, sensitive_codes=codes))
    return np.array_equal(_labels(again), labels)


def _weigh_exchanges(groups: Groups, most: int) -> Minimality:
    number = number_groups(groups)
    found = rerun_exchanged(groups, number, most=most)
    one = np.concatenate([part.one for part in found])
    likelihood = np.concatenate([part.likelihood for part in found])
    targets, target = np.unique(one, return_inverse=True)
    sizes, differ = groups.sizes[number[targets]], np.bincount(target)
    alike = sizes - differ
    remaining = alike / (alike + np.bincount(target, weights=likelihood))
    together, exchanged = (
        np.concatenate([getattr(part, name) for part in found]) for name in ("recurs", "recurs_exchanged")
    )
    parts = (np.minimum(likelihood, 1.0), alike / sizes, remaining, together, exchanged)
    unchanged, before, left, recurs, after = (Rate.of(part, exact=False) for part in parts)
    return Minimality(unchanged, before, left, recurs, after)


def _labels(groups: Groups) -> Offsets:
    """The smallest record of each record's group: equal for equal partitions, whatever their order."""
    first = np.minimum.reduceat(groups.order, groups.starts[:-1])
    labels: Offsets = first[number_groups(groups)]
    return labels
