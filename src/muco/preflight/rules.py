"""Edit rules before a run: those that make no sense, and the records that break them as the table stands."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from muco.arrays import Codes
from muco.domain import Domain
from muco.errors import MucoError
from muco.policy import Policy
from muco.preflight.finding import Blame, Finding, Severity, rows_shown
from muco.rule_codes import code_rules


def find_broken_rules(policy: Policy, encoded: Mapping[str, tuple[Domain, Codes]]) -> list[Finding]:
    """What is to be said of the rules, once every quasi-identifier could be encoded."""
    if not policy.rules or set(encoded) != set(policy.quasi):
        return []
    domains, codes = zip(*(encoded[name] for name in policy.quasi))
    try:
        rules = code_rules(policy, domains)
    except MucoError as error:
        return Finding.of(error)
    rows = np.stack(codes, axis=1)
    found = []
    for rule in rules:
        broken = np.flatnonzero(rule.is_broken(rows))
        if len(broken):
            found.append(
                Finding(
                    Severity.WARNING,
                    Blame.TABLE,
                    f"{len(broken):,} record{'s' * (len(broken) > 1)} of the table break{'s' * (len(broken) == 1)} "
                    f"the rule {rule.name}",
                    "mend them: values stay in their group, so that a release may keep as many such rows",
                    count=len(broken),
                    rows=rows_shown(broken.tolist()),
                )
            )
    return found
