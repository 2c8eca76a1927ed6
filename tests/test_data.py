"""The paper's census table and Adult with its hierarchies: sizes, losses, and an independent Mondrian in numpy.

Where the notes of the method (measured on prototypes) and this tree differ, both figures stand in a comment, and
the bounds are drawn around what is measured here, over keys.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import muco
from muco.release import Hidden

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not (DATA / "census.csv").exists(), reason="../shared/data is not beside this project"),
]
KEY = "00" * 32
CENSUS = ("SEX", "AGE", "RELATE", "MARST", "RACE", "EDUC", "UHRSWORK")
CATEGORICAL = {name: {"kind": "categorical"} for name in ("SEX", "RELATE", "MARST", "RACE", "EDUC")}
PAPER: dict[str, Any] = {"preset": "paper", "delta": "1/6"}
PROVABLE: dict[str, Any] = {"preset": "provable"}
Integers = NDArray[np.int64]
Width = Callable[[Integers], float]


def mondrian(codes: Integers, sensitive: Integers, widths: Sequence[Width], diversity: int) -> set[frozenset[int]]:
    """Strict Mondrian under frequency l-diversity (docs/algebra/partition.md), written again from its words."""
    leaves, nodes = set(), [np.arange(len(codes))]
    while nodes:
        node = nodes.pop()
        here = codes[node]
        ranked = sorted(range(here.shape[1]), key=lambda a: -widths[a](here[:, a]))
        for attribute in ranked:
            column = np.sort(here[:, attribute])
            if column[0] == column[-1]:
                continue
            cut = column[(len(column) - 1) // 2]
            cut = column[column < column[-1]][-1] if cut == column[-1] else cut
            sides = node[here[:, attribute] <= cut], node[here[:, attribute] > cut]
            if all(np.bincount(sensitive[side]).max() * diversity <= len(side) for side in sides):
                nodes += sides
                break
        else:
            leaves.add(frozenset(node.tolist()))
    return leaves


def leaves_of(hidden: Hidden) -> set[frozenset[int]]:
    """The records of each leaf of a run."""
    groups = hidden.outcome.groups
    leaf = np.repeat(groups.leaves, groups.sizes)
    return {frozenset(groups.order[leaf == number].tolist()) for number in range(groups.leaves.max() + 1)}


def unchanged(hidden: Hidden) -> int:
    return int((hidden.outcome.original == hidden.outcome.released).all(axis=1).sum())


# ---- the paper's census table


@pytest.fixture(scope="module")
def census() -> pl.DataFrame:
    return pl.read_csv(DATA / "census.csv")


def census_run(
    census: pl.DataFrame, *, kinds: dict[str, Any], key: str = KEY, **switches: Any
) -> tuple[Any, Hidden]:
    attributes = {**kinds, "OCC": {"role": "other"}}
    policy = muco.Policy.of(quasi=CENSUS, sensitive="INCWAGE", attributes=attributes, **switches)
    return muco.anonymize_with_hidden(census, policy, key=key)


def test_table_1_the_domains_have_the_papers_sizes(census: pl.DataFrame) -> None:
    assert len(census) == 40_152
    assert [census[name].n_unique() for name in (*CENSUS, "INCWAGE")] == [2, 55, 13, 6, 9, 10, 95, 851]
    assert (census["INCWAGE"].min(), census["INCWAGE"].max()) == (4, 718_000)


def test_the_census_leaves_are_those_of_an_independent_mondrian(census: pl.DataFrame) -> None:
    columns = [np.unique(census[name].to_numpy(), return_inverse=True) for name in CENSUS]
    codes = np.stack([code for _, code in columns], axis=1)
    sensitive = np.unique(census["INCWAGE"].to_numpy(), return_inverse=True)[1]

    def width_of(values: Integers) -> Width:
        return lambda column: float(values[column.max()] - values[column.min()]) / float(values[-1] - values[0])

    made = mondrian(codes, sensitive, [width_of(values) for values, _ in columns], 10)
    _, hidden = census_run(census, kinds={}, **PAPER, grouping="leaves")
    assert leaves_of(hidden) == made
    assert len(made) == 1_411  # the notes: 1,300, by the authors' ranking


@pytest.mark.parametrize(
    ("kinds", "switches", "low", "high"),
    [
        # The notes' prototypes: 13,600 (paper) and 12,300 (provable), on another partition and with every code a
        # number; its section 3 promises a loss about 35 % below theirs. Measured here: 5,170 and 8,680 with
        # numbers, 8,292 and 14,068 with the five categories as such (0/1 distances; these depend on the order of
        # the attributes, which breaks ties).
        ({}, PAPER, 5_000, 5_350),
        ({}, PROVABLE, 8_450, 8_900),
        (CATEGORICAL, PAPER, 8_000, 8_600),
        (CATEGORICAL, PROVABLE, 13_700, 14_400),
    ],
    ids=["paper-numbers", "provable-numbers", "paper-categories", "provable-categories"],
)
def test_the_census_run_has_the_measured_groups_and_loss(
    census: pl.DataFrame, kinds: dict[str, Any], switches: dict[str, Any], low: int, high: int
) -> None:
    for key in ("00" * 32, "01" * 32, "02" * 32):
        release, hidden = census_run(census, kinds=kinds, key=key, **switches)
        assert low < release.summary.information_loss < high
        assert 3_500 < release.summary.groups < 3_700
        assert (hidden.outcome.groups.sizes.min(), hidden.outcome.groups.sizes.max()) == (10, 19)
        if switches is PAPER:
            assert release.summary.information_loss <= 14_000
            assert unchanged(hidden) == 0


def test_the_census_loss_rises_as_delta_falls_as_in_section_5_2(census: pl.DataFrame) -> None:
    runs = [census_run(census, kinds={}, preset="paper", delta=delta)[0] for delta in ("1/5", "1/6", "1/8", "1/10")]
    losses = [release.summary.information_loss for release in runs]
    assert losses == sorted(losses)


def test_the_census_loss_rises_with_l_against_section_5_4(census: pl.DataFrame) -> None:
    # The paper (and the notes' prototype, 13,600 -> 9,800) has it falling from l = 10 to 20. Measured here: 5,170
    # -> 5,620. At l = 20 heaped wages leave 152 leaves of 1,411, and what wider leaves cost is more than what
    # larger groups spare, because the leaves at l = 10 are already so much closer than the authors'.
    losses = [
        census_run(census, kinds={}, **PAPER, diversity=diversity)[0].summary.information_loss
        for diversity in (10, 20)
    ]
    assert losses[0] < losses[1] < 6_000


def test_the_census_groups_keep_frequency_10(census: pl.DataFrame) -> None:
    _, hidden = census_run(census, kinds={}, **PROVABLE)
    groups = hidden.outcome.groups
    group = np.repeat(np.arange(len(groups)), groups.sizes)
    counts = pl.DataFrame({"group": group, "wage": census["INCWAGE"][groups.order]}).group_by("group", "wage").len()
    largest = counts.group_by("group").agg(pl.col("len").max()).sort("group")["len"].to_numpy()
    assert (largest * 10 <= groups.sizes).all()


# ---- Adult, with its nine hierarchies


@pytest.fixture(scope="module")
def adult() -> pl.DataFrame:
    return pl.read_csv(DATA / "adult" / "adult.csv", separator=";")


def adult_run(adult: pl.DataFrame, **switches: Any) -> tuple[Any, Hidden]:
    roles = {name: "sensitive" if name == "occupation" else "quasi" for name in adult.columns}
    attributes = {
        name: {"role": role, "hierarchy": {"file": f"hierarchy_{name}.csv"}} for name, role in roles.items()
    }
    policy = muco.Policy.of(attributes=attributes, diversity=5, **switches).inlined(DATA / "adult")
    return muco.anonymize_with_hidden(adult, policy, key=KEY)


def ancestries(name: str) -> dict[str, list[str]]:
    """Each leaf of a hierarchy file and what stands above it, level by level."""
    with (DATA / "adult" / f"hierarchy_{name}.csv").open(newline="") as file:
        return {row[0]: row for row in csv.reader(file, delimiter=";")}


def tree_width(name: str, cells: Sequence[Any]) -> Width:
    """The height of the lowest common ancestor of all of a node's values, over that of the whole table's."""
    known = ancestries(name)
    levels = [known[str(cell)] for cell in cells]

    def height(codes: Integers) -> int:
        rows = [levels[code] for code in np.unique(codes)]
        return next(level for level, labels in enumerate(zip(*rows, strict=True)) if len(set(labels)) == 1)

    top = height(np.arange(len(cells)))
    return lambda column: height(column) / top


def test_the_adult_leaves_are_those_of_an_independent_mondrian(adult: pl.DataFrame) -> None:
    _, hidden = adult_run(adult, preset="paper", delta="1/5", grouping="leaves")
    microdata = hidden.outcome.groups.microdata
    widths = [tree_width(domain.attribute, domain.cells.to_list()) for domain in microdata.quasi]
    sensitive = np.unique(adult["occupation"].to_numpy(), return_inverse=True)[1]
    made = mondrian(microdata.codes.astype(np.int64), sensitive, widths, 5)
    assert leaves_of(hidden) == made
    assert len(made) > 100


def test_adult_codes_keep_the_siblings_of_a_tree_together(adult: pl.DataFrame) -> None:
    _, hidden = adult_run(adult, **PROVABLE)
    for domain in hidden.outcome.groups.microdata.quasi:
        known = ancestries(domain.attribute)
        for labels in zip(*(known[str(cell)] for cell in domain.cells), strict=True):
            runs = [label for label, before in zip(labels, [None, *labels]) if label != before]
            assert len(runs) == len(set(labels))


@pytest.mark.parametrize("switches", [{"preset": "paper", "delta": "1/5"}, PROVABLE], ids=["paper", "provable"])
def test_the_adult_run_keeps_its_promises(adult: pl.DataFrame, switches: dict[str, Any]) -> None:
    release, hidden = adult_run(adult, **switches)
    outcome = hidden.outcome
    assert release.data.schema == adult.schema
    assert outcome.smallest_group >= 5
    for name in adult.columns:
        assert set(release.data[name]) <= set(adult[name])
    assert release.data["occupation"].equals(adult["occupation"][hidden.rows.tolist()])
    if switches is PROVABLE:
        parts = (np.split(codes, outcome.groups.starts[1:-1]) for codes in (outcome.original, outcome.released))
        assert all(np.array_equal(np.sort(a, axis=0), np.sort(b, axis=0)) for a, b in zip(*parts))
    else:
        assert unchanged(hidden) == outcome.unrepairable
