"""Blocks that a curator asks for without naming them: proposed from the original, written out into the policy."""

from __future__ import annotations

from typing import Any

from muco.assess.comparison import Comparison
from muco.policy import Policy
from muco.tune.setting import STRONG, propose_blocks


def with_proposed_blocks(original: Any, policy: Policy) -> Policy:
    """The policy with the blocks that the associations of the original propose, and none where they are weak.

    Raises PolicyError where its other switches allow no blocks, TableError for a table that does not fit it.
    """
    comparison = Comparison.of_raw(original, policy)
    words = {name: getattr(policy, name) for name in Policy.model_fields}
    return Policy.parse({**words, "blocks": propose_blocks(comparison)})


def describe_blocks(policy: Policy) -> str:
    """The blocks in a sentence."""
    if not policy.blocks:
        return f"no blocks are proposed: no two quasi-identifiers are associated by {STRONG:g} or more"
    together = "; ".join(", ".join(block) for block in policy.blocks)
    return f"drawn together, as their association in the original proposes: {together}"
