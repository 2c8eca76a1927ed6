"""What one setting does to one table: the risk by three adversaries and the worth by four measures, key by key."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from muco.anonymize import anonymize_with_hidden
from muco.assess.answers import Answers
from muco.assess.classes import rate_of_classes
from muco.assess.comparison import Comparison
from muco.assess.contest import compare_anatomized, compare_generalized
from muco.assess.disclosure import rate_exact
from muco.assess.distribution import measure_distributions
from muco.assess.evidence import Evidence
from muco.assess.informed import Posterior
from muco.assess.linkage import rate_nearest
from muco.assess.loss import Loss, measure_loss
from muco.assess.query import PUBLIC_KEY, Aggregate, Queries
from muco.gate import MOST_RECORDS
from muco.policy import Policy
from muco.release import Hidden
from muco.switches import Method
from muco.tune.setting import Setting

PREDICATES = 4  # as the paper's queries have
TARGETS = 50_000  # records that nearest-record linkage tries in each run: beyond, an interval of about ± .002
LARGE = 200_000  # records beyond which everything else is sampled too, and each setting meets fewer queries
QUERIES, FEWER_QUERIES = 1_000, 300
EXACT_TARGETS = 1_000  # records compared with the ranges of a large generalised table
RISKS, WORTHS = ("informed", "nearest", "exact"), ("query", "supported", "association", "loss")


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of one run; None where the release does not tell.

    `informed` is the mean posterior of who knows groups and tables, and of a release of ranges one over the size of
    a row's class; `proven` the most it can be, where that is proven; `informed_99` what it is at most for 99 of 100
    records, where it is measured. `losses` is the information loss (moves) of each attribute.
    """

    informed: float | None
    proven: float | None
    informed_99: float | None
    nearest: float | None
    exact: float | None
    query: float
    supported: float | None
    association: float
    losses: dict[str, float] | None

    @property
    def loss(self) -> float | None:
        """Information loss, summed over attributes and records."""
        return None if self.losses is None else sum(self.losses.values())


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What every setting is measured by: one original, the kinds and distances of one policy, the same queries."""

    original: Any
    policy: Policy
    queries: Queries

    def __repr__(self) -> str:
        return f"Yardstick({self.queries!r})"

    @staticmethod
    def of(original: Any, policy: Policy, *, query_key: bytes = PUBLIC_KEY) -> Yardstick:
        """Draw the queries that every setting is asked; another key draws others."""
        raw = Comparison.of_raw(original, policy)
        count = QUERIES if len(original) <= LARGE else FEWER_QUERIES
        return Yardstick(
            original, policy, Queries.of(raw, width=min(PREDICATES, len(raw.quasi)), count=count, key=query_key)
        )

    def sampled(self) -> Iterator[str]:
        """What is not measured of every record, in words."""
        records = len(self.original)
        if records > TARGETS:
            yield f"Nearest rows are sought for {TARGETS:,} of {records:,} records."
        if records > LARGE:
            yield (
                f"{len(self.queries)} queries instead of {QUERIES:,}; posteriors that are no bound are of about "
                f"{MOST_RECORDS:,} records, exact matches with ranges of {EXACT_TARGETS:,}."
            )

    def score(self, setting: Setting, *, run: int) -> Score:
        """Anonymize the table by a setting under the key of a trial run, and measure what comes out."""
        if setting.release is not None:
            return self._see(Evidence.of(self.original, setting.release, self.policy))
        key = key_of_run(run)
        if setting.method is Method.ANATOMY:
            return self._see(compare_anatomized(self.original, setting.policy, key=key))
        if setting.method is Method.MONDRIAN:
            return self._see(compare_generalized(self.original, setting.policy, key=key))
        release, hidden = anonymize_with_hidden(self.original, setting.policy, key=key)
        comparison = Comparison.of(self.original, release.data, self.policy, record=hidden.rows)
        return self._measure(comparison, _by_groups(comparison, hidden))

    def _see(self, seen: Evidence) -> Score:
        known = seen.measure_informed()
        if known is None:
            return self._measure(seen.comparison, _by_classes(seen.comparison))
        return self._measure(seen.comparison, Known(known.record.rate.value, seen.proven), seen.answers)

    def _measure(self, comparison: Comparison, known: Known, answers: Answers | None = None) -> Score:
        aggregate = Aggregate.SUM if Aggregate.SUM in self.queries.truth else Aggregate.COUNT
        asked = self.queries.answer(answers or Answers.of(comparison), comparison)[aggregate]
        is_aligned = comparison.record is not None
        loss: Loss = measure_loss(comparison)
        most = EXACT_TARGETS if len(comparison.original) > LARGE else None
        return Score(
            known.mean,
            known.proven,
            known.quantile_99,
            rate_nearest(comparison, most=TARGETS).value if is_aligned else None,
            rate_exact(comparison, most=most).value if is_aligned else None,
            asked.median,
            asked.supported,
            measure_distributions(comparison).mean_change,
            dict(loss.move) if loss.move is not None else None,
        )


@dataclass(frozen=True, slots=True)
class Known:
    """The posterior of who knows how a release was made: its mean, its bound, and its upper end."""

    mean: float | None = None
    proven: float | None = None
    quantile_99: float | None = None


def key_of_run(run: int) -> bytes:
    """The key of a trial run: known to everybody, so it must never draw what is published."""
    return hashlib.sha256(f"muco trial {run}".encode()).digest()


def _by_classes(comparison: Comparison) -> Known:
    """Rows of one class are alike where cells are ranges; where values were drawn a class tells nothing."""
    return Known(rate_of_classes(comparison)) if comparison.is_generalized else Known()


def _by_groups(comparison: Comparison, hidden: Hidden) -> Known:
    outcome = hidden.outcome
    if outcome.groups.microdata.policy.is_provable:
        return Known(len(outcome.groups) / len(comparison.original), float(outcome.groups.largest_share))
    own = Posterior.of(comparison, [hidden]).own
    asked = own[~np.isnan(own)]
    if not len(asked):
        return Known()
    return Known(float(asked.mean()), None, float(np.quantile(asked, 0.99)))
