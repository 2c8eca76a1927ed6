"""The settings that `tune` may choose from: ways for each part of a setting, and what lies near a choice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from muco.errors import InfeasibleError, PolicyError
from muco.policy import Policy
from muco.tune.setting import Setting, has_groupings, switched

LEVELS = (10, 50)  # diversities to begin with where no proof says which is needed; halved from there
STRENGTHS = (2, 4, 6, 8, 10, 15, 20)  # 1/δ

# A way is a name and switches; the first is the likeliest to win. A new engine option is a line in one of these.
Way = tuple[str, Mapping[str, Any]]
GROUPS: tuple[Way, ...] = (
    ("table +4", {"grouping": "neighbours", "sweep": "table", "exchanges": 4}),
    ("table +8", {"grouping": "neighbours", "sweep": "table", "exchanges": 8}),
    ("seeds +4", {"grouping": "seeds", "exchanges": 4}),
    ("neighbours +4", {"grouping": "neighbours", "exchanges": 4}),
    ("sampled", {"grouping": "sampled"}),
    ("seeds +2", {"grouping": "seeds", "exchanges": 2}),
    ("seeds +1", {"grouping": "seeds", "exchanges": 1}),
    ("seeds", {"grouping": "seeds"}),
    ("neighbours", {"grouping": "neighbours"}),
    ("table", {"grouping": "neighbours", "sweep": "table"}),
    ("buckets", {"grouping": "buckets"}),
)
LEAVES: tuple[Way, ...] = (("leaves", {"grouping": "leaves"}),)
WHOLE: tuple[Way, ...] = (("neighbours", {"grouping": "neighbours"}), *LEAVES)  # these keep households whole
PROVABLE: Way = ("", {})
DRAWS: tuple[Way, ...] = (
    ("balanced", {"cover": "balanced", "draw": "controlled", "columns": "observed", "repair": 0}),
    ("cheapest", {"cover": "cheapest", "draw": "independent", "columns": "observed", "repair": 0}),
    ("repaired", {"cover": "cheapest", "draw": "independent", "columns": "observed", "repair": 1}),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """One way for each part."""

    level: int
    groups: int = 0
    blocks: int = 0
    draw: int = 0


@dataclass(frozen=True, slots=True)
class Space:
    """All choices on one table; `levels` are those to begin with."""

    policy: Policy
    levels: tuple[int, ...]
    reach: int
    groups: tuple[Way, ...]
    blocks: tuple[Way, ...]
    draws: tuple[Way, ...]

    def __repr__(self) -> str:
        return f"Space({len(self.levels)} levels, {len(self.groups)} groupings, {len(self.draws)} draws)"

    @staticmethod
    def of(policy: Policy, levels: tuple[int, ...], reach: int, blocks: tuple[tuple[str, ...], ...]) -> Space:
        """The space of a policy's roles and principle, of a table that bears diversity `reach`."""
        strengths = (
            (f"delta 1/{strength} {name}", {"delta": Fraction(1, strength), **switches})
            for strength, (name, switches) in itertools.product(STRENGTHS, DRAWS)
        )
        # What is measured without a proof is measured for rows, and a household has several.
        is_whole = policy.household is not None
        groups = WHOLE if is_whole else GROUPS if has_groupings(policy) else LEAVES
        together = (("", {}), ("blocks", {"blocks": blocks})) if blocks else (("", {}),)
        draws = (PROVABLE,) if is_whole else (PROVABLE, *strengths)
        return Space(policy, levels, reach, groups, together, draws)

    def setting(self, choice: Choice) -> Setting | None:
        """The setting of a choice; None for parts that do not go together."""
        parts = self.groups[choice.groups], self.blocks[choice.blocks], self.draws[choice.draw]
        words = {name: value for _, switches in parts for name, value in switches.items()}
        name = " ".join(filter(None, (f"l={choice.level}", *(name for name, _ in parts))))
        try:
            return Setting(name, switched(self.policy, diversity=choice.level, **words))
        except (PolicyError, InfeasibleError):
            return None

    def near(self, choice: Choice, others: set[int]) -> Iterator[Choice]:
        """Choices that differ in one part; of diversity, those halfway to the next levels that were tried."""
        below = max((level for level in others if level < choice.level), default=2)
        above = min((level for level in others if level > choice.level), default=2 * choice.level)
        for level in ((below + choice.level) // 2, (above + choice.level + 1) // 2):
            if 2 <= level <= self.reach:
                yield replace(choice, level=level)
        yield from (replace(choice, groups=place) for place in range(len(self.groups)))
        yield from (replace(choice, blocks=place) for place in range(len(self.blocks)))
        yield from (replace(choice, draw=place) for place in range(len(self.draws)))
