"""What Section 5 says of the experiments, held against what came out, under each reading.

Three readings of the partition (`readings`) and two widths of queries (four predicates in the text, five in the
authors' script). Words such as "similar" get a number
here, which the report names.
"""

from __future__ import annotations

from collections.abc import Iterator

from muco.paper.experiments import Results
from muco.paper.means import Means
from muco.paper.measures import MATCH_PROBABILITIES
from muco.paper.plan import READINGS, WIDTHS
from muco.paper.query_claims import claims_of_queries
from muco.paper.readings import Reading
from muco.paper.verdict import (
    Claim,
    Finding,
    Verdict,
    is_falling,
    is_rising,
    judge,
    judge_fall,
    judge_rise,
    say,
    say_all,
    say_range,
)

KINDS = ("identity", "attribute")
SIMILAR = 0.1  # "very similar": within a tenth
ALIKE = 2.0  # two methods' probabilities are "similar": within a factor of two
MUCH = 0.5  # "much less": below half


def claims_of_experiments(results: Results) -> tuple[Claim, ...]:
    """Each sentence of Section 5 that the experiments can answer."""
    means = Means(results)
    return (
        *_disclosure(means),
        *_baseline(means),
        *_loss(means),
        *claims_of_queries(means),
        *_influence(means),
    )


def _each(judged: Iterator[Finding]) -> tuple[Finding, ...]:
    return tuple(judged)


def _disclosure(means: Means) -> tuple[Claim, ...]:
    below = [p for p in MATCH_PROBABILITIES if p < 1]
    return (
        Claim("Section 5.1", "Identity and attribute disclosure fall as δ does.", _each(_falls(means, below))),
        Claim("Section 5.1", "At P_match = 1 nobody's identity is disclosed.", _each(_nobody(means))),
        Claim("Section 5.1", "Disclosure rises from P_match .3 to .7.", _each(_climbs(means))),
        Claim("Section 5.1", "It is very similar at .7 and .8 (here: within a tenth).", _each(_levels(means))),
        Claim("Section 5.1", "It falls above .8.", _each(_drops(means))),
        Claim(
            "Section 5.1",
            "An adversary who knows much of the target is confused still.",
            (_confusion(means),),
        ),
    )


def _curves(means: Means, reading: Reading) -> Iterator[dict[float, float]]:
    """Disclosure by P_match, one curve a δ and kind."""
    for kind in KINDS:
        series = {p: means.disclosure(reading, kind, p) for p in MATCH_PROBABILITIES}
        for values in zip(*series.values()):
            yield dict(zip(series, values))


def _falls(means: Means, below: list[float]) -> Iterator[Finding]:
    for reading in READINGS:
        series = [means.disclosure(reading, kind, p) for kind in KINDS for p in below]
        facts = [is_falling(values) for values in series]
        shown = means.disclosure(reading, "identity", 0.7)
        yield Finding(
            reading,
            judge(facts),
            f"{sum(facts)} of {len(facts)} curves fall throughout; identity at .7: {say_all(shown)}",
        )


def _nobody(means: Means) -> Iterator[Finding]:
    for reading in READINGS:
        most = max(means.disclosure(reading, "identity", 1.0))
        attribute = max(means.disclosure(reading, "attribute", 1.0))
        yield Finding(reading, judge([most == 0]), f"identity {say(most)}; attribute up to {say(attribute)}")


def _climbs(means: Means) -> Iterator[Finding]:
    for reading in READINGS:
        curves = list(_curves(means, reading))
        facts = [is_rising([curve[0.3], curve[0.5], curve[0.7]]) for curve in curves]
        yield Finding(reading, judge(facts), f"{sum(facts)} of {len(facts)} curves; {_second(means, reading)}")


def _second(means: Means, reading: Reading) -> str:
    """One curve whole, at the second δ, 1/6."""
    curve = {p: means.disclosure(reading, "identity", p) for p in MATCH_PROBABILITIES}
    return "identity at δ = 1/6: " + say_all(values[min(1, len(values) - 1)] for values in curve.values())


def _levels(means: Means) -> Iterator[Finding]:
    for reading in READINGS:
        ratios = [curve[0.8] / curve[0.7] for curve in _curves(means, reading) if curve[0.7]]
        facts = [abs(ratio - 1) <= SIMILAR for ratio in ratios]
        yield Finding(reading, judge(facts), f"at .8 it is {say_range(ratios)} of that at .7")


def _drops(means: Means) -> Iterator[Finding]:
    for reading in READINGS:
        facts = [is_falling([curve[0.8], curve[0.9], curve[1.0]]) for curve in _curves(means, reading)]
        yield Finding(reading, judge(facts), f"{sum(facts)} of {len(facts)} curves")


def _confusion(means: Means) -> Finding:
    most = max(max(means.disclosure(Reading.PROGRAM, "identity", p)) for p in MATCH_PROBABILITIES)
    linked = means.results.linkage
    return Finding(
        "program, δ = 1/6",
        Verdict.HOLDS if linked <= most else Verdict.PARTLY,
        f"of one who looks for equal values, yes: at most {say(most)}; one who knows all seven values and takes "
        f"the nearest row is right for {say(linked)} of the records",
    )


def _baseline(means: Means) -> tuple[Claim, ...]:
    return (
        Claim(
            "Section 5.2",
            "Mondrian's identity and attribute disclosure are the same (here: within a hundredth).",
            tuple(_same(means, reading) for reading in READINGS if reading is reading.generalized),
        ),
        Claim(
            "Section 5.2",
            "Mondrian's disclosure (l = 8 to 18) is like MuCo's at P_match = .7 (here: within a factor of two).",
            tuple(
                _alike(means, reading, p, name)
                for reading in READINGS
                for p, name in ((1.0, "Mondrian's at 1"), (0.7, "both at .7"))
            ),
        ),
    )


def _same(means: Means, reading: Reading) -> Finding:
    identity, attribute = (means.baseline_disclosure(reading, kind, 1.0) for kind in KINDS)
    facts = [abs(a / i - 1) <= 0.01 for i, a in zip(identity, attribute) if i]
    return Finding(
        f"{reading}, everything known",
        judge(facts),
        f"identity {say_all(identity)}, attribute {say_all(attribute)}",
    )


def _alike(means: Means, reading: Reading, p: float, name: str) -> Finding:
    ours, theirs = means.disclosure(reading, "identity", 0.7), means.baseline_disclosure(reading, "identity", p)
    facts = [1 / ALIKE <= a / b <= ALIKE for a, b in zip(ours, theirs) if b]
    return Finding(f"{reading}, {name}", judge(facts), f"Mondrian {say_all(theirs)}; MuCo {say_all(ours)}")


def _loss(means: Means) -> tuple[Claim, ...]:
    return (
        Claim(
            "Section 5.2",
            "MuCo's information loss rises as δ falls.",
            tuple(
                Finding(reading, judge_rise(means.loss(reading)), say_all(means.loss(reading)))
                for reading in READINGS
            ),
        ),
        Claim(
            "Section 5.2",
            "MuCo's loss, and the interval it spans, are much less than Mondrian's (here: below half).",
            tuple(
                _less(means, reading, kind, name)
                for reading in READINGS
                for kind, name in (("width", "widths beside moves, as the paper has it"), ("move", "moves of both"))
            ),
        ),
    )


def _less(means: Means, reading: Reading, kind: str, name: str) -> Finding:
    ours, theirs = means.loss(reading), means.baseline_loss(reading, kind)
    facts = [
        max(ours) < MUCH * min(theirs),
        max(ours) - min(ours) < MUCH * (max(theirs) - min(theirs)),
    ]
    return Finding(f"{reading}, {name}", judge(facts), f"MuCo {say_range(ours)}; Mondrian {say_range(theirs)}")


def _influence(means: Means) -> tuple[Claim, ...]:
    return (
        Claim(
            "Section 5.4",
            "At δ = 1/6 a larger l lowers the information loss.",
            _each(_swept_loss(means)),
        ),
        Claim(
            "Section 5.4",
            "A larger l raises the relative error.",
            _each(_swept_errors(means)),
        ),
    )


def _swept_loss(means: Means) -> Iterator[Finding]:
    for reading in READINGS:
        by_l = means.swept("move", reading)
        yield Finding(reading, judge_fall(list(by_l.values())), _by_l(by_l))


def _swept_errors(means: Means) -> Iterator[Finding]:
    for reading in READINGS:
        for width in WIDTHS:
            for kind in ("mean", "median"):
                by_l = means.swept(kind, reading, predicates=width)
                yield Finding(
                    f"{reading}, {width} predicates, {kind}", judge_rise(list(by_l.values())), _by_l(by_l)
                )


def _by_l(values: dict[int, float]) -> str:
    return f"l = {', '.join(map(str, values))}: {say_all(values.values())}"
