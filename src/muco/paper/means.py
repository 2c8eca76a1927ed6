"""Means over the runs, in the order of the parameters: what the claims are held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muco.paper.experiments import Results
from muco.paper.plan import DELTAS, DIVERSITY, SWEPT_DELTA
from muco.paper.readings import Reading
from muco.switches import Method

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Means:
    """Each series of a figure as a list, over δ from 1/5 to 1/10 or over l ascending."""

    results: Results

    def disclosure(self, reading: Reading, kind: str, match_probability: float) -> list[float]:
        """MuCo's identity or attribute disclosure over δ, at l = 10."""
        return self._over_delta(self.results.disclosure, kind, reading, match_probability=match_probability)

    def baseline_disclosure(self, reading: Reading, kind: str, match_probability: float) -> list[float]:
        """Mondrian's over l, its attributes ranked as in that reading."""
        where = _mondrian(reading) | {"match_probability": match_probability}
        return _over(self.results.disclosure, kind, "diversity", **where)

    def loss(self, reading: Reading, kind: str = "move") -> list[float]:
        """MuCo's information loss over δ."""
        return self._over_delta(self.results.loss, kind, reading)

    def baseline_loss(self, reading: Reading, kind: str) -> list[float]:
        """Mondrian's over l."""
        return _over(self.results.loss, kind, "diversity", **_mondrian(reading))

    def error(self, reading: Reading, kind: str, predicates: int) -> list[float]:
        """MuCo's relative error over δ: its mean, variance, median or supported mean."""
        return self._over_delta(self.results.queries, kind, reading, predicates=predicates)

    def baseline_error(self, method: Method, reading: Reading, kind: str, predicates: int) -> list[float]:
        """Mondrian's or Anatomy's over l; Anatomy has no partition to read."""
        where = _mondrian(reading) if method is Method.MONDRIAN else {"method": str(method)}
        return _over(self.results.queries, kind, "diversity", **where, predicates=predicates)

    def swept(self, what: str, reading: Reading, **where: object) -> dict[int, float]:
        """MuCo's loss or error at δ = 1/6 by l; `what` is move, or what is reported of the queries."""
        frame = self.results.loss if what == "move" else self.results.queries
        here = _where(frame, method=str(Method.MUCO), reading=str(reading), delta=str(SWEPT_DELTA), **where)
        means = here.group_by("diversity").agg(_mean(what)).sort("diversity")
        return dict(zip(means["diversity"].to_list(), means[what].to_list()))

    def _over_delta(self, frame: pl.DataFrame, what: str, reading: Reading, **where: object) -> list[float]:
        here = _where(frame, method=str(Method.MUCO), reading=str(reading), diversity=DIVERSITY, **where)
        means = dict(here.group_by("delta").agg(_mean(what)).iter_rows())
        return [means[str(delta)] for delta in DELTAS if str(delta) in means]


def _mondrian(reading: Reading) -> dict[str, object]:
    return {"method": str(Method.MONDRIAN), "reading": str(reading.generalized)}


def _where(frame: pl.DataFrame, **where: object) -> pl.DataFrame:
    import polars as pl

    return frame.filter(*(pl.col(name) == value for name, value in where.items()))


def _over(frame: pl.DataFrame, what: str, by: str, **where: object) -> list[float]:
    series: list[float] = _where(frame, **where).group_by(by).agg(_mean(what)).sort(by)[what].to_list()
    return series


def _mean(what: str) -> pl.Expr:
    import polars as pl

    return pl.col(what).mean()
