"""What is asked of a method: a table, a policy, and who watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from warnings import warn

from muco.errors import MucoWarning, PolicyError
from muco.frame import Frame
from muco.policy import Policy

_SHOWN = 20  # names of a warning
# Called with a stage (encode, divide, cover, release), the records done and all records; it may raise to stop.
Watch = Callable[[str, int, int], None]


def choose_policy(frame: Any, policy: Policy | None, switches: dict[str, Any]) -> tuple[Frame, Policy]:
    """The table and its policy, with a warning to the caller's caller for columns without a role."""
    if policy is not None and switches:
        raise PolicyError(f"give a policy or its parts, not both: {', '.join(switches)} beside a policy")
    table, chosen = Frame.of(frame), policy or Policy.of(**switches)
    if unnamed := [name for name in table.names if name not in chosen.attributes]:
        more = f" and {len(unnamed) - _SHOWN:,} more" if len(unnamed) > _SHOWN else ""
        words = f"columns without a role are released untouched: {', '.join(unnamed[:_SHOWN])}{more}"
        warn(f"{words}. Give them role other to silence this", MucoWarning, stacklevel=3)
    return table, chosen


def ignore(*_: object) -> None:
    """Nobody watches, or nothing is kept."""
