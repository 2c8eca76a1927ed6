"""What of an assessment may stand in a public certificate: rates that count no fewer than ten people, and words."""

from __future__ import annotations

from typing import Any

from muco.assess.assessment import Assessment
from muco.assess.figures import Aspect, Figure
from muco.assess.verdict import coarse, fewest_share


def tell_achieved(assessment: Assessment) -> dict[str, Any]:
    """The achieved risks with intervals and controls, in plain words and in the regulator's (WP216).

    A rate of fewer than ten people is told as a bound, and so is one of all but fewer than ten. The largest risk
    of a single person (`single-value`) is left out: it is one person's.
    """
    verdict, people = assessment.verdict, assessment.records
    return {
        "verdict": verdict.sentence,
        "regulator": [
            {"question": each.term, "within": list(each.meets), "words": each.words} for each in verdict.findings
        ],
        "proven": list(verdict.proven),
        "measured": list(verdict.measured),
        "limits": list(verdict.limits),
        "risks": [
            _tell(figure, people)
            for figure in assessment.figures
            if figure.aspect is Aspect.RISK and not figure.name.startswith("single-value")
        ],
    }


def _tell(figure: Figure, people: int) -> dict[str, Any]:
    if figure.name == "proven":
        return {"figure": figure.name, "at_most": round(figure.value, 6), "words": figure.words}
    value = _rate(figure.value, people)
    told: dict[str, Any] = {"figure": figure.name, "value": value}
    if not isinstance(value, str) and figure.low is not None and figure.high is not None:
        told["interval"] = [round(figure.low, 3), round(figure.high, 3)]
    for name, control in (("raw_table", figure.raw), ("chance", figure.chance)):
        if control is not None:
            told[name] = _rate(control, people)
    return {**told, "words": figure.words, **({"note": figure.note} if figure.note else {})}


def _rate(share: float, people: int) -> float | str:
    few = fewest_share(people)
    return coarse(share, people) if 0 < share < few or 1 - few < share < 1 else round(share, 3)
