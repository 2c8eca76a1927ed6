"""The command line: every option, and what goes where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from muco.cli.options import GATE, PERSONAL, SWITCHES
from muco.policy import Policy
from shell import KEY, muco, people, write_table

HELP = Path(__file__).parent / "help"
ROLES = ("--identifier", "name", "--quasi", "age,town", "--sensitive", "illness")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return people(tmp_path / "in.csv")


def settings(table: Path, *words: object) -> dict[str, Any]:
    """The settings that a dry run with these options certifies."""
    ran = muco("anonymize", table, *ROLES, "--dry-run", "--json", *words)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)["settings"]
    return found


@pytest.mark.parametrize(
    "words",
    [
        "--preset provable --diversity 4",
        "--preset paper --delta 1/4 --diversity 4 --repair 2",
        "--delta 1/2 --diversity 4 --grouping buckets --cover cheapest --columns domain --draw independent",
        "--delta tight --diversity 4 --grouping neighbours --sweep table --cover balanced --columns observed",
        "--diversity 4 --draw controlled --repair 0 --principle anonymity",
        "--diversity 3 --principle distinct --grouping leaves",
        "--diversity 3 --principle entropy",
        "--diversity 3 --principle recursive",
        "--diversity 3 --principle closeness",
    ],
)
def test_every_switch_is_an_option_that_the_certificate_shows(table: Path, words: str) -> None:
    given = words.split()
    told = settings(table, *given)
    for option, value in zip(given[::2], given[1::2], strict=True):
        assert str(told[option.removeprefix("--")]) == value


def test_every_switch_of_the_policy_is_an_option() -> None:
    text = muco("anonymize", "--help").out
    # `tried` is what `muco tune` writes; c, t, rules and what is told of columns and files stand in the policy
    # alone.
    told = {"schema_version", "attributes", "missing", "c", "t", "blocks", "table", "tried", "rules"}
    own = set(Policy.model_fields) - told
    assert own == {*SWITCHES, *GATE, *PERSONAL}
    assert all(f"--{name.replace('_', '-')}" in text for name in [*own, "block"])  # once for each of the blocks


def test_each_block_is_an_option_of_its_own(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    whole = Policy.of(identifier="name", quasi=["age", "town"], sensitive="illness", blocks=[["age", "town"]])
    path.write_text(whole.to_toml())
    given = ("--diversity", "4", "--dry-run", "--json")
    assert settings(table, "--diversity", "4", "--block", "age, town")["blocks"] == [["age", "town"]]
    ran = muco("anonymize", table, "-c", path, "--block", "town", "--block", "age", *given)
    assert json.loads(ran.out)["settings"]["blocks"] == [["town"], ["age"]]
    ran = muco("anonymize", table, *ROLES, "--block", "age,name", *given)
    assert (ran.code, "blocks name name, which is no quasi-identifier" in " ".join(ran.err.split())) == (2, True)


def test_options_win_over_the_policy_file(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(Policy.of(identifier="name", quasi="age", sensitive="illness", diversity=8).to_toml())
    ran = muco("anonymize", table, "-c", path, "--diversity", "4", "--quasi", "town", "--dry-run", "--json")
    certificate = json.loads(ran.out)
    assert certificate["settings"]["diversity"] == 4
    assert certificate["attributes"]["quasi_identifiers"] == ["age", "town"]


def test_names_may_be_repeated_or_parted_and_may_hold_commas(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text('"a,b",c,d,s\n1,2,3,x\n4,5,6,y\n')
    words = ("--quasi", "a,b", "--quasi", "c, d", "--sensitive", "s", "--diversity", "2", "--dry-run", "--json")
    ran = muco("anonymize", tmp_path / "in.csv", *words)
    assert json.loads(ran.out)["attributes"]["quasi_identifiers"] == ["a,b", "c", "d"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow"])
@pytest.mark.parametrize("target", ["csv", "parquet", "arrow"])
def test_each_form_becomes_each_form(table: Path, tmp_path: Path, suffix: str, target: str) -> None:
    source, out = tmp_path / f"given.{suffix}", tmp_path / f"out.{target}"
    frame = pl.read_csv(table)
    if suffix in {"csv", "tsv"}:
        frame.write_csv(source, separator="," if suffix == "csv" else "\t")
    else:
        frame.write_parquet(source) if suffix == "parquet" else frame.write_ipc(source)
    ran = muco("anonymize", source, *ROLES, "--diversity", "4", "-o", out)
    assert ran.code == 0, ran.err
    read: Any = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": pl.read_ipc}[target]
    options = {"separator": "\t"} if suffix == "tsv" and target == "csv" else {}
    release = read(out, **options)
    assert release.shape == (40, 3)
    assert release["age"].cast(pl.Int64).sum() == frame["age"].sum()


def test_a_key_repeats_a_run_and_its_absence_does_not(table: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY)
    texts = []
    for name, more in (("a", ("--key-file", tmp_path / "key")), ("b", ("--key-file", tmp_path / "key")), ("c", ())):
        muco("anonymize", table, *ROLES, "--diversity", "4", "-o", tmp_path / f"{name}.csv", *more)
        texts.append((tmp_path / f"{name}.csv").read_bytes())
    assert texts[0] == texts[1] != texts[2]


def test_only_data_go_to_stdout(table: Path, tmp_path: Path) -> None:
    ran = muco("anonymize", table, *ROLES, "--diversity", "4", "-o", tmp_path / "a.csv")
    assert ran.out == ""
    assert "smallest group" in ran.err
    assert f"release: {tmp_path / 'a.csv'}\n" in ran.err
    quiet = muco("anonymize", table, *ROLES, "--diversity", "4", "-o", tmp_path / "b.csv", "-q", "--json")
    assert (quiet.err, json.loads(quiet.out)["records"]) == ("", 40)


def test_verbose_tells_each_stage_in_a_line(table: Path) -> None:
    ran = muco("anonymize", table, *ROLES, "--diversity", "4", "--dry-run", "-v")
    lines = ran.err.splitlines()
    assert lines[:2] == ["reading the table", "encoding values: 40 records"]
    assert "covering records: 40 records" in lines


@pytest.mark.parametrize("words", [("-o", "out.csv"), ()])
def test_a_dry_run_writes_nothing(table: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    given = [tmp_path / word if word != "-o" else word for word in words]
    ran = muco("anonymize", table, *ROLES, "--diversity", "4", "--dry-run", *given)
    assert (ran.code, "dry run: nothing was written" in ran.err) == (0, True)
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_a_dry_run_finds_a_target_that_stands_in_the_way(table: Path) -> None:
    ran = muco("anonymize", table, *ROLES, "--dry-run", "-o", table)
    assert (ran.code, "is an input: it is never overwritten" in ran.err) == (2, True)


def test_columns_without_a_role_are_named_and_no_markup(tmp_path: Path) -> None:
    path = write_table(tmp_path / "[red]in.csv", {"[/]": [1, 2], "s\x1b[2J": ["a", "b"], "[b]x": [1, 2]})
    ran = muco("anonymize", path, "--quasi", "[/]", "--principle", "anonymity", "--diversity", "2", "--dry-run")
    assert ran.code == 0, ran.err
    assert "released untouched: s\N{REPLACEMENT CHARACTER}[2J, [b]x" in ran.err
    assert "[red]in.csv" in ran.err


def test_a_group_of_one_record_is_told(table: Path) -> None:
    ran = muco("anonymize", table, *ROLES, "--diversity", "1", "--dry-run")
    assert "note: the smallest group has 1 record, which nobody covers" in ran.err
