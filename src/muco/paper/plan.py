"""What of Section 5 is run: the table and the roles of its attributes, the paper's parameters, and how often."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from muco.errors import PolicyError, TableError
from muco.example import generate, policy_text
from muco.paper.readings import Reading
from muco.policy import Policy
from muco.switches import Grouping, Kind, Preset

if TYPE_CHECKING:
    import polars as pl

DELTAS = tuple(Fraction(1, n) for n in (5, 6, 7, 8, 10))
DIVERSITY = 10
BASELINE_DIVERSITIES = (8, 10, 12, 15, 18)
SWEPT_DIVERSITIES = (10, 12, 15, 18, 20)
SWEPT_DELTA = Fraction(1, 6)
WIDTHS = (4, 5)  # as the text says, and as the authors' script does
READINGS = tuple(Reading)

# The paper's table as its authors publish it: Table 1 of the paper names these attributes in words.
CENSUS = ("SEX", "AGE", "RELATE", "MARST", "RACE", "EDUC", "UHRSWORK")
CENSUS_SALARY = "INCWAGE"
CENSUS_NUMBERS = frozenset({"AGE", "UHRSWORK"})
EXAMPLE_NUMBERS = frozenset({"age", "hours_per_week"})
EXAMPLE_RECORDS = 10_000


class Kinds(StrEnum):
    """How the codes of the paper's table compare while records are divided, covered and measured.

    Queries take age and hours as numbers and all else as categories in either reading.
    """

    NUMBERS = "numbers"  # every code a number, as the authors' program has it
    TABLE = "table"  # age and hours numbers, all else categories without a hierarchy, as Table 1 says


@dataclass(frozen=True, slots=True)
class Plan:
    """One reproduction: a table, preset paper's policy for it, and how many runs and queries."""

    table: pl.DataFrame
    policy: Policy
    numbers: frozenset[str]  # the quasi-identifiers that are numbers in a query's condition
    source: str  # what the report says of the table
    arguments: str  # of the command that gives the same table
    is_census: bool
    runs: int = 10
    queries: int = 1_000

    @staticmethod
    def of_census(
        table: pl.DataFrame, *, kinds: Kinds = Kinds.NUMBERS, runs: int = 10, queries: int = 1_000
    ) -> Plan:
        """The paper's own table. Raises TableError for one that lacks its attributes."""
        absent = [name for name in (*CENSUS, CENSUS_SALARY) if name not in table.columns]
        if absent:
            raise TableError(
                f"the table has no attribute {', '.join(absent)}: the paper's experiments need quasi-identifiers "
                f"{', '.join(CENSUS)} and the sensitive {CENSUS_SALARY}. Leave --data out for the example table"
            )
        kind = dict.fromkeys(CENSUS_NUMBERS, Kind.CONTINUOUS)
        if kinds is Kinds.NUMBERS:
            kind = dict.fromkeys(CENSUS, Kind.CONTINUOUS)
        attributes = {name: {"kind": kind.get(name, Kind.CATEGORICAL)} for name in CENSUS}
        attributes[CENSUS_SALARY] = {"kind": Kind.CONTINUOUS}
        policy = Policy.of(quasi=CENSUS, sensitive=CENSUS_SALARY, attributes=attributes, delta=SWEPT_DELTA)
        said = {
            Kinds.NUMBERS: "every code a number, as the authors' program has it",
            Kinds.TABLE: "age and hours numbers, all else categories, as the paper's Table 1 has it",
        }
        return Plan(
            table.select(*CENSUS, CENSUS_SALARY),
            policy,
            CENSUS_NUMBERS,
            f"the given table of {len(table):,} records, with {said[kinds]}",
            f"--data CENSUS.csv --kinds {kinds}",
            is_census=True,
            runs=_checked(runs),
            queries=queries,
        )

    @staticmethod
    def of_example(records: int = EXAMPLE_RECORDS, *, runs: int = 10, queries: int = 1_000) -> Plan:
        """The example table, which is drawn from weights: shapes can be compared with the paper's, figures not."""
        import tomllib

        words: dict[str, Any] = tomllib.loads(policy_text(Preset.PAPER))
        return Plan(
            generate(records),
            Policy.parse(words),
            EXAMPLE_NUMBERS,
            f"the example table of {records:,} invented people, with its own hierarchies: not the paper's data",
            f"--records {records}",
            is_census=False,
            runs=_checked(runs),
            queries=queries,
        )

    @property
    def command(self) -> str:
        """What gives the same figures again."""
        return f"muco reproduce {self.arguments} --runs {self.runs} --queries {self.queries}"

    def policy_for(self, grouping: Grouping, diversity: int) -> Policy:
        """The policy with another l and another reading of the partition."""
        return self.policy.model_copy(update={"grouping": grouping, "diversity": diversity})


def key_of(run: int) -> bytes:
    """The key of a run, known to everybody: a reproduction repeats, and releases nothing."""
    return hashlib.sha256(f"muco reproduce {run}".encode()).digest()


def _checked(runs: int) -> int:
    if runs < 1:
        raise PolicyError(f"{runs} runs were asked for: ask for at least 1; the paper has 10")
    return runs
