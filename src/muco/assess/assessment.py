"""All measures of a release in one frozen result, and the one door to them.

original, release, policy ── assess_release ──> Assessment ── .figures ── .to_frame, .to_json
        (Hidden)          ──┘                      └──────── .verdict, in words
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from muco.arrays import Offsets
from muco.assess.classes import Classes, measure_classes
from muco.assess.comparison import Comparison
from muco.assess.disclosure import MATCH_PROBABILITIES, Disclosure, measure_disclosure
from muco.assess.distribution import Distributions, measure_distributions
from muco.assess.evidence import Evidence
from muco.assess.figures import Figure, list_figures
from muco.assess.informed import Informed, SingleValue, measure_corruption, measure_single_value
from muco.assess.linkage import Linkage, link_nearest, link_with_sensitive, link_with_untouched
from muco.assess.loss import Loss, measure_loss
from muco.assess.membership import Membership
from muco.assess.models import Models, measure_models
from muco.assess.partition import Minimality, measure_minimality
from muco.assess.query import Queries, QueryError
from muco.assess.rate import Risk
from muco.assess.scores import search_without_groups, simulate_method
from muco.assess.verdict import Verdict
from muco.policy import Policy
from muco.release import Hidden, HiddenGroups
from muco.switches import Method, Principle

if TYPE_CHECKING:
    import polars as pl


class Effort(StrEnum):
    """How much is measured: risks alone and worth too on a sample of people, or everything on all of them."""

    RISKS = "risks"
    QUICK = "quick"
    FULL = "full"


TARGETS = {Effort.RISKS: 5_000, Effort.QUICK: 5_000, Effort.FULL: 100_000}
LEARNERS = {Effort.QUICK: 10_000, Effort.FULL: 50_000}  # people that models learn from
# The paper's text asks four predicates, the authors' script five.
WIDEST = {Effort.RISKS: 0, Effort.QUICK: 4, Effort.FULL: 5}
# Beyond so many records a quick look asks exact matches and narrow queries only.
LARGE, NARROW = 200_000, 2


@dataclass(frozen=True, slots=True)
class Assessment:
    """Everything that was measured of a release; None where it could not be.

    `linkage` is A3, `with_sensitive` and `with_untouched` are A7. With the run's Hidden, `informed` is A1 and
    `proven` 1 over the smallest group where all rows of every table are equal; `method` is None where it is not
    known how the release was made, and `models` where none were trained. No part holds a cell.
    """

    policy: Policy
    records: int
    rows: int
    is_aligned: bool
    proven: float | None
    informed: Informed | None
    single_value: tuple[SingleValue, ...]
    classes: Classes
    disclosure: Disclosure
    linkage: Linkage | None
    with_sensitive: Linkage | None
    with_untouched: Linkage | None
    loss: Loss
    queries: tuple[QueryError, ...]
    distributions: Distributions
    without_groups: Risk | None = None
    simulation: Risk | None = None
    minimality: Minimality | None = None
    corruption: tuple[Risk, ...] = ()
    method: Method | None = None
    models: Models | None = None
    membership: Membership | None = None  # where records were held out: `measure_membership`

    def __repr__(self) -> str:
        return f"Assessment({self.records} records, {self.rows} rows: {self.verdict.sentence})"

    def _repr_html_(self) -> str:
        verdict = self.verdict
        found = "".join(
            f"<tr><th>{escape(each.term)}</th><td>{escape(each.words)}</td></tr>" for each in verdict.findings
        )
        return f"<p><strong>{escape(verdict.sentence)}</strong></p><table>{found}</table>"

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure by name, with its interval and controls."""
        return list_figures(self)

    @property
    def verdict(self) -> Verdict:
        """What the figures say, in words."""
        return Verdict.of(self)

    @property
    def risk(self) -> float | None:
        """What a gate holds against its bound: what is proven, else A1, else the most that linking found.

        None where which row is whose is not known: then no gate can be passed.
        """
        if self.proven is not None:
            return self.proven
        if self.informed is not None:
            return self.informed.record.rate.value
        if self.linkage is None:
            return None
        linked = [self.linkage.identity.rate.value, *(risk.rate.value for risk in self.disclosure.identity or ())]
        return max(linked)

    @property
    def delta_is_number(self) -> bool:
        """Whether the policy limits delta by a number, as the paper does, and so proves no bound on linking."""
        return isinstance(self.policy.delta, Fraction)

    def to_frame(self) -> pl.DataFrame:
        """A row a figure: name, value, interval, controls, what it means."""
        import polars as pl

        names = ("name", "value", "low", "high", "raw", "chance", "words", "note")
        text = {"name", "words", "note"}
        schema = {name: pl.String() if name in text else pl.Float64() for name in names}
        rows = [[getattr(figure, name) for name in names] for figure in self.figures]
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_json(self) -> str:
        """The verdict and every figure, for machines; numbers that are infinite are written as null."""
        return json.dumps(self.to_words(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_words(self) -> dict[str, Any]:
        """What `to_json` writes, as nested mappings: nothing in it is a cell, a key or a group."""
        verdict = self.verdict
        return {
            "records": self.records,
            "rows": self.rows,
            "aligned": self.is_aligned,
            "verdict": verdict.sentence,
            "risk": self.risk,
            "regulator": [
                {"question": each.term, "value": each.value, "within": list(each.meets), "words": each.words}
                for each in verdict.findings
            ],
            "proven": list(verdict.proven),
            "measured": list(verdict.measured),
            "limits": list(verdict.limits),
            "figures": [_words(figure) for figure in self.figures],
        }


def _words(figure: Figure) -> dict[str, Any]:
    words = {"name": figure.name, "value": figure.value if np.isfinite(figure.value) else None}
    for name in ("low", "high", "raw", "chance"):
        value = getattr(figure, name)
        if value is not None:
            words[name] = round(value, 6)
    if words["value"] is not None:
        words["value"] = round(figure.value, 6)
    return {**words, "words": figure.words, **({"note": figure.note} if figure.note else {})}


def assess_release(
    original: Any,
    release: Any,
    policy: Policy,
    *,
    hidden: Hidden | HiddenGroups | None = None,
    record: Offsets | None = None,
    effort: Effort = Effort.QUICK,
) -> Assessment:
    """Measure what a release of any tool protects and what it is worth.

    Anatomy's two tables come as `Anatomy` or `Parts`. `record[i]` is the record (from 0) that row i stands for;
    `hidden` of a run of muco, and `HiddenGroups` of a baseline's, tell it too. Without
    either, rows are aligned where all untouched columns agree row by row, else only what needs no alignment is
    measured.
    The same tables always give the same figures. Raises TableError for tables that do not belong together.

    >>> import muco, polars as pl
    >>> table = pl.DataFrame({"age": [20, 30, 40, 50], "pay": [1, 2, 3, 4]})
    >>> policy = muco.Policy.of(quasi="age", sensitive="pay", diversity=4)
    >>> release, hidden = muco.anonymize_with_hidden(table, policy)
    >>> assess_release(table, release, policy, hidden=hidden).proven
    0.25
    """
    seen, effort = Evidence.of(original, release, policy, hidden, record=record), Effort(effort)
    comparison = seen.comparison
    is_aligned = comparison.record is not None
    most, is_brief = TARGETS[effort], effort is not Effort.FULL and len(comparison.original) > LARGE
    # Anatomy's rows carry no sensitive value: it was dealt to them.
    has_sensitive = is_aligned and bool(comparison.sensitive) and seen.published_group is None
    has_untouched = has_sensitive and len(np.unique(comparison.original_untouched)) > 1
    return Assessment(
        policy=policy,
        records=len(comparison.original),
        rows=len(comparison.low),
        is_aligned=is_aligned,
        proven=seen.proven,
        informed=seen.measure_informed(),
        single_value=measure_single_value(seen.hidden) if seen.hidden is not None else (),
        classes=measure_classes(comparison, seen.published_group),
        disclosure=measure_disclosure(comparison, (1.0,) if is_brief else MATCH_PROBABILITIES),
        linkage=link_nearest(comparison, most=most) if is_aligned else None,
        with_sensitive=link_with_sensitive(comparison, most=most) if has_sensitive else None,
        with_untouched=link_with_untouched(comparison, most=most) if has_untouched else None,
        loss=measure_loss(comparison),
        queries=_ask(seen, min(NARROW, WIDEST[effort]) if is_brief else WIDEST[effort]),
        distributions=measure_distributions(comparison),
        method=seen.method,
        models=None if effort is Effort.RISKS else measure_models(comparison, most=LEARNERS[effort]),
        **(_try_harder(comparison, seen.hidden) if seen.hidden is not None and effort is Effort.FULL else {}),
    )


def _try_harder(comparison: Comparison, hidden: Hidden) -> dict[str, Any]:
    """A2, A5, A10 and corruption, which take minutes on a large table.

    Groups that were formed without a look at sensitive values tell nothing of them, so A10 has nothing to try.
    """
    half = hidden.outcome.smallest_group // 2
    return {
        "without_groups": search_without_groups(hidden),
        "simulation": simulate_method(hidden),
        "minimality": None if hidden.policy.principle is Principle.ANONYMITY else measure_minimality(hidden),
        "corruption": tuple(measure_corruption(comparison, hidden, told) for told in sorted({1, half}) if told),
    }


def _ask(seen: Evidence, widest: int) -> tuple[QueryError, ...]:
    """1,000 queries of each width that the quasi-identifiers allow, of every aggregate."""
    if not widest:
        return ()
    comparison, answers = seen.comparison, seen.answers
    errors: list[QueryError] = []
    for width in range(1, min(widest, len(comparison.quasi)) + 1):
        errors += Queries.of(comparison, width=width).answer(answers, comparison).values()
    return tuple(errors)
