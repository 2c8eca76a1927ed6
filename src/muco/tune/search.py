"""Risk asked for -> the policy that keeps most: `tune`. What is promised comes from keys that chose nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from muco.assess.comparison import Comparison
from muco.assess.query import Queries
from muco.assess.shown import Shown, show_frame
from muco.errors import InfeasibleError, PolicyError
from muco.feasibility import largest_diversity
from muco.policy import Policy
from muco.tune.frontier import Frontier, Standing, Watch
from muco.tune.score import draw_queries, score_run
from muco.tune.setting import Setting, propose_blocks, settings_to_try, switched

if TYPE_CHECKING:
    import polars as pl

FINALISTS, HELD_OUT = 3, 3  # how many settings meet keys that did not choose them, and how many such keys
LEVELS = (3, 5, 8, 10, 15, 20, 30, 50)  # diversities tried where no proof says which is needed
_HELD_OUT = ", held-out keys"
_TWO = 1.96  # standard errors beyond the mean of held-out keys that are promised


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

    def risk(self, standing: Standing) -> float:
        """The risk of a setting: what is proven, else what was measured and what its keys leave open.

        Of the informed adversary that is the posterior which 99 of 100 records do not exceed: a mean would let some
        be found for certain.
        """
        is_informed = self.adversary is Adversary.INFORMED
        proven = standing.mean("proven") if is_informed else None
        if proven is not None:
            return proven
        figure = "informed_99" if is_informed else self.adversary.value
        mean = standing.mean(figure)
        return math.inf if mean is None else mean + _TWO * standing.spread(figure)

    def is_kept(self, standing: Standing) -> bool:
        """Whether a setting has run and its risk is within the bound, but for the last bit of a mean."""
        return bool(standing.scores) and self.risk(standing) <= self.max_risk + 1e-12

    def worth(self, standing: Standing) -> float:
        """What is to be small."""
        if isinstance(self.keep, Keep):
            mean = standing.mean(_FIGURE[self.keep])
            return math.inf if mean is None else mean
        losses = [score.losses or {} for score in standing.scores]
        return float(np.mean([sum(loss.get(name, math.inf) for name in self.keep) for loss in losses]))


@dataclass(frozen=True, slots=True)
class Tuned(Shown):
    """The policy that was found, or None; why, in words; and everything that was looked at."""

    policy: Policy | None
    chosen: Standing | None
    words: tuple[str, ...]
    frontier: Frontier

    def to_frame(self) -> pl.DataFrame:
        """A row a setting that was looked at, as `Frontier` has them."""
        return self.frontier.to_frame()

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(words)}</p>" for words in self.words) + show_frame(self.to_frame())

    @property
    def finalists(self) -> Frontier:
        """The settings that met keys which chose nothing; where none came so far, all that were tried."""
        held = tuple(each for each in self.frontier.standings if each.setting.name.endswith(_HELD_OUT))
        return Frontier(held or self.frontier.standings, self.frontier.runs)


def tune(original: Any, policy: Policy, goal: Goal, *, budget: float = 300.0, watch: Watch | None = None) -> Tuned:
    """Search δ, diversity, grouping, exchanges, cover, draw and blocks for the goal, for about `budget` seconds.

    Every candidate is run under one trial key; the best few then meet keys that had no part in choosing them, and
    the figures told are of those alone. The policy that comes back gates its own run and tells how many runs were
    looked at. Raises PolicyError for a goal that makes no sense, TableError for a table that does not fit.
    """
    started = time.monotonic()
    base = switched(policy)
    _check_goal(goal, base)
    raw = Comparison.of(original, original, base, record=np.arange(len(original)))
    queries = draw_queries(original, Setting("original", base))
    candidates = list(_candidates(base, goal, raw))
    standings: list[Standing] = []
    for number, setting in enumerate(candidates):
        if standings and time.monotonic() - started > budget * 0.7:
            break
        if watch is not None:
            watch(setting.name, number, len(candidates) + FINALISTS * HELD_OUT)
        standings.append(_stand(original, setting, queries, range(1)))
    good = [s for s in standings if goal.is_kept(s)]
    finalists = []
    for place, standing in enumerate(sorted(good, key=goal.worth)[:FINALISTS]):
        if watch is not None:
            watch(standing.setting.name + _HELD_OUT, len(candidates) + place * HELD_OUT, 0)
        finalists.append(_stand(original, standing.setting, queries, range(1, 1 + HELD_OUT)))
    held = [s for s in finalists if goal.is_kept(s)]
    runs = sum(len(s.scores) for s in (*standings, *finalists))
    frontier = Frontier((*standings, *(_as_held_out(s) for s in finalists)), runs)
    skipped = len(candidates) - len(standings)
    if not held:
        return Tuned(None, None, tuple(_why_not(raw, base, goal, standings)), frontier)
    best = min(held, key=goal.worth)
    chosen = best.setting.policy.model_copy(update={"tried": runs})
    if goal.adversary is Adversary.INFORMED:
        chosen = chosen.model_copy(update={"max_risk": goal.max_risk})
    return Tuned(chosen, best, tuple(_why(best, goal, runs, skipped)), frontier)


def _check_goal(goal: Goal, policy: Policy) -> None:
    if not isinstance(goal.keep, Keep):
        strays = [name for name in goal.keep if name not in policy.quasi]
        if strays or not goal.keep:
            raise PolicyError(
                f"{', '.join(strays) or 'nothing'} is no quasi-identifier to keep: name some of "
                f"{', '.join(policy.quasi)}, or one of {', '.join(Keep)}"
            )


def _candidates(policy: Policy, goal: Goal, raw: Comparison) -> Iterator[Setting]:
    """Settings the table can bear, the likeliest to win first."""
    reach = _reach(policy, raw)
    needed = math.ceil(1 / goal.max_risk)
    if goal.adversary is Adversary.INFORMED:
        levels = [needed, math.ceil(needed * 1.25), needed * 2]
    else:
        levels = [level for level in LEVELS if level <= reach]
    blocks = propose_blocks(raw)
    for place, level in enumerate(dict.fromkeys(level for level in levels if level <= reach)):
        at_level = switched(policy, diversity=level)
        is_proof_enough = goal.adversary is Adversary.INFORMED and place > 0
        yield from settings_to_try(at_level, blocks, provable=is_proof_enough)


def _reach(policy: Policy, raw: Comparison) -> int:
    """The largest diversity that the table can bear."""
    columns = zip(raw.sensitive, raw.original_sensitive.T)
    bounds = [largest_diversity(policy, domain, np.ascontiguousarray(codes)) for domain, codes in columns]
    return min(bounds, default=len(raw.original))


def _stand(original: Any, setting: Setting, queries: Queries, runs: range) -> Standing:
    try:
        return Standing(setting, tuple(score_run(original, setting, queries, run=run) for run in runs))
    except InfeasibleError as error:
        return Standing(setting, (), str(error))


def _as_held_out(standing: Standing) -> Standing:
    return replace(standing, setting=replace(standing.setting, name=standing.setting.name + _HELD_OUT))


def _why(best: Standing, goal: Goal, runs: int, skipped: int) -> Iterator[str]:
    proven = best.mean("proven") if goal.adversary is Adversary.INFORMED else None
    name, asked = best.setting.name, f"{goal.max_risk:g} was asked for"
    if proven is not None:
        yield (
            f"{name}: whoever knows the groups, the tables and every quasi-identifier links a row with probability "
            f"at most {proven:.4f}, the groups taken as given; {asked}."
        )
    else:
        yield (
            f"{name}: the {goal.adversary} adversary links a record with {goal.risk(best):.4f} at most"
            f"{' for 99 of 100 records' * (goal.adversary is Adversary.INFORMED)}, by {len(best.scores)} keys that "
            f"chose nothing; {asked}. This is measured on this table, and no proof."
        )
    kept = goal.keep.value if isinstance(goal.keep, Keep) else f"information loss of {', '.join(goal.keep)}"
    yield f"Of all that keep it, this has the smallest {kept}: {goal.worth(best):.4g}."
    yield f"{runs} runs on this table were looked at; the policy says so, and the certificate will."
    if skipped:
        yield f"{skipped} settings were not tried within the time: a larger --budget tries them."


def _why_not(raw: Comparison, policy: Policy, goal: Goal, standings: Sequence[Standing]) -> Iterator[str]:
    reached = [goal.risk(standing) for standing in standings if standing.scores]
    nearest = f"; the least that was reached is {min(reached):.4f}" if reached else ""
    yield f"No setting keeps the {goal.adversary} risk at {goal.max_risk:g}{nearest}."
    needed, reach = math.ceil(1 / goal.max_risk), _reach(policy, raw)
    records = len(raw.original)
    if goal.adversary is Adversary.INFORMED and reach < needed:
        yield f"It needs groups of {needed} records, and the table bears diversity {reach} at most."
        for domain, codes in zip(raw.sensitive, raw.original_sensitive.T):
            commonest = int(np.bincount(codes).max())
            spare = math.ceil((commonest * needed - records) / (needed - 1)) if needed > 1 else 0
            if spare > 0:
                yield (
                    f"What would: leave out {spare} of the {commonest} records with the commonest value of "
                    f"{domain.attribute}, or split that value into finer ones, none above 1/{needed} of the table."
                )
        yield "Or take principle anonymity, which bounds the link to a row and says nothing of sensitive values."
        return
    widest = max(raw.quasi, key=lambda domain: len(domain.cells))
    yield (
        f"What would: fewer than {len(raw.quasi)} quasi-identifiers, or coarser ones ({widest.attribute} has "
        f"the most values, {len(widest.cells)}), or a larger risk."
    )
