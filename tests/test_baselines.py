"""Mondrian generalisation and Anatomy: what is published, what it keeps, what can be read back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from muco.assess.answers import Answers
from muco.assess.comparison import Comparison
from muco.assess.loss import measure_loss
from muco.baselines import anatomize, generalize, join_tables
from muco.cli import cli
from muco.errors import InfeasibleError, PolicyError, ReleaseError
from muco.policy import Policy

KEY = bytes(32)
PAYS = pl.DataFrame({"age": [20, 22, 29, 40, 41, 50], "pay": [1, 2, 3, 1, 2, 3]})
POLICY = Policy.of(quasi="age", sensitive="pay", diversity=3)


def released(table: Any, policy: Policy = POLICY) -> list[tuple[Any, ...]]:
    return sorted(generalize(table, policy, key=KEY).data.rows(), key=str)


def towns(values: Sequence[str | None], diversity: int, **attribute: Any) -> list[str]:
    """The released towns of a table whose pays all differ."""
    table = pl.DataFrame({"town": values, "pay": range(len(values))})
    policy = Policy.of(quasi="town", sensitive="pay", diversity=diversity, attributes={"town": attribute})
    return sorted(generalize(table, policy, key=KEY).data["town"].to_list(), key=str)


def test_numbers_become_the_range_of_their_group() -> None:
    # The median cut at 29 leaves three pays on either side, and l = 3 allows no other.
    low, high = "[20, 29]", "[40, 50]"
    assert released(PAYS) == [(low, 1), (low, 2), (low, 3), (high, 1), (high, 2), (high, 3)]


def test_a_group_of_one_value_keeps_it_and_a_table_of_such_groups_its_type() -> None:
    table = pl.DataFrame({"age": [20, 20, 30, 30], "pay": [1, 2, 1, 2]})
    release = generalize(table, Policy.of(quasi="age", sensitive="pay", diversity=2), key=KEY).data
    assert release.schema == table.schema and sorted(release.rows()) == sorted(table.rows())


def test_categories_become_the_label_of_their_lowest_common_ancestor() -> None:
    tree = {"South": {"Coast": ["a", "b"], "Hills": ["c"]}, "North": ["d", "e"]}
    # Leaves a b c d e: cut at the median c; a b c meet in South, d e in North.
    found = towns(["a", "b", "c", "d", "e"], 2, hierarchy={"tree": tree})
    assert found == ["North"] * 2 + ["South"] * 3
    # Five records, none of which can be parted: the top.
    assert towns(["a", "b", "c", "d", "e"], 5, hierarchy={"tree": tree}) == ["*"] * 5


def test_categories_without_a_hierarchy_become_sets_or_a_star() -> None:
    assert towns(["a", "b", "c", "d"], 2) == ["{a, b}"] * 2 + ["{c, d}"] * 2
    assert towns(["a", "b", "c", "d"], 4) == ["*"] * 4
    # A text that a set could not be read back with: a, x would be two values.
    assert towns(["a, x", "b", "c", "d"], 2) == ["*"] * 2 + ["{c, d}"] * 2


def test_a_missing_value_beside_others_makes_a_star() -> None:
    assert towns(["a", "b", "c", None], 2) == ["*"] * 2 + ["{a, b}"] * 2
    # None sorts last as a code: its cut keeps the two that miss it together, and they stay missing.
    assert towns(["a", "b", None, None], 2) == [None, None, "{a, b}", "{a, b}"]


def test_dates_become_ranges_of_days() -> None:
    days = ["2026-01-01", "2026-01-03", "2026-05-01 13:45", "2026-06-01 08:00"]
    assert towns(days, 2) == ["[2026-01-01, 2026-01-03]"] * 2 + ["[2026-05-01, 2026-06-02]"] * 2


def test_ranks_without_numbers_become_sets() -> None:
    assert towns(["low", "mid", "high", "top"], 2, order=["low", "mid", "high", "top"]) == [
        *["{high, top}"] * 2,
        *["{low, mid}"] * 2,
    ]


def test_the_certificate_claims_no_mutual_cover() -> None:
    for certificate in (generalize(PAYS, POLICY).certificate, anatomize(PAYS, POLICY).certificate):
        text = certificate.to_json()
        assert "Corollary" not in text and "output table" not in text
        assert json.loads(text)["smallest_group"] == 3
    assert generalize(PAYS, POLICY).certificate.information_loss == {"age": pytest.approx((3 * 9 + 3 * 10) / 31)}


def test_a_diversity_out_of_reach_is_refused() -> None:
    policy = Policy.of(quasi="age", sensitive="pay", diversity=4)
    for method in (generalize, anatomize):
        with pytest.raises(InfeasibleError, match="3 is the most that the table bears"):
            method(PAYS, policy)


def test_the_gate_stops_a_baseline_whose_risk_is_above_it() -> None:
    # Groups of three link with 1/3; Anatomy leaves every quasi-identifier as it is.
    policy = Policy.of(quasi="age", sensitive="pay", diversity=3, max_risk=0.3)
    with pytest.raises(
        ReleaseError, match=r"0\.3333 .* max_risk is 0\.3: nothing is released\. Raise diversity to 4"
    ):
        generalize(PAYS, policy)
    with pytest.raises(ReleaseError, match=r"1\.0000 .* Take method mondrian or muco"):
        anatomize(PAYS, policy)
    wide = Policy.of(quasi="age", sensitive="pay", diversity=3, max_risk=0.34)
    assert generalize(PAYS, wide).certificate.gate["informed_risk"] == pytest.approx(0.3333)


@pytest.mark.parametrize("method", [generalize, anatomize])
def test_identifiers_go_and_rows_are_shuffled_by_the_key(method: Any) -> None:
    table = PAYS.with_columns(name=pl.Series(list("uvwxyz")))
    policy = Policy.of(quasi="age", sensitive="pay", identifier="name", diversity=3)
    one, same, other = (method(table, policy, key=bytes([key]) * 32).data for key in (1, 1, 2))
    assert "name" not in one.columns
    assert one.equals(same) and not one.equals(other)


def test_anatomy_parts_the_table_and_its_groups_hold_each_value_once() -> None:
    anatomy = anatomize(PAYS, POLICY, key=KEY)
    # Two groups of the three pays; the ages stay as they are.
    assert anatomy.data.columns == ["age", "group"]
    assert anatomy.sensitive.rows() == [(g, pay, 1) for g in (1, 2) for pay in (1, 2, 3)]
    assert sorted(anatomy.data["age"]) == sorted(PAYS["age"])
    assert anatomy.data["group"].value_counts().sort("group").rows() == [(1, 3), (2, 3)]


def test_the_residue_joins_a_group_without_its_value() -> None:
    table = pl.DataFrame({"age": range(5), "pay": range(5)})
    anatomy = anatomize(table, Policy.of(quasi="age", sensitive="pay", diversity=2), key=KEY)
    assert sorted(anatomy.sensitive.group_by("group").len()["len"]) == [2, 3]


def test_what_an_analyst_joins_agrees_with_both_tables() -> None:
    anatomy = anatomize(PAYS, POLICY, key=KEY)
    joined, averages = join_tables(anatomy)
    assert joined.columns == ["age", "pay"] and sorted(joined["pay"]) == sorted(PAYS["pay"])
    assert averages.tolist() == [2.0] * 6
    made = Comparison.of(PAYS, joined, POLICY)
    assert Answers.of(made, values=averages).sums.sum() == PAYS["pay"].sum()


def test_anatomy_refuses_what_it_cannot_keep() -> None:
    with pytest.raises(PolicyError, match="the policy names 2"):
        anatomize(PAYS.with_columns(tax=pl.col("pay")), Policy.of(quasi="age", sensitive=["pay", "tax"]))
    with pytest.raises(PolicyError, match="and not closeness"):
        anatomize(PAYS, Policy.of(quasi="age", sensitive="pay", principle="closeness"))


def test_a_column_named_group_keeps_its_name() -> None:
    table = PAYS.rename({"age": "group"}).with_columns(count=pl.lit(7))
    policy = Policy.of(quasi="group", sensitive="pay", diversity=3, attributes={"count": {"role": "other"}})
    anatomy = anatomize(table, policy, key=KEY)
    assert anatomy.data.columns == ["group", "count", "group_"]
    assert anatomy.sensitive.columns == ["group_", "pay", "count_"]


@pytest.mark.parametrize("convert", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_the_callers_kind_of_frame_comes_back(convert: Any) -> None:
    table = convert(PAYS)
    release, anatomy = generalize(table, POLICY, key=KEY), anatomize(table, POLICY, key=KEY)
    for frame in (release.data, anatomy.data, anatomy.sensitive):
        assert isinstance(frame, pd.DataFrame | pa.Table)
        assert type(frame) is type(table)
    as_polars = (
        pl.DataFrame(release.data) if isinstance(release.data, pd.DataFrame) else pl.from_arrow(release.data)
    )
    assert isinstance(as_polars, pl.DataFrame)
    assert sorted(as_polars.rows(), key=str) == released(PAYS)


ROWS = st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abcd"), st.integers(0, 3)), min_size=2, max_size=24)


def groups_of(release: pl.DataFrame) -> list[list[int]]:
    return release.group_by("age", "town").agg("pay")["pay"].to_list()


@settings(deadline=None, max_examples=40)
@given(ROWS, st.sampled_from(["frequency", "distinct", "entropy", "recursive", "anonymity"]))
def test_every_principle_holds_in_what_is_released(rows: list[tuple[int, str, int]], principle: str) -> None:
    # An independent check on the released texts: rows that look alike are one group or several, and each principle
    # below holds of a union of groups that keep it, but for recursive diversity, which is checked at c = 3.
    table = pl.DataFrame(rows, schema=["age", "town", "pay"], orient="row")
    policy = Policy.of(quasi=["age", "town"], sensitive="pay", diversity=2, principle=principle)
    try:
        release = generalize(table, policy, key=KEY)
    except InfeasibleError:
        return
    for pays in groups_of(release.data):
        counts = np.sort(np.bincount(pays))[::-1]
        counts = counts[counts > 0]
        shares = counts / counts.sum()
        holds = {
            "frequency": counts[0] * 2 <= counts.sum(),
            "distinct": len(counts) >= 2,
            "entropy": -(shares @ np.log(shares)) >= np.log(2) - 1e-9,
            "recursive": counts[0] < 3 * counts[1:].sum(),
            "anonymity": counts.sum() >= 2,
        }
        assert holds[principle] and counts.sum() >= 2


TREE = {"South": {"Coast": ["a", "b"], "Hills": ["c"]}, "North": ["d", "e"]}


@settings(deadline=None, max_examples=40)
@given(ROWS, st.sampled_from([{}, {"town": {"hierarchy": {"tree": TREE}}}]))
def test_every_record_lies_in_its_released_cells(rows: list[tuple[int, str, int]], tree: dict[str, Any]) -> None:
    table = pl.DataFrame(rows, schema=["age", "town", "pay"], orient="row").with_row_index("number")
    other = {**tree, "number": {"role": "other"}}
    policy = Policy.of(quasi=["age", "town"], sensitive="pay", diversity=2, principle="anonymity", attributes=other)
    release = generalize(table, policy, key=KEY)
    record = release.data["number"].to_numpy().astype(np.int64)
    made = Comparison.of(table, release.data, policy, record=record)
    assert (made.low <= made.original[record]).all() and (made.original[record] <= made.high).all()
    # The certificate's widths are those of what is written: of a set the span around it, of a label its leaves.
    assert measure_loss(made).total_width == pytest.approx(
        sum(release.certificate.information_loss.values()), abs=1e-5
    )


@settings(deadline=None, max_examples=40)
@given(ROWS, st.integers(2, 3))
def test_anatomys_groups_are_diverse_and_keep_every_record(
    rows: list[tuple[int, str, int]], diversity: int
) -> None:
    table = pl.DataFrame(rows, schema=["age", "town", "pay"], orient="row")
    policy = Policy.of(quasi=["age", "town"], sensitive="pay", diversity=diversity)
    try:
        anatomy = anatomize(table, policy, key=KEY)
    except InfeasibleError:
        return
    assert set(anatomy.sensitive["count"]) == {1}
    assert anatomy.sensitive.group_by("group").len()["len"].min() >= diversity
    assert sorted(anatomy.sensitive["pay"]) == sorted(table["pay"])
    assert sorted(anatomy.data.select("age", "town").rows()) == sorted(table.select("age", "town").rows())


def test_the_command_line_writes_every_method(tmp_path: Path) -> None:
    PAYS.write_csv(tmp_path / "t.csv")
    line = ["anonymize", str(tmp_path / "t.csv"), "--quasi", "age", "--sensitive", "pay", "--diversity", "3", "-q"]
    for method in ("mondrian", "anatomy"):
        out = tmp_path / f"{method}.csv"
        done = CliRunner().invoke(cli, [*line, "--method", method, "-o", str(out)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        certificate = json.loads((tmp_path / f"{method}.certificate.json").read_text())
        assert certificate["settings"]["method"] == method
    assert pl.read_csv(tmp_path / "anatomy.sensitive.csv").columns == ["group", "pay", "count"]
    assert certificate["sensitive"]["file"] == "anatomy.sensitive.csv"
    with pytest.raises(PolicyError, match="method anatomy has none"):
        CliRunner().invoke(
            cli,
            [*line, "--method", "anatomy", "-o", str(tmp_path / "x.csv"), "--hidden", str(tmp_path / "h.zip")],
            catch_exceptions=False,
        )
