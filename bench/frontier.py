"""The paper's setting, the provable ones and other tools on one table, ten keys each, for docs/frontier.md.

.venv/bin/python bench/frontier.py census --data ../shared/data
.venv/bin/python bench/frontier.py census --measure kinds --data ../shared/data
.venv/bin/python bench/frontier.py adult --diversity 20 --data ../shared/data
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import polars as pl

from muco.policy import Policy
from muco.switches import Method
from muco.tune.frontier import Frontier, compare_settings
from muco.tune.page import tell_figure
from muco.tune.score import RISKS, WORTHS
from muco.tune.setting import Setting, switched

CENSUS = ("SEX", "AGE", "RELATE", "MARST", "RACE", "EDUC", "UHRSWORK")
CATEGORIES = ("SEX", "RELATE", "MARST", "RACE", "EDUC")
ARX = "arx_local_frequency10.csv"
LARGER = (1.2, 1.3, 2.4)  # groups so many times as large as the diversity asked for
DRAWN = ((0.15, 4), (0.2, 8))  # temperature and rounds of the grouping sampled
HEADS = ("setting", "informed", "nearest", "exact", "query", "large", "association", "loss")


def read_census(folder: Path, kinds: str, diversity: int) -> tuple[pl.DataFrame, Policy]:
    """The paper's table; all codes are numbers, or those that are names are categories without a hierarchy."""
    kind = {name: {"kind": "categorical"} for name in CATEGORIES if kinds == "kinds"}
    policy = Policy.of(quasi=CENSUS, sensitive="INCWAGE", identifier="OCC", attributes=kind, diversity=diversity)
    return pl.read_csv(folder / "census.csv"), policy


def read_adult(folder: Path, sensitive: str, diversity: int) -> tuple[pl.DataFrame, Policy]:
    """UCI Adult with its hierarchies; age is a number where it is sensitive, so that queries sum it."""
    table = pl.read_csv(folder / "adult" / "adult.csv", separator=";")
    attributes = {
        name: {"role": "quasi", "hierarchy": {"file": f"hierarchy_{name}.csv"}}
        for name in table.columns
        if name != sensitive
    }
    attributes[sensitive] = {"role": "sensitive"}
    if sensitive != "age":
        attributes["age"] = {"role": "quasi"}
    policy = Policy.of(attributes=attributes, diversity=diversity)
    return table, policy.inlined(folder / "adult")


def settings(policy: Policy) -> Iterator[Setting]:
    """The paper's δ, or the smallest that the diversity allows; the default; what was found to be better."""
    level = policy.diversity
    strength = min(6, level)
    tight = {"sweep": "table", "exchanges": 4}
    yield Setting(f"paper 1/{strength}", switched(policy, delta=Fraction(1, strength)))
    yield Setting("provable", switched(policy))
    for more in LARGER if level == 10 else LARGER[:2]:
        near = math.ceil(level * more - 1e-9)
        yield Setting(f"l = {near}, whole table, exchanges", switched(policy, diversity=near, **tight))
    for warmth, rounds in DRAWN:
        drawn = switched(policy, grouping="sampled", temperature=warmth, exchanges=rounds)
        yield Setting(f"sampled, T {warmth:g}, {rounds} rounds", drawn)
    yield Setting("Mondrian", switched(policy), Method.MONDRIAN)


def tell(frontier: Frontier) -> Iterator[str]:
    """A table in Markdown: means, 1.96 standard errors to either side."""
    yield "| " + " | ".join(HEADS) + " |"
    yield "|" + "---|" * len(HEADS)
    for standing in frontier.standings:
        cells = [tell_figure(standing, figure) for figure in (*RISKS, *WORTHS)]
        yield "| " + " | ".join((standing.setting.name, *(cells if standing.scores else [standing.refusal]))) + " |"


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["census", "adult"])
    parser.add_argument("--data", type=Path, required=True, help="the folder of census.csv, adult/ and releases/")
    parser.add_argument("--diversity", type=int, default=10)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument(
        "--kinds", choices=["numbers", "kinds"], default="numbers", help="what the census codes are"
    )
    parser.add_argument(
        "--measure", choices=["numbers", "kinds"], help="as what they are measured: as --kinds says"
    )
    parser.add_argument("--queries", type=int, default=0, metavar="SET", help="which set of queries is asked")
    parser.add_argument(
        "--only", default="", metavar="START", help="settings whose names begin so, such as sampled"
    )
    parser.add_argument("--sensitive", default="age", help="the sensitive attribute of Adult")
    given = parser.parse_args()
    if given.table == "adult":
        table, policy = read_adult(given.data, given.sensitive, given.diversity)
        judge = policy
    else:
        table, policy = read_census(given.data, given.kinds, given.diversity)
        _, judge = read_census(given.data, given.measure or given.kinds, given.diversity)
    tried = list(settings(policy))
    if given.table == "census" and given.diversity == 10:
        tried.append(Setting("ARX, local recoding", policy, release=pl.read_csv(given.data / "releases" / ARX)))
    tried = [setting for setting in tried if setting.name.startswith(given.only)]
    if judge != policy:  # ranges of numbers are none of categories
        tried = [setting for setting in tried if setting.method is Method.MUCO]
    frontier = compare_settings(table, tried, runs=given.runs, judge=judge, query_key=bytes([given.queries] * 32))
    sys.stdout.write("\n".join(tell(frontier)) + "\n")


if __name__ == "__main__":
    main()
