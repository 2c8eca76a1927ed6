"""What `tune` says: why this policy, or why none and what would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from muco.arrays import Offsets
from muco.assess.classes import class_sizes
from muco.assess.comparison import Comparison
from muco.tune.frontier import Standing
from muco.tune.goal import Goal

UNFINISHED = "Not all settings near the best were tried within the time: a larger --budget tries them."
MOST_NAMED = 20  # row numbers in one message


def tell_choice(best: Standing, goal: Goal, runs: int, *, given: int, is_whole: bool) -> Iterator[str]:
    """Why a setting was chosen, with the figure that is promised; `given` is the diversity of the policy given."""
    proven = best.mean("proven") if goal.is_informed else None
    name, asked, policy = best.setting.name, f"{goal.max_risk:g} was asked for", best.setting.policy
    if proven is not None:
        yield (
            f"{name}: whoever knows the groups, the tables and every quasi-identifier links a row with probability "
            f"at most {proven:.4f}, the groups taken as given; {asked}."
        )
    else:
        yield (
            f"{name}: the {goal.adversary} adversary links a record with {goal.risk(best):.4f} at most"
            f"{' for 99 of 100 records' * goal.is_informed}, by {len(best.scores)} keys that chose nothing; "
            f"{asked}. This is measured on this table, and no proof."
        )
    if policy.sensitive and policy.principle == "frequency":
        lower = f", where the policy given had {given}" if policy.diversity < given else ""
        yield f"A sensitive value stands in at most 1 of {policy.diversity} records of a group{lower}."
    yield f"Of what was tried and keeps that, it has the smallest {goal.kept}: {goal.worth(best):.4g}."
    yield f"{runs} runs on this table were looked at; the policy says so, and the certificate will."
    if not is_whole:
        yield UNFINISHED


def tell_refusal(
    raw: Comparison, goal: Goal, tried: Sequence[Standing], unseen: Sequence[Standing]
) -> Iterator[str]:
    """Why no setting was chosen, and what would help; `unseen` are trials with one quasi-identifier less."""
    reached = [goal.risk(standing) for standing in tried if standing.scores]
    least = f"; the least of those that came nearest is {min(reached):.4f}" if reached else ""
    yield f"No setting keeps the {goal.adversary} risk at {goal.max_risk:g}{least}."
    if goal.is_informed:
        yield from _tell_groups(raw, goal)
        return
    helped = [standing for standing in unseen if goal.is_kept_by(standing)]
    for standing in sorted(helped, key=goal.risk):
        yield f"What would: releasing without {standing.setting.name} (tried: {goal.risk(standing):.4f})."
    if not helped:
        widest = max(raw.quasi, key=lambda domain: len(domain.cells))
        yield (
            f"What would: a larger risk, or coarser quasi-identifiers; {widest.attribute} has the most values, "
            f"{len(widest.cells)}."
        )
    if unseen and not helped:
        yield "Leaving out one quasi-identifier was tried with each, and is not enough."


def name_rows(raw: Comparison, goal: Goal) -> dict[str, list[int]]:
    """The rows, from 1, that stand in the way of groups of the needed size, by sensitive attribute."""
    names = (domain.attribute for domain in raw.sensitive)
    return {name: (rows + 1).tolist() for name, rows in zip(names, _too_frequent(raw, goal)) if len(rows)}


def _too_frequent(raw: Comparison, goal: Goal) -> list[Offsets]:
    """Of each sensitive attribute; none where they would be more than half of the table."""
    alike = class_sizes(raw.original)
    found = [records_to_leave_out(codes, alike, goal.needed) for codes in raw.original_sensitive.T]
    return [rows if 2 * len(rows) <= len(alike) else rows[:0] for rows in found]


def _tell_groups(raw: Comparison, goal: Goal) -> Iterator[str]:
    """Groups of the needed size are out of reach: which records stand in the way."""
    records, needed = len(raw.original), goal.needed
    yield f"It needs groups of {needed} records in which no sensitive value is more frequent than 1/{needed}."
    if records < needed:
        yield f"The table has fewer records, {records}. What would: a larger risk."
        return
    for domain, codes, rows in zip(raw.sensitive, raw.original_sensitive.T, _too_frequent(raw, goal)):
        commonest = int(np.bincount(codes).max())
        if len(rows):
            named = ", ".join(f"{row + 1}" for row in rows[:MOST_NAMED].tolist())
            more = f" and {len(rows) - MOST_NAMED} more; --json names all" if len(rows) > MOST_NAMED else ""
            yield (
                f"What would: leaving out {len(rows)} of the {records} records, whose values of {domain.attribute} "
                "are too frequent, the rarest by their quasi-identifiers first, or finer values in place of these: "
                f"rows {named}{more}."
            )
        elif commonest * needed > records:
            yield (
                f"What would: finer values of {domain.attribute}, or another role for it. It has "
                f"{len(np.unique(codes))} values, the commonest in {commonest} of {records} records, and coarser "
                "ones would be more frequent still."
            )
    yield "Or principle anonymity, which bounds the link to a row and says nothing of sensitive values."


def records_to_leave_out(codes: NDArray[np.int32], alike: Offsets, needed: int) -> Offsets:
    """The fewest records without which no value stands in more than 1/needed of the table, the rarest first.

    `alike` counts the records that share all quasi-identifiers with each. Each round takes as many as the cap
    demands of the records still there, so that the first cap that holds is the largest.

    >>> records_to_leave_out(np.array([0, 0, 0, 0, 1, 2], dtype=np.int32), np.array([1, 2, 2, 1, 1, 1]), 2).tolist()
    [0, 3]
    """
    counts = np.bincount(codes)
    left, spare = len(codes), np.zeros_like(counts)
    while left and (counts - spare).max() * needed > left:
        spare = np.maximum(counts - left // needed, 0)
        left = len(codes) - int(spare.sum())
    order = np.lexsort((alike, codes))
    rank = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[rank < spare[codes[order]]])
