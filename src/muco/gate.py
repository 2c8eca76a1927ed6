"""The gate: no run releases a table whose informed risk is above what its policy allows, but for a named reason."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muco._core import Tables, conclude
from muco.errors import ReleaseError
from muco.policy import Policy
from muco.release import Outcome

# It chooses groups and orders the Markov chains of large ones, and hides nothing: a figure must come out again.
PUBLIC = hashlib.sha256(b"muco assess").digest()
_PROVEN = "one over the smallest group: proven, the groups taken as given"
_MEASURED = "mean posterior of a person's own row, for one who knows groups and tables: measured, no bound"
_SHARED = "the largest share of a group that one household has: proven, the groups taken as given"
_OF_ROWS = "it is measured for rows, and not for households"
MOST_RECORDS = 200_000  # beyond, a keyed sample of groups of about so many records


@dataclass(frozen=True, slots=True)
class Passage:
    """What the gate found, as the certificate says it; `accepted` is the curator's reason for passing above it."""

    max_risk: float
    risk: float | None
    how: str
    accepted: str | None

    def to_words(self) -> dict[str, float | str | None]:
        """For the certificate."""
        risk = None if self.risk is None else round(self.risk, 4)
        return {
            "max_risk": self.max_risk,
            "informed_risk": risk,
            "how": self.how,
            "accepted_because": self.accepted,
        }


def check_gate(outcome: Outcome, tables: Sequence[Tables]) -> Passage | None:
    """Let a run pass whose informed risk is at most the policy's `max_risk`; None where it sets none.

    The risk is 1/m of the smallest group where that is proven, else A1 as measured on this very run. Raises
    ReleaseError above it, unless `accept_risk` names a reason: nothing is written then.
    """
    policy = outcome.groups.microdata.policy
    if policy.max_risk is None:
        return None
    return pass_gate(policy, *_informed_risk(outcome, tables))


def pass_gate(policy: Policy, risk: float | None, how: str, *, remedy: str = "") -> Passage | None:
    """The same for a risk that is known, None where it is not, how it was found, and what would lower it."""
    if policy.max_risk is None:
        return None
    if risk is not None and risk <= policy.max_risk:
        return Passage(policy.max_risk, risk, how, None)
    if policy.accept_risk is None:
        raise ReleaseError(_refusal(policy, risk, how, remedy))
    return Passage(policy.max_risk, risk, how, policy.accept_risk)


def _informed_risk(outcome: Outcome, tables: Sequence[Tables]) -> tuple[float | None, str]:
    groups = outcome.groups
    policy = groups.microdata.policy
    if policy.is_provable:
        return float(groups.largest_share), tell_share(policy)
    if policy.household is not None:
        return None, _OF_ROWS
    share = min(1.0, MOST_RECORDS / len(outcome.released))
    own = []
    for batch, made in zip(groups.batches(), tables, strict=True):
        here = slice(int(groups.starts[batch.first]), int(groups.starts[batch.last]))
        records = here.stop - here.start
        seen = [(made, outcome.released[here], policy.repair, policy.block_places)]
        nothing = np.zeros((records, 0), dtype=np.int32), np.zeros(records, dtype=bool)
        found, _, _ = conclude(
            seen, *nothing, PUBLIC, first_group=batch.first, world="release", corrupted=0, share=share
        )
        own.append(found[0])
    return float(np.nanmean(np.concatenate(own))), _MEASURED


def tell_share(policy: Policy) -> str:
    """What the largest share of a group is, in words."""
    return _PROVEN if policy.household is None else _SHARED


def _refusal(policy: Policy, risk: float | None, how: str, remedy: str) -> str:
    bound, needed = policy.max_risk or 1.0, math.ceil(1 / (policy.max_risk or 1.0))
    found = "unknown" if risk is None else f"{risk:.4f}"
    remedy = remedy or (
        f"Raise diversity to {needed}"
        if policy.is_provable
        else f"Take preset provable with diversity {needed}, where it is at most 1/{needed}"
    )
    return (
        f"the informed risk is {found} ({how}) but max_risk is {bound:g}: nothing is released. {remedy}, or name "
        "your reason with accept_risk, which the certificate will show"
    )
