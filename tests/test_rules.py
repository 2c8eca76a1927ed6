"""Edit rules: what they mean, that they are kept where tables allow, and that keeping them tells nothing."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import muco
import twin
from muco import _core
from muco.baselines import anatomize, generalize
from muco.errors import MucoError, PolicyError, TableError
from muco.microdata import Microdata
from muco.policy import Policy
from test_frequencies import ALPHA, p_value

KEY = bytes(range(32))
MARRIED_CHILDREN = {"name": "no married children", "forbid": {"age": "< 15", "status": ["married", "widowed"]}}
# Ages 6 7 30 40 50 60 70 80, the children single, the others married, 70 and 80 widowed.
AGES = [6, 7, 30, 40, 50, 60, 70, 80]
STATUS = ["single"] * 2 + ["married"] * 4 + ["widowed"] * 2


def people(copies: int = 1) -> pl.DataFrame:
    """Everybody has a pay of their own, so that 8-diverse groups hold all eight."""
    return pl.DataFrame({"age": AGES, "status": STATUS, "pay": list(range(8))}).select(
        pl.all().repeat_by(copies).explode()
    )


def policy(*rules: dict[str, Any], **switches: Any) -> Policy:
    roles: dict[str, Any] = {"quasi": ["age", "status"], "sensitive": "pay"}
    return Policy.of(**{**roles, "diversity": 8, "rules": rules, **switches})


def broken(condition: Any, values: list[Any], **attribute: Any) -> list[int]:
    """The places of the values that meet a condition."""
    table = pl.DataFrame({"a": values, "b": [0] * len(values)})
    rules = [{"forbid": {"a": condition}}]
    words = {"diversity": 1, "rules": rules, "attributes": {"a": {"role": "quasi", **attribute}}}
    microdata = Microdata.of(table, Policy.parse(words))
    return [int(place) for place in np.flatnonzero(microdata.rules[0].is_broken(microdata.codes))]


# ---- what a condition means


@pytest.mark.parametrize(
    ("condition", "values", "attribute", "expected"),
    [
        ("< 15", [14, 15, 16, None], {}, [0]),
        ("<=15", [14, 15, 16, None], {}, [0, 1]),
        ("> 15", ["14", "15.5", "?"], {"missing": ["?"]}, [1]),
        ("= 15", ["14", "15.0", "16"], {}, [1]),
        ([14, "16"], [14, 15, 16], {}, [0, 2]),
        ("missing", [14, None, 16], {}, [1]),
        (["yes"], ["Yes", "no", "YES"], {}, [0, 2]),
        (["m"], ["m", "w", " m "], {}, [0, 2]),
        ("= 1", [1, 2, 3], {"kind": "categorical"}, [0]),
        (">= mid", ["low", "mid", "high"], {"order": ["low", "mid", "high"]}, [1, 2]),
        ("> mid", ["low", "high"], {"order": ["low", "mid", "high"]}, [1]),
        (["mid"], ["low", "high"], {"order": ["low", "mid", "high"]}, []),
        (["x"], ["a", "b"], {"hierarchy": {"tree": {"n": ["a", "b"], "m": ["x"]}}}, []),
        ("< 2000-01-01", ["1999-12-31", "2000-01-01"], {}, [0]),
        ("< 01.02.2000", ["31.01.2000", "01.02.2000"], {"form": "%d.%m.%Y"}, [0]),
        (["2000-02-01"], ["31.01.2000", "01.02.2000"], {"form": "%d.%m.%Y"}, [1]),
        ("< 3", ["1", "2", "10"], {"kind": "ordinal"}, [0, 1]),
    ],
)
def test_a_condition_is_met_by(condition: Any, values: list[Any], attribute: dict[str, Any], expected: Any) -> None:
    assert broken(condition, values, **attribute) == expected


@pytest.mark.parametrize(
    ("condition", "values", "attribute", "error", "message"),
    [
        ("< m", ["m", "w"], {}, PolicyError, "< needs an order and kind categorical has none: list the values"),
        ("< ten", [9, 10], {}, PolicyError, "ten is no number"),
        ("< ten", ["1999-12-31"], {}, PolicyError, "ten is no date"),
        ("> hihg", ["low"], {"order": ["low", "high"]}, PolicyError, "no hihg: did you mean high"),
        (["hihg"], ["low"], {"order": ["low", "high"]}, TableError, "did you mean high"),
        (["widowd"], ["widowed"], {}, TableError, r"no record has widowd, .*: mend the value, or take it out$"),
        ("> d", ["a", "b"], {"kind": "ordinal"}, TableError, "no record has d: give the attribute an order"),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused(
    condition: Any, values: list[Any], attribute: dict[str, Any], error: type[MucoError], message: str
) -> None:
    with pytest.raises(error, match=message):
        broken(condition, values, **attribute)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"forbid": {"agge": "< 15"}}, "rule 1 names agge, which is no quasi-identifier: did you mean age"),
        ({"forbid": {"pay": "< 15"}}, "rule 1 names pay, which is no quasi-identifier"),
        ({"forbid": {}}, r"rules\.0\.forbid .*at least 1"),
        ({"forbid": {"age": []}}, "is an empty list"),
        ({"forbid": {"age": "about 15"}}, 'must be a list of values, a comparison such as "< 15", or "missing"'),
        ({"forbid": {"age": 15}}, "must be a list of values"),
        ({"forbidden": {"age": "< 15"}}, "did you mean forbid"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        policy(rule)


def test_two_rules_of_one_name_are_refused() -> None:
    with pytest.raises(PolicyError, match="two are called no married children"):
        policy(MARRIED_CHILDREN, MARRIED_CHILDREN)


def test_rules_read_back_equal() -> None:
    whole = policy(MARRIED_CHILDREN, {"forbid": {"age": "missing"}})
    again = Policy.parse(tomllib.loads(whole.to_toml()))
    assert again == whole and "[[rules]]" in whole.to_toml()


# ---- that they are kept


def test_no_child_is_married_in_a_release_whose_table_has_none() -> None:
    # 100 copies of the eight in groups of eight: a draw marries about half of its 200 children.
    release = muco.anonymize(people(100), policy(MARRIED_CHILDREN), key=KEY)
    children = release.data.filter(pl.col("age") < 15)
    assert children["status"].to_list() == ["single"] * 200
    (count,) = release.summary.rules
    assert (count.original, count.released) == (0, 0) and (count.drawn or 0) > 100
    assert sorted(release.data["status"]) == sorted(people(100)["status"])


def test_what_tables_do_not_allow_is_counted() -> None:
    # Both children are married, and everybody else is: nobody can take their place.
    table = people().with_columns(status=pl.lit("married"))
    rule = {"forbid": {"age": "< 15", "status": ["married"]}}
    (count,) = muco.anonymize(table, policy(rule), key=KEY).summary.rules
    assert (count.original, count.drawn, count.released) == (2, 2, 2)


def test_rules_are_broken_as_seldom_as_the_tables_allow() -> None:
    # One of each eight is single, and two are children: one of them stays married, whatever changes places.
    table = people(100).with_columns(
        status=pl.when(pl.col("age") == 30).then(pl.lit("single")).otherwise(pl.lit("m"))
    )
    rule = {"forbid": {"age": "< 15", "status": ["m"]}}
    (count,) = muco.anonymize(table, policy(rule), key=KEY).summary.rules
    assert (count.original, count.released) == (200, 100) and (count.drawn or 0) > 150


def test_without_rules_nothing_moves() -> None:
    plain, ruled = (
        muco.anonymize(people(9), policy(*rules), key=KEY).data
        for rules in ((), ({"forbid": {"age": "> 99"}}, {"forbid": {"age": "missing", "status": ["single"]}}))
    )
    assert plain.equals(ruled)


def test_the_certificate_tells_rules_by_name_and_small_counts_as_small() -> None:
    certificate = muco.anonymize(people(), policy(MARRIED_CHILDREN), key=KEY).certificate
    assert [each["rule"] for each in certificate.rules] == ["no married children"]
    assert certificate.rules[0]["original"] == 0 and certificate.rules[0]["released"] == 0
    assert certificate.rules[0]["drawn"] in {0, "fewer than 10"}
    assert "widowed" not in certificate.to_json()
    large = muco.anonymize(people(100), policy(MARRIED_CHILDREN), key=KEY).certificate
    assert json.loads(large.to_json())["rules"][0]["drawn"] >= 10


@pytest.mark.parametrize("method", [generalize, anatomize])
def test_a_method_that_draws_nothing_says_that_it_keeps_no_rules(method: Any) -> None:
    # Ages 20 to 23, four pays: any two records are a group.
    table = pl.DataFrame({"age": [20, 21, 22, 23], "pay": [1, 2, 3, 4]})
    rule = {"forbid": {"age": "< 21"}}
    made = method(table, muco.Policy.of(quasi="age", sensitive="pay", diversity=2, rules=[rule]))
    assert any("edit rules are neither kept nor counted" in limit for limit in made.certificate.limits)


def test_batches_and_order_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    table, one = people(50), policy(MARRIED_CHILDREN)
    whole = muco.anonymize(table, one, key=KEY).data
    monkeypatch.setattr("muco.microdata.Groups.batches.__defaults__", (16,))
    assert muco.anonymize(table, one, key=KEY).data.equals(whole)


# ---- that keeping them tells nothing (docs/algebra/rules.md)


Drawn = NDArray[np.int32]
FORBIDDEN = [[(0, np.array([True, False, False])), (1, np.array([False, True]))]]
AXES = [twin.line([0, 1, 2]), twin.line([0, 1])]


def ruled(tables: _core.Tables, shape: tuple[int, int], draw: str) -> tuple[Drawn, Drawn]:
    """What copies of a group draw, before and after rules: no 0 of the first attribute beside a 1 of the second."""
    drawn = _core.output_values(tables, KEY, first_group=0, draw=draw, blocks=[])
    kept = _core.keep_rules(tables, drawn, KEY, first_group=0, rules=FORBIDDEN, draw=draw, blocks=[])
    return drawn.reshape(*shape, 2), kept.reshape(*shape, 2)


@pytest.mark.parametrize("group", [[(0, 0), (0, 0), (1, 1), (2, 1)], [(0, 1), (0, 0), (1, 1)]])
def test_every_owner_of_a_row_is_equally_likely(group: list[tuple[int, int]]) -> None:
    # Tight and balanced. The same rows in another order are as frequent, whoever drew them: in the first world the
    # one set of rows without a forbidden one, in the second, which must keep one, those with one.
    copies = 12_000
    tables = twin.tables_of([group] * copies, AXES, None, "balanced", "observed")
    _, kept = ruled(tables, (copies, len(group)), "controlled")
    least = max(0, sum(code == 0 for code, _ in group) - sum(code == 0 for _, code in group))
    assert set(((kept[:, :, 0] == 0) & (kept[:, :, 1] == 1)).sum(axis=1).tolist()) == {least}
    rows = kept[:, :, 0] * 2 + kept[:, :, 1]
    arrangements, counts = np.unique(rows, axis=0, return_counts=True)
    sets, number = np.unique(np.sort(arrangements, axis=1), axis=0, return_inverse=True)
    for each in range(len(sets)):
        found = counts[number.ravel() == each]
        assert p_value(found, np.full(len(found), found.sum() / len(found))) > ALPHA / len(sets)


@pytest.mark.parametrize("draw", ["independent", "controlled"])
def test_rules_leave_every_table_as_it_is(draw: str) -> None:
    # Delta 2/5: rows differ by own value, and only the two equal pairs may exchange.
    group = [(0, 0), (0, 0), (2, 1), (2, 1), (1, 0)]
    copies = 20_000
    tables = twin.tables_of([group] * copies, AXES, Fraction(2, 5), "cheapest", "observed")
    drawn, kept = ruled(tables, (copies, len(group)), draw)
    assert (drawn != kept).any()
    for attribute in range(2):
        table = twin.entry(tables, [record[attribute] for record in group], attribute=attribute)
        for record in range(len(group)):
            counts = np.array([(kept[:, record, attribute] == column).sum() for column in table.columns])
            expected = copies * table.probabilities[record]
            expected[expected < 1e-3] = 0
            assert p_value(counts, expected) > ALPHA / 20


def test_independent_draws_keep_their_table_where_all_rows_are_equal() -> None:
    group = [(0, 0), (0, 0), (1, 1), (2, 1)]
    copies = 20_000
    tables = twin.tables_of([group] * copies, AXES, None, "balanced", "observed")
    _, kept = ruled(tables, (copies, 4), "independent")
    for record in range(4):
        counts = np.bincount(kept[:, record, 0], minlength=3)
        assert p_value(counts, copies * np.array([0.5, 0.25, 0.25])) > ALPHA / 4
