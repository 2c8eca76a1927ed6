"""What an assessment says in words: to a lawyer in one sentence, to a regulator in WP216's, and its limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muco.assess.knows import list_known, name_informed, shorten_informed, tell_why_proven
from muco.assess.rate import Risk
from muco.promise import FEWEST
from muco.switches import Method, Principle

if TYPE_CHECKING:
    from muco.assess.assessment import Assessment
    from muco.assess.informed import Informed

# Choices of regulators, not laws of nature; the first is usual for a release to the public.
THRESHOLDS = (0.09, 0.075, 0.05)


@dataclass(frozen=True, slots=True)
class Finding:
    """One of WP216's three questions; `value` is what is held against the thresholds, None if not measured."""

    term: str
    value: float | None
    words: str

    @property
    def meets(self) -> tuple[float, ...]:
        """The thresholds that the value stays within."""
        return tuple(bound for bound in THRESHOLDS if self.value is not None and self.value <= bound)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`sentence` first; then what is proven, what is only measured, and what neither says."""

    sentence: str
    risk: float | None
    findings: tuple[Finding, ...]
    proven: tuple[str, ...]
    measured: tuple[str, ...]
    limits: tuple[str, ...]

    def __str__(self) -> str:
        return self.sentence

    @staticmethod
    def of(assessment: Assessment) -> Verdict:
        """The words for an assessment; every number in them is one of its figures."""
        return Verdict(
            _sentence(assessment),
            assessment.risk,
            (_singling(assessment), _linkability(assessment), _inference(assessment)),
            tuple(_proven(assessment)),
            tuple(_measured(assessment)),
            tuple(_limits(assessment)),
        )


def percent(share: float) -> str:
    """A share in words.

    >>> percent(0.0478), percent(1.0), percent(0.00002)
    ('4.8 %', '100 %', '0.002 %')
    """
    if 0 < share < 0.001:
        return f"{100 * share:.2g} %"
    return f"{100 * share:.1f} %".replace(".0 %", " %")


def coarse(share: float, people: int) -> str:
    """A measured share in words that may be public: they count no fewer than ten of so many people.

    >>> coarse(0.002, 2_000), coarse(0.999, 2_000), coarse(0.0478, 2_000), coarse(0.0, 2_000)
    ('less than 0.5 %', 'more than 99.5 %', '4.8 %', '0 %')
    """
    few = fewest_share(people)
    if 0 < share < few:
        return f"less than {percent(few)}"
    return f"more than {percent(1 - few)}" if 1 - few < share < 1 else percent(share)


def fewest_share(people: int) -> float:
    """The smallest share of so many people that is told: ten of them, or a thousandth."""
    return min(1.0, max(0.001, FEWEST / max(people, 1)))


def _sentence(assessment: Assessment) -> str:
    people, someone = assessment.records, name_informed(assessment.method)
    if assessment.method is Method.ANATOMY and assessment.informed is not None:
        return _sentence_of_groups(assessment, assessment.informed)
    if assessment.proven is not None:
        given = "" if _is_blind(assessment) else " (the groups taken as given)"
        return (
            f"{someone} finds a person's row{given} with probability at most {percent(assessment.proven)}; this "
            "is proven, not estimated."
        )
    if assessment.informed is not None:
        mean = coarse(assessment.informed.record.rate.value, people)
        sure = coarse(assessment.informed.spread.above_nine_tenths, people)
        return (
            f"{someone} gives a person's own row a probability of {mean} on average, and is at least 90 % sure "
            f"of it, rightly, for {sure} of people; this is measured on this release and no bound."
        )
    if assessment.linkage is None:
        return (
            "It is not known which row stands for whom, so how often somebody is found could not be measured; what "
            "follows describes the table and not the risk to a person."
        )
    rate = assessment.linkage.identity.rate
    found, low, high = (coarse(share, people) for share in (rate.value, rate.low, rate.high))
    return (
        "Someone who knows all quasi-identifiers of a person and takes the nearest row finds the right one in "
        f"{found} of cases (between {low} and {high}); this is "
        "measured and no bound, and how the release was made is not known here, so nobody who knows it was tried."
    )


def _sentence_of_groups(assessment: Assessment, informed: Informed) -> str:
    """Anatomy hides nobody's row, only which sensitive value of its group is theirs."""
    mean = coarse(informed.record.rate.value, assessment.records)
    found = assessment.classes.diversity[0]
    return (
        "Quasi-identifiers are released as they are: someone who knows a person's, and the groups, finds the "
        f"person's row in {mean} of cases, and sees that the person is in the table. The row names a group and not "
        f"the person's {found.attribute}: the group tells that with probability at most "
        f"{percent(1 / found.frequency)}, the groups taken as given."
    )


def _is_blind(assessment: Assessment) -> bool:
    """Whether the groups were formed without a look at sensitive values."""
    return assessment.policy.principle is Principle.ANONYMITY


def _singling(assessment: Assessment) -> Finding:
    people = assessment.records
    risk = assessment.disclosure.singling_out
    if risk is None:
        return Finding("singling out", None, "not measured: which row is whose is not known")
    words = f"{coarse(risk.rate.value, people)} of people have one row alone that equals them, and it is theirs"
    return Finding("singling out", risk.rate.value, words + _against(risk, people))


def _linkability(assessment: Assessment) -> Finding:
    people = assessment.records
    risk = assessment.linkage.identity if assessment.linkage else None
    if assessment.proven is not None:
        words = f"a released row is linked to its person with probability at most {percent(assessment.proven)}"
        return Finding(
            "linkability", assessment.proven, words + (_against(risk, people, "nearest rows: ") if risk else "")
        )
    if risk is None:
        return Finding("linkability", None, "not measured: which row is whose is not known")
    words = f"the nearest row is the person's in {coarse(risk.rate.value, people)} of cases"
    if assessment.informed is not None:
        mean = coarse(assessment.informed.record.rate.value, people)
        words = f"{shorten_informed(assessment.method)} gives the right row {mean} on average; {words}"
    return Finding("linkability", assessment.risk, words + _against(risk, people))


def _inference(assessment: Assessment) -> Finding:
    known = _inferences(assessment)
    if not known:
        return Finding("inference", None, "not measured: the policy names no sensitive attribute")
    people = assessment.records
    name, risk = max(known.items(), key=lambda item: _excess(item[1]))
    words = f"{name} is guessed right for {coarse(risk.rate.value, people)} of people by their nearest rows"
    if risk.adversary.startswith("A1"):
        found = coarse(risk.rate.value, people)
        who = shorten_informed(assessment.method)
        words = f"{who} gives a person's {name} a probability of {found} on average"
    elif assessment.linkage is None:
        words = f"{coarse(risk.rate.value, people)} of the rows that match a person have their {name}"
    return Finding("inference", _excess(risk), f"{words}{_against(risk, people)}: what is above chance counts")


def _inferences(assessment: Assessment) -> dict[str, Risk]:
    if assessment.linkage is not None:
        nearest, informed = assessment.linkage.attribute, assessment.informed
        return {
            name: max([risk, informed.attribute[name]] if informed else [risk], key=_excess)
            for name, risk in nearest.items()
        }
    return {name: max(risks, key=_excess) for name, risks in assessment.disclosure.attribute.items()}


def _excess(risk: Risk) -> float:
    """What an attack wins above chance, as a share of what could be won."""
    chance = risk.chance.value if risk.chance else 0.0
    return max(0.0, (risk.rate.value - chance) / (1 - chance)) if chance < 1 else 0.0


def _against(risk: Risk, people: int, before: str = "") -> str:
    parts = [f"{before}{coarse(risk.rate.value, people)}"] if before else []
    parts += [f"raw table {coarse(risk.raw.value, people)}"] if risk.raw else []
    parts += [f"chance {coarse(risk.chance.value, people)}"] if risk.chance else []
    return f" ({', '.join(parts)})" if parts else ""


def _proven(assessment: Assessment) -> Iterator[str]:
    if assessment.proven is not None:
        alone = assessment.policy.household is None
        of = "one over the smallest group" if alone else "the largest share of a group that one household has"
        yield (
            f"Linking by {list_known(assessment.method)}: at most {percent(assessment.proven)}, {of}, because "
            f"{tell_why_proven(assessment.method)}."
        )
    if _is_blind(assessment) and assessment.proven is not None:
        yield (
            "Rerunning the partition (minimality attack): no sensitive value was looked at when groups were "
            "formed, so the choice of groups tells nothing of them."
        )
    if assessment.classes.has_groups:
        for found in assessment.classes.diversity:
            most = percent(1 / found.frequency)
            yield (
                f"Guessing a person's {found.attribute} by their group: at most {most}, the "
                "largest share that one value has of a group, the groups taken as given."
            )


def _measured(assessment: Assessment) -> Iterator[str]:
    people = assessment.records
    for figure in assessment.figures:
        if figure.name in {"nearest", "sensitive-known", "untouched-known", "informed", "singling"}:
            controls = [
                f"{what} {coarse(value, people)}"
                for what, value in (("raw table", figure.raw), ("chance", figure.chance))
                if value is not None
            ]
            beside = f" ({', '.join(controls)})" if controls else ""
            yield f"{figure.words[0].upper()}{figure.words[1:]}: {coarse(figure.value, people)}{beside}."


def _limits(assessment: Assessment) -> Iterator[str]:
    people = assessment.records
    if assessment.proven is not None and not _is_blind(assessment):
        yield (
            "The proof takes the groups as given. They were formed by looking at sensitive values; what that "
            "choice tells one who reruns the algorithm (minimality attack) is outside it."
        )
    if assessment.proven is None:
        yield "Measured rates hold for the attacks that were tried; a cleverer one may do better."
    if assessment.classes.has_groups:
        yield "The groups were formed by looking at sensitive values; what that choice tells is not measured."
    if assessment.delta_is_number and assessment.method in {None, Method.MUCO}:
        yield (
            f"Delta {assessment.policy.delta} limits an average, one attribute at a time. It bounds no linking: "
            "who knows groups and tables may find a person with much higher probability."
        )
    if assessment.with_sensitive is not None:
        found = coarse(assessment.with_sensitive.identity.rate.value, people)
        yield f"Who knows a person's sensitive values too finds the row by nearest values for {found} of people."
    if assessment.with_untouched is not None:
        found = coarse(assessment.with_untouched.identity.rate.value, people)
        yield f"Untouched columns are not protected: with all of them known, {found} of people are found."
    if not assessment.is_aligned:
        yield (
            "Without knowing which row is whose, neither identity disclosure nor linking can be measured. Name a "
            "column that tells it (record), or muco's hidden file (hidden); of its own Mondrian and Anatomy, muco "
            "writes what linking finds into the certificate as it anonymizes."
        )
    yield "That a person is in the table is not hidden. Another release of the same people is a new decision."
