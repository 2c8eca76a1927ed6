"""The paper's running example (Figures 1 to 4, and Helen): twelve people who fit what its text says of them.

The figures' cells are not in the paper's text. It says that Daphne 28, Helen 28 and Dean 29 cover each other, that
the 2-anonymous table's third class is pneumonia twice, Dave among it, that the 5-diverse table has two groups and
both answer "older than 30", and that mutual cover has four groups at delta 1/2. The rest here is invented.

No strict Mondrian makes both generalised tables. If l = 5 may be cut at the median, k = 2 is cut there too, so the
third class lies whole in one 5-diverse group; its two equal diseases need that group to have ten people. So the
classes are listed, not cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from muco.arrays import Offsets
from muco.microdata import Batch, Groups, Key, Microdata
from muco.output_table import OutputTable
from muco.paper.plan import key_of
from muco.policy import Policy
from muco.scale import Reals
from muco.steps import calculate_table, calculate_tables, draw_values, repair_tuples

if TYPE_CHECKING:
    import polars as pl

PEOPLE = (
    ("Amy", "female", 22, "flu"),
    ("Bill", "male", 23, "gastritis"),
    ("Daphne", "female", 28, "bronchitis"),
    ("Helen", "female", 28, "dyspepsia"),
    ("Dean", "male", 29, "ulcer"),
    ("Dave", "male", 33, "pneumonia"),
    ("Emma", "female", 35, "pneumonia"),
    ("Frank", "male", 41, "flu"),
    ("Grace", "female", 42, "bronchitis"),
    ("Henry", "male", 51, "gastritis"),
    ("Irene", "female", 52, "ulcer"),
    ("Jack", "male", 53, "dyspepsia"),
)
CLASSES = {"2-anonymity": (2, 3, 2, 2, 3), "5-diversity": (6, 6)}  # sizes, in the order of age
COVERED = (2, 3, 4, 3)  # the four groups of mutual cover
DELTA = Fraction(1, 2)
# Helen's row and Dean's chance of 28 as Figure 3 has them, at which the paper's solver stopped: 1 - 2 * .2871.
PAPER_KEEPS, PAPER_PROBABILITY = 0.7129, 0.3741
PAPER_DEAN = 1 - 2 * (1 - PAPER_KEEPS)


@dataclass(frozen=True, slots=True)
class SmallTable:
    """What Figures 1 to 4 show, for the twelve people."""

    people: pl.DataFrame  # Figures 1 and 4: name, gender, age, disease, and age in both generalised tables
    tables: tuple[OutputTable, ...]  # Figure 3, of age
    members: tuple[tuple[str, ...], ...]  # whose rows these are
    ages: pl.DataFrame  # Figure 2: people at each age, in expectation: original, 5-diversity, mutual cover
    released: pl.DataFrame  # Figure 4, after mutual cover of age and gender

    @property
    def helen(self) -> OutputTable:
        """The random output table of Daphne, Helen and Dean."""
        return self.tables[self.place("Helen")]

    def place(self, name: str) -> int:
        """The group of somebody."""
        return next(place for place, names in enumerate(self.members) if name in names)

    @staticmethod
    def of() -> SmallTable:
        """Make them, by the engine's own steps."""
        import polars as pl

        people = pl.DataFrame(PEOPLE, schema=["name", "gender", "age", "disease"], orient="row")
        ranges = {name: _ranges(people["age"].to_numpy(), sizes) for name, sizes in CLASSES.items()}
        policy = Policy.of(
            quasi=["gender", "age"],
            sensitive="disease",
            identifier="name",
            diversity=2,
            delta=DELTA,
            attributes={"age": {"kind": "continuous"}, "gender": {"kind": "categorical"}},
        )
        microdata = Microdata.of(people, policy, key=key_of(0))
        starts = np.array([0, *accumulate(COVERED)], dtype=np.int64)
        groups = Groups(microdata, np.arange(len(people)), starts, np.arange(len(COVERED)))
        tables = tuple(calculate_table(group, "age") for group in groups)
        names = people["name"].to_list()
        return SmallTable(
            people.with_columns(*(pl.Series(name, texts) for name, texts in ranges.items())),
            tables,
            tuple(tuple(names[record] for record in group.records) for group in groups),
            _count_ages(people["age"].to_numpy(), tables),
            _release(groups, people),
        )


def match_probability(keeps: float, others: Sequence[float]) -> float:
    """The chance that somebody is found by one value: Σ_i p(own = v, num(v) = i) / i (the paper's Example 1).

    `keeps` is p(own = v), `others` the chances of v of everybody else who may carry it.

    >>> match_probability(1.0, [1.0])
    0.5
    """
    counts = np.ones(1)
    for chance in others:
        counts = np.convolve(counts, [1 - chance, chance])
    return float(keeps * (counts / np.arange(1, len(counts) + 1)).sum())


def find_by_age(table: OutputTable, who: int, age: int) -> float:
    """`match_probability` of one record of an output table."""
    column = table.probabilities[:, table.values.index(age)]
    return match_probability(float(column[who]), np.delete(column, who).tolist())


def _ranges(ages: Offsets, sizes: Sequence[int]) -> list[str]:
    texts = []
    for first, size in zip(accumulate((0, *sizes)), sizes):
        low, high = ages[first], ages[first + size - 1]
        texts += [f"[{low}, {high}]"] * size
    return texts


def _count_ages(ages: Offsets, tables: Sequence[OutputTable]) -> pl.DataFrame:
    """How many people each release has at each age: a range spreads its people evenly, a table by its columns."""
    import polars as pl

    span = np.arange(ages.min(), ages.max() + 1)
    covered: Reals = np.zeros(len(span))
    for table in tables:
        np.add.at(covered, np.array(table.values) - span[0], table.probabilities.sum(axis=0))
    spread = {name: _spread(ages, sizes, span) for name, sizes in CLASSES.items()}
    original = np.bincount(ages - span[0], minlength=len(span)).astype(float)
    return pl.DataFrame({"age": span, "original": original, **spread, "mutual cover": covered})


def _spread(ages: Offsets, sizes: Sequence[int], span: Offsets) -> Reals:
    counts = np.zeros(len(span))
    for first, size in zip(accumulate((0, *sizes)), sizes):
        inside = (span >= ages[first]) & (span <= ages[first + size - 1])
        counts += inside * size / inside.sum()
    return counts


def _release(groups: Groups, people: pl.DataFrame) -> pl.DataFrame:
    """Figure 4: one draw under the first run's key, repaired as Algorithm 2 says."""
    import polars as pl

    key, batch = Key(key_of(0)), Batch(groups, 0, len(groups))
    tables = calculate_tables(batch)
    values, _, _ = repair_tuples(tables, draw_values(tables, batch, key), batch, key)
    drawn = {
        domain.attribute: domain.cells.gather(values[:, place])
        for place, domain in enumerate(groups.microdata.quasi)
    }
    return people.with_columns(*(pl.Series(name, cells) for name, cells in drawn.items())).drop("name")
