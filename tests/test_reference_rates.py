"""The rates of docs/risk.md on the census table, on the authors' partition: `pytest tests/test_reference_rates.py`.

The notes of the method measured a prototype on the authors' groups. `Reading.PROGRAM` divides as their program
does; codes are numbers for it, and categories (Gower) for who looks for near rows. Each figure is the mean over
`SEEDS`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from muco.assess.comparison import Comparison
from muco.assess.disclosure import measure_disclosure
from muco.assess.informed import Posterior, join_releases
from muco.assess.linkage import link_nearest, link_with_sensitive, link_with_untouched
from muco.assess.scores import search_without_groups, simulate_method
from muco.microdata import Groups, Key, Microdata
from muco.paper.readings import Reading
from muco.policy import Policy
from muco.release import Hidden, Outcome
from muco.steps import calculate_tables, draw_values, repair_tuples

DATA = Path(__file__).parents[2] / "shared" / "data"
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not (DATA / "census.csv").exists(), reason="../shared/data is not beside this project"),
]
QUASI = ("SEX", "AGE", "RELATE", "MARST", "RACE", "EDUC", "UHRSWORK")
CATEGORICAL = ("SEX", "RELATE", "MARST", "RACE", "EDUC")
SEEDS = (0, 1, 2)


def policy(categorical: tuple[str, ...] = ()) -> Policy:
    words = {name: {"kind": "categorical" if name in categorical else "continuous"} for name in QUASI}
    return Policy.of(quasi=QUASI, sensitive="INCWAGE", delta="1/6", attributes=words)


def key_of(seed: int) -> Key:
    return Key(hashlib.sha256(bytes([seed])).digest())


@dataclass(frozen=True, slots=True)
class Run:
    """One release, as its numbers and as categories."""

    hidden: Hidden
    numbers: Comparison
    hidden_categories: Hidden
    categories: Comparison


def release_of(groups: Groups, key: Key) -> Hidden:
    batches = list(groups.batches())
    tables = [calculate_tables(batch) for batch in batches]
    drawn = [repair_tuples(one, draw_values(one, batch, key), batch, key)[0] for one, batch in zip(tables, batches)]
    return Hidden(key, Outcome(groups, np.concatenate(drawn), 0, 0), tuple(tables), groups.order)


def compare(census: pl.DataFrame, hidden: Hidden, chosen: Policy) -> Comparison:
    groups = hidden.outcome.groups
    cells = [
        domain.cells.gather(hidden.outcome.released[:, place]).alias(domain.attribute)
        for place, domain in enumerate(groups.microdata.quasi)
    ]
    return Comparison.of(census, census[groups.order].with_columns(cells), chosen, record=groups.order)


def run(census: pl.DataFrame, seed: int) -> Run:
    key = key_of(seed)
    groups = Reading.PROGRAM.divide(Microdata.of(census, policy(), key=key))
    hidden = release_of(groups, key)
    categories = compare(census, hidden, policy(CATEGORICAL))
    coded = Groups(Microdata.of(census, policy(CATEGORICAL), key=key), groups.order, groups.starts, groups.leaves)
    tables = tuple(calculate_tables(batch) for batch in coded.batches())
    outcome = Outcome(coded, np.ascontiguousarray(categories.low), 0, 0)
    return Run(hidden, compare(census, hidden, policy()), Hidden(key, outcome, tables, groups.order), categories)


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    census = pl.read_csv(DATA / "census.csv")
    return [run(census, seed) for seed in SEEDS]


def mean(runs: list[Run], measure: Callable[[Run], list[float]]) -> list[float]:
    return [float(value) for value in np.mean([measure(each) for each in runs], axis=0)]


def test_disclosure_at_p_match(runs: list[Run]) -> None:
    found = mean(runs, lambda r: [risk.rate.value for risk in measure_disclosure(r.numbers).identity or ()])
    assert found == pytest.approx([0.006, 0.016, 0.025, 0.023, 0.014, 0], abs=0.004)


def test_the_informed_adversary(runs: list[Run]) -> None:
    # The notes: mean .562, top .622, .9 or more for 29 %. Ours is .539, out of its .02: the centre of all
    # cheapest tables tells less than a vertex (docs/risk.md).
    def asked(one: Run) -> list[float]:
        found = Posterior.of(one.numbers, [one.hidden])
        return [found.own.mean(), found.hit.mean(), (found.own >= 0.9).mean()]

    own, top, sure = mean(runs, asked)
    assert (top, sure) == pytest.approx((0.622, 0.29), abs=0.02)
    assert own == pytest.approx(0.539, abs=0.02)


def test_who_knows_groups_takes_near_rows_and_no_exact_match(runs: list[Run]) -> None:
    def asked(one: Run) -> list[float]:
        found = Posterior.of(one.categories, [one.hidden_categories])
        return [found.nearest.mean(), found.assigned.mean()]

    assert mean(runs, asked) == pytest.approx([0.371, 0.410], abs=0.02)


def test_the_nearest_record(runs: list[Run]) -> None:
    def asked(one: Run) -> list[float]:
        nearest = link_nearest(one.categories)
        known = (link(one.categories).identity.rate.value for link in (link_with_sensitive, link_with_untouched))
        return [nearest.identity.rate.value, nearest.without_exact.rate.value, *known]

    assert mean(runs[:1], asked) == pytest.approx([0.074, 0.094, 0.472, 0.909], abs=0.02)


def test_who_simulates_the_method(runs: list[Run]) -> None:
    assert mean(runs, lambda one: [simulate_method(one.hidden).rate.value]) == pytest.approx([0.228], abs=0.02)


def test_who_knows_tables_and_no_groups(runs: list[Run]) -> None:
    # The notes: .585, .04 below its A1. Ours is .50, on the authors' own rows too: why theirs is higher
    # is not known.
    assert search_without_groups(runs[0].hidden).rate.value == pytest.approx(0.50, abs=0.02)


def test_several_releases_joined(runs: list[Run]) -> None:
    # The notes: .77 with two, .85 with three; tables at their centre, as above, tell a little less.
    releases = [release_of(runs[0].hidden.outcome.groups, key_of(seed)) for seed in SEEDS]
    found = [join_releases(runs[0].numbers, releases[:count]).rate.value for count in (2, 3)]
    assert found == pytest.approx([0.77, 0.85], abs=0.03)
