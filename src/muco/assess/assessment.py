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
from muco.assess.answers import Answers
from muco.assess.classes import Classes, measure_classes
from muco.assess.comparison import Comparison
from muco.assess.disclosure import MATCH_PROBABILITIES, Disclosure, measure_disclosure
from muco.assess.distribution import Distributions, measure_distributions
from muco.assess.figures import Figure, list_figures
from muco.assess.informed import Informed, SingleValue, measure_informed, measure_single_value
from muco.assess.linkage import Linkage, link_nearest, link_with_sensitive, link_with_untouched
from muco.assess.loss import Loss, measure_loss
from muco.assess.partition import Minimality, measure_minimality
from muco.assess.query import Queries, QueryError
from muco.assess.rate import Risk
from muco.assess.scores import search_without_groups, simulate_method
from muco.assess.verdict import Verdict
from muco.errors import TableError
from muco.policy import Policy
from muco.release import Hidden, Release

if TYPE_CHECKING:
    import polars as pl


class Effort(StrEnum):
    """How much is measured: risks alone and worth too on a sample of people, or everything on all of them."""

    RISKS = "risks"
    QUICK = "quick"
    FULL = "full"


TARGETS = {Effort.RISKS: 5_000, Effort.QUICK: 5_000, Effort.FULL: 100_000}
# The paper's text asks four predicates, the authors' script five.
WIDEST = {Effort.RISKS: 0, Effort.QUICK: 4, Effort.FULL: 5}
# Beyond so many records a quick look asks exact matches and narrow queries only.
LARGE, NARROW = 200_000, 2


@dataclass(frozen=True, slots=True)
class Assessment:
    """Everything that was measured of a release; None where it could not be.

    `linkage` is A3, `with_sensitive` and `with_untouched` are A7. With the run's Hidden, `informed` is A1 and
    `proven` 1 over the smallest group where all rows of every table are equal. No part holds a cell.
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
    hidden: Hidden | None = None,
    record: Offsets | None = None,
    effort: Effort = Effort.QUICK,
) -> Assessment:
    """Measure what a release of any tool protects and what it is worth.

    `record[i]` is the record (from 0) that row i stands for; `hidden` of a run of muco tells it too. Without
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
    table = release.data if isinstance(release, Release) else release
    if hidden is not None:
        record = hidden.rows
    comparison = Comparison.of(original, table, policy, record=record)
    if hidden is not None:
        _check_hidden(comparison, hidden)
    is_aligned = comparison.record is not None
    effort = Effort(effort)
    most, is_brief = TARGETS[effort], effort is not Effort.FULL and len(comparison.original) > LARGE
    has_sensitive = is_aligned and bool(comparison.sensitive)
    has_untouched = is_aligned and len(np.unique(comparison.original_untouched)) > 1
    return Assessment(
        policy=policy,
        records=len(comparison.original),
        rows=len(comparison.low),
        is_aligned=is_aligned,
        proven=_prove(hidden),
        informed=measure_informed(comparison, hidden) if hidden is not None else None,
        single_value=measure_single_value(hidden) if hidden is not None else (),
        classes=measure_classes(comparison),
        disclosure=measure_disclosure(comparison, (1.0,) if is_brief else MATCH_PROBABILITIES),
        linkage=link_nearest(comparison, most=most) if is_aligned else None,
        with_sensitive=link_with_sensitive(comparison, most=most) if has_sensitive else None,
        with_untouched=link_with_untouched(comparison, most=most) if has_untouched else None,
        loss=measure_loss(comparison),
        queries=_ask(comparison, min(NARROW, WIDEST[effort]) if is_brief else WIDEST[effort]),
        distributions=measure_distributions(comparison),
        **(_try_harder(hidden) if hidden is not None and effort is Effort.FULL else {}),
    )


def _prove(hidden: Hidden | None) -> float | None:
    """1/m of the smallest group, where docs/algebra/provable.md holds for the run."""
    if hidden is None or not hidden.outcome.groups.microdata.policy.is_provable:
        return None
    return float(hidden.outcome.groups.largest_share)


def _try_harder(hidden: Hidden) -> dict[str, Any]:
    """A2, A5 and A10, which take minutes on a large table."""
    return {
        "without_groups": search_without_groups(hidden),
        "simulation": simulate_method(hidden),
        "minimality": measure_minimality(hidden),
    }


def _check_hidden(comparison: Comparison, hidden: Hidden) -> None:
    """The cells that no run changes must be those of the records that the run names."""
    rows = hidden.rows
    if len(rows) != len(comparison.low) or not (
        np.array_equal(comparison.original_sensitive[rows], comparison.released_sensitive)
        and np.array_equal(comparison.original_untouched[rows], comparison.released_untouched)
    ):
        raise TableError("the hidden file is of another run: its rows are not those of this release")


def _ask(comparison: Comparison, widest: int) -> tuple[QueryError, ...]:
    """1,000 queries of each width that the quasi-identifiers allow, of every aggregate."""
    if not widest:
        return ()
    answers = Answers.of(comparison)
    errors: list[QueryError] = []
    for width in range(1, min(widest, len(comparison.quasi)) + 1):
        errors += Queries.of(comparison, width=width).answer(answers, comparison).values()
    return tuple(errors)
