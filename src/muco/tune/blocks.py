"""Blocks proposed from the original: for those who ask for them without naming them, and for `tune` to try."""

from __future__ import annotations

from typing import Any

from muco.assess.comparison import Comparison
from muco.assess.distribution import measure_distributions
from muco.policy import Policy

STRONG = 0.3  # an association from which two attributes are proposed to be drawn together
WIDEST_BLOCK = 3  # a block of everything publishes exact combinations, as Anatomy does


def propose_blocks(comparison: Comparison) -> tuple[tuple[str, ...], ...]:
    """Quasi-identifiers that are tied most strongly in the original, to be drawn together.

    Pairs join by falling association while it is at least .3 and no block outgrows three attributes.
    """
    names = [domain.attribute for domain in comparison.quasi]
    block_of: dict[str, tuple[str, ...]] = {name: (name,) for name in names}
    pairs = measure_distributions(comparison.raw()).pairs
    for pair in sorted(pairs, key=lambda pair: -abs(pair.original)):
        if pair.first not in block_of or pair.second not in block_of or abs(pair.original) < STRONG:
            continue
        one, other = block_of[pair.first], block_of[pair.second]
        if one != other and len(one) + len(other) <= WIDEST_BLOCK:
            joined = (*one, *other)
            block_of.update(dict.fromkeys(joined, joined))
    found = dict.fromkeys(block for block in block_of.values() if 1 < len(block) < len(names))
    return tuple(tuple(sorted(block, key=names.index)) for block in found)


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
