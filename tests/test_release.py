"""The library's one call: what a release is, what is said of it, and what stays hidden."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import polars as pl
import pytest

import muco
from muco.errors import InfeasibleError, MucoWarning, PolicyError, TableError
from muco.microdata import Key, Microdata
from muco.release import Hidden, Release

TABLE = pl.DataFrame(
    {"id": list("abcdefgh"), "age": [20, 21, 30, 31, 40, 41, 50, 51], "zip": [1, 2] * 4, "ill": list("pqrs") * 2}
)
ROLES: dict[str, Any] = {"identifier": "id", "quasi": ["age", "zip"], "sensitive": "ill", "diversity": 4}
KEY = "00" * 32
WRONG = "anonymise"


def test_names_or_a_policy_give_the_same_release() -> None:
    by_name = muco.anonymize(TABLE, **ROLES, key=KEY)
    by_policy = muco.anonymize(TABLE, muco.Policy.of(**ROLES), key=bytes(32))
    assert by_name.data.equals(by_policy.data)
    assert by_name.certificate == by_policy.certificate


def test_a_policy_and_its_parts_are_refused_together() -> None:
    with pytest.raises(PolicyError, match="give a policy or its parts, not both: quasi beside a policy"):
        muco.anonymize(TABLE, muco.Policy.of(**ROLES), quasi="age")


def test_of_many_unnamed_columns_some_are_named_and_the_rest_counted() -> None:
    wide = pl.DataFrame({"age": [1, 2], **{f"c{i}": [0, 1] for i in range(1_025)}})
    with pytest.warns(MucoWarning, match=r"untouched: c0, .*, c19 and 1,005 more\. Give"):
        muco.anonymize(wide, quasi="age", diversity=2)


def test_unnamed_columns_are_released_untouched_with_a_warning_at_the_caller() -> None:
    with pytest.warns(MucoWarning, match="columns without a role are released untouched: id, zip") as told:
        release = muco.anonymize(TABLE, quasi="age", sensitive="ill", diversity=4)
    assert told[0].filename == __file__
    assert release.data.columns == TABLE.columns
    assert release.certificate.attributes["untouched"] == ("id", "zip")


def test_a_group_of_one_record_is_warned_of() -> None:
    with pytest.warns(MucoWarning, match="the smallest group has 1 record, which nobody covers"):
        muco.anonymize(TABLE, **{**ROLES, "diversity": 1})


def test_a_column_of_almost_unique_texts_is_warned_of_whatever_its_role() -> None:
    table = pl.DataFrame(
        {"age": [i % 10 for i in range(200)], "a": [f"x{i}" for i in range(200)], "ill": list("pqrs") * 50}
    )
    for roles in ({"quasi": ["age", "a"]}, {"quasi": "age", "attributes": {"a": {"role": "other"}}}):
        told = pytest.warns(MucoWarning, match="attribute a looks like an identifier: it has 200 .* in 200 records")
        with told:
            muco.anonymize(table, sensitive="ill", diversity=4, **roles)
    muco.anonymize(table, quasi="age", sensitive="ill", identifier="a", diversity=4)


def test_hidden_comes_only_when_asked_for() -> None:
    assert isinstance(muco.anonymize(TABLE, **ROLES), Release)
    release, hidden = muco.anonymize_with_hidden(TABLE, **ROLES, key=KEY)
    assert isinstance(hidden, Hidden)
    assert not any(isinstance(getattr(release, name), Hidden | Key) for name in ("data", "certificate", "summary"))
    assert release.data["ill"].equals(TABLE["ill"].gather(hidden.rows))


def test_runs_without_a_key_differ() -> None:
    table = pl.concat([TABLE] * 8)
    assert not muco.anonymize(table, **ROLES).data.equals(muco.anonymize(table, **ROLES).data)


def test_one_toml_text_replays_a_run_given_the_key() -> None:
    policy = muco.Policy.of(**ROLES, delta="1/2")
    again = muco.Policy.parse(tomllib.loads(policy.to_toml()))
    assert muco.anonymize(TABLE, again, key=KEY).data.equals(muco.anonymize(TABLE, policy, key=KEY).data)


@pytest.mark.parametrize(
    "switches",
    [
        {"grouping": "sampled", "temperature": 0.7, "exchanges": 2},
        {"asks": "cover", "grouping": "neighbours", "sweep": "table", "exchanges": 1},
        {"household": "home", "weight": "zip", "quasi": "age", "max_risk": 0.9, "tried": 3},
        {"delta": "1/2", "blocks": [["age", "zip"]], "cover": "balanced", "draw": "independent"},
        {"rules": [{"name": "r", "forbid": {"age": "< 30", "zip": [2]}}], "missing": ["51"]},
        {"attributes": {"age": {"role": "quasi", "keep": 3}}},
    ],
    ids=lambda switches: next(iter(switches)),
)
def test_one_toml_text_replays_every_switch(switches: dict[str, Any]) -> None:
    personal = {"home": [*"aabb", None, None, None, None], "cover": [None, 5] * 4}
    table = TABLE.with_columns(pl.Series(name, cells) for name, cells in personal.items())
    policy = muco.Policy.of(**{**ROLES, "identifier": ["id", *personal], **switches})
    again = muco.Policy.parse(tomllib.loads(policy.to_toml()))
    assert again == policy
    one, other = (muco.anonymize(table, each, key=KEY) for each in (policy, again))
    assert one.data.equals(other.data) and one.certificate == other.certificate


def test_reprs_show_no_cell() -> None:
    release, hidden = muco.anonymize_with_hidden(TABLE, **ROLES, key=KEY)
    assert repr(release) == "Release(8 records, preset provable, smallest group 4)"
    assert (repr(hidden), repr(hidden.key)) == ("Hidden(2 groups)", "Key(...)")
    assert repr(hidden.outcome) == "Outcome(8 records)"
    microdata = hidden.outcome.groups.microdata
    assert repr(microdata) == "Microdata(8 records, 2 quasi-identifiers)"
    assert microdata.released_names == ("age", "zip", "ill")


def test_the_certificate_of_provable_says_at_most_with_its_condition() -> None:
    certificate = muco.anonymize(TABLE, **ROLES).certificate
    assert "with probability at most 1/4. The groups are taken as given." in certificate.promise[0]
    assert "no value of ill stands in more than 1/4" in certificate.promise[1].lower()
    assert any("minimality attack" in limit for limit in certificate.limits)
    assert certificate.repair == {}


def test_without_sensitive_attributes_the_statement_has_no_condition() -> None:
    certificate = muco.anonymize(TABLE.select("age", "zip"), quasi=["age", "zip"], diversity=4).certificate
    assert "formed without looking at sensitive values" in certificate.promise[0]
    assert certificate.promise[1] == "Each group has at least 4 records."
    assert not any("minimality" in limit for limit in certificate.limits)


def test_the_certificate_of_paper_never_calls_delta_a_bound_on_linking() -> None:
    certificate = muco.anonymize(TABLE, **ROLES, delta="1/4").certificate
    text = certificate.to_json()
    assert "may come from at least 4 of its records (Corollary 1 at delta 1/4)" in text
    assert "It is no bound on linking" in text
    assert "an exact match is wrong" in text
    assert "with probability at most" not in text


@pytest.mark.parametrize(
    ("switches", "words"),
    [
        ({"principle": "distinct"}, "Each group holds at least 4 different values of ill."),
        (
            {"principle": "entropy"},
            "The entropy of ill in each group is at least that of 4 equally frequent values.",
        ),
        ({"principle": "recursive", "c": 5}, "Each group is recursively (5.0, 4)-diverse in ill."),
        ({"principle": "closeness", "t": 0.5}, "within 0.5 of those of the table (t-closeness)."),
    ],
)
def test_each_principle_is_put_in_words(switches: dict[str, Any], words: str) -> None:
    assert muco.anonymize(TABLE, **ROLES, **switches).certificate.promise[-1].endswith(words)


def test_a_certificate_is_json_with_what_is_known_of_its_file() -> None:
    certificate = muco.anonymize(TABLE, **ROLES, key=KEY).certificate
    words = json.loads(certificate.to_json(release={"file": "a.csv"}))
    assert (words["records"], words["release"], words["certificate_version"]) == (8, {"file": "a.csv"}, 1)
    assert words["settings"]["delta"] == "tight"
    assert words["attributes"]["removed"] == ["id"]


def test_progress_tells_stages_and_may_stop_a_run() -> None:
    stages: list[str] = []
    muco.anonymize(TABLE, **ROLES, watch=lambda stage, *_: stages.append(stage))
    assert stages == ["encode", "divide", "cover", "release"]

    def stop(stage: str, *_: int) -> None:
        if stage == "cover":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        muco.anonymize(TABLE, **ROLES, watch=stop)


@pytest.mark.parametrize(
    ("roles", "kind", "message"),
    [
        ({"quasi": []}, PolicyError, "no quasi-identifier is named"),
        ({"quasi": ["agee"]}, TableError, "the table has no attribute agee: did you mean age"),
        ({"diversity": 9}, InfeasibleError, "diversity is 9 but the table has 8 records.* at most 8"),
        (
            {"diversity": 5},
            InfeasibleError,
            "has 4 values, and the commonest stands in 2 of 8 .* Lower diversity to 4",
        ),
        ({"sensitive": "zip", "quasi": "age", "diversity": 3}, InfeasibleError, "Lower diversity to 2"),
    ],
)
def test_what_does_not_fit_is_refused_before_any_work(roles: dict[str, Any], kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        Microdata.of(TABLE, muco.Policy.of(**{**ROLES, **roles}))


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(TableError, match="the table has no records"):
        muco.anonymize(TABLE.clear(), **ROLES)


def test_the_public_names_are_few_and_load_when_used() -> None:
    assert dir(muco) == muco.__all__
    assert len(muco.__all__) <= 15
    assert all(callable(getattr(muco, name)) for name in muco.__all__)
    with pytest.raises(AttributeError, match="module muco has no attribute anonymise"):
        getattr(muco, WRONG)
