"""What one setting does to one table: the risk by three adversaries and the worth by four measures, key by key."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from muco.anonymize import anonymize_with_hidden
from muco.assess.answers import Answers
from muco.assess.comparison import Comparison
from muco.assess.contest import compare_anatomized, compare_generalized
from muco.assess.disclosure import measure_disclosure
from muco.assess.distribution import measure_distributions
from muco.assess.evidence import Evidence
from muco.assess.informed import measure_informed
from muco.assess.linkage import link_nearest
from muco.assess.loss import Loss, measure_loss
from muco.assess.query import Aggregate, Queries
from muco.errors import MucoWarning
from muco.switches import Method
from muco.tune.setting import Setting

PREDICATES = 4  # as the paper's queries have
TARGETS = 5_000  # records that nearest-record linkage tries: an interval of about ± .007
RISKS, WORTHS = ("informed", "nearest", "exact"), ("query", "supported", "association", "loss")


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of one run; None where the release does not tell.

    `informed` is the mean posterior of who knows groups and tables; `proven` the most it can be, where that is
    proven; `informed_99` what it is at most for 99 of 100 records, where it is measured. `losses` is the
    information loss (moves) of each attribute.
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


def key_of_run(run: int) -> bytes:
    """The key of a trial run: known to everybody, so it must never draw what is published."""
    return hashlib.sha256(f"muco trial {run}".encode()).digest()


def draw_queries(original: Any, setting: Setting) -> Queries:
    """The queries that every setting is asked."""
    comparison = Comparison.of(original, original, setting.policy, record=np.arange(len(original)))
    return Queries.of(comparison, width=min(PREDICATES, len(comparison.quasi)))


def score_run(original: Any, setting: Setting, queries: Queries, *, run: int) -> Score:
    """Anonymize the table by a setting under the key of a trial run, and measure what comes out.

    Nothing of a trial run is released, so what a curator should know before a release is not said.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MucoWarning)
        return _score_run(original, setting, queries, run)


def _score_run(original: Any, setting: Setting, queries: Queries, run: int) -> Score:
    if setting.release is not None:
        return _score_seen(Evidence.of(original, setting.release, setting.policy), queries)
    key = key_of_run(run)
    if setting.method is Method.ANATOMY:
        return _score_seen(compare_anatomized(original, setting.policy, key=key), queries)
    if setting.method is Method.MONDRIAN:
        return _score_seen(compare_generalized(original, setting.policy, key=key), queries)
    release, hidden = anonymize_with_hidden(original, setting.policy, key=key)
    comparison = Comparison.of(original, release.data, setting.policy, record=hidden.rows)
    if setting.policy.is_provable:
        outcome = hidden.outcome
        mean = len(outcome.groups) / len(comparison.original)
        return _score(comparison, queries, mean, float(outcome.groups.largest_share))
    measured = measure_informed(comparison, hidden)
    return _score(comparison, queries, measured.record.rate.value, None, informed_99=measured.quantile_99)


def _score_seen(seen: Evidence, queries: Queries) -> Score:
    known = seen.measure_informed()
    return _score(
        seen.comparison, queries, known.record.rate.value if known else None, seen.proven, answers=seen.answers
    )


def _score(
    comparison: Comparison,
    queries: Queries,
    informed: float | None,
    proven: float | None,
    *,
    informed_99: float | None = None,
    answers: Answers | None = None,
) -> Score:
    aggregate = Aggregate.SUM if Aggregate.SUM in queries.truth else Aggregate.COUNT
    asked = queries.answer(answers or Answers.of(comparison), comparison)[aggregate]
    is_aligned = comparison.record is not None
    loss: Loss = measure_loss(comparison)
    identity = measure_disclosure(comparison, (1.0,)).identity if is_aligned else None
    return Score(
        informed,
        proven,
        informed_99,
        link_nearest(comparison, most=TARGETS).identity.rate.value if is_aligned else None,
        identity[0].rate.value if identity else None,
        asked.median,
        asked.supported,
        measure_distributions(comparison).mean_change,
        dict(loss.move) if loss.move is not None else None,
    )
