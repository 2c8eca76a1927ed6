"""One way to publish a table: a method and its policy, or the release of another tool."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from muco.errors import PolicyError
from muco.personal import PERSONAL
from muco.policy import Policy
from muco.presets import TIGHT
from muco.switches import Grouping, Method, Role, Sweep

DELTAS = (5, 6, 8, 10)  # the paper's, as 1/δ
_SWITCHES_OF_NO_EFFECT = {"max_risk", "accept_risk", "tried"}
ROUNDS = 4  # of exchanges: more gain little


@dataclass(frozen=True, slots=True)
class Setting:
    """A name, a method and a policy; `release` is what another tool made, in place of a run."""

    name: str
    policy: Policy
    method: Method = Method.MUCO
    release: Any = None

    def __repr__(self) -> str:
        return f"Setting({self.name})"

    @property
    def switches(self) -> str:
        """The policy but for what changes no release: equal for settings that do the same."""
        return self.policy.model_dump_json(exclude=_SWITCHES_OF_NO_EFFECT)

    @property
    def is_random(self) -> bool:
        """Whether another key gives another release."""
        return self.method is Method.MUCO and self.release is None


def switched(policy: Policy, **switches: Any) -> Policy:
    """The same roles and principle with other switches; what belongs to the old ones alone is left to the preset.

    Raises PolicyError or InfeasibleError for switches that make no sense together.
    """
    names = ("diversity", "principle", "c", "t", "missing", "table", "rules", "attributes", *PERSONAL)
    kept = {name: getattr(policy, name) for name in names}
    words = {name: value for name, value in kept.items() if value is not None}
    return Policy.parse({**words, **switches})


def usual_settings(policy: Policy) -> Iterator[Setting]:
    """What `compare` looks at: the paper at several δ, the provable settings, and both baselines."""
    for strength in DELTAS:
        if strength <= policy.diversity:
            yield Setting(f"paper 1/{strength}", switched(policy, delta=Fraction(1, strength)))
    yield Setting("provable", switched(policy))
    if has_groupings(policy):
        leaf, table = {"exchanges": ROUNDS}, {"exchanges": ROUNDS, "sweep": Sweep.TABLE}
        yield Setting("provable + exchanges", switched(policy, **leaf))
        yield Setting("provable + seeds + exchanges", switched(policy, **leaf, grouping=Grouping.SEEDS))
        yield Setting("provable + table + exchanges", switched(policy, **table))
        if policy.asks is None:  # its groups are of one size, whatever records ask for
            yield Setting("provable, sampled", switched(policy, grouping=Grouping.SAMPLED))
    yield Setting("Mondrian", switched(policy), Method.MONDRIAN)
    if len(policy.sensitive) == 1 and policy.household is None:
        yield Setting("Anatomy", switched(policy), Method.ANATOMY)


def check_settings(settings: list[Setting]) -> list[Setting]:
    """The settings, if no two share a name and all have the same roles; PolicyError otherwise."""
    for setting in settings:
        for role in (Role.QUASI, Role.SENSITIVE):
            mine, first = set(setting.policy.named(role)), set(settings[0].policy.named(role))
            if mine != first:
                raise PolicyError(
                    f"setting {setting.name} differs from the others in what is {role}: "
                    f"{', '.join(sorted(mine ^ first))}. Settings are compared on the same attributes"
                )
    names, counts = np.unique([setting.name for setting in settings], return_counts=True)
    if (counts > 1).any():
        raise PolicyError(f"two settings are called {names[counts > 1][0]}: give each its own name")
    return settings


def has_groupings(policy: Policy) -> bool:
    """Whether leaves may be grouped further: other principles and households keep the partition's own leaves."""
    return policy.household is None and switched(policy, delta=TIGHT).grouping is not Grouping.LEAVES
