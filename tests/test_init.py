"""`muco init`: what a column is taken for, why, and a policy that runs as it stands."""

from __future__ import annotations

import json
import tomllib
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import muco
from muco.cli.init import command
from muco.errors import PolicyError
from muco.guess.draft import write_draft
from muco.guess.names import entries_of, split_name
from muco.guess.orders import find_order, find_school_order
from muco.guess.proposal import Proposal, Suggestion
from muco.guess.traits import Traits
from muco.guess.words import Topic
from muco.policy import Policy
from muco.switches import Kind, Role
from shell import muco as run

RECORDS = 60


def suggest(name: str, values: list[object]) -> Suggestion:
    """The suggestion for one column, repeated to 60 records, beside an age that is always quasi."""
    column = pl.Series(name, (values * RECORDS)[:RECORDS])
    beside = pl.Series("age_beside", [20 + place % 30 for place in range(RECORDS)])
    return Proposal.of(pl.DataFrame([column, beside])).suggestions[0]


def each(form: str) -> list[object]:
    """Sixty different texts."""
    return [form.format(place + 10) for place in range(RECORDS)]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("x", each("anna{}@example.org")),
        ("x", each("123-45-67{}")),
        ("x", each("+49 30 1234{}")),
        ("x", each("AB1234{}C")),
        ("x", each("1234567{}Z")),
        ("x", each("123.456.789-{}")),
        ("x", each("756.1234.5678.{}")),
        ("x", each("some text {}")),
        ("Nachname", ["Meyer", "Schmidt", "Kurz", "Lang", "Rot"]),
        ("patient_id", list(range(RECORDS))),
        ("x", list(range(1000, 1000 + RECORDS))),
    ],
)
def test_what_names_a_person_is_an_identifier(name: str, values: list[object]) -> None:
    assert suggest(name, values).role is Role.IDENTIFIER


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("AGE", [20, 31, 45], Kind.CONTINUOUS),
        ("Alter", [20, 31, 45], Kind.CONTINUOUS),
        ("geschlecht", ["m", "w"], Kind.CATEGORICAL),
        ("x", ["Male", "Female"], Kind.CATEGORICAL),
        ("fecha_nac", ["31.12.1999", "01.02.1980", "17.03.1975"], Kind.DATE),
        ("x", [date(1990, 1, 1), date(2001, 5, 6)], Kind.DATE),
        ("MARST", [1, 2, 6], Kind.CATEGORICAL),
        ("EDUC", [1, 5, 11], Kind.ORDINAL),
        ("estadoCivil", ["soltero", "casado"], Kind.CATEGORICAL),
        (
            "codice_postale_cap",
            ["00184", "20121", "10121", "00185", "50122", "80121", "40121", "16121"],
            Kind.CATEGORICAL,
        ),
        ("profissao", ["médico", "pedreiro"], Kind.CATEGORICAL),
        ("commune", ["Lyon", "Paris"], Kind.CATEGORICAL),
        ("age_group", ["<18", "18-64", "65+"], Kind.ORDINAL),
    ],
)
def test_what_others_may_know_is_quasi(name: str, values: list[object], kind: Kind) -> None:
    suggestion = suggest(name, values)
    assert suggestion.role is Role.QUASI
    assert suggestion.comparison is not None
    assert suggestion.comparison.kind is kind


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("INCWAGE", [1000, 25000, 31000]),
        ("Einkommen", [1000, 25000, 31000]),
        ("diagnosis", ["flu", "cold"]),
        ("x", ["A10", "B20.1", "C34", "E11.9", "F32", "I10"]),
        ("exam_score", [3, 4, 5]),
    ],
)
def test_what_is_to_be_protected_is_sensitive(name: str, values: list[object]) -> None:
    assert suggest(name, values).role is Role.SENSITIVE


def test_a_column_that_nothing_tells_of_is_other() -> None:
    assert suggest("blorb", ["u", "v", "q"]).role is Role.OTHER


def test_codes_with_leading_zeros_become_a_tree_of_prefixes() -> None:
    words = suggest("zip", each("010{}")).words
    assert words["hierarchy"] == {"prefixes": {"lengths": [4, 3, 2, 1]}}


def test_postal_codes_of_different_lengths_are_in_doubt() -> None:
    codes: list[object] = [1184, 20121, 10121, 1185, 50122, 80121, 40121, 16121]
    assert "were leading zeros lost?" in " ".join(suggest("zip", codes).doubts)


def test_a_date_that_reads_both_ways_is_in_doubt() -> None:
    suggestion = suggest("visit", ["03/04/2001", "05/06/2002", "07/08/2003"])
    assert suggestion.words["form"] == "%d/%m/%Y"
    assert suggestion.doubts


def test_markers_of_missing_values_are_found() -> None:
    """-9 below ages that are never negative, ? among words, 9999 far above all others; 40 is a value."""
    assert suggest("age", [20, 40, -9]).words["missing"] == ["-9"]
    assert suggest("race", ["White", "Black", "?"]).words["missing"] == ["?"]
    assert suggest("hours", [20, 40, 9999]).words["missing"] == ["9999"]
    assert "missing" not in suggest("temperature_age", [-9, -3, 20]).words


def test_a_question_of_a_survey_says_little_of_what_it_mentions() -> None:
    assert suggest("DidYouEatAtSchoolOrHome", ["often", "seldom"]).role is Role.OTHER
    assert suggest("AgeInYearsAtScreening", [20, 31, 45]).role is Role.QUASI


def test_names_part_at_capitals_and_signs() -> None:
    assert split_name("HoursPerWeek") == split_name("hours_per-week") == ("hours", "per", "week")


def test_orders_are_told_by_words_and_by_numbers() -> None:
    assert find_order(["high", "low", "medium"]) == ("low", "medium", "high")
    assert find_order(["oft", "nie", "immer"]) == ("nie", "oft", "immer")
    assert find_order([">50", "10-20", "20-50", "<10"]) == ("<10", "10-20", "20-50", ">50")
    assert find_order(["[25, 30[", "[5, 10[", "[15, 20["]) == ("[5, 10[", "[15, 20[", "[25, 30[")
    assert find_order(["red", "low", "high"]) is None
    assert find_order(["7 or more", "6", "1"]) == ("1", "6", "7 or more")
    assert find_order(["Q3", "Q1", "Q2"]) == ("Q1", "Q2", "Q3")
    assert find_order(["I10", "E11", "J45"]) is None  # codes of several kinds
    assert find_school_order(["Masters", "HS-grad", "7th-8th"]) == ("7th-8th", "HS-grad", "Masters")
    assert find_school_order(["master", "bac", "licence", "bac+2"]) == ("bac", "bac+2", "licence", "master")
    assert find_school_order(["laurea", "diploma", "licenza media"]) == ("licenza media", "diploma", "laurea")
    assert find_school_order(["superior", "médio", "fundamental"]) == ("fundamental", "médio", "superior")


def test_several_words_tell_more_than_one_of_them() -> None:
    topics = [next(entries_of(name)).topic for name in ("estado civil", "stato civile", "estado")]
    assert topics == [Topic.MARITAL, Topic.MARITAL, Topic.PLACE]
    steps = ("Up to grade 4", "Grade 9", "High school", "Some college", "Bachelor's degree", "Graduate degree")
    assert find_school_order(steps[::-1]) == steps


def test_l_is_what_the_commonest_value_leaves_room_for() -> None:
    """Of 60 records the commonest of 20 pays stands in 3: l can be 20, and 10 is taken."""
    table = pl.DataFrame({"age": list(range(20, 80)), "pay": [place % 20 for place in range(60)]})
    assert Proposal.of(table).switches == {"principle": "frequency", "diversity": 10}


def test_a_value_too_frequent_is_named_by_its_count_only() -> None:
    table = pl.DataFrame({"age": list(range(20, 80)), "diagnosis": ["flu"] * 45 + ["SECRET"] * 15})
    proposal = Proposal.of(table)
    assert proposal.switches["principle"] == "closeness"
    assert "45 of 60 records" in proposal.why
    assert "flu" not in write_draft(proposal)


def test_without_a_sensitive_column_every_group_has_ten_records() -> None:
    table = pl.DataFrame({"age": list(range(20, 80))})
    assert Proposal.of(table).switches == {"principle": "anonymity", "diversity": 10}


def test_untouched_columns_that_single_out_records_are_named() -> None:
    table = pl.DataFrame({"age": [30, 31] * 30, "income": list(range(60)), "blorb": ["u", "v"] * 30})
    (remark, *_) = Proposal.of(table).remarks
    assert remark.startswith("100.0% of the records are unique")
    assert "income, blorb" in remark


def test_a_table_of_identifiers_has_no_policy() -> None:
    with pytest.raises(PolicyError, match="no column can be a quasi-identifier"):
        Proposal.of(pl.DataFrame({"email": each("a{}@b.org")}))


def test_a_repr_shows_no_value() -> None:
    assert repr(Traits.of(pl.Series("name", ["SECRET"]))) == "Traits(name, 1 values)"
    proposal = Proposal.of(pl.DataFrame({"level": ["low", "high", "medium", "?"] * 10, "age": list(range(40))}))
    shown = repr(proposal) + repr(proposal.suggestions)
    assert shown == "Proposal(40 records, 2 columns)(Suggestion(level, other), Suggestion(age, quasi))"


def table_of_people() -> pl.DataFrame:
    """One hundred and twenty records with every kind of column."""
    days = [date(1950, 1, 1) + timedelta(days=97 * place) for place in range(120)]
    return pl.DataFrame(
        {
            "e-mail": [f"canary{place}@example.org" for place in range(120)],
            "Geburts datum": [day.strftime("%d.%m.%Y") for day in days],
            'odd "name" = [x]\n': ["low", "high", "medium"] * 40,
            "PLZ": [f"0{1000 + place % 40}" for place in range(120)],
            "income": [1000 + place for place in range(120)],
            "smoker": ["ja", "nein", "NEIN", "?"] * 30,
        }
    )


def test_the_policy_that_is_written_runs_as_it_stands(tmp_path: Path) -> None:
    table, path = table_of_people(), tmp_path / "policy.toml"
    path.write_text(write_draft(Proposal.of(table)), encoding="utf-8")
    release = muco.anonymize(table, Policy.read(path))
    assert "e-mail" not in release.data.columns
    assert set(release.data["Geburts datum"]) <= set(table["Geburts datum"])


def test_comments_hold_no_cell() -> None:
    table = table_of_people().with_columns(pl.lit("canary7").alias("constant"))
    text = write_draft(Proposal.of(table))
    assert "canary" not in text
    assert tomllib.loads(text)["attributes"]["PLZ"]["hierarchy"]["prefixes"]["lengths"] == [4, 3, 2, 1]


def test_the_command_writes_a_policy_and_keeps_one_that_stands(tmp_path: Path) -> None:
    table_of_people().rename({'odd "name" = [x]\n': "level"}).write_csv(tmp_path / "people.csv")
    given = [str(tmp_path / "people.csv"), "-o", str(tmp_path / "policy.toml")]
    assert CliRunner().invoke(command, given).exit_code == 0
    assert Policy.read(tmp_path / "policy.toml").named(Role.IDENTIFIER) == ("e-mail",)
    again = CliRunner().invoke(command, given)
    assert isinstance(again.exception, muco.MucoError)


def test_without_a_target_the_policy_goes_to_stdout(tmp_path: Path) -> None:
    pl.DataFrame({"age": [20, 30, 40] * 10}).write_csv(tmp_path / "people.csv")
    shown = CliRunner().invoke(command, [str(tmp_path / "people.csv"), "-q"])
    assert tomllib.loads(shown.stdout)["attributes"]["age"] == {"role": "quasi", "kind": "continuous"}


def test_numbers_with_a_decimal_comma_go_from_init_to_a_judged_release(tmp_path: Path) -> None:
    rows = [f"P{i};{20 + i % 40};{1 + i % 9}.{i * 37 % 1000:03d},{i % 100:02d}" for i in range(120)]
    (tmp_path / "de.csv").write_text("name;alter;gehalt\n" + "\n".join(rows) + "\n", encoding="utf-8")
    policy, release = tmp_path / "de.toml", tmp_path / "out.csv"
    assert run("init", tmp_path / "de.csv", "-o", policy).code == 0
    words = tomllib.loads(policy.read_text("utf-8"))
    assert words["attributes"]["gehalt"]["kind"] == "continuous" and words["table"]["decimal"] == ","
    assert "0 errors" in run("check", tmp_path / "de.csv", "-c", policy).out
    hidden = ("--hidden", tmp_path / "h.zip")
    assert run("anonymize", tmp_path / "de.csv", "-c", policy, "-o", release, *hidden).code == 0
    told = run("assess", tmp_path / "de.csv", release, "-c", policy, *hidden, "--json")
    figures = {figure["name"]: figure["value"] for figure in json.loads(told.out)["figures"]}
    assert 0 < figures["proven"] <= 0.1 and "query@1" in figures
