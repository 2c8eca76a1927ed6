"""The four releases of other tools, against the reference figures of docs/worth.md.

Two readings of kinds give its figures: information loss takes every attribute as a number, queries take AGE and
UHRSWORK as numbers and the rest as categories.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from muco.assess.answers import Answers
from muco.assess.comparison import Comparison
from muco.assess.distribution import measure_distributions
from muco.assess.loss import measure_loss
from muco.assess.query import Aggregate, Queries
from muco.baselines import anatomize, generalize, join_tables
from muco.policy import Policy

DATA = Path(__file__).parents[2] / "shared" / "data"
QUASI = ["SEX", "AGE", "RELATE", "MARST", "RACE", "EDUC", "UHRSWORK"]
CATEGORIES = {name: {"kind": "categorical"} for name in QUASI if name not in {"AGE", "UHRSWORK"}}
NUMBERS = Policy.of(quasi=QUASI, sensitive="INCWAGE")
MIXED = Policy.of(quasi=QUASI, sensitive="INCWAGE", attributes=CATEGORIES)

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data, which is not here"),
]


@cache
def read(name: str) -> pl.DataFrame:
    return pl.read_csv(DATA / name, infer_schema=False)


@cache
def compare(name: str, *, mixed: bool) -> Comparison:
    release = read(f"releases/{name}.csv")
    record = release["OID"].cast(pl.Int64).to_numpy() if "OID" in release.columns else None
    if "count" in release.columns:  # anonypy writes how many records each row stands for
        release = release[np.repeat(np.arange(len(release)), release["count"].cast(pl.Int64).to_numpy())]
    return Comparison.of(read("census.csv"), release, MIXED if mixed else NUMBERS, record=record)


def errors(name: str, width: int, keys: int = 4) -> tuple[float, float]:
    """The median and the supported mean of SUM queries, averaged over some sets of 1,000."""
    made = compare(name, mixed=True)
    sets = [Queries.of(made, width=width, key=bytes([key]) * 32) for key in range(keys)]
    found = [queries.answer(Answers.of(made), made)[Aggregate.SUM] for queries in sets]
    return float(np.mean([e.median for e in found])), float(np.mean([e.supported or 0 for e in found]))


def median(queries: Queries, answers: Answers, made: Comparison) -> float:
    return queries.answer(answers, made)[Aggregate.SUM].median


def test_the_loss_of_the_authors_release_is_theirs() -> None:
    loss = measure_loss(compare("authors_l10_delta6_seed0", mixed=False))
    assert loss.total_move == pytest.approx(13_927.5, abs=0.05)
    assert loss.total_width == 0


def test_the_expected_move_of_arx_is_the_reference_but_for_values_nobody_has() -> None:
    # 14,281 draws from all whole numbers of a range, EDUC = 9 among them, which nobody has; ours from values that
    # occur: 14,172, .8 % less.
    loss = measure_loss(compare("arx_local_frequency10", mixed=False))
    assert loss.total_move == pytest.approx(14_172.5, abs=0.05)
    assert loss.total_move == pytest.approx(14_281, rel=0.01)


def test_mondrian_of_spark_loses_widths_like_the_references_mondrian() -> None:
    # The notes' own Mondrian at frequency l = 10 has 55,800; Spark's, at distinct l = 10 and k = 10, is near.
    assert measure_loss(compare("spark_mondrian_k10_l10", mixed=False)).total_width == pytest.approx(57_850, abs=1)


# From one set of 1,000 queries to another the median strays by .03 to .04 (one standard deviation of eight sets),
# the supported mean of ARX by .05. Our four sets beside the reference's one: .045 and .056; twice that is allowed.
@pytest.mark.parametrize(
    ("name", "median", "supported"),
    [("arx_local_frequency10", 0.78, 0.465), ("authors_l10_delta6_seed0", 0.61, 0.31)],
)
def test_query_errors_are_the_references(name: str, median: float, supported: float) -> None:
    found = errors(name, 4)
    assert found[0] == pytest.approx(median, abs=0.09)
    assert found[1] == pytest.approx(supported, abs=0.11)


@pytest.mark.parametrize("name", ["spark_mondrian_k10_l10", "anonypy_l10"])
def test_mondrian_answers_worse_than_local_recoding_and_mutual_cover(name: str) -> None:
    assert errors(name, 4, keys=1)[0] > 1.3


def test_our_mondrian_loses_less_width_than_the_references_and_answers_alike() -> None:
    # The notes' Mondrian cuts by unnormalised sums of squares, as the authors' program does: 55,800 and 1.57. Cuts
    # by normalised range, every attribute a number, lose 31 % less; the mean of three medians is 1.44.
    release = generalize(read("census.csv").drop("OCC"), NUMBERS, key=bytes(32))
    assert sum(release.certificate.information_loss.values()) == pytest.approx(38_239, abs=1)
    made = Comparison.of(read("census.csv"), release.data, MIXED)
    found = [median(Queries.of(made, key=bytes([key]) * 32), Answers.of(made), made) for key in range(3)]
    assert np.mean(found) == pytest.approx(1.57, abs=0.16)


def test_anatomy_counts_exactly_and_sums_by_group_averages() -> None:
    # The notes' .42; ours is .46 to .50 over keys and sets of queries: the choice among buckets of one size is
    # keyed.
    joined, averages = join_tables(anatomize(read("census.csv").drop("OCC"), MIXED, key=bytes(32)))
    made = Comparison.of(read("census.csv"), joined, MIXED)
    queries, answers = Queries.of(made), Answers.of(made, values=averages)
    assert queries.answer(answers, made)[Aggregate.COUNT].mean == 0
    assert median(queries, answers, made) == pytest.approx(0.42, abs=0.1)


def test_a_release_without_alignment_is_measured_where_that_needs_none() -> None:
    made = compare("anonypy_l10", mixed=False)
    assert made.record is None and measure_loss(made).total_move is None
    assert measure_distributions(made).total_variation["INCWAGE"] == 0


def test_the_authors_release_changes_correlations_by_some_hundredths() -> None:
    # Every attribute a number, salary among them. The notes' .0103 has a stream of its own for every group.
    found = measure_distributions(compare("authors_l10_delta6_seed0", mixed=False))
    assert found.mean_change == pytest.approx(0.0150, abs=0.0005)
