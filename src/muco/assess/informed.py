"""The informed adversary (A1): knows groups, tables and all quasi-identifiers of everybody, but not the draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muco._core import conclude, single_value_risks
from muco.assess.classes import class_sizes
from muco.assess.comparison import Comparison
from muco.assess.rate import Rate, Risk
from muco.assess.sample import PUBLIC, framed
from muco.assess.shown import Shown
from muco.errors import TableError
from muco.gate import MOST_RECORDS
from muco.policy import Policy
from muco.release import Hidden
from muco.scale import Reals
from muco.switches import Draw

_KNOWS = "groups, random output tables and all quasi-identifiers of everybody"
_PRODUCT = "controlled draws are taken as independent ones"
_RULES = "what edit rules exchanged is taken as drawn"


@dataclass(frozen=True, slots=True)
class Spread(Shown):
    """How the posterior of the right row is spread: what 1 % of records exceed, shares above 1/2 and at .9."""

    quantile_99: float
    above_half: float
    above_nine_tenths: float

    @staticmethod
    def of(own: Reals) -> Spread:
        """Of the records that were asked about; NaN for the others.

        >>> Spread.of(np.array([0.2, 0.6, 0.95, np.nan])).above_half
        0.6666666666666666
        """
        asked = own[~np.isnan(own)]
        if not len(asked):
            return Spread(0.0, 0.0, 0.0)
        return Spread(float(np.quantile(asked, 0.99)), float((asked > 0.5).mean()), float((asked >= 0.9).mean()))


@dataclass(frozen=True, slots=True)
class Informed(Shown):
    """What A1 concludes, over all records; `record` is the mean posterior of the right row.

    `spread` tells how that posterior is spread, `raw_spread` and `chance_spread` the same of the controls.
    `calibration` is the mean of the largest posterior minus the share of top guesses that are right: near 0 where
    the model is the truth.
    `chain_error` is the root mean square error of posteriors that came from Markov chains; 0 where none did.
    """

    record: Risk
    top: Risk
    spread: Spread
    raw_spread: Spread
    chance_spread: Spread
    calibration: float
    attribute: dict[str, Risk]
    nearest_in_group: Risk
    assigned_in_group: Risk
    sampled: int
    chain_error: float


@dataclass(frozen=True, slots=True)
class Posterior:
    """What one adversary concludes of each record, group by group; NaN for who was not asked about."""

    own: Reals
    largest: Reals
    hit: Reals
    nearest: Reals
    assigned: Reals
    alike: Reals  # (records, sensitive attributes)
    disagreement: float
    sampled: int
    unexplained: int

    @staticmethod
    def of(
        comparison: Comparison, seen: Sequence[Hidden], *, world: str = "release", corrupted: int = 0
    ) -> Posterior:
        """Raises TableError for a run of another table, or for runs of different groups."""
        groups = seen[0].outcome.groups
        if len(groups.order) != len(comparison.original):
            raise TableError("the hidden file is of a run on another table: the records differ in number")
        if any(not _is_same(seen[0], other) for other in seen):
            raise TableError("the releases have different groups: only releases of one partition can be joined")
        sensitive = np.ascontiguousarray(comparison.original_sensitive[groups.order])
        is_joined = _is_told_apart(comparison, seen[0])
        parts: list[list[Reals]] = []
        alike, counts = [], np.zeros(3)
        for number, batch in enumerate(groups.batches()):
            here = slice(int(groups.starts[batch.first]), int(groups.starts[batch.last]))
            releases = [
                (run.tables[number], run.outcome.released[here], *drawn_as(run.outcome.groups.microdata.policy))
                for run in seen
            ]
            found, found_alike, found_counts = conclude(
                releases,
                sensitive[here],
                is_joined[here],
                PUBLIC,
                first_group=batch.first,
                world=world,
                corrupted=corrupted,
                share=min(1.0, MOST_RECORDS / len(groups.order)),
            )
            parts.append(found)
            alike.append(found_alike)
            counts += found_counts
        own, largest, hit, nearest, assigned = (np.concatenate(column) for column in zip(*parts))
        shape = (len(groups.order), len(comparison.sensitive))
        inferred = np.concatenate(alike).reshape(shape)
        disagreement, sampled, unexplained = counts.tolist()
        return Posterior(
            own, largest, hit, nearest, assigned, inferred, disagreement, int(sampled), int(unexplained)
        )

    def rate(self, what: Reals) -> Rate:
        """The mean over all who were asked about."""
        asked = what[~np.isnan(what)]
        return Rate.of(asked, exact=not self.sampled and len(asked) == len(what))


def measure_informed(comparison: Comparison, hidden: Hidden) -> Informed:
    """A1, A1g: the posterior that a record's row is its own, exact over all matchings of its group.

    Matchings of records to rows weigh the product of their pairs, Algorithm 2 included; they are summed over
    subsets in groups of up to 18 records and by two Markov chains above. Where all rows of a group's tables are
    equal, every matching is as likely and the posterior is 1/m, whatever the draw. For other controlled draws the
    product stands in for their joint law, which the note says. Raises TableError for a hidden file of another run.
    """
    worlds = [Posterior.of(comparison, [hidden], world=world) for world in ("release", "raw", "shuffled")]
    found = worlds[0]
    note = _note(hidden, found)
    groups_only = "groups and all quasi-identifiers of everybody"
    names = [domain.attribute for domain in comparison.sensitive]
    return Informed(
        framed("A1", _KNOWS, [world.rate(world.own) for world in worlds], note),
        framed("A1 top guess", _KNOWS, [world.rate(world.hit) for world in worlds], note),
        Spread.of(found.own),
        Spread.of(worlds[1].own),
        Spread.of(worlds[2].own),
        0.0 if np.isnan(found.own).all() else float(np.nanmean(found.largest) - np.nanmean(found.hit)),
        {
            name: framed(f"A1 for {name}", _KNOWS, [w.rate(w.alike[:, place]) for w in worlds], note)
            for place, name in enumerate(names)
        },
        framed("A1g nearest", groups_only, [w.rate(w.nearest) for w in worlds]),
        framed("A1g one to one", groups_only, [w.rate(w.assigned) for w in worlds]),
        found.sampled,
        # Each posterior is the mean of two chains, which is off by half of what they differ by.
        math.sqrt(found.disagreement / found.sampled) / 2 if found.sampled else 0.0,
    )


def measure_corruption(comparison: Comparison, hidden: Hidden, corrupted: int) -> Risk:
    """A1 who has been told by `corrupted` members of each group which rows are theirs: 1/(m - c) when provable."""
    worlds = [
        Posterior.of(comparison, [hidden], world=world, corrupted=corrupted)
        for world in ("release", "raw", "shuffled")
    ]
    knows = f"{_KNOWS}, and the rows of {corrupted} members of each group"
    return framed(f"corruption of {corrupted}", knows, [w.rate(w.own) for w in worlds], _note(hidden, worlds[0]))


def join_releases(comparison: Comparison, seen: Sequence[Hidden]) -> Risk:
    """A6: several releases of one partition, their rows joined on untouched and sensitive columns.

    Rows of a group that share those columns with another of its rows are used in the first release only. Raises
    TableError where the groups differ.
    """
    worlds = [Posterior.of(comparison, seen, world=world) for world in ("release", "raw")]
    knows = f"{_KNOWS}, in {len(seen)} releases joined on untouched columns"
    rates = [*(w.rate(w.own) for w in worlds), None]
    return framed(f"A6 with {len(seen)}", knows, rates, _note(seen[0], worlds[0]))


@dataclass(frozen=True, slots=True)
class SingleValue(Shown):
    """Exact single-value risk of each quasi-identifier: its mean and largest over the records.

    `raw` is the largest where every value is kept, `chance` where each row of a group has the value as often as the
    whole table does.
    """

    attribute: str
    mean: float
    largest: float
    raw: float
    chance: float


def measure_single_value(hidden: Hidden) -> tuple[SingleValue, ...]:
    """Who knows one value of a record, and its group: Σ_i P(own row has it, i rows of the group have it) / i.

    The number of rows is Poisson-binomial; before Algorithm 2, and for independent draws.
    """
    risks = np.concatenate([single_value_risks(tables) for tables in hidden.tables])
    groups = hidden.outcome.groups
    number, codes = np.repeat(np.arange(len(groups)), groups.sizes), groups.microdata.codes[groups.order]
    sizes, found = groups.sizes[number], []
    for place, name in enumerate(groups.microdata.policy.quasi):
        own = codes[:, place]
        raw = 1 / class_sizes(np.column_stack((number, own)).astype(np.int32))
        # Of m rows that have it with probability f each, each is the own as often: Σ_i P(own has it, i have) / i.
        chance = (1 - (1 - np.bincount(own)[own] / len(own)) ** sizes) / sizes
        mean, largest = float(risks[:, place].mean()), float(risks[:, place].max())
        found.append(SingleValue(name, mean, largest, float(raw.max()), float(chance.max())))
    return tuple(found)


def drawn_as(policy: Policy) -> tuple[int, list[list[int]]]:
    """What the likelihood of a draw needs of a policy: its repair, and attributes that share a random number."""
    return policy.repair, policy.block_places if policy.draw is Draw.INDEPENDENT else []


def _is_same(one: Hidden, other: Hidden) -> bool:
    left, right = one.outcome.groups, other.outcome.groups
    return np.array_equal(left.order, right.order) and np.array_equal(left.starts, right.starts)


def _is_told_apart(comparison: Comparison, hidden: Hidden) -> NDArray[np.bool_]:
    """Whether no other row of the group has the same untouched and sensitive cells; in the groups' order."""
    groups = hidden.outcome.groups
    cells = np.column_stack(
        (
            np.repeat(np.arange(len(groups)), groups.sizes),
            comparison.original_untouched[groups.order],
            comparison.original_sensitive[groups.order],
        )
    )
    _, place, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    is_alone: NDArray[np.bool_] = counts[place.ravel()] == 1
    return is_alone


def _note(hidden: Hidden, found: Posterior) -> str:
    policy = hidden.outcome.groups.microdata.policy
    parts = [] if policy.draw is Draw.INDEPENDENT or policy.is_provable else [_PRODUCT]
    parts += [_RULES] if policy.rules and not policy.is_provable else []
    if len(found.own) > MOST_RECORDS:
        parts.append(f"{(~np.isnan(found.own)).sum()} of {len(found.own)} records tried, in groups drawn by a key")
    if found.sampled:
        parts.append(f"{found.sampled} records in groups of more than 18 by Markov chains")
    if found.unexplained:
        parts.append(f"{found.unexplained} records whose rows the tables do not explain")
    return "; ".join(parts)
