"""What a curator asks for: at most a risk, by one adversary, at the least loss of what is to be kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from muco.errors import PolicyError
from muco.policy import Policy
from muco.tune.frontier import Standing

_ABOVE = 2.13  # standard errors beyond the mean of five keys that are promised: one-sided 95 % by Student's t
_LAST_BIT = 1e-12  # 1/max_risk of a max_risk that is 1/l but for its last bit is l


class Adversary(StrEnum):
    """Whose risk is bounded: A1 (proven where it can be), A3, or an exact match on everything."""

    INFORMED = "informed"
    NEAREST = "nearest"
    EXACT = "exact"


class Keep(StrEnum):
    """What is lost least."""

    QUERY = "query error"
    ASSOCIATIONS = "associations"
    LOSS = "loss"


_FIGURE = {Keep.QUERY: "query", Keep.ASSOCIATIONS: "association", Keep.LOSS: "loss"}


@dataclass(frozen=True, slots=True)
class Goal:
    """At most `max_risk` by one adversary, at the least loss of what is to be kept.

    `keep` is one of Keep, or names of quasi-identifiers whose information loss counts.
    """

    max_risk: float
    adversary: Adversary = Adversary.INFORMED
    keep: Keep | tuple[str, ...] = Keep.QUERY

    def __post_init__(self) -> None:
        if not 0 < self.max_risk <= 1:
            raise PolicyError(f"max_risk is {self.max_risk:g} but a risk is above 0 and at most 1, such as 0.09")

    @property
    def is_informed(self) -> bool:
        """Whether the adversary is the one against whom something can be proven."""
        return self.adversary is Adversary.INFORMED

    @property
    def needed(self) -> int:
        """The smallest group whose 1/m is within the risk: of two at least, for one record covers nobody.

        >>> Goal(0.09).needed, Goal(1 / 49).needed
        (12, 49)
        """
        return max(2, math.ceil(1 / self.max_risk - _LAST_BIT / self.max_risk))

    @property
    def kept(self) -> str:
        """What is to be kept, in words."""
        return self.keep.value if isinstance(self.keep, Keep) else f"information loss of {', '.join(self.keep)}"

    def check(self, policy: Policy) -> None:
        """Raise PolicyError unless what is to be kept are quasi-identifiers of the policy, or a word of Keep."""
        if isinstance(self.keep, Keep):
            return
        strays = [name for name in self.keep if name not in policy.quasi]
        if strays or not self.keep:
            raise PolicyError(
                f"{', '.join(strays) or 'nothing'} is no quasi-identifier to keep: name some of "
                f"{', '.join(policy.quasi)}, or one of {', '.join(Keep)}"
            )

    def risk(self, standing: Standing) -> float:
        """The risk of a setting: what is proven, else what was measured and what its keys leave open.

        Of the informed adversary that is the posterior which 99 of 100 records do not exceed: a mean would let some
        be found for certain.
        """
        proven = standing.mean("proven") if self.is_informed else None
        if proven is not None:
            return proven
        figure = "informed_99" if self.is_informed else self.adversary.value
        mean = standing.mean(figure)
        return math.inf if mean is None else mean + _ABOVE * standing.spread(figure)

    def is_kept_by(self, standing: Standing) -> bool:
        """Whether a setting has run and its risk is within the bound, but for the last bit of a mean."""
        return bool(standing.scores) and self.risk(standing) <= self.max_risk + _LAST_BIT

    def worth(self, standing: Standing) -> float:
        """What is to be small."""
        if isinstance(self.keep, Keep):
            mean = standing.mean(_FIGURE[self.keep])
            return math.inf if mean is None else mean
        losses = [score.losses or {} for score in standing.scores]
        return float(np.mean([sum(loss.get(name, math.inf) for name in self.keep) for loss in losses]))
