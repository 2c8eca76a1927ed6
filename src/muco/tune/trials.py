"""Trial runs of settings on one table: each made once, several at a time, under keys that everybody knows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field

from muco._core import allow_calls, stop_calls
from muco.errors import InfeasibleError, MucoWarning
from muco.tune.score import LARGE, Score, Yardstick
from muco.tune.setting import Setting

MOST_WORKERS = 4  # every run is parallel inside too: more threads than this only wait for each other

Found = tuple[tuple[Score, ...], str]


@dataclass(frozen=True, slots=True)
class Trials:
    """What was found of each setting and key so far; a run asked for again is not made again."""

    yardstick: Yardstick
    found: dict[str, Score | str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Trials({self.runs} runs)"

    @property
    def runs(self) -> int:
        """How many runs came to an end: refusals are none."""
        return sum(isinstance(each, Score) for each in self.found.values())

    @property
    def workers(self) -> int:
        """Runs at a time; one of a large table, whose copies would fill the memory."""
        return 1 if len(self.yardstick.original) > LARGE else min(MOST_WORKERS, os.cpu_count() or 1)

    def make(
        self, settings: Sequence[Setting], runs: range, *, told: Callable[[str], None] | None = None
    ) -> list[Found]:
        """The scores of each setting under the keys of `runs`, or the reason why the table cannot bear it.

        `told` hears the name of each setting that came to an end; it may raise to stop.
        """
        wanted = [[(_name(s, run), s, run) for run in (runs if s.is_random else runs[:1])] for s in settings]
        self._make_all({name: (s, run) for each in wanted for name, s, run in each}, told)
        results = [[self.found[name] for name, _, _ in each] for each in wanted]
        return [
            (
                tuple(each for each in result if isinstance(each, Score)),
                next((each for each in result if isinstance(each, str)), ""),
            )
            for result in results
        ]

    def _make_all(self, wanted: dict[str, tuple[Setting, int]], told: Callable[[str], None] | None) -> None:
        # Nothing of a trial is released, so what a curator should know before a release is not said.
        with warnings.catch_warnings(), ThreadPoolExecutor(self.workers) as pool:
            warnings.simplefilter("ignore", MucoWarning)
            futures = {
                pool.submit(self._score, setting, run): (name, setting)
                for name, (setting, run) in wanted.items()
                if name not in self.found
            }
            try:
                for future in as_completed(futures):
                    name, setting = futures[future]
                    self.found[name] = future.result()
                    if told is not None:
                        told(setting.name)
            except BaseException:
                # Signals reach the main thread only: the calls that other threads wait for are told.
                stop_calls()
                pool.shutdown(cancel_futures=True)
                allow_calls()
                raise

    def _score(self, setting: Setting, run: int) -> Score | str:
        try:
            return self.yardstick.score(setting, run=run)
        except InfeasibleError as error:
            return str(error)


def _name(setting: Setting, run: int) -> str:
    """Two settings of one name here are one: a release goes by its own, a run by method, switches and key."""
    if setting.release is not None:
        return setting.name
    return f"{setting.method} {run} {setting.switches}"
