"""Membership: who is in the table, asked of people who are and of people held out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import muco
from muco.assess.assessment import Effort, assess_release
from muco.assess.membership import Membership, hold_out, measure_membership
from muco.errors import TableError
from muco.example import generate
from muco.policy import Policy
from shell import muco as run_muco

DATA = Path(__file__).parents[2] / "shared" / "data"
QUASI = ["gender", "age", "relationship", "marital_status", "race", "education", "hours_per_week"]
AGES = Policy.of(quasi="age", sensitive="pay", diversity=2)


def ages(*values: int, pay: int = 1) -> pl.DataFrame:
    return pl.DataFrame({"age": values, "pay": [pay] * len(values)})


def ask(policy: Policy, people: pl.DataFrame) -> Membership:
    kept, held = hold_out(people)
    return measure_membership(kept, muco.anonymize(kept, policy, key=bytes(32)), held, policy)


def test_the_order_of_members_and_outsiders_by_hand() -> None:
    # Of the table: 20 30 40 60, released as 20 30 30 60: they lie 0 0 10 0 off. Held out: 25 50 30, 5 10 0 off.
    # Pairs won: against 25 three, against 50 three and a tie, against 30 three ties: (3 + 3.5 + 1.5) / 12.
    # On the raw table members lie at 0, and the others at 5 10 0: (4 + 4 + 2) / 12.
    found = measure_membership(ages(20, 30, 40, 60), ages(20, 30, 30, 60), ages(25, 50, 30), AGES)
    assert found.order.rate.value == pytest.approx(8 / 12)
    assert found.order.raw is not None and found.order.raw.value == pytest.approx(10 / 12)


def test_a_sensitive_value_that_nobody_released_tells_an_outsider() -> None:
    # All share the age 20; paid 1 and 2 in the table, 3 and 1 outside. Ages alone: ties. Pays known: the one paid 3
    # has no row at all and is told from both, the one paid 1 from none: (2 + 1) / 4.
    table = pl.concat([ages(20), ages(20, pay=2)])
    found = measure_membership(table, table, pl.concat([ages(20, pay=3), ages(20)]), AGES)
    assert found.order.rate.value == 0.5
    assert found.with_sensitive is not None and found.with_sensitive.rate.value == 0.75


def test_answers_by_a_learnt_bound_are_right_where_people_lie_apart() -> None:
    # Members at 0, outsiders at 1 or more: either half of them teaches the bound 0, all answers are right.
    found = measure_membership(ages(*range(0, 40, 2)), ages(*range(0, 40, 2)), ages(*range(1, 41, 2)), AGES)
    assert (found.answers.rate.value, found.advantage, found.order.rate.value) == (1.0, 1.0, 1.0)
    assert found.answers.rate.low < 0.95


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return generate(12_000).drop("person_id")


def test_the_raw_half_is_known_and_a_release_of_others_is_not(people: pl.DataFrame) -> None:
    policy = Policy.of(quasi=QUASI, sensitive="salary")
    found = ask(policy, people)
    order, answers = found.order, found.answers
    assert order.raw is not None and order.chance is not None and answers.chance is not None
    assert order.raw.value > 0.85 > order.rate.value > 0.5  # twins and near people keep the raw half below 1
    # Standard error below sqrt(1/4 / 6,000) = .0065: five of them, a false alarm in a million.
    assert abs(order.chance.value - 0.5) < 0.033 and abs(answers.chance.value - 0.5) < 0.033
    # Asked of people neither of whom had a part, the same release tells nothing: five errors of 3,000.
    kept, held = hold_out(people)
    release = muco.anonymize(kept, policy, key=bytes(32)).data
    some, others = hold_out(held)
    assert abs(measure_membership(some, release, others, policy).order.rate.value - 0.5) < 0.046


def test_a_sample_of_people_agrees_with_everybody(people: pl.DataFrame) -> None:
    policy = Policy.of(quasi=QUASI, sensitive="salary", delta="1/6")
    kept, held = hold_out(people)
    release = muco.anonymize(kept, policy, key=bytes(32)).data
    whole, some = (measure_membership(kept, release, held, policy, most=most) for most in (6_000, 2_000))
    assert some.order.note == "2000 people of the table and 2000 held out tried"
    assert not some.order.rate.exact and whole.order.rate.exact
    assert abs(whole.order.rate.value - some.order.rate.value) < 0.06  # five errors of 2,000


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (ages(), "nobody is held out"),
        (ages(20, 30), "every held-out record stands in the original too"),
        (pl.DataFrame({"pay": [1]}), "the held-out table has no attribute age"),
    ],
)
def test_a_held_out_table_that_cannot_serve_is_refused(others: pl.DataFrame, words: str) -> None:
    with pytest.raises(TableError, match=words):
        measure_membership(ages(20, 30, 40), ages(20, 30, 40), others, AGES)


def test_tables_of_other_types_and_without_sensitive_values_are_asked() -> None:
    policy = Policy.of(quasi="age", principle="anonymity")
    text = pl.DataFrame({"age": ["25", "50", None]})
    found = measure_membership(ages(20, 30).drop("pay"), ages(20, 30).drop("pay"), text, policy)
    assert found.with_sensitive is None and found.order.rate.value == 1.0


def test_the_command_asks_a_held_out_file(tmp_path: Path, people: pl.DataFrame) -> None:
    kept, held = hold_out(people[:2_000])
    for name, table in (("in", kept), ("held", held)):
        table.write_csv(tmp_path / f"{name}.csv")
    roles: tuple[Any, ...] = ("--quasi", ",".join(QUASI), "--sensitive", "salary")
    assert run_muco("anonymize", tmp_path / "in.csv", *roles, "-o", tmp_path / "out.csv").code == 0
    words = ("assess", tmp_path / "in.csv", tmp_path / "out.csv", *roles, "--holdout", tmp_path / "held.csv")
    ran = run_muco(*words, "--require", "membership<=0.5", "--json")
    assert ran.code == 4 and "membership <= 0.5 asked" in ran.err
    assert {"membership", "membership-answers", "membership-sensitive-known"} <= {
        line.split('"')[3] for line in ran.out.splitlines() if '"name"' in line
    }


def test_an_assessment_without_a_held_out_table_has_no_such_figure() -> None:
    table = pl.DataFrame({"age": [20, 30, 40, 50], "pay": [1, 2, 3, 4]})
    found = assess_release(table, table, AGES, effort=Effort.RISKS)
    assert not any(figure.name.startswith("membership") for figure in found.figures)
