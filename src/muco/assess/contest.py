"""Several methods on one table, side by side: what each protects and what it is still worth."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from muco.assess.assessment import Assessment
from muco.assess.disclosure import MATCH_PROBABILITIES, Disclosure, measure_disclosure
from muco.assess.distribution import Distributions, measure_distributions
from muco.assess.evidence import Evidence
from muco.assess.linkage import Linkage, link_nearest
from muco.assess.loss import Loss, measure_loss
from muco.assess.query import Aggregate, Queries, QueryError
from muco.assess.sample import PUBLIC
from muco.assess.shown import Shown
from muco.baselines import anatomize_with_groups, generalize_with_groups
from muco.errors import InfeasibleError, MucoWarning, PolicyError
from muco.policy import Policy

WIDTH = 4  # predicates of the queries, as the paper's text has them
P_MATCH = 0.7
_TARGETS = 5_000  # people tried by nearest rows: as many as a quick assessment tries
# Beyond, ranges are compared with a keyed sample of records at P_match 1 only: a page should not take minutes.
_LARGE = 200_000


@dataclass(frozen=True, slots=True)
class Entry(Shown):
    """One method's figures; None where one has no meaning or was not measured.

    `known` is what is proven, else what who knows groups and tables finds; `move` and `width` are two units of
    information loss that are never compared with each other.
    """

    method: str
    proven: float | None
    known: float | None
    nearest: float | None
    identity: float | None
    move: float | None
    width: float
    median: float | None
    supported: float | None
    association: float

    @staticmethod
    def of(method: str, assessment: Assessment) -> Entry:
        """The figures of a release that was assessed already."""
        informed = assessment.informed
        known = informed.record.rate.value if informed else None
        parts = assessment.linkage, assessment.disclosure, assessment.loss, assessment.distributions
        return _entry(method, (assessment.proven, known), parts, assessment.queries)


@dataclass(frozen=True, slots=True)
class Baselines(Shown):
    """Mondrian and Anatomy at a policy's diversity; `disclosure` is Mondrian's, `left_out` could not be had."""

    entries: tuple[Entry, ...]
    disclosure: Disclosure | None
    left_out: tuple[str, ...]


def measure_baselines(original: Any, policy: Policy) -> Baselines:
    """What Mondrian generalisation and Anatomy make of the same table at the same diversity.

    A baseline that cannot be had (Anatomy wants one sensitive attribute) is left out by name.
    """
    entries, left_out, found = [], [], None
    for method, run in (("Mondrian", compare_generalized), ("Anatomy", compare_anatomized)):
        try:
            with warnings.catch_warnings():
                # What a curator should know before a release; of these tables none is released.
                warnings.simplefilter("ignore", MucoWarning)
                seen = run(original, policy)
        except (PolicyError, InfeasibleError):
            left_out.append(method)
            continue
        comparison, informed = seen.comparison, seen.measure_informed()
        known = informed.record.rate.value if informed else None
        is_large = len(comparison.original) > _LARGE
        disclosure = measure_disclosure(comparison, (1.0,) if is_large else MATCH_PROBABILITIES)
        linkage = link_nearest(comparison, most=_TARGETS)
        parts = linkage, disclosure, measure_loss(comparison), measure_distributions(comparison)
        entries.append(_entry(method, (seen.proven, known), parts, _ask(seen)))
        found = disclosure if method == "Mondrian" else found
    return Baselines(tuple(entries), found, tuple(left_out))


def _entry(
    method: str,
    known: tuple[float | None, float | None],
    parts: tuple[Linkage | None, Disclosure, Loss, Distributions],
    queries: tuple[QueryError, ...],
) -> Entry:
    linkage, disclosure, loss, distributions = parts
    identity = dict(zip(disclosure.match_probabilities, disclosure.identity or ())).get(P_MATCH)
    asked = [error for error in queries if error.width == WIDTH and error.aggregate is Aggregate.SUM]
    return Entry(
        method,
        *known,
        linkage.identity.rate.value if linkage else None,
        identity.rate.value if identity else None,
        loss.total_move,
        loss.total_width,
        asked[0].median if asked else None,
        asked[0].supported if asked else None,
        distributions.mean_change,
    )


def _ask(seen: Evidence) -> tuple[QueryError, ...]:
    if len(seen.comparison.quasi) < WIDTH:
        return ()
    queries = Queries.of(seen.comparison, width=WIDTH)
    return tuple(queries.answer(seen.answers, seen.comparison).values())


def compare_generalized(original: Any, policy: Policy, *, key: bytes = PUBLIC) -> Evidence:
    """Mondrian's release of a table beside it, each row with its record."""
    release, kept = generalize_with_groups(original, _ungated(policy), key=key)
    return Evidence.of(original, release, policy, kept)


def compare_anatomized(original: Any, policy: Policy, *, key: bytes = PUBLIC) -> Evidence:
    """Anatomy's two tables joined, each row with its record, and the group averages that answer queries."""
    anatomy, kept = anatomize_with_groups(original, _ungated(policy), key=key)
    return Evidence.of(original, anatomy, policy, kept)


def _ungated(policy: Policy) -> Policy:
    """A gate stops what is published: these tables never leave."""
    return policy.model_copy(update={"max_risk": None, "accept_risk": None})
