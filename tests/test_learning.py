"""Models trained on a release and on its original, and a tree that tells one from the other."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from muco._core import shuffled, uniforms
from muco.assess.comparison import Comparison
from muco.assess.features import draw_codes
from muco.assess.learning import measure_learning
from muco.assess.propensity import measure_propensity
from muco.errors import TableError
from muco.policy import Policy

KEY = bytes(32)
POLICY = Policy.of(quasi=["age", "town"], sensitive="pay")
# Pay follows from age: whoever is 40 or more earns above the median. Towns say nothing.
PEOPLE = pl.DataFrame(
    {
        "age": 20 + np.floor(uniforms(KEY, 1, 600) * 40).astype(np.int64),
        "town": pl.Series(["a", "b", "c"]).gather(np.floor(uniforms(KEY, 2, 600) * 3).astype(np.int64)),
        "number": np.arange(600),
    }
).with_columns(pay=pl.col("age") * 1000 + pl.col("number"))
NAMED = POLICY.of(quasi=["age", "town"], sensitive="pay", attributes={"number": {"role": "other"}})
SHUFFLED = PEOPLE.with_columns(age=PEOPLE["age"].gather(shuffled(KEY, 600)))


def compare(release: pl.DataFrame) -> Comparison:
    return Comparison.of(PEOPLE, release, NAMED)


def test_the_original_teaches_as_much_as_itself() -> None:
    (learned,) = measure_learning(compare(PEOPLE))
    assert learned.original == learned.release > 0.95
    assert learned.kept == 1 and learned.held_out
    assert (learned.trained, learned.tested, learned.target) == (420, 180, "above the median")


def test_ages_that_were_dealt_out_again_teach_nothing() -> None:
    (learned,) = measure_learning(compare(SHUFFLED))
    # Chance is 1/2 on 180 records: 5 standard deviations of .037 are .19, a false alarm below 10^-6; fixed key.
    assert abs(learned.release - 0.5) < 0.19 < learned.original - learned.release


def test_ranges_teach_by_draws_from_them() -> None:
    ranges = pl.when(pl.col("age") < 40).then(pl.lit("[20, 39]")).otherwise(pl.lit("[40, 59]"))
    (learned,) = measure_learning(compare(PEOPLE.with_columns(age=ranges)))
    assert learned.release > 0.95


def test_categories_are_told_by_their_commonest_values() -> None:
    table = PEOPLE.with_columns(pay=pl.when(pl.col("age") < 30).then(pl.lit("low")).otherwise(pl.lit("high")))
    (learned,) = measure_learning(Comparison.of(table, table, NAMED))
    assert learned.target == "one of 2 classes" and learned.original > 0.95 > learned.majority


def test_unaligned_rows_are_said_to_be_seen() -> None:
    release = PEOPLE[::-1]
    (learned,) = measure_learning(compare(release))
    assert not learned.held_out and learned.release > 0.95


def test_two_records_are_too_few() -> None:
    with pytest.raises(TableError, match="1 records are too few to hold some out"):
        measure_learning(Comparison.of(PEOPLE[:1], PEOPLE[:1], NAMED))


def test_the_same_key_trains_the_same_models() -> None:
    made = compare(SHUFFLED)
    assert measure_learning(made) == measure_learning(made)
    assert measure_propensity(made) == measure_propensity(made)


def test_draws_lie_within_their_spans_and_spread_over_them() -> None:
    made = compare(PEOPLE.with_columns(age=pl.lit("[20, 59]")))
    drawn = draw_codes(made, KEY)[:, 0]
    # 600 draws from 40 ages: each of four quarters holds 150 on average, with a standard deviation of 10.6.
    assert (made.low[:, 0] <= drawn).all() and (drawn <= made.high[:, 0]).all()
    assert np.abs(np.histogram(drawn, bins=4)[0] - 150).max() < 60


def test_no_tree_tells_the_original_from_itself() -> None:
    found = measure_propensity(compare(PEOPLE))
    assert found.pmse == pytest.approx(0, abs=1e-12) and found.expected > 0 and found.ratio == 0


def test_another_sample_of_one_population_scores_about_what_is_expected() -> None:
    # Labels of 600 rows dealt at random, five times: the ratio of one to their mean stays within a factor of 2.
    table = PEOPLE.with_columns(pay=pl.lit(1))
    halves = Comparison.of(table[:300], table[300:], NAMED)
    assert 0.5 < measure_propensity(halves).ratio < 2


def test_a_tree_tells_a_broken_link_of_age_and_pay() -> None:
    assert measure_propensity(compare(SHUFFLED)).ratio > 2
