"""What became of a sentence of the paper: a claim, in our words, and a verdict for each way to read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


class Verdict(StrEnum):
    """Whether what came out is what the sentence says."""

    HOLDS = "holds"
    PARTLY = "partly"
    FAILS = "fails"


@dataclass(frozen=True, slots=True)
class Finding:
    """What came out under one reading, such as grouping buckets with four predicates."""

    reading: str
    verdict: Verdict
    came_out: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper in our words, where it stands, and what came out."""

    address: str
    sentence: str
    findings: tuple[Finding, ...]


def judge(facts: Iterable[bool]) -> Verdict:
    """All of them hold, none does, or some do.

    >>> judge([True, False])
    <Verdict.PARTLY: 'partly'>
    """
    known = list(facts)
    if known and all(known):
        return Verdict.HOLDS
    return Verdict.PARTLY if any(known) else Verdict.FAILS


def judge_rise(values: Sequence[float]) -> Verdict:
    """It rises at every step; only from first to last; or not even that.

    >>> [str(judge_rise(values)) for values in ([1, 2, 3], [1, 3, 2], [2, 3, 1])]
    ['holds', 'partly', 'fails']
    """
    if len(values) < 2:
        return Verdict.FAILS
    if is_rising(values):
        return Verdict.HOLDS
    return Verdict.PARTLY if values[0] < values[-1] else Verdict.FAILS


def judge_fall(values: Sequence[float]) -> Verdict:
    """The same, falling."""
    return judge_rise([-value for value in values])


def is_rising(values: Sequence[float]) -> bool:
    """Whether each value is above the one before."""
    return all(before < after for before, after in pairwise(values))


def is_falling(values: Sequence[float]) -> bool:
    """Whether each value is below the one before."""
    return all(before > after for before, after in pairwise(values))


def say(value: float) -> str:
    """A figure as a reader wants it.

    >>> say(0.02257), say(1.8634), say(13577.2), say(0)
    ('.0226', '1.86', '13,577', '0')
    """
    if value == 0:
        return "0"
    if abs(value) < 1:
        return f"{value:.4f}".replace("0.", ".", 1)
    return f"{value:.2f}" if abs(value) < 100 else f"{value:,.0f}"


def say_all(values: Iterable[float]) -> str:
    """Several figures, in their order."""
    return " → ".join(map(say, values))


def say_range(values: Sequence[float]) -> str:
    """From the least to the greatest."""
    return f"{say(min(values))} to {say(max(values))}"


def to_frame(claims: Iterable[Claim]) -> pl.DataFrame:
    """A row a finding."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "address": claim.address,
                "claim": claim.sentence,
                "reading": finding.reading,
                "verdict": str(finding.verdict),
                "came_out": finding.came_out,
            }
            for claim in claims
            for finding in claim.findings
        ]
    )
