"""`muco check`: everything that would stop or weaken a run, at once, without a cell."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from muco.cli.check import command
from muco.preflight.finding import Blame, Finding, Severity, exit_code
from muco.preflight.whole import find_all

POLICY = """
diversity = 5
[attributes.age]
role = "quasi"
[attributes.income]
role = "sensitive"
"""


def people(records: int = 120, **columns: list[object]) -> pl.DataFrame:
    """Ages from 20 to 49 and thirty incomes, beside the columns given."""
    table = pl.DataFrame(
        {"age": [20 + row % 30 for row in range(records)], "income": [100 * (row % 30) for row in range(records)]}
    )
    return table.with_columns(pl.Series(name, (values * records)[:records]) for name, values in columns.items())


def find(tmp_path: Path, table: pl.DataFrame, policy: str = POLICY) -> list[Finding]:
    path = tmp_path / "policy.toml"
    path.write_text(policy, encoding="utf-8")
    return find_all(table, path)


def one(findings: list[Finding], words: str) -> Finding:
    (finding,) = [finding for finding in findings if words in finding.what]
    return finding


def test_a_sound_policy_has_no_findings(tmp_path: Path) -> None:
    assert find(tmp_path, people()) == []


def test_zip_codes_that_lost_their_zeros_are_found(tmp_path: Path) -> None:
    """Two of three codes have five digits; each third, rows 3, 6, ..., has four."""
    policy = POLICY + '[attributes.zip]\nrole = "quasi"\n'
    finding = one(find(tmp_path, people(zip=["10115", "20095", "1067"]), policy), "lost their leading zeros")
    assert (finding.count, finding.rows) == (40, (3, 6, 9, 12, 15))
    assert "1067" not in finding.what + finding.advice


def test_records_that_break_a_rule_are_found_by_their_rows(tmp_path: Path) -> None:
    """Ages from 20 to 49, four times: rows 1, 31, 61 and 91 are 20 and have an income of 0."""
    rule = '[[rules]]\nname = "twenty"\nforbid = {age = "< 21", town = ["A"]}\n[attributes.town]\nrole = "quasi"\n'
    finding = one(find(tmp_path, people(town=["A", "B"]), POLICY + rule), "break the rule twenty")
    assert (finding.count, finding.rows, finding.severity) == (4, (1, 31, 61, 91), Severity.WARNING)
    assert exit_code([finding]) == 3


def test_a_rule_that_no_record_breaks_is_no_finding(tmp_path: Path) -> None:
    assert find(tmp_path, people(), POLICY + '[[rules]]\nforbid = {age = "< 20"}\n') == []


def test_a_rule_whose_value_nobody_has_is_an_error(tmp_path: Path) -> None:
    rule = '[[rules]]\nforbid = {town = ["C"]}\n[attributes.town]\nrole = "quasi"\n'
    assert one(find(tmp_path, people(town=["A", "B"]), POLICY + rule), "no record has C").severity is Severity.ERROR


def test_numbers_that_are_no_codes_may_have_any_length(tmp_path: Path) -> None:
    policy = POLICY + '[attributes.distance]\nrole = "quasi"\n'
    assert find(tmp_path, people(distance=["10115", "20095", "1067"]), policy) == []


def test_cells_outside_a_hierarchy_are_counted_with_their_rows(tmp_path: Path) -> None:
    policy = POLICY + '[attributes.race]\nrole = "quasi"\nhierarchy.tree = { a = ["White"], b = ["Black"] }\n'
    finding = one(find(tmp_path, people(race=["White", "Black", "Canary"]), policy), "hierarchy lacks")
    assert (finding.severity, finding.count, finding.rows[0]) == (Severity.ERROR, 40, 3)
    assert finding.values == ("Canary",)
    assert "Canary" not in repr(finding)


def test_everything_wrong_with_a_hierarchy_file_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "race.csv").write_text("White;W;*\nBlack;B;*\nBlack;C;*\nX;*\n", encoding="utf-8")
    policy = POLICY + '[attributes.race]\nrole = "quasi"\nhierarchy.file = "race.csv"\n'
    found = find(tmp_path, people(race=["White", "Black"]), policy)
    for words in ("unequal depth", "repeats leaves on 1 line (3)", "a second parent on 1 line (3)"):
        assert one(found, words).blame is Blame.POLICY


def test_an_infeasible_delta_comes_with_the_nearest_feasible_one(tmp_path: Path) -> None:
    finding = one(find(tmp_path, people(), 'delta = "1/8"\n' + POLICY), "Property 1")
    assert finding.advice.startswith("raise delta to 1/5, or diversity to 8")
    assert finding.blame is Blame.PROMISE


def test_an_l_out_of_reach_comes_with_the_largest_in_reach(tmp_path: Path) -> None:
    """One income stands in 60 of 120 records: l can be 2."""
    table = people().with_columns(income=pl.Series([1] * 60 + list(range(60, 120))))
    finding = one(find(tmp_path, table), "out of reach")
    assert "2 is the most" in finding.what
    assert "Lower diversity to 2" in finding.advice


def test_an_l_just_in_reach_is_a_warning(tmp_path: Path) -> None:
    """The commonest income stands in 24 of 120 records: l = 5 holds for the whole table and for hardly a part."""
    table = people().with_columns(income=pl.Series([1] * 24 + list(range(24, 120))))
    assert one(find(tmp_path, table), "leaves little room").severity is Severity.WARNING


def test_what_looks_like_an_identifier_must_not_leave(tmp_path: Path) -> None:
    mails: list[object] = [f"p{row}@example.org" for row in range(120)]
    finding = one(find(tmp_path, people(contact=mails)), "looks like an identifier")
    assert "e-mail addresses" in finding.what


def test_incomes_with_a_decimal_comma_are_no_identifiers(tmp_path: Path) -> None:
    pay: list[object] = [f"{1 + row % 9}.{row:03d},50" for row in range(120)]
    commas = POLICY + '[table]\ndecimal = ","\nthousands = "."\n'
    assert not any("looks like an identifier" in found.what for found in find(tmp_path, people(pay=pay), commas))
    assert any("looks like an identifier" in found.what for found in find(tmp_path, people(pay=pay)))


def test_untouched_columns_that_single_out_records_are_named(tmp_path: Path) -> None:
    finding = one(find(tmp_path, people(note=list(range(5000, 5240, 2)))), "are unique in the columns")
    assert finding.severity is Severity.WARNING
    assert (finding.count, "income, note" in finding.what) == (120, True)


def test_several_rows_a_person_are_found(tmp_path: Path) -> None:
    policy = POLICY + '[attributes.pid]\nrole = "identifier"\n'
    finding = one(find(tmp_path, people(pid=[row // 2 for row in range(120)]), policy), "repeats")
    assert "120 rows of 60 persons" in finding.what


def test_a_tiny_table_is_a_warning(tmp_path: Path) -> None:
    assert one(find(tmp_path, people(30)), "the table has 30 records").severity is Severity.WARNING


def test_markers_that_no_policy_lists_are_found(tmp_path: Path) -> None:
    policy = POLICY + '[attributes.race]\nrole = "quasi"\n'
    finding = one(find(tmp_path, people(race=["White", "Black", "?"]), policy), "meant missing")
    assert finding.count == 40
    listed = policy + 'missing = ["?"]\n'
    assert find(tmp_path, people(race=["White", "Black", "?"]), listed) == []


def test_values_written_in_two_ways_are_found(tmp_path: Path) -> None:
    policy = POLICY + '[attributes.race]\nrole = "quasi"\n'
    assert one(find(tmp_path, people(race=["White", "white", "Black"]), policy), "blanks or capitals").count == 80


def test_long_text_is_no_quasi_identifier(tmp_path: Path) -> None:
    policy = POLICY + '[attributes.story]\nrole = "quasi"\n'
    finding = one(find(tmp_path, people(story=["word " * 60, "b"]), policy), "longer than 200 characters")
    assert finding.severity is Severity.ERROR


def test_an_attribute_that_the_table_lacks_is_named_with_the_nearest(tmp_path: Path) -> None:
    finding = one(find(tmp_path, people(), POLICY.replace("income", "incom")), "no attribute incom")
    assert finding.advice == "did you mean income?"


def test_a_policy_that_is_no_toml_is_one_finding(tmp_path: Path) -> None:
    (finding,) = find(tmp_path, people(), "diversity = ")
    assert (finding.severity, finding.blame) == (Severity.ERROR, Blame.POLICY)


@pytest.mark.parametrize(
    ("graves", "code"),
    [
        ([], 0),
        ([(Severity.NOTE, Blame.TABLE)], 0),
        ([(Severity.WARNING, Blame.TABLE)], 3),
        ([(Severity.WARNING, Blame.POLICY), (Severity.ERROR, Blame.PROMISE)], 4),
        ([(Severity.ERROR, Blame.TABLE), (Severity.ERROR, Blame.PROMISE)], 3),
    ],
)
def test_the_exit_code_is_that_of_the_gravest(graves: list[tuple[Severity, Blame]], code: int) -> None:
    assert exit_code([Finding(severity, blame, "", "") for severity, blame in graves]) == code


def run(tmp_path: Path, *options: str) -> Result:
    people(race=["White", "Canary"]).write_csv(tmp_path / "people.csv")
    policy = POLICY + '[attributes.race]\nrole = "quasi"\norder = ["White"]\n'
    (tmp_path / "policy.toml").write_text(policy, encoding="utf-8")
    given = [str(tmp_path / "people.csv"), "-c", str(tmp_path / "policy.toml"), *options]
    return CliRunner().invoke(command, given)


def test_the_command_shows_no_cell_unless_asked(tmp_path: Path) -> None:
    shown = run(tmp_path)
    assert (shown.exit_code, "Canary" in shown.output) == (3, False)
    assert "Canary" not in run(tmp_path, "--json").output
    assert "Canary" in run(tmp_path, "--show-values").output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "policy.toml"]


def test_the_command_gives_json(tmp_path: Path) -> None:
    given = json.loads(run(tmp_path, "--json").stdout)
    assert given["exit_code"] == 3
    assert given["findings"][0]["rows"] == [2, 4, 6, 8, 10]
