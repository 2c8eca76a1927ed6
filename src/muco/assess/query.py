"""Query answering (Section 5.3): random SUM, COUNT and AVG queries, answered from a release and from the original.

Queries.of(comparison) ──> the same queries for every release of that original
Answers.of(comparison)  ─> what a release lets an analyst count: its rows as boxes, each worth a sensitive value
queries.answer(...)    ──> the relative error of each query, and what is reported of them
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from muco._core import uniforms
from muco.arrays import Codes
from muco.assess.answers import OPERATORS, Answers, Shares, choose_summed
from muco.assess.comparison import Comparison
from muco.assess.shown import Shown
from muco.domain import Domain
from muco.errors import PolicyError, TableError
from muco.scale import Reals

SUPPORT = 100  # true rows from which a query counts as supported
PUBLIC_KEY = bytes(32)  # queries hide nothing: everybody may draw the same ones
_TRIES = 50  # rounds of candidates before fewer queries than asked for are taken
# On 1,000,000 rows a table over three attributes costs what some five queries on the whole table do.
_NARROW, _SERVED = 3, 5


class Aggregate(StrEnum):
    """What a query asks of the records that meet its condition."""

    SUM = "sum"
    COUNT = "count"
    AVG = "avg"


@dataclass(frozen=True, slots=True)
class QueryError(Shown):
    """Relative errors |answer - truth| / truth of the queries of one aggregate and width (Section 5.3).

    A few nearly empty queries dominate `mean` and `variance`; `median`, and `supported`, the mean over the queries
    that at least 100 original records meet, they do not move.
    """

    aggregate: Aggregate
    width: int
    queries: int
    mean: float
    variance: float
    median: float
    supported: float | None
    supported_queries: int


@dataclass(frozen=True, slots=True)
class Queries:
    """Random queries, none with an empty true answer, over one original.

    Predicate p of query q tests attribute `attribute[q, p]` by `OPERATORS[operator[q, p]]` against the value of
    rank `rank[q, p]` among the original's own, so that every release of it is asked the same.
    """

    width: int
    summed: str | None
    attribute: NDArray[np.int64]
    operator: NDArray[np.int64]
    rank: NDArray[np.int64]
    truth: Mapping[Aggregate, Reals]

    def __repr__(self) -> str:
        return f"Queries({len(self)} of {self.width} predicates)"

    def __len__(self) -> int:
        return len(self.rank)

    @staticmethod
    def of(
        comparison: Comparison,
        *,
        width: int = 4,
        count: int = 1000,
        summed: str | None = None,
        key: bytes = PUBLIC_KEY,
    ) -> Queries:
        """`count` queries of `width` predicates over different quasi-identifiers, drawn under a key.

        `summed` is the sensitive attribute of SUM and AVG: the first that is a number unless named. Without one
        only COUNT is asked. Fewer queries come back where conditions that any record meets are very rare, and
        TableError where there is none.
        """
        attributes = len(comparison.quasi)
        if not 1 <= width <= attributes:
            raise PolicyError(f"a query has 1 to {attributes} predicates, one a quasi-identifier, not {width}")
        if count < 1:
            raise PolicyError(f"{count} queries were asked for: ask for at least 1")
        summed = choose_summed(comparison, summed)
        table = Answers.of_original(comparison, summed=summed)
        parts: list[Queries] = []
        found = 0
        for attempt in range(_TRIES):
            candidates = min(count, 2 * (count - found) + 10)
            drawn = _draw(comparison, width, candidates, key=key, stream=attempt)
            some = Queries(width, summed, *drawn, {})._asked(table, comparison)
            parts.append(some)
            found += len(some)
            if found >= count:
                break
        if not found:
            raise TableError(f"no query of {width} predicates has a true answer: ask for fewer predicates")
        return _joined(parts, count)

    def answer(self, answers: Answers, comparison: Comparison) -> Mapping[Aggregate, QueryError]:
        """The errors of each aggregate; `comparison` is the one that `answers` are encoded by."""
        if not set(self.truth) - {Aggregate.COUNT} or len(answers.sums):
            given = self._totals(answers, comparison)
            return {aggregate: self._error(aggregate, given[aggregate]) for aggregate in self.truth}
        raise TableError(
            f"attribute {self.summed} is needed to answer SUM and AVG: the release has no numbers there"
        )

    def _error(self, aggregate: Aggregate, given: Reals) -> QueryError:
        errors = np.abs(given - self.truth[aggregate]) / np.abs(self.truth[aggregate])
        supported = errors[self.truth[Aggregate.COUNT] >= SUPPORT]
        return QueryError(
            aggregate,
            self.width,
            len(self),
            float(errors.mean()),
            float(errors.var()),
            float(np.median(errors)),
            float(supported.mean()) if len(supported) else None,
            len(supported),
        )

    def _asked(self, table: Answers, comparison: Comparison) -> Queries:
        """The queries whose true answer is not empty (nor a sum of 0, which has no relative error)."""
        truth = self._totals(table, comparison)
        kept = np.logical_and.reduce([values != 0 for values in truth.values()])
        return Queries(
            self.width,
            self.summed,
            self.attribute[kept],
            self.operator[kept],
            self.rank[kept],
            {aggregate: values[kept] for aggregate, values in truth.items()},
        )

    def _totals(self, answers: Answers, comparison: Comparison) -> dict[Aggregate, Reals]:
        """The answer to every query; the average of no rows is 0."""
        counts, sums = np.zeros(len(self)), np.zeros(len(self))
        for attributes, queries in self._batches(answers.low.shape[1]):
            whole = len(attributes) == answers.low.shape[1]
            shares = Shares.of(answers if whole else answers.over(attributes), comparison, attributes)
            for query in queries:
                predicates = zip(self.attribute[query], self.operator[query], self.rank[query])
                boxes, share = shares.meeting([(int(a), int(o), int(r)) for a, o, r in predicates])
                counts[query] = share @ shares.answers.rows[boxes]
                if self.summed is not None:
                    sums[query] = share @ shares.answers.sums[boxes]
        if self.summed is None:
            return {Aggregate.COUNT: counts}
        averages = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
        return {Aggregate.SUM: sums, Aggregate.COUNT: counts, Aggregate.AVG: averages}

    def _batches(self, attributes: int) -> Iterator[tuple[tuple[int, ...], list[int]]]:
        """Queries on the same attributes together, where the table over these alone is small and serves many."""
        sets, place = np.unique(np.sort(self.attribute, axis=1), axis=0, return_inverse=True)
        if self.width > _NARROW or len(sets) * _SERVED > len(self):
            yield tuple(range(attributes)), list(range(len(self)))
            return
        for number, some in enumerate(sets):
            yield tuple(some.tolist()), np.flatnonzero(place.ravel() == number).tolist()


def _draw(
    comparison: Comparison, width: int, count: int, *, key: bytes, stream: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Candidates: which attributes, which operator of each, and the rank of the value among the original's."""
    attributes = len(comparison.quasi)
    drawn = uniforms(key, stream, count * (attributes + 2 * width))
    order, operator, value = np.split(drawn, [count * attributes, count * (attributes + width)])
    attribute = np.argsort(order.reshape(count, attributes), axis=1, kind="stable")[:, :width]
    numeric = np.array([domain.is_ordered for domain in comparison.quasi])
    kinds = np.floor(operator.reshape(count, width) * len(OPERATORS)).astype(np.int64)
    values = np.array(
        [_values_to_ask(domain, codes) for domain, codes in zip(comparison.quasi, comparison.original.T)]
    )
    rank = np.floor(value.reshape(count, width) * values[attribute]).astype(np.int64)
    return attribute, np.where(numeric[attribute], kinds, 0), rank


def _values_to_ask(domain: Domain, original: Codes) -> int:
    """How many of the original's values a predicate may name; of numbers only known ones, if there are any."""
    seen = np.unique(original)
    known = int((seen < domain.known).sum())
    return known or len(seen) if domain.is_ordered else len(seen)


def _joined(parts: list[Queries], count: int) -> Queries:
    first = parts[0]
    return Queries(
        first.width,
        first.summed,
        np.concatenate([part.attribute for part in parts])[:count],
        np.concatenate([part.operator for part in parts])[:count],
        np.concatenate([part.rank for part in parts])[:count],
        {name: np.concatenate([part.truth[name] for part in parts])[:count] for name in first.truth},
    )
