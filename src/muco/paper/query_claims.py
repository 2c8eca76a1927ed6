"""What Section 5.3 says of queries, for each partition and width: by the mean, as the paper, and by the median."""

from __future__ import annotations

from collections.abc import Iterator

from muco.paper.means import Means
from muco.paper.plan import READINGS, WIDTHS
from muco.paper.readings import Reading
from muco.paper.verdict import Claim, Finding, Verdict, is_rising, judge, judge_rise, say, say_range
from muco.switches import Method

LITTLE = 0.25  # "little influence": by less than a quarter
_NAMES = {Method.MONDRIAN: "Mondrian", Method.ANATOMY: "Anatomy"}


def claims_of_queries(means: Means) -> tuple[Claim, ...]:
    """The five sentences of Section 5.3, and one that precedes the experiments."""
    return (
        Claim(
            "Section 5.3",
            "MuCo answers queries much more accurately than Mondrian and Anatomy.",
            tuple(_better(means, *case, kind) for kind in ("mean", "median") for case in _cases()),
        ),
        Claim(
            "Section 5.3",
            "Its errors are more stable: their variance is lower.",
            tuple(_better(means, *case, "variance") for case in _cases()),
        ),
        Claim(
            "Section 5.3",
            "Its error fluctuates, and does not rise steadily with the level of protection.",
            tuple(_fluctuates(means, *case, kind) for kind in ("mean", "median") for case in _cases()),
        ),
        Claim(
            "Section 5.3",
            "More protection has little influence on its answers (here: by less than a quarter).",
            tuple(_little(means, *case, kind) for kind in ("mean", "median") for case in _cases()),
        ),
        Claim(
            "Section 5.3",
            "The errors of Mondrian and Anatomy rise with the level of protection.",
            (
                *(_rises(means, Method.MONDRIAN, *case) for case in _cases() if case[0] is case[0].generalized),
                *(_rises(means, Method.ANATOMY, Reading.LEAVES, width) for width in WIDTHS),
            ),
        ),
        Claim(
            "Section 5",
            "Anatomy always keeps the best information utility.",
            tuple(_best(means, *case, kind) for kind in ("mean", "median") for case in _cases()),
        ),
    )


def _cases() -> Iterator[tuple[Reading, int]]:
    return ((reading, width) for reading in READINGS for width in WIDTHS)


def _name(reading: Reading, width: int, kind: str) -> str:
    return f"{reading}, {width} predicates, {kind}"


def _better(means: Means, reading: Reading, width: int, kind: str) -> Finding:
    ours = means.error(reading, kind, width)
    theirs = {method: means.baseline_error(method, reading, kind, width) for method in _NAMES}
    facts = [max(ours) < min(values) for values in theirs.values()]
    words = "; ".join(f"{_NAMES[method]} {say_range(values)}" for method, values in theirs.items())
    return Finding(_name(reading, width, kind), judge(facts), f"MuCo {say_range(ours)}; {words}")


def _fluctuates(means: Means, reading: Reading, width: int, kind: str) -> Finding:
    ours = means.error(reading, kind, width)
    steady = is_rising(ours)
    came_out = "rises at every step" if steady else "does not rise at every step"
    return Finding(
        _name(reading, width, kind),
        Verdict.FAILS if steady else Verdict.HOLDS,
        f"{came_out}: {', '.join(map(say, ours))}",
    )


def _little(means: Means, reading: Reading, width: int, kind: str) -> Finding:
    ours = means.error(reading, kind, width)
    ratio = max(ours) / min(ours)
    return Finding(
        _name(reading, width, kind),
        judge([ratio <= 1 + LITTLE]),
        f"the greatest is {ratio:.2f} times the least, over δ = 1/5 to 1/10",
    )


def _rises(means: Means, method: Method, reading: Reading, width: int) -> Finding:
    by_mean, by_median = (means.baseline_error(method, reading, kind, width) for kind in ("mean", "median"))
    partition = f", {reading}" if method is Method.MONDRIAN else ""
    return Finding(
        f"{_NAMES[method]}{partition}, {width} predicates",
        judge_rise(by_mean),
        f"mean {', '.join(map(say, by_mean))}; median {', '.join(map(say, by_median))}",
    )


def _best(means: Means, reading: Reading, width: int, kind: str) -> Finding:
    ours, theirs = means.error(reading, kind, width), means.baseline_error(Method.ANATOMY, reading, kind, width)
    others = means.baseline_error(Method.MONDRIAN, reading, kind, width)
    facts = [max(theirs) < min(ours), max(theirs) < min(others)]
    return Finding(
        _name(reading, width, kind),
        judge(facts),
        f"Anatomy {say_range(theirs)}; MuCo {say_range(ours)}; Mondrian {say_range(others)}",
    )
