"""Blocks of a policy: quasi-identifiers that are drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from muco.switches import Draw

if TYPE_CHECKING:
    from muco.policy import Policy


def check_blocks(blocks: Sequence[Sequence[str]], quasi: Sequence[str]) -> None:
    """Raise ValueError unless the blocks part the quasi-identifiers."""
    named = [name for block in blocks for name in block]
    if strays := [name for name in named if name not in quasi]:
        raise ValueError(f"blocks name {', '.join(strays)}, which is no quasi-identifier: take it out")
    if len(set(named)) < len(named):
        raise ValueError("blocks name a quasi-identifier twice: each may stand in one block")


def is_one_block(policy: Policy) -> bool:
    """Whether whole records are permuted: the end of the scale at which mutual cover is Anatomy."""
    return policy.draw is Draw.CONTROLLED and any(1 < len(block) == len(policy.quasi) for block in policy.blocks)
