"""Rows that break an edit rule, of an original and of any release of it."""

from __future__ import annotations

from muco.assess.comparison import Comparison
from muco.rule_codes import RuleCount, code_rules, count_broken


def count_rules(comparison: Comparison) -> tuple[RuleCount, ...]:
    """How many rows break each rule of the policy; none are counted in a release of ranges.

    Raises PolicyError or TableError for a rule that the tables cannot be held against.
    """
    if comparison.is_generalized:
        return ()
    rules = code_rules(comparison.policy, comparison.quasi)
    counts = zip(count_broken(rules, comparison.original).tolist(), count_broken(rules, comparison.low).tolist())
    return tuple(RuleCount(rule.name, *each) for rule, each in zip(rules, counts))
