"""Every figure of an assessment by a name that can be asked for: `k`, `identity@0.7`, `t:salary`, `query@4`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from muco.assess.knows import list_known
from muco.assess.query import Aggregate
from muco.assess.rate import Risk

if TYPE_CHECKING:
    from muco.assess.assessment import Assessment
    from muco.assess.classes import Classes
    from muco.assess.membership import Membership
    from muco.assess.models import Models


_EXACT = "cells are exact values: how many rows are equal says nothing of how many people a row may belong to"


class Aspect(StrEnum):
    """What a figure is about: the form of the table, what linking finds, or what the table is still worth."""

    FORM = "form"
    RISK = "risk"
    WORTH = "worth"


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure with its 95 % interval and its controls; None where there is none.

    `raw` is the same measure on the unprotected table, `chance` on rows whose quasi-identifiers were shuffled; for
    a model, what always answering the commonest class gets.
    """

    name: str
    value: float
    words: str
    aspect: Aspect
    low: float | None = None
    high: float | None = None
    raw: float | None = None
    chance: float | None = None
    note: str = ""

    @staticmethod
    def of(name: str, risk: Risk, words: str) -> Figure:
        """A risk with its interval and both controls."""
        rate, raw, chance = risk.rate, risk.raw, risk.chance
        return Figure(
            name,
            rate.value,
            words,
            Aspect.RISK,
            rate.low,
            rate.high,
            raw.value if raw else None,
            chance.value if chance else None,
            risk.note,
        )


def list_figures(assessment: Assessment) -> tuple[Figure, ...]:
    """All figures of an assessment, risks first."""
    risks = *_informed(assessment), *_risks(assessment), *_members(assessment.membership)
    return (*risks, *_forms(assessment.classes), *_worth(assessment))


def _informed(assessment: Assessment) -> Iterator[Figure]:
    if assessment.proven is not None:
        words = f"at most, whoever knows {list_known(assessment.method)} finds a person's row"
        yield Figure("proven", assessment.proven, words, Aspect.RISK)
    informed = assessment.informed
    if informed is not None:
        words = f"{list_known(assessment.method)} known: mean posterior of the person's row"
        yield Figure.of("informed", informed.record, words)
        yield Figure.of("informed-top", informed.top, "the same: the likeliest row is the person's")
        spreads = informed.spread, informed.raw_spread, informed.chance_spread
        for name, part, words in (
            ("informed-p99", "quantile_99", "posterior of the right row that 1 % of people exceed"),
            ("informed-half", "above_half", "share of people whose row is more likely than not"),
            ("informed-sure", "above_nine_tenths", "share of people whose row is at .9 or more"),
        ):
            value, raw, chance = (getattr(spread, part) for spread in spreads)
            yield Figure(name, value, f"the same: {words}", Aspect.RISK, raw=raw, chance=chance)
        for name, risk in informed.attribute.items():
            yield Figure.of(f"informed-inference:{name}", risk, f"the same: the posterior of the person's {name}")
        yield Figure.of("group-nearest", informed.nearest_in_group, "groups known: the nearest row of the group")
    for told in assessment.corruption:
        words = f"the same, who was told the rows of {told.adversary.split()[-1]} of each group: mean posterior"
        yield Figure.of(told.adversary.replace(" of ", ":"), told, words)
    for attack, name, words in (
        (assessment.without_groups, "tables-only", "tables known and no groups: the likeliest row is the person's"),
        (assessment.simulation, "simulation", "the method simulated: the row with the best score is the person's"),
    ):
        if attack is not None:
            yield Figure.of(name, attack, words)
    if assessment.minimality is not None:
        rate, words = assessment.minimality.remaining, "the partition rerun: mean chance of the own sensitive value"
        before = assessment.minimality.before.value
        note = assessment.minimality.note
        yield Figure("minimality", rate.value, words, Aspect.RISK, rate.low, rate.high, chance=before, note=note)
    for single in assessment.single_value:
        words = f"group and one value of {single.attribute} known: the largest risk of a person"
        name, raw, chance = f"single-value:{single.attribute}", single.raw, single.chance
        yield Figure(name, single.largest, words, Aspect.RISK, raw=raw, chance=chance)


def _risks(assessment: Assessment) -> Iterator[Figure]:
    if assessment.linkage is not None:
        linkage = assessment.linkage
        yield Figure.of("nearest", linkage.identity, "all quasi-identifiers known: the nearest row is the person's")
        yield Figure.of("nearest-different", linkage.without_exact, "the same, rows that equal the person left out")
        for name, risk in linkage.attribute.items():
            yield Figure.of(f"inference:{name}", risk, f"the nearest row has the person's {name}")
    for known, name, words in (
        (
            assessment.with_sensitive,
            "sensitive-known",
            "the nearest row of those with the person's sensitive values",
        ),
        (assessment.with_untouched, "untouched-known", "the same, every untouched column known too"),
    ):
        if known is not None:
            yield Figure.of(name, known.identity, words)
    disclosure = assessment.disclosure
    if disclosure.singling_out is not None:
        yield Figure.of(
            "singling", disclosure.singling_out, "one row alone has all values of a person, and is theirs"
        )
    for place, p in enumerate(disclosure.match_probabilities):
        words = f"each quasi-identifier known with probability {p:g}: a row that matches is the person's"
        if disclosure.identity is not None:
            yield Figure.of(f"identity@{p:g}", disclosure.identity[place], words)
        for name, risks in disclosure.attribute.items():
            yield Figure.of(
                f"attribute@{p:g}:{name}", risks[place], f"{words[: words.index(':')]}: it has their {name}"
            )


def _members(membership: Membership | None) -> Iterator[Figure]:
    if membership is None:
        return
    words = "a person of the table lies nearer to the release than one held out; .5 is a guess"
    yield Figure.of("membership", membership.order, words)
    words = "right answers to whether a person is in the table; .5 is a guess"
    yield Figure.of("membership-answers", membership.answers, words)
    if membership.with_sensitive is not None:
        words = "as membership, among the rows with the person's sensitive values"
        yield Figure.of("membership-sensitive-known", membership.with_sensitive, words)


def _forms(classes: Classes) -> Iterator[Figure]:
    form = Aspect.FORM
    exact = "" if classes.is_generalized or classes.has_groups else _EXACT
    each = "group" if classes.has_groups else "class"
    yield Figure("k", classes.smallest, "rows of the smallest class of equal quasi-identifiers", form, note=exact)
    yield Figure("alone", classes.alone, "share of rows that are alone in their class", form)
    note = "" if classes.is_exact else "of a sample of classes"
    words = "largest share of the people a class may stand for who are in it"
    yield Figure("presence", classes.presence[1], words, form, note=note)
    for found in classes.diversity:
        name = found.attribute
        yield Figure(f"l:{name}", found.frequency, f"no {name} stands in more than 1/l of a {each}", form)
        yield Figure(f"distinct:{name}", found.distinct, f"different {name} in each {each}", form)
        yield Figure(f"entropy:{name}", found.entropy, f"entropy l-diversity of {name}", form)
        words = f"c of recursive (c, {found.level})-diversity of {name}"
        yield Figure(f"recursive:{name}", found.recursive, words, form)
        yield Figure(f"t:{name}", found.closeness, f"t-closeness of {name}", form)


def _worth(assessment: Assessment) -> Iterator[Figure]:
    worth, loss = Aspect.WORTH, assessment.loss
    if loss.total_move is not None and loss.move is not None:
        yield Figure("loss", loss.total_move, "information loss, as moves of values", worth)
        for name, move in loss.move.items():
            yield Figure(f"loss:{name}", move, f"information loss of {name}, as moves", worth)
    yield Figure("width", loss.total_width, "information loss, as widths of ranges", worth)
    for name, width in loss.width.items():
        yield Figure(f"width:{name}", width, f"information loss of {name}, as widths", worth)
    for error in assessment.queries:
        words = f"{error.aggregate.upper()} queries of {error.width} predicates: "
        suffix = f"@{error.width}" + ("" if error.aggregate is Aggregate.SUM else f":{error.aggregate}")
        yield Figure(f"query{suffix}", error.median, f"{words}median relative error", worth)
        yield Figure(f"query-mean{suffix}", error.mean, f"{words}mean relative error", worth)
        if error.supported is not None:
            yield Figure(
                f"query-supported{suffix}", error.supported, f"{words}mean where 100 records meet them", worth
            )
    distributions = assessment.distributions
    yield Figure(
        "association", distributions.mean_change, "mean change of the association of two attributes", worth
    )
    yield Figure("association-largest", distributions.largest_change, "largest change of an association", worth)
    for name, variation in distributions.total_variation.items():
        yield Figure(f"variation:{name}", variation, f"total variation of {name}", worth)
    if assessment.models is not None:
        yield from _models(assessment.models)


def _models(models: Models) -> Iterator[Figure]:
    worth, note = Aspect.WORTH, models.note
    for found in models.learned:
        words = f"a model trained on the release tells {found.attribute} ({found.target}) of people it has not seen"
        if not found.held_out:
            words = f"the same people's rows trained it: a model tells {found.attribute} ({found.target})"
        name = f"learning:{found.attribute}"
        yield Figure(name, found.release, words, worth, raw=found.original, chance=found.majority, note=note)
    if models.propensity is not None:
        words = "how much better than two samples of one table a tree tells both apart: 1 is as good as a sample"
        yield Figure("propensity", models.propensity.ratio, words, worth, note=note)
        yield Figure("pmse", models.propensity.pmse, "the propensity score (pMSE) itself", worth, note=note)
