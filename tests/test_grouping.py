"""Seeds, exchanges and blocks: what they gain, and what they may never cost."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import muco
from muco.arrays import Offsets
from muco.errors import MucoWarning, PolicyError
from muco.example import generate
from muco.microdata import Groups, Microdata

TABLES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3), st.integers(0, 5)), min_size=12, max_size=40)


def table_of(rows: list[tuple[int, int, int]]) -> pl.DataFrame:
    """Ages and towns, and salaries that are frequent enough for no one: each record's own below, in turn."""
    ages, towns, salaries = zip(*rows)
    return pl.DataFrame({"age": ages, "town": [f"t{town}" for town in towns], "pay": [s % 6 for s in salaries]})


def groups_of(table: pl.DataFrame, **switches: Any) -> Groups:
    policy = muco.Policy.of(quasi=["age", "town"], sensitive="pay", **{"diversity": 2, **switches})
    return muco.divide_table(Microdata.of(table, policy, key=bytes(32)))


def parts(groups: Groups) -> list[Offsets]:
    return [groups.order[a:b] for a, b in pairwise(groups.starts)]


def apart(microdata: Microdata, a: int, b: int) -> float:
    codes = microdata.codes
    columns = zip(microdata.quasi, codes[[a]].T, codes[[b]].T)
    counts = {name: attribute.keep or 1 for name, attribute in microdata.policy.attributes.items()}
    return sum(
        counts[domain.attribute] * float(domain.distance.between(left.copy(), right.copy())[0])
        for domain, left, right in columns
    )


def spread(microdata: Microdata, group: Offsets) -> float:
    """What a tight balanced group loses: the sum of all its distances over its size."""
    return sum(apart(microdata, a, b) for a in group for b in group) / len(group)


def is_frequent(table: pl.DataFrame, group: Offsets) -> bool:
    return int(np.bincount(table["pay"].to_numpy()[group]).max()) * 2 <= len(group)


@given(TABLES, st.sampled_from(["seeds", "neighbours", "buckets"]), st.integers(0, 3))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_every_group_stays_diverse_and_everybody_has_one(
    rows: list[tuple[int, int, int]], grouping: str, exchanges: int
) -> None:
    table = table_of(rows)
    assume(is_frequent(table, np.arange(len(table))))
    groups = groups_of(table, grouping=grouping, exchanges=exchanges)
    assert sorted(groups.order.tolist()) == list(range(len(table)))
    assert all(is_frequent(table, group) for group in parts(groups))


@given(TABLES, st.sampled_from([None, 4.0]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_exchanges_end_where_no_two_near_groups_gain_by_one(
    rows: list[tuple[int, int, int]], keep: float | None
) -> None:
    # A table of this size has few groups, each among the 8 nearest of the other but for the largest tables.
    table = table_of([(age, town, at) for at, (age, town, _) in enumerate(rows[:18])])
    groups = groups_of(table, grouping="seeds", exchanges=50, attributes={"town": {"keep": keep}})
    microdata, found = groups.microdata, parts(groups)
    for one in found:
        for other in found:
            if one is other:
                continue
            before = spread(microdata, one) + spread(microdata, other)
            for i in range(len(one)):
                for j in range(len(other)):
                    a, b = one.copy(), other.copy()
                    a[i], b[j] = other[j], one[i]
                    if is_frequent(table, a) and is_frequent(table, b):
                        assert spread(microdata, a) + spread(microdata, b) >= before - 1e-4


@pytest.mark.parametrize("grouping", ["buckets", "neighbours", "seeds"])
def test_exchanges_only_ever_lose_less(grouping: str) -> None:
    table, losses = generate(1_500), []
    for exchanges in (0, 1, 2, 4):
        switches: dict[str, Any] = {"grouping": grouping, "exchanges": exchanges, "diversity": 6}
        policy = muco.Policy.of(quasi=["age", "education", "race"], sensitive="salary", **switches)
        groups = muco.divide_table(Microdata.of(table, policy, key=bytes(32)))
        losses.append(sum(spread(groups.microdata, group) for group in parts(groups)))
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.95 * losses[0]


@pytest.mark.parametrize(
    "switches",
    [{"grouping": "seeds"}, {"grouping": "seeds", "exchanges": 3}, {"exchanges": 3}, {"grouping": "sampled"}],
)
def test_groups_do_not_depend_on_the_order_of_the_records(switches: dict[str, Any]) -> None:
    rng = np.arange(120)
    table = pl.DataFrame({"age": rng * 7 % 40, "town": [f"t{x % 5}" for x in rng], "pay": rng})
    order = (rng * 37 + 5) % 120
    straight, mixed = groups_of(table, **switches), groups_of(table[order.tolist()], **switches)
    named = {frozenset(group.tolist()) for group in parts(straight)}
    assert named == {frozenset(order[group].tolist()) for group in parts(mixed)}


def test_a_seed_is_joined_by_its_nearest() -> None:
    # l = 2, all salaries differ: 1 and 50 lie farthest out (equally: 1 + 49 + 48 ... ), each takes its neighbour.
    table = pl.DataFrame({"age": [1, 2, 49, 50], "town": ["t"] * 4, "pay": [1, 2, 3, 4]})
    groups = groups_of(table, grouping="seeds", sweep="table")
    assert sorted(sorted(group.tolist()) for group in parts(groups)) == [[0, 1], [2, 3]]


# ---- what is to be kept counts more


# Young and old, with few hours and many: two pairs by age, or two by hours.
CROSSED = pl.DataFrame({"age": [1, 1, 9, 9], "hours": [1, 9, 1, 9], "pay": [1, 2, 3, 4]})


@pytest.mark.parametrize(
    "switches",
    [
        {"grouping": "leaves"},
        {"grouping": "neighbours"},
        {"grouping": "neighbours", "sweep": "table"},
        {"grouping": "seeds", "sweep": "table"},
        {"grouping": "buckets", "exchanges": 4},
    ],
)
@pytest.mark.parametrize(("kept", "expected"), [("age", [[0, 1], [2, 3]]), ("hours", [[0, 2], [1, 3]])])
def test_groups_are_tighter_in_what_counts_more(switches: dict[str, Any], kept: str, expected: list[Any]) -> None:
    roles = {name: {"role": "quasi", **({"keep": 2.0} if name == kept else {})} for name in ("age", "hours")}
    policy = muco.Policy.of(**{"sensitive": "pay", "diversity": 2, **switches, "attributes": roles})
    groups = muco.divide_table(Microdata.of(CROSSED, policy))
    assert sorted(sorted(group.tolist()) for group in parts(groups)) == expected
    certificate = muco.anonymize(CROSSED, policy, key=bytes(32)).certificate
    assert certificate.settings["keep"] == {kept: 2.0}


def test_what_counts_more_changes_no_table_and_no_measure() -> None:
    table = pl.DataFrame({"age": [28, 28, 29, 40], "hours": [1, 2, 3, 9], "pay": [1, 2, 3, 4]})
    releases = [
        muco.anonymize(
            table,
            quasi=["age", "hours"],
            sensitive="pay",
            diversity=4,
            delta="1/2",
            attributes={"age": {"keep": keep}} if keep else None,
            key=bytes(32),
        )
        for keep in (None, 5.0)
    ]
    assert releases[0].data.equals(releases[1].data)
    assert releases[0].certificate.information_loss == releases[1].certificate.information_loss


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ({"role": "quasi", "keep": 0.0}, "attributes.age.keep must be greater than 0"),
        ({"role": "quasi", "keep": 1e9}, "attributes.age.keep must be less than or equal to 1000"),
        ({"role": "sensitive", "keep": 2.0}, "keep belongs to quasi-identifiers"),
    ],
)
def test_a_weight_that_makes_no_sense_is_refused(attribute: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        muco.Policy.parse({"attributes": {"age": attribute}})


# ---- blocks


def pairs(table: pl.DataFrame) -> list[tuple[object, ...]]:
    return sorted(table.select("age", "town").rows())


@pytest.mark.filterwarnings("ignore:one block of all")
def test_a_block_keeps_its_combinations_and_other_attributes_do_not() -> None:
    table = pl.DataFrame({"age": range(40), "town": [f"t{x:02}" for x in range(40)], "pay": range(40)})
    apart_, together = (
        muco.anonymize(
            table, quasi=["age", "town"], sensitive="pay", diversity=5, blocks=blocks, key=bytes(32)
        ).data
        for blocks in ([], [["town", "age"]])
    )
    assert pairs(together) == pairs(table)
    assert pairs(apart_) != pairs(table)
    # One block of everything publishes exact combinations, as Anatomy does; whose they are stays open in a group.
    assert together.rows() != table.rows()


def test_one_block_of_everything_is_called_what_it_is() -> None:
    table = pl.DataFrame({"age": range(40), "town": [f"t{x:02}" for x in range(40)], "pay": range(40)})
    policy = muco.Policy.of(quasi=["age", "town"], sensitive="pay", diversity=5, blocks=[["age", "town"]])
    with pytest.warns(MucoWarning, match="one block of all quasi-identifiers publishes their exact combinations"):
        certificate = muco.anonymize(table, policy, key=bytes(32)).certificate
    assert "every combination of the original" in certificate.limits[0]
    policy = muco.Policy.of(quasi=["age"], sensitive="pay", diversity=5, blocks=[["age"]])
    limits = muco.anonymize(table.drop("town"), policy, key=bytes(32)).certificate.limits
    assert not any("combination" in limit for limit in limits)


def test_a_block_draws_each_attribute_from_its_own_table() -> None:
    table = pl.DataFrame({"age": [28, 28, 29] * 10, "town": list("aab") * 10, "pay": range(30)})
    release = muco.anonymize(
        table,
        quasi=["age", "town"],
        sensitive="pay",
        diversity=30,
        delta="1/20",
        repair=0,
        blocks=[["age", "town"]],
    )
    # 28 and a have equal tables here, so a record keeps or changes both.
    assert set(release.data.select("age", "town").rows()) == {(28, "a"), (29, "b")}


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ({"blocks": [["age", "pay"]]}, "blocks name pay, which is no quasi-identifier"),
        ({"blocks": [["age"], ["age"]]}, "blocks name a quasi-identifier twice"),
        (
            {"blocks": [["age", "town"]], "delta": "1/2", "draw": "controlled"},
            "needs delta tight and cover balanced",
        ),
        ({"grouping": "leaves", "exchanges": 1}, "exchanges do not go with grouping leaves"),
        ({"grouping": "sampled", "exchanges": 0}, "sampled draws its groups by exchanges"),
        ({"grouping": "seeds", "temperature": 0.1}, "temperature belongs to grouping sampled"),
        ({"grouping": "sampled", "sweep": "table"}, "sweep belongs to groupings neighbours and seeds"),
        ({"grouping": "buckets", "sweep": "table"}, "sweep belongs to groupings neighbours and seeds"),
    ],
)
def test_switches_that_do_not_go_together_are_refused(switches: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        muco.Policy.of(quasi=["age", "town"], sensitive="pay", diversity=2, **switches)
