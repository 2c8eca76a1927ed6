"""The example table: the paper's domain sizes, and what makes a table worth anonymizing."""

from __future__ import annotations

import hashlib
import tomllib
from typing import Any

import polars as pl
import pytest

from muco.errors import PolicyError
from muco.example import generate, policy_text
from muco.policy import Policy
from muco.switches import Preset, Role

QUASI = ["gender", "age", "relationship", "marital_status", "race", "education", "hours_per_week"]


@pytest.fixture(scope="module")
def table() -> Any:
    return generate(40_000)


def test_domains_are_as_large_as_in_table_1_of_the_paper(table: Any) -> None:
    sizes = [table[name].drop_nulls().n_unique() for name in QUASI]
    assert sizes == [2, 55, 13, 6, 9, 10, 95]
    assert 800 <= table["salary"].n_unique() <= 900
    assert table["salary"].min() == 4
    assert table["salary"].max() == 718_000


def test_the_same_numbers_give_the_same_table_and_others_another(table: Any) -> None:
    assert generate(40_000).equals(table)
    assert not generate(40_000, seed=2).equals(table)
    # On every machine and in every version: a policy, a test or a page may rest on its cells.
    text = generate(100).write_csv().encode()
    assert hashlib.sha256(text).hexdigest() == "d4adc1f0d238ed5ef928df3a0b781f50e4106ba3f435033040a6748489f435e0"


def test_each_person_is_named_once_and_nobody_by_a_running_number(table: Any) -> None:
    assert table["person_id"].n_unique() == len(table)
    assert not table["person_id"].is_sorted()


def test_what_belongs_together_depends(table: Any) -> None:
    young, old = table.filter(pl.col("age") < 22), table.filter(pl.col("age") > 60)
    for name, value in (("marital_status", "Never married"), ("relationship", "Child")):
        assert (young[name] == value).mean() > 0.5
        assert (old[name] == value).mean() < 0.2
    means = table.group_by("education").agg(pl.col("salary").mean())
    pay = dict(means.iter_rows())
    assert pay["Graduate degree"] > 2 * pay["Grade 9"]
    hours = table.select(pl.corr("hours_per_week", "salary")).item()
    assert hours > 0.2


def test_salaries_and_hours_are_heaped(table: Any) -> None:
    salary = table.filter(pl.col("salary") > 10_000)["salary"]
    assert (salary % 5_000 == 0).mean() > 0.3
    assert (table["hours_per_week"] == 40).mean() > 0.3


def test_some_do_not_answer_but_every_salary_is_known(table: Any) -> None:
    missing = {name: table[name].null_count() for name in table.columns}
    assert [name for name, count in missing.items() if count] == QUASI[3:]
    assert all(count < 0.01 * len(table) for count in missing.values())


def test_some_records_share_all_quasi_identifiers_and_most_do_not(table: Any) -> None:
    assert 0.01 < table.select(QUASI).is_duplicated().mean() < 0.5


def test_it_can_be_10_diverse(table: Any) -> None:
    assert table["salary"].value_counts()["count"].max() * 10 <= len(table)


@pytest.mark.parametrize("preset", list(Preset))
def test_its_policy_is_one_with_comments_for_every_attribute(table: Any, preset: Preset) -> None:
    policy = Policy.parse(tomllib.loads(policy_text(preset)))
    assert (policy.preset, policy.diversity, list(policy.quasi)) == (preset, 10, QUASI)
    assert (policy.sensitive, policy.named(Role.IDENTIFIER)) == (("salary",), ("person_id",))
    assert list(policy.attributes) == table.columns
    assert policy_text(preset).count("\n# ") == len(table.columns)


def test_small_tables_are_possible_and_negative_ones_are_not() -> None:
    assert generate(0).shape == (0, 9)
    assert generate(1).shape == (1, 9)
    with pytest.raises(PolicyError, match="records is -1 but a table has 0 or more"):
        generate(-1)
