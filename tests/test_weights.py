"""Survey weights: queries count rows by them, and covers do not know them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import muco
from muco._core import uniforms
from muco.assess.answers import Answers
from muco.assess.comparison import Comparison
from muco.assess.query import Aggregate, Queries
from muco.baselines import generalize
from muco.errors import MucoWarning, PolicyError, TableError
from muco.preflight.whole import find_all
from muco.tune.setting import switched

SURVEY = pl.DataFrame({"age": [20, 20, 30, 30], "pay": [1, 3, 1, 3], "weight": [1.0, 3.0, 2.0, 2.0]})


def policy(**switches: Any) -> muco.Policy:
    return muco.Policy.of(**{"quasi": "age", "sensitive": "pay", "diversity": 2, "weight": "weight", **switches})


def totals(table: pl.DataFrame, release: pl.DataFrame, chosen: muco.Policy) -> tuple[list[float], list[float]]:
    """COUNT and SUM over everybody aged 20, in the original and in the release, by their boxes."""
    comparison = Comparison.of(table, release, chosen)
    found = []
    for answers in (Answers.of_original(comparison), Answers.of(comparison)):
        here = answers.low[:, 0] == 0
        found.append([float(answers.rows[here].sum()), float(answers.sums[here].sum())])
    return found[0], found[1]


def test_rows_count_by_their_weights() -> None:
    # The mean weight is 2. Aged 20: (1 + 3) / 2 = 2 records, paid (1 * 1 + 3 * 3) / 2 = 5. In the release the ages
    # of the first and the third are exchanged: (2 + 3) / 2 and (2 * 1 + 3 * 3) / 2.
    release = SURVEY.with_columns(age=pl.Series([30, 20, 20, 30]))
    assert totals(SURVEY, release, policy()) == ([2, 5], [2.5, 5.5])
    assert totals(SURVEY, release, policy(weight=None)) == ([2, 4], [2, 4])


@pytest.mark.parametrize("method", ["muco", "ranges"])
def test_weights_of_one_size_change_no_answer(method: str) -> None:
    ages, pays = (uniforms(bytes(32), stream, 400) for stream in range(2))
    table = pl.DataFrame({"age": ages * 60, "pay": pays * 50}).cast(pl.Int64).with_columns(weight=pl.lit(7.5))
    release: Any = muco.anonymize(table, policy(), key=bytes(32)).data
    if method == "ranges":
        release = generalize(table, policy(), key=bytes(32)).data
    errors = []
    for name in ("weight", None):
        comparison = Comparison.of(table, release, policy(weight=name))
        queries = Queries.of(comparison, width=1, count=50)
        errors.append(queries.answer(Answers.of(comparison), comparison)[Aggregate.SUM])
    assert errors[0].median == pytest.approx(errors[1].median, rel=1e-12)
    assert errors[0].supported_queries == errors[1].supported_queries


def test_averages_are_weighted() -> None:
    # Of everybody: (1 + 9 + 2 + 6) / 8 = 2.25, and not 2.
    comparison = Comparison.of(SURVEY, SURVEY, policy())
    answers = Answers.of_original(comparison)
    assert answers.sums.sum() / answers.rows.sum() == 2.25


def test_covers_do_not_know_weights() -> None:
    # Else whoever knows a table, and who has which value, knows whose weight is which: docs/algebra/provable.md.
    other = SURVEY.with_columns(weight=pl.Series([100.0, 1.0, 1.0, 1.0]))
    tables = []
    for table in (SURVEY, other):
        groups = muco.divide_table(muco.Microdata.of(table, policy(diversity=4, principle="anonymity")))
        tables.append(str(muco.calculate_table(groups[0], "age")))
    assert tables[0] == tables[1]


def test_weights_leave_with_their_rows_and_a_caution() -> None:
    table = pl.DataFrame({"age": range(20), "pay": range(20), "weight": np.arange(1, 21) / 3})
    with pytest.warns(MucoWarning, match="20 of 20 records have a weight of their own"):
        release = muco.anonymize(table, policy())
    assert dict(release.data.select("pay", "weight").rows()) == dict(table.select("pay", "weight").rows())
    assert release.certificate.attributes["untouched"] == ("weight",)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["heavy", "1"], r"1 cell cannot be read as a finite number \(row 1\)"),
        (["1", "inf"], r"1 cell cannot be read as a finite number \(row 2\)"),
        (["0", "1"], r"1 cell cannot be a weight \(row 1\)"),
        (["1", "-2"], r"1 cell cannot be a weight \(row 2\)"),
        ([None, "1"], r"1 cell is missing \(row 1\)"),
    ],
)
def test_a_weight_that_is_no_number_above_zero_is_refused_with_its_row(cells: list[str], words: str) -> None:
    table = pl.DataFrame({"age": [1, 2], "pay": [1, 2], "weight": cells})
    with pytest.raises(TableError, match=f"attribute weight: {words}"):
        muco.anonymize(table, policy())


def test_a_weight_is_released_or_is_none() -> None:
    with pytest.raises(PolicyError, match="weight names weight, which has role identifier: it can be other"):
        policy(identifier="weight")
    with pytest.raises(TableError, match="the release has no attribute weight, by which its rows"):
        Comparison.of(SURVEY, SURVEY.drop("weight"), policy())


def test_settings_that_are_tried_count_by_the_same_weights() -> None:
    assert switched(policy()).weight == "weight"


def test_check_finds_bad_weights(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(policy().to_toml())
    bad = SURVEY.with_columns(weight=pl.Series([1.0, 0.0, 1.0, 1.0]))
    found = [(each.severity.value, each.rows) for each in find_all(bad, path) if each.attribute == "weight"]
    assert ("error", (2,)) in found
