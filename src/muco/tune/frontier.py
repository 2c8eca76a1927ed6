"""Settings side by side on one table: same queries, same adversaries, several keys each; who is beaten by whom."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from muco.assess.query import PUBLIC_KEY
from muco.assess.shown import Shown
from muco.tune.score import RISKS, WORTHS, Score, Yardstick
from muco.tune.setting import Setting, check_settings
from muco.tune.trials import Trials

if TYPE_CHECKING:
    import polars as pl

    from muco.policy import Policy

_FIGURES = ("proven", *RISKS, *WORTHS)

# Called with a setting's name, the runs done and all runs; it may raise to stop.
Watch = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Standing:
    """A setting and its scores; none where the table cannot bear it, which `refusal` then says."""

    setting: Setting
    scores: tuple[Score, ...]
    refusal: str = ""

    def mean(self, figure: str) -> float | None:
        """The mean of one figure over the runs, None where a release does not tell."""
        found = [getattr(score, figure) for score in self.scores]
        return None if not found or None in found else float(np.mean(found))

    def spread(self, figure: str) -> float:
        """The standard error of that mean; 0 for one run."""
        found = [getattr(score, figure) for score in self.scores]
        if len(found) < 2 or None in found:
            return 0.0
        return float(np.std(found, ddof=1) / np.sqrt(len(found)))

    @property
    def point(self) -> tuple[float, ...]:
        """Every figure, the smaller the better; one that is not told counts as the worst."""
        return tuple(np.inf if (mean := self.mean(figure)) is None else mean for figure in (*RISKS, *WORTHS))


@dataclass(frozen=True, slots=True)
class Frontier(Shown):
    """All settings that were looked at, in their order; how many runs that took, and what was sampled."""

    standings: tuple[Standing, ...]
    runs: int
    sampled: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Frontier({len(self.standings)} settings, {self.runs} runs)"

    def beaten_by(self, standing: Standing) -> tuple[str, ...]:
        """The settings that are nowhere worse and somewhere better."""
        mine = np.array(standing.point)
        return tuple(
            other.setting.name
            for other in self.standings
            if other is not standing
            and other.scores
            and (np.array(other.point) <= mine).all()
            and (np.array(other.point) < mine).any()
        )

    def to_frame(self) -> pl.DataFrame:
        """A row a setting: the mean and standard error of its figures, and the settings that beat it throughout."""
        import polars as pl

        rows = [
            {
                "setting": standing.setting.name,
                **{figure: standing.mean(figure) for figure in _FIGURES},
                **{f"{figure}_error": standing.spread(figure) for figure in _FIGURES},
                "runs": len(standing.scores),
                "beaten_by": ", ".join(self.beaten_by(standing)) if standing.scores else "",
                "refusal": standing.refusal,
            }
            for standing in self.standings
        ]
        text = {"setting", "beaten_by", "refusal"}
        errors = [f"{figure}_error" for figure in _FIGURES]
        names = ("setting", *_FIGURES, *errors, "runs", "beaten_by", "refusal")
        kinds = {name: pl.String() if name in text else pl.Float64() for name in names}
        return pl.DataFrame(rows, schema={**kinds, "runs": pl.Int64()})


def compare_settings(
    original: Any,
    settings: Iterable[Setting],
    *,
    runs: int = 3,
    judge: Policy | None = None,
    query_key: bytes = PUBLIC_KEY,
    watch: Watch | None = None,
) -> Frontier:
    """Run every setting under `runs` trial keys on one table and score what comes out.

    `judge` is the policy by whose kinds and distances all are measured: the first setting's unless given; another
    `query_key` draws other queries. A setting that the table cannot bear stays in the list with the reason. Figures
    are of trial keys that everybody knows: none of these releases may be published.

    >>> import muco, polars as pl
    >>> table = pl.DataFrame({"age": range(20, 60), "pay": range(40)})
    >>> policy = muco.Policy.of(quasi="age", sensitive="pay", diversity=5)
    >>> made = compare_settings(table, [Setting("provable", policy)], runs=1)
    >>> made.standings[0].mean("proven")
    0.2
    """
    listed = check_settings(list(settings))
    if not listed:
        return Frontier((), 0)
    yardstick = Yardstick.of(original, judge or listed[0].policy, query_key=query_key)
    trials = Trials(yardstick)
    whole = sum(runs if setting.is_random else 1 for setting in listed)
    done = itertools.count(1)

    def told(name: str) -> None:
        if watch is not None:
            watch(name, next(done), whole)

    found = trials.make(listed, range(runs), told=told)
    standings = tuple(Standing(setting, *each) for setting, each in zip(listed, found))
    return Frontier(standings, trials.runs, tuple(yardstick.sampled()))
