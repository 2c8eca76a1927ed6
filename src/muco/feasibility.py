"""Whether a table can keep the promise asked for, before any work; and the nearest one that it can keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from muco._core import Principle
from muco.arrays import Codes
from muco.domain import Domain
from muco.errors import InfeasibleError
from muco.policy import Policy
from muco.switches import Principle as Form


def principle_of(policy: Policy, diversity: int | None = None) -> Principle:
    """What every group must keep; at another diversity than the policy's if one is given."""
    level = policy.diversity if diversity is None else diversity
    return Principle(policy.principle, level, c=policy.c or 3.0, t=policy.t or 0.0)


def find_obstacles(
    policy: Policy, sensitive: Sequence[tuple[Domain, Codes]], records: int
) -> Iterator[InfeasibleError]:
    """Each reason why not even the whole table keeps the principle, with what it could keep."""
    if records < policy.diversity:
        yield InfeasibleError(
            f"diversity is {policy.diversity} but the table has {records} records: no group can have so many. "
            f"Lower diversity to at most {records}"
        )
        return
    for domain, codes in sensitive:
        if not _holds(policy, domain, codes, policy.diversity):
            yield InfeasibleError(_out_of_reach(policy, domain, codes))


def largest_diversity(policy: Policy, domain: Domain, codes: Codes) -> int:
    """The largest l at which the whole table keeps the policy's principle in one sensitive attribute."""
    low, high = 1, len(codes)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _holds(policy, domain, codes, middle) else (low, middle - 1)
    return low


def _holds(policy: Policy, domain: Domain, codes: Codes, diversity: int) -> bool:
    column = np.ascontiguousarray(codes.reshape(-1, 1))
    return principle_of(policy, diversity).holds(column, [len(domain.cells)], [domain.is_ordered])


def _out_of_reach(policy: Policy, domain: Domain, codes: Codes) -> str:
    counts = np.bincount(codes)
    values, records, commonest = len(counts), counts.sum(), counts.max()
    reach = largest_diversity(policy, domain, codes)
    other = "take principle closeness, or anonymity, which looks at no sensitive value"
    advice = other.capitalize() if reach == 1 else f"Lower diversity to {reach}, or {other}"
    if policy.principle is Form.CLOSENESS:
        advice = "Raise t, or take principle anonymity, which looks at no sensitive value"
    return (
        f"diversity {policy.diversity} with principle {policy.principle} is out of reach: attribute "
        f"{domain.attribute} has {values} value{'s' * (values > 1)}, and the commonest stands in {commonest} of "
        f"{records} records, so that {reach} is the most that the table bears. {advice}"
    )
