"""Disclosure at P_match and nearest-record linkage: hand-made worlds, controls, and the authors' own release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muco._core import disclose
from muco.assess import disclosure as measure
from muco.assess.comparison import Comparison
from muco.assess.disclosure import measure_disclosure
from muco.assess.linkage import link_nearest, link_with_sensitive, link_with_untouched
from muco.assess.sample import encode_for_core
from muco.errors import PolicyError, TableError
from muco.policy import Policy

DATA = Path(__file__).parents[2] / "shared" / "data"
QUASI = ("SEX", "AGE", "RELATE", "MARST", "RACE", "EDUC", "UHRSWORK")
POLICY = Policy.of(quasi=["age", "sex"], sensitive="pay", attributes={"sex": {"kind": "categorical"}})
PEOPLE = pl.DataFrame({"age": [20, 20, 30, 40], "sex": ["f", "m", "m", "f"], "pay": [1, 1, 2, 3]})


def test_disclosure_weighs_every_set_of_known_attributes() -> None:
    # Released ages 20 20 30 30; P = 1/2: {age}, {sex}, {age, sex} weigh 1/3 each.
    # age: 1/2 1/2 1/2 (rows 30 30), and 40 matches nothing: 1.5. sex: f f and m m: 1/2 each: 2.
    # both: 20f, 20m, 30m alone and own, 40f nothing: 3. (1.5 + 2 + 3) / 3 / 4.
    made = Comparison.of(PEOPLE, PEOPLE.with_columns(age=pl.Series([20, 20, 30, 30])), POLICY)
    found = measure_disclosure(made, [0.5])
    assert found.identity is not None and found.singling_out is not None
    assert found.identity[0].rate.value == pytest.approx(6.5 / 12, abs=1e-15)
    assert found.singling_out.rate.value == 0.75
    # Own pay among the matches. age: 1 1 1/2 0; sex: 1/2 each; both: 1 1 1 0.
    assert found.attribute["pay"][0].rate.value == pytest.approx((2.5 + 2 + 3) / 12, abs=1e-15)


def test_a_range_matches_what_it_covers() -> None:
    # 40 and 30 become 30-40: under P = 1, records 2 and 3 match their own row alone (m, f).
    made = Comparison.of(PEOPLE, PEOPLE.with_columns(age=pl.Series(["20", "20", "30-40", "30-40"])), POLICY)
    found = measure_disclosure(made, [1.0, 0.5])
    assert found.identity is not None
    assert [risk.rate.value for risk in found.identity] == pytest.approx([1.0, (2 + 2 + 4) / 12])


def test_without_alignment_identity_is_not_measured() -> None:
    made = Comparison.of(PEOPLE, PEOPLE[::-1], POLICY)
    found = measure_disclosure(made, [1.0])
    assert found.identity is None and found.singling_out is None
    assert found.attribute["pay"][0].rate.value == 1.0
    with pytest.raises(TableError, match="name a record column"):
        link_nearest(made)


def test_a_match_probability_outside_its_bounds_is_refused() -> None:
    with pytest.raises(PolicyError, match="above 0 and at most 1"):
        measure_disclosure(Comparison.of(PEOPLE, PEOPLE, POLICY), [0.0])


codes = st.lists(st.tuples(*[st.integers(0, 2)] * 5), min_size=2, max_size=8)


@given(codes, st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_disclosure_agrees_with_a_look_at_every_pair(people: list[tuple[int, ...]], shift: int) -> None:
    names = ["a", "b", "c", "d"]
    table = pl.DataFrame(people, schema=[*names, "pay"], orient="row").cast(pl.String)
    moved = np.roll(np.arange(len(table)), shift)
    release = table.with_columns(table.select("a", "c")[moved])
    made = Comparison.of(table, release, Policy.of(quasi=names, sensitive="pay"), record=np.arange(len(table)))
    masks = np.arange(1, 16, dtype=np.uint64)
    identity, _, attribute = disclose(encode_for_core(made), masks, np.arange(len(table)))
    for place, mask in enumerate(masks.tolist()):
        known = [a for a in range(4) if mask >> a & 1]
        equal = (made.original[:, None, known] == made.low[None, :, known]).all(axis=2)
        matches = np.maximum(equal.sum(axis=1), 1)
        pays = made.original_sensitive[:, None, 0] == made.released_sensitive[None, :, 0]
        assert identity[place] == pytest.approx((np.diag(equal) / matches).sum())
        assert attribute[place, 0] == pytest.approx(((equal & pays).sum(axis=1) / matches).sum())


def test_sets_are_drawn_beyond_twelve_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    # Six attributes tried exactly, then as if they were too many: the drawn figure's interval holds the exact one.
    names = list("abcdef")
    numbers = np.arange(64)
    table = pl.DataFrame({n: (numbers >> i & 1) for i, n in enumerate(names)} | {"pay": numbers})
    made = Comparison.of(table, table, Policy.of(quasi=names, sensitive="pay"))
    exact = measure_disclosure(made, [0.5]).attribute["pay"][0].rate
    monkeypatch.setattr(measure, "MOST_EXACT", 5)
    drawn = measure_disclosure(made, [0.5]).attribute["pay"][0]
    # Uniform sets of 6, not empty: Σ C(6, k) 2^(k - 6) / 63 = (3^6 - 1) / 64 / 63.
    assert exact.value == pytest.approx((3**6 - 1) / 64 / 63)
    assert drawn.rate.low < exact.value < drawn.rate.high and not drawn.rate.exact
    assert drawn.note == "256 sets of known attributes drawn"


def test_nearest_rows_share_the_guess() -> None:
    # Ages over 20, sexes 0/1. Released 30f 20m 30m 40f: record 20f has 30f at 1/2, 20m at 1: row 0, its own.
    # 20m and 30m have themselves at 0, 40f itself: all are linked. Without exact matches 20m has 30m (1/2).
    made = Comparison.of(PEOPLE, PEOPLE.with_columns(age=pl.Series([30, 20, 30, 40])), POLICY)
    found = link_nearest(made)
    assert found.identity.rate.value == 1.0
    assert found.without_exact.rate.value == 0.25
    assert found.attribute["pay"].rate.value == 1.0
    # 20f has two rows 40f and the row 20m at 1, three ways; the rows 40f are equal and share record 3.
    tied = link_nearest(Comparison.of(PEOPLE, PEOPLE.with_columns(age=pl.Series([40, 20, 30, 40])), POLICY))
    assert tied.identity.rate.value == pytest.approx((1 / 3 + 1 + 1 + 0.5) / 4)


def test_controls_frame_the_rate() -> None:
    numbers = np.arange(400)
    table = pl.DataFrame({"age": numbers % 20, "sex": numbers // 20, "pay": numbers})
    found = link_nearest(Comparison.of(table, table.with_columns(age=numbers % 10), POLICY))
    assert found.identity.raw is not None and found.identity.raw.value == 1.0
    # By chance 1 in 400; above 1/20 in less than one of 10^6 shuffles.
    assert found.identity.chance is not None and found.identity.chance.value < 0.05


def test_who_knows_the_pay_looks_among_its_rows() -> None:
    # Both rows of pay 1 are 20f and 20m; released as 40m and 30f, each record is nearest to the other's row:
    # 20f to 40m: 1 + 1, to 30f: 1/2.
    release = PEOPLE.with_columns(age=pl.Series([40, 30, 30, 40]), sex=pl.Series(["m", "f", "m", "f"]))
    made = Comparison.of(PEOPLE, release, POLICY, record=np.arange(4))
    assert link_with_sensitive(made).identity.rate.value == pytest.approx((0 + 0 + 1 + 1) / 4)
    town = pl.Series("town", ["a", "b", "c", "d"])
    both = Comparison.of(PEOPLE.with_columns(town), release.with_columns(town), POLICY)
    assert link_with_untouched(both).identity.rate.value == 1.0


@pytest.fixture(scope="module")
def census() -> pl.DataFrame:
    if not DATA.exists():
        pytest.skip("../shared/data is absent")
    return pl.read_csv(DATA / "census.csv")


def kinds(categorical: tuple[str, ...]) -> Policy:
    words = {name: {"kind": "categorical" if name in categorical else "continuous"} for name in QUASI}
    return Policy.of(quasi=QUASI, sensitive="INCWAGE", attributes=words)


def authors(census: pl.DataFrame, policy: Policy) -> Comparison:
    """The authors' release with its helper columns, which say whose row is whose."""
    release = pl.read_csv(DATA / "releases" / "authors_l10_delta6_seed0.csv")
    return Comparison.of(census, release.select(census.columns), policy, record=release["OID"].to_numpy())


@pytest.mark.data
def test_the_authors_release_discloses_what_was_measured_of_it(census: pl.DataFrame) -> None:
    found = measure_disclosure(authors(census, kinds(())))
    assert found.identity is not None
    identity = [risk.rate.value for risk in found.identity]
    attribute = [risk.rate.value for risk in found.attribute["INCWAGE"]]
    assert identity == pytest.approx([0.0059, 0.0147, 0.0222, 0.0218, 0.0152, 0], abs=0.0006)
    assert attribute == pytest.approx([0.0180, 0.0264, 0.0325, 0.0299, 0.0212, 0.0033], abs=0.0008)


@pytest.mark.data
def test_the_authors_release_is_linked_as_was_measured(census: pl.DataFrame) -> None:
    # The figures of the notes take codes as categories, but for age and hours.
    made = authors(census, kinds(("SEX", "RELATE", "MARST", "RACE", "EDUC")))
    assert link_nearest(made).identity.rate.value == pytest.approx(0.078, abs=0.002)
    assert link_nearest(made).without_exact.rate.value == pytest.approx(0.094, abs=0.01)
    assert link_with_sensitive(made).identity.rate.value == pytest.approx(0.472, abs=0.01)
    assert link_with_untouched(made).identity.rate.value == pytest.approx(0.909, abs=0.01)


@pytest.mark.data
def test_a_generalised_release_of_arx_is_scored(census: pl.DataFrame) -> None:
    release = pl.read_csv(DATA / "releases" / "arx_local_frequency10.csv", infer_schema=False)
    found = measure_disclosure(Comparison.of(census, release.select(census.columns), kinds(())), [0.7])
    assert found.identity is not None
    assert found.identity[0].rate.value == pytest.approx(0.0010, abs=0.0002)
