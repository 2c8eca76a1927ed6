"""What Sections 1 and 3 say of the running example, held against the twelve people of `small_table`."""

from __future__ import annotations

import numpy as np

from muco.output_table import OutputTable
from muco.paper.small_table import (
    CLASSES,
    PAPER_DEAN,
    PAPER_KEEPS,
    PAPER_PROBABILITY,
    SmallTable,
    find_by_age,
    match_probability,
)
from muco.paper.verdict import Claim, Finding, Verdict, judge, say

INTRODUCTION, EXAMPLE = "Section 1", "Section 3, Example 1"
NEAR = 5e-5  # the paper prints four decimals


def claims_of_example(small: SmallTable) -> tuple[Claim, ...]:
    """Each sentence on the generalised tables, the random output tables, and Helen."""
    return (*_generalized(small), *_distributions(small), *_helen(small))


def _claim(address: str, sentence: str, verdict: Verdict, came_out: str) -> Claim:
    return Claim(address, sentence, (Finding("twelve people", verdict, came_out),))


def _generalized(small: SmallTable) -> tuple[Claim, ...]:
    import polars as pl

    people = small.people
    classes = people.group_by("2-anonymity", maintain_order=True).agg(pl.col("disease").n_unique(), pl.len())
    third = classes.row(2, named=True)
    groups = people.group_by("5-diversity", maintain_order=True).agg(
        pl.col("disease").n_unique().alias("different"),
        pl.col("disease").value_counts().struct.field("count").max().alias("most"),
        pl.len(),
        pl.col("age").max().alias("high"),
    )
    most = float((groups["most"] / groups["len"]).max() or 0)  # type: ignore[arg-type]
    answers = groups.filter(pl.col("high") > 30).height
    rows = int((people["age"] > 30).sum())
    lost = {name: _width(small, name) for name in CLASSES}
    return (
        _claim(
            INTRODUCTION,
            "In the 2-anonymous table whoever looks for an age finds at least two records.",
            judge([int(classes["len"].min() or 0) >= 2]),  # type: ignore[arg-type]
            f"the classes have {', '.join(map(str, classes['len']))} records",
        ),
        _claim(
            INTRODUCTION,
            "Its third class has one disease only, so that Dave's is known though his record is not.",
            judge([third["disease"] == 1]),
            f"{third['len']} records, {third['disease']} disease",
        ),
        _claim(
            INTRODUCTION,
            "In the 5-diverse table no disease is above a fifth of its group, and an age leads to at least five.",
            judge([most <= 1 / 5, int(groups["different"].min() or 0) >= 5]),  # type: ignore[arg-type]
            f"{' and '.join(map(str, groups['different']))} diseases; the commonest is {say(most)} of its group",
        ),
        _claim(
            INTRODUCTION,
            "Who asks the 5-diverse table for people older than 30 gets both its groups.",
            judge([answers == groups.height]),
            f"{answers} of {groups.height} groups answer, with all {len(people)} records, where {rows} are meant",
        ),
        _claim(
            INTRODUCTION,
            "The 2-anonymous table keeps more detail than the 5-diverse one.",
            judge([lost["2-anonymity"] < lost["5-diversity"]]),
            f"ranges are {lost['2-anonymity']} and {lost['5-diversity']} years wide, summed over records",
        ),
    )


def _width(small: SmallTable, name: str) -> int:
    """Σ over records of the width of the range, less one."""
    import polars as pl

    span = pl.col("age").max() - pl.col("age").min()
    return int(small.people.select(span.over(name)).to_series().sum())


def _distributions(small: SmallTable) -> tuple[Claim, ...]:
    original = small.ages["original"].to_numpy()
    total = float(original.sum())
    apart = {
        name: float(np.abs(small.ages[name].to_numpy() - original).sum() / 2 / total)
        for name in ("2-anonymity", "5-diversity", "mutual cover")
    }
    supports = [int((column > 0).sum()) for table in small.tables for column in table.numerators.T if column.any()]
    return (
        _claim(
            INTRODUCTION,
            "The 5-diverse table hardly keeps the distribution of ages, mutual cover almost wholly.",
            judge([apart["5-diversity"] > 0.25, apart["mutual cover"] < 0.05]),
            f"total variation {say(apart['5-diversity'])} and {say(apart['mutual cover'])} (2-anonymity: "
            f"{say(apart['2-anonymity'])}); above .25 counts as hardly, below .05 as almost",
        ),
        _claim(
            "Section 3, Corollary 1",
            "At δ = 1/2 each age that may come out may come from at least two records.",
            judge([min(supports) >= 2, max(table.delta for table in small.tables) <= 0.5]),
            f"the fewest records behind an age: {min(supports)}; the largest ratio of Definition 3: "
            f"{max(table.delta for table in small.tables)}",
        ),
    )


def _age(table: OutputTable) -> int:
    return table.group.microdata.policy.quasi.index(table.attribute)


def _helen(small: SmallTable) -> tuple[Claim, ...]:
    table, members = small.helen, small.members[small.place("Helen")]
    who = members.index("Helen")
    keeps, leaves = table.probabilities[who].tolist()
    found = find_by_age(table, who, 28)
    theirs = match_probability(PAPER_KEEPS, [PAPER_KEEPS, PAPER_DEAN])
    cost = 2 * (1 - PAPER_KEEPS) + PAPER_DEAN  # years moved: two people 28 to 29, one 29 to 28
    ours = table.cost * table.group.microdata.quasi[_age(table)].distance.scale
    same, as_good = abs(keeps - PAPER_KEEPS) < NEAR, abs(ours - cost) < 1e-6
    verdict = Verdict.HOLDS if same else Verdict.PARTLY if as_good else Verdict.FAILS
    return (
        _claim(
            INTRODUCTION,
            "Helen's age comes out as 28 with probability .7129 and as 29 with .2871.",
            verdict,
            f"{say(keeps)} and {say(leaves)}: the centre of all optima; the paper's table is another, and either "
            f"moves {ours:.3f} years in expectation (the paper's: {cost:.3f})",
        ),
        _claim(
            EXAMPLE,
            "Helen is found by her age of 28 with probability about .3741.",
            judge([abs(theirs - PAPER_PROBABILITY) < NEAR]),
            f"the paper's formula on the paper's own table gives {say(theirs)}; on ours {say(found)}",
        ),
        _claim(
            EXAMPLE,
            "So she keeps her age with a high probability, and is found by it with a low one.",
            judge([keeps > 0.5, found < 0.5]),
            f"{say(keeps)} and {say(found)}",
        ),
    )
