"""One release of the paper's table measured as Section 5 does, on codes: no table is written or read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from muco._core import disclose
from muco.arrays import Codes
from muco.assess.answers import Answers
from muco.assess.comparison import Comparison
from muco.assess.loss import measure_loss
from muco.assess.query import Aggregate, Queries
from muco.assess.sample import encode_for_core
from muco.microdata import Microdata
from muco.paper.plan import WIDTHS, Plan, key_of
from muco.scale import Reals
from muco.switches import Kind

MATCH_PROBABILITIES = (0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
Row = dict[str, Any]


def compare(microdata: Microdata) -> Comparison:
    """The table released as it is: every release of it replaces the spans of its cells."""
    nothing = np.zeros(len(microdata), dtype=np.int64)
    return Comparison(
        microdata.policy,
        microdata.quasi,
        microdata.codes,
        microdata.codes,
        microdata.codes,
        microdata.sensitive,
        microdata.sensitive_codes,
        microdata.sensitive_codes,
        nothing,
        nothing,
        np.arange(len(microdata)),
    )


@dataclass(frozen=True, slots=True)
class Workload:
    """The queries of every run and width, the same for all methods and parameters, so that these are comparable."""

    numbers: frozenset[str]
    queries: Mapping[tuple[int, int], Queries]  # by run and width

    @staticmethod
    def of(plan: Plan, original: Comparison) -> Workload:
        """Draw them all: age and hours are numbers in a condition, all else takes = only."""
        asked = as_asked(original, plan.numbers)
        return Workload(
            plan.numbers,
            {
                (run, width): Queries.of(asked, width=width, count=plan.queries, key=key_of(run))
                for run in range(plan.runs)
                for width in WIDTHS
            },
        )

    def answer(self, comparison: Comparison, run: int, values: Reals | None = None) -> list[Row]:
        """A row a width: the errors of one run's queries; `values` are Anatomy's group averages."""
        asked = as_asked(comparison, self.numbers)
        answers = Answers.of(asked, values=values)
        rows = []
        for width in WIDTHS:
            error = self.queries[run, width].answer(answers, asked)[Aggregate.SUM]
            rows.append(
                {
                    "predicates": width,
                    "run": run,
                    "mean": error.mean,
                    "variance": error.variance,
                    "median": error.median,
                    "supported": error.supported,
                }
            )
        return rows


def as_asked(comparison: Comparison, numbers: frozenset[str]) -> Comparison:
    """The same codes, with only some quasi-identifiers compared by < and > in a query."""
    quasi = tuple(
        domain if domain.attribute in numbers else replace(domain, kind=Kind.CATEGORICAL)
        for domain in comparison.quasi
    )
    return replace(comparison, quasi=quasi)


def measure_losses(comparison: Comparison) -> Row:
    """Information loss in both units, summed over records and attributes."""
    loss = measure_loss(comparison)
    return {"move": loss.total_move, "width": loss.total_width}


def measure_matches(comparison: Comparison) -> list[Row]:
    """A row a P_match: mean identity and attribute disclosure over all records and sets of known attributes.

    The definition of `assess.disclosure`, without its controls: they are the same for every release, and three
    times the work.
    """
    attributes = comparison.original.shape[1]
    masks = np.arange(1, 1 << attributes, dtype=np.uint64)
    records = np.arange(len(comparison.original))
    identity, _, attribute = disclose(encode_for_core(comparison), masks, records)
    known = np.bitwise_count(masks).astype(np.float64)
    rows = []
    for probability in MATCH_PROBABILITIES:
        weights = probability**known * (1 - probability) ** (attributes - known)
        weights /= weights.sum() * len(records)
        rows.append(
            {
                "match_probability": probability,
                "identity": float(identity @ weights),
                "attribute": float(attribute[:, 0] @ weights),
            }
        )
    return rows


def spread(codes: Codes, order: np.ndarray[Any, np.dtype[np.int64]]) -> Codes:
    """Codes in the order of the groups, put back into that of the records."""
    placed = np.empty_like(codes)
    placed[order] = codes
    return placed
