"""Records of one household, or of one person: they stand in one group, and are at most 1/l of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given

import muco
from muco._core import uniforms
from muco.assess.assessment import Effort, assess_release
from muco.baselines import anatomize, generalize, generalize_with_groups
from muco.errors import InfeasibleError, PolicyError, ReleaseError
from muco.frame import Frame
from muco.guess.proposal import Proposal
from muco.microdata import Groups
from muco.personal import read_households
from muco.preflight.whole import find_all
from muco.tune.setting import usual_settings
from muco.tune.space import Choice, Space
from reference import World, is_satisfied
from reference_households import divide_households, placed
from test_agreement import few, worlds
from twin import Axis, divided

# Four couples; the last two have no household.
COUPLES = pl.DataFrame(
    {
        "age": [20, 60, 22, 62, 70, 72, 30, 32],
        "pay": [1, 2, 3, 4, 1, 2, 3, 4],
        "home": ["a", "a", "b", "b", "c", "c", None, None],
    }
)


def policy(**switches: Any) -> muco.Policy:
    return muco.Policy.of(**{"quasi": "age", "sensitive": "pay", "diversity": 2, "household": "home", **switches})


def homes(*, records: int = 3_000) -> pl.DataFrame:
    """Records of about 1,000 households, whose members live in one place."""
    age, town, pay, home = (uniforms(bytes(32), stream, records) for stream in range(4))
    number = (home * records / 3).astype(np.int64)
    columns = {"age": 18 + age * 62, "zip": town[number] * 60, "pay": pay * 30, "home": number}
    return pl.DataFrame(columns).cast(pl.Int64)


def members(groups: Groups) -> list[list[int]]:
    return sorted(sorted(group.records.tolist()) for group in groups)


# ---- groups


@pytest.mark.parametrize(
    ("grouping", "sweep"), [("leaves", "leaf"), ("neighbours", "leaf"), ("neighbours", "table")]
)
@given(made=worlds(), data=st.data())
@few
def test_the_core_keeps_households_as_the_oracle_does(
    made: tuple[World, list[Axis]], data: st.DataObject, grouping: str, sweep: str
) -> None:
    world, axes = made
    records = len(world.codes)
    home = data.draw(st.lists(st.sampled_from([-1] * 13 + [*range(13)]), min_size=records, max_size=records))
    seen = placed(world, home)
    assume(is_satisfied(seen, world.everybody))
    number = np.array([2**32 - 1 if h < 0 else h for h in home], dtype=np.uint32)
    middles = np.array(seen.codes, dtype=np.int32).reshape(records, len(axes))
    found = divided(replace(world, asks=seen.asks), axes, grouping, sweep, households=(number, middles))
    assert [(leaf, sorted(group)) for leaf, group in found] == divide_households(world, home, grouping, sweep)
    for _, group in found:
        held = Counter(home[i] for i in group if home[i] >= 0)
        assert all(count == home.count(h) for h, count in held.items())
        assert max(held.values(), default=1) * world.principle.diversity <= len(group)


def test_a_cut_sees_a_household_at_its_lower_median() -> None:
    # Ages 20 60, 22 62, 70 72, 30, 32 are seen at 20, 22, 70, 30, 32. The median of 20 20 22 22 30 32 70 70 is 22:
    # both sides are of four records, at most two of them of one household. No side of two can be cut off.
    groups = muco.divide_table(muco.Microdata.of(COUPLES, policy(grouping="leaves")))
    assert members(groups) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_middles_are_the_lower_median_of_each_attribute() -> None:
    # Household 0 has (1, 9), (5, 2), (3, 4): 3 and 4. Household 1 has (8, 8), (6, 6): 6 and 6. The last is alone.
    codes = np.array([[1, 9], [8, 8], [5, 2], [6, 6], [3, 4], [7, 1]], dtype=np.int32)
    table = pl.DataFrame({"home": [0, 1, 0, 1, 0, None], "age": 1, "pay": 1})
    found = read_households(Frame.of(table), policy(diversity=1), codes, bytes(32))
    assert found is not None
    assert found.middles.tolist() == [[3, 4], [6, 6], [3, 4], [6, 6], [3, 4], [7, 1]]
    assert found.sizes.tolist() == [3, 2, 3, 2, 3, 1]


def test_runs_lose_less_than_leaves() -> None:
    table, quasi = homes(), ["age", "zip"]
    lost = {}
    for grouping in ("leaves", "neighbours"):
        release = muco.anonymize(table, policy(quasi=quasi, grouping=grouping, diversity=3), key=bytes(32))
        lost[grouping] = sum(release.certificate.information_loss.values())
    assert lost["neighbours"] < 0.97 * lost["leaves"]


def test_the_order_of_the_input_does_not_matter() -> None:
    table, chosen = homes(), policy(quasi=["age", "zip"])
    once, again = (muco.anonymize(each, chosen, key=bytes(32)).data for each in (table, table.reverse()))
    assert once.equals(again)


def test_asks_and_households_are_kept_together() -> None:
    table = homes().with_columns(cover=pl.when(pl.col("age") == 40).then(30).otherwise(1))
    groups = muco.divide_table(muco.Microdata.of(table, policy(quasi=["age", "zip"], asks="cover")))
    assert groups.largest_share <= Fraction(1, 2)
    assert (np.repeat(groups.sizes, groups.sizes) >= table["cover"].to_numpy()[groups.order]).all()


# ---- the promise


def test_the_certificate_speaks_of_households_and_the_column_is_gone() -> None:
    release, hidden = muco.anonymize_with_hidden(COUPLES, policy())
    assert release.data.columns == ["age", "pay"]
    assert release.certificate.attributes["removed"] == ("home",)
    assert hidden.outcome.groups.largest_share == Fraction(1, 2)
    assert "linked to its household with probability at most 1/2" in release.certificate.promise[1]


def test_the_gate_and_the_verdict_count_a_household_as_one_person() -> None:
    # Groups of four rows or more, of which two are one household's: the risk is 1/2 and not 1/4.
    with pytest.raises(ReleaseError, match=r"the informed risk is 0\.5000"):
        muco.anonymize(COUPLES, policy(max_risk=0.3))
    release, hidden = muco.anonymize_with_hidden(COUPLES, policy())
    assert assess_release(COUPLES, release, policy(), hidden=hidden, effort=Effort.RISKS).proven == 0.5


def test_what_is_measured_for_rows_opens_no_gate_for_households() -> None:
    with pytest.raises(ReleaseError, match=r"informed risk is unknown .*not for households"):
        muco.anonymize(COUPLES, policy(delta="1/2", max_risk=0.9))


def test_mondrian_keeps_households_and_anatomy_refuses_them() -> None:
    assert generalize(COUPLES, policy()).certificate.smallest_group == 4
    with pytest.raises(PolicyError, match="would part households"):
        anatomize(COUPLES, policy())


def test_mondrian_counts_a_household_as_one_person_too() -> None:
    # As above: ranges over four rows, of which two are one household's.
    with pytest.raises(ReleaseError, match=r"the informed risk is 0\.5000 \(the largest share of a group"):
        generalize(COUPLES, policy(max_risk=0.3))
    release, kept = generalize_with_groups(COUPLES, policy())
    assert "linked to its household with probability at most 1/2" in release.certificate.promise[1]
    assert release.certificate.settings["household"] == "home"
    judged = assess_release(COUPLES, release, policy(), hidden=kept, effort=Effort.RISKS)
    assert judged.proven == 0.5
    assert "at most 50 %, the largest share of a group that one household has" in " ".join(judged.verdict.proven)


def test_settings_that_are_tried_keep_what_the_policy_says_of_records() -> None:
    asked = policy(asks="cover")
    space = Space.of(asked, (2,), 4, ())
    tried = [*usual_settings(asked), *filter(None, (space.setting(each) for each in space.near(Choice(2), {2})))]
    assert len(space.draws) == 1  # what is not proven is measured for rows, of which a household has several
    assert {(each.policy.asks, each.policy.household) for each in tried} == {("cover", "home")}


# ---- faults, and what is proposed


def test_a_household_too_large_for_any_group_is_refused_with_counts() -> None:
    table = COUPLES.with_columns(home=pl.Series([*"aaaaa", "b", None, None]))
    with pytest.raises(InfeasibleError, match=r"5 records \(rows 1, 2, .*\) of households .* 1/2 of the 8 records"):
        muco.anonymize(table, policy())


@pytest.mark.parametrize(
    ("switches", "words"),
    [
        ({"grouping": "seeds"}, "seeds would part households"),
        ({"exchanges": 2}, "exchanges would part households"),
        ({"grouping": "leaves", "sweep": "table"}, "sweep belongs to grouping neighbours"),
        ({"attributes": {"home": {"role": "other"}}}, "household names home, which has role other: .* identifier"),
    ],
)
def test_what_would_part_or_link_households_is_refused(switches: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        policy(**switches)


def test_init_proposes_a_household_and_check_is_content_with_it(tmp_path: Path) -> None:
    table = homes().rename({"home": "household_id", "pay": "salary"})
    proposal = Proposal.of(table)
    assert proposal.switches["household"] == "household_id"
    path = tmp_path / "policy.toml"
    path.write_text(muco.Policy.parse(proposal.words).to_toml())
    assert not [found for found in find_all(table, path) if found.attribute == "household_id"]
    assert muco.divide_table(muco.Microdata.of(table, muco.Policy.read(path))).largest_share <= Fraction(1, 10)


def test_check_finds_a_household_too_large(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(policy().to_toml())
    found = find_all(COUPLES.with_columns(home=pl.lit("a")), path)
    assert [each.severity.value for each in found if each.attribute == "home"] == ["error"]
