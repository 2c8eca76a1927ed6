"""Risk asked for -> the policy that keeps most: `tune`. What is promised comes from keys that chose nothing."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from muco.assess.comparison import Comparison
from muco.assess.shown import Shown, show_frame
from muco.feasibility import largest_diversity
from muco.policy import Policy
from muco.tune.advice import UNFINISHED, name_rows, tell_choice, tell_refusal
from muco.tune.blocks import propose_blocks
from muco.tune.frontier import Frontier, Standing, Watch
from muco.tune.goal import Goal
from muco.tune.score import Yardstick
from muco.tune.setting import Setting, switched
from muco.tune.space import LEVELS, Choice, Space
from muco.tune.trials import Trials

if TYPE_CHECKING:
    import polars as pl

# Every choice meets key 0; the best few meet two more, which say whose turn it is to meet five that chose nothing,
# or three where the risk is proven and the keys tell only the loss.
FIRST, SECOND, HELD_OUT, PROVEN = range(1), range(3), range(3, 8), range(3, 6)
FINALISTS = 6
_SEARCHING, _AGAIN, _CHOOSING = 0.6, 0.7, 0.9  # shares of the budget after which nothing more is begun
_HELD_OUT = ", held-out keys"


@dataclass(frozen=True, slots=True)
class Tuned(Shown):
    """The policy that was found, or None; why, in words; and everything that was looked at.

    `leave_out` names, where the informed risk is out of reach, the rows (from 1) whose sensitive values are too
    frequent.
    """

    policy: Policy | None
    chosen: Standing | None
    words: tuple[str, ...]
    frontier: Frontier
    leave_out: Mapping[str, list[int]] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """A row a setting that was looked at, as `Frontier` has them."""
        return self.frontier.to_frame()

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(words)}</p>" for words in self.words) + show_frame(self.to_frame())

    @property
    def finalists(self) -> Frontier:
        """The settings that met keys which chose nothing; where none came so far, all that were tried."""
        held = tuple(each for each in self.frontier.standings if each.setting.name.endswith(_HELD_OUT))
        return replace(self.frontier, standings=held or self.frontier.standings)

    def to_toml(self) -> str:
        """The policy as a file, with the words above it as comments. Raises ValueError where none was found."""
        if self.policy is None:
            raise ValueError("no policy was found")
        lines = (line for words in self.words for line in textwrap.wrap(words, 100, break_long_words=False))
        return "".join(f"# {line}\n" for line in lines) + "\n" + self.policy.to_toml()


def tune(original: Any, policy: Policy, goal: Goal, *, budget: float = 300.0, watch: Watch | None = None) -> Tuned:
    """Search δ, diversity, grouping, exchanges, cover, draw, repair and blocks, for about `budget` seconds.

    Every choice is run under one trial key; the best few then meet more, and the best of these five keys that had
    no part in choosing: the figures told are of those alone. The policy that comes back gates its own run where the
    risk is the informed one, and tells how many runs were looked at. Raises PolicyError for a goal that makes no
    sense, TableError for a table that does not fit.
    """
    base = switched(policy)
    goal.check(base)
    search = _Search.of(original, base, goal, time.monotonic(), budget, watch)
    tried = search.explore()
    held = search.hold_out(tried)
    chosen = next((standing for standing in held if goal.is_kept_by(standing)), None)
    unseen = () if chosen is not None else search.try_less()
    runs = search.trials.runs
    everything = (*tried.values(), *(replace(s, setting=_renamed(s.setting)) for s in held))
    frontier = Frontier(everything, runs, tuple(search.trials.yardstick.sampled()))
    if chosen is None:
        why = [*tell_refusal(search.raw, goal, held or list(tried.values()), unseen)]
        why += [] if search.is_whole(tried) else [UNFINISHED]
        rows = name_rows(search.raw, goal) if goal.is_informed else {}
        return Tuned(None, None, tuple(why), frontier, rows)
    update = {"tried": policy.tried + runs, **({"max_risk": goal.max_risk} if goal.is_informed else {})}
    words = tell_choice(chosen, goal, runs, given=base.diversity, is_whole=search.is_whole(tried))
    return Tuned(chosen.setting.policy.model_copy(update=update), chosen, tuple(words), frontier)


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: what it may choose from, what it wants, and until when."""

    raw: Comparison
    space: Space
    goal: Goal
    trials: Trials
    started: float
    budget: float
    watch: Watch | None

    @staticmethod
    def of(original: Any, base: Policy, goal: Goal, started: float, budget: float, watch: Watch | None) -> _Search:
        raw = Comparison.of_raw(original, base)
        reach = _reach(base, raw)
        needed = (goal.needed,) if goal.needed <= reach else ()
        levels = needed if goal.is_informed else tuple(dict.fromkeys(min(level, reach) for level in LEVELS))
        space = Space.of(base, levels, reach, propose_blocks(raw))
        return _Search(raw, space, goal, Trials(Yardstick.of(original, base)), started, budget, watch)

    def explore(self) -> dict[Choice, Standing]:
        """Try the first choice of each level, then what lies near the best so far, until nothing near is new."""
        tried: dict[Choice, Standing] = {}
        waiting = [Choice(level) for level in self.space.levels]
        while waiting and (not tried or self._is_early(_SEARCHING)):
            batch, waiting = waiting[: self.trials.workers], waiting[self.trials.workers :]
            tried |= self._stand(batch, len(tried) + len(waiting))
            waiting = waiting or self._next(tried)
        return tried

    def is_whole(self, tried: dict[Choice, Standing]) -> bool:
        """Whether nothing near the best is left to try."""
        return not self._next(tried)

    def hold_out(self, tried: dict[Choice, Standing]) -> list[Standing]:
        """The likeliest few under keys that chose nothing, one after the other until one keeps the risk."""
        good = sorted((s for s in tried.values() if self.goal.is_kept_by(s)), key=self.goal.worth)[:FINALISTS]
        again = self._make([s.setting for s in good], SECOND) if self._is_early(_AGAIN) else good
        held: list[Standing] = []
        for standing in sorted(again, key=lambda s: (not self.goal.is_kept_by(s), self.goal.worth(s))):
            if held and not self._is_early(_CHOOSING):
                break
            is_proven = self.goal.is_informed and standing.mean("proven") is not None
            held += self._make([standing.setting], PROVEN if is_proven else HELD_OUT)
            if self.goal.is_kept_by(held[-1]):
                break
        return held

    def try_less(self) -> tuple[Standing, ...]:
        """The strongest setting with each quasi-identifier taken out in turn, so that advice is tried advice."""
        if self.goal.is_informed or len(self.space.policy.quasi) < 2 or not self.space.levels:
            return ()
        policy = switched(self.space.policy, diversity=self.space.levels[-1])
        settings = [Setting(name, _without(policy, name)) for name in policy.quasi]
        found: list[Standing] = []
        for setting in settings:
            if found and not self._is_early(_CHOOSING):
                break
            yardstick = Yardstick.of(self.trials.yardstick.original, setting.policy)
            found.append(Standing(setting, *Trials(yardstick).make([setting], FIRST)[0]))
        return tuple(found)

    def _next(self, tried: dict[Choice, Standing]) -> list[Choice]:
        """What was not tried near the best that keeps the risk, or near the least risk where none does."""
        ran = [(choice, standing) for choice, standing in tried.items() if standing.scores]
        if not ran:
            return []
        kept = [each for each in ran if self.goal.is_kept_by(each[1])]
        best = min(kept, key=lambda each: self.goal.worth(each[1])) if kept else min(ran, key=self._risk)
        near = self.space.near(best[0], {choice.level for choice in tried})
        return [each for each in dict.fromkeys(near) if each not in tried and self.space.setting(each)]

    def _risk(self, each: tuple[Choice, Standing]) -> float:
        return self.goal.risk(each[1])

    def _stand(self, choices: list[Choice], others: int) -> dict[Choice, Standing]:
        settings = {choice: setting for choice in choices if (setting := self.space.setting(choice))}
        return dict(zip(settings, self._make(list(settings.values()), FIRST, others=others)))

    def _make(self, settings: list[Setting], runs: range, *, others: int = 0) -> list[Standing]:
        def told(name: str) -> None:
            if self.watch is not None:
                self.watch(name, self.trials.runs, self.trials.runs + others)

        found = self.trials.make(settings, runs, told=told)
        return [Standing(setting, *each) for setting, each in zip(settings, found)]

    def _is_early(self, share: float) -> bool:
        return time.monotonic() - self.started < share * self.budget


def _reach(policy: Policy, raw: Comparison) -> int:
    """The largest diversity that the table can bear."""
    columns = zip(raw.sensitive, raw.original_sensitive.T)
    bounds = [largest_diversity(policy, domain, np.ascontiguousarray(codes)) for domain, codes in columns]
    return min(bounds, default=len(raw.original))


def _without(policy: Policy, name: str) -> Policy:
    kept = {each: attribute for each, attribute in policy.attributes.items() if each != name}
    rules = tuple(rule for rule in policy.rules if name not in rule.forbid)
    return policy.model_copy(update={"attributes": kept, "rules": rules})


def _renamed(setting: Setting) -> Setting:
    return replace(setting, name=setting.name + _HELD_OUT)
