"""The command line: every option, every exit code with its message, and what goes where."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from muco.cli.options import GATE, SWITCHES
from muco.cli.terminal import say, watching
from muco.policy import Policy
from shell import KEY, environment, muco, people, program, write_table

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
    # `tried` is what `muco tune` writes; c, t and what is told of columns and files stand in the policy alone.
    told = {"schema_version", "attributes", "missing", "c", "t", "blocks", "table", "tried"}
    own = set(Policy.model_fields) - told
    assert own == {*SWITCHES, *GATE}
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


USAGE = [
    ((), "Missing argument 'TABLE"),
    (("{table}", "--frce"), "No such option"),
    (("{table}", "--preset", "papr"), "'papr' is not one of 'paper', 'provable'"),
    (("{table}", "--diversity", "x"), "'x' is not a valid integer"),
    (("{table}", "--quasi", "age"), "where does the release go? Name it with -o RELEASE"),
    (("{table}", "-o", "{out}"), "nothing is known of the columns: give a policy with -c, or --quasi"),
    (("{table}", "-o", "{out}", "--quasi", "age", "--sensitive", "age"), "age is given as quasi and as sensitive"),
    (("{table}", "-o", "{out}", "--quasi", "age", "--diversity", "0"), "diversity must be greater than or equal"),
    (("{table}", "-o", "{out}", "--quasi", "age", "--delta", "2"), "delta must be above 0 and at most 1"),
    (("{table}", "-o", "{out}", "--quasi", "age", "--preset", "paper"), "preset paper needs delta"),
    (("{table}", "-o", "{out}", "-c", "{out}"), "out.csv cannot be read: No such file"),
    (("{table}", "-o", "{out}", "--quasi", "age", "--key-file", "{table}"), "a key is 32 bytes, or 64"),
    (("{table}", "-o", "{table}", "--quasi", "age", "--force"), "is an input: it is never overwritten"),
    (("{table}", "-o", "{folder}/out", "--quasi", "age"), "has no suffix that tells its form"),
    (
        ("{table}", "-o", "{out}", "--hidden", "{out}", "--quasi", "age"),
        "two of the files to be written are the same",
    ),
]


@pytest.mark.parametrize(("words", "message"), USAGE)
def test_usage_and_policy_faults_leave_with_2(table: Path, tmp_path: Path, words: Any, message: str) -> None:
    given = [word.format(table=table, out=tmp_path / "out.csv", folder=tmp_path) for word in words]
    ran = muco("anonymize", *given)
    assert (ran.code, message in " ".join(ran.err.split())) == (2, True), ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_a_command_that_is_none_leaves_with_2() -> None:
    assert muco("anonymise").code == 2
    assert "did you mean anonymize?" in muco("anonymise").err


@pytest.mark.parametrize("option", ["-o", "--certificate", "--hidden"])
def test_a_hierarchy_file_of_the_policy_is_an_input_and_never_overwritten(table: Path, option: str) -> None:
    policy, tree = table.with_name("policy.toml"), table.with_name("town.csv")
    tree.write_text(text := "Aston;a;*\nBorth;a;*\nCorfe;b;*\n")
    policy.write_text(
        'diversity = 4\n[attributes]\nname.role = "identifier"\nage.role = "quasi"\nillness.role = "sensitive"\n'
        'town = { role = "quasi", hierarchy.file = "town.csv" }\n'
    )
    out = () if option == "-o" else ("-o", table.with_name("out.csv"))
    ran = muco("anonymize", table, "-c", policy, *out, option, tree, "--force")
    assert (ran.code, "town.csv is an input: it is never overwritten" in ran.err) == (2, True), ran.err
    assert tree.read_text() == text
    assert muco("anonymize", table, "-c", policy, "-o", table.with_name("out.csv")).code == 0


def test_an_existing_target_needs_force(table: Path, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("old")
    ran = muco("anonymize", table, *ROLES, "--diversity", "4", "-o", tmp_path / "out.csv")
    assert (ran.code, "out.csv exists: use --force to replace it" in ran.err) == (2, True)
    assert (tmp_path / "out.csv").read_text() == "old"
    assert muco("anonymize", table, *ROLES, "--diversity", "4", "-o", tmp_path / "out.csv", "--force").code == 0
    assert (tmp_path / "out.csv").read_text().startswith("age,town,illness\n")


A, B = list("abcdefgh"), [1, 2, 3, 4, 5, 6, 7, 8]
FOUR = ("--quasi", "q", "--sensitive", "s", "--diversity", "4")
MANY = {f"q{i}": B for i in range(20)}  # more quasi-identifiers than records
TABLES: list[tuple[dict[str, list[Any]], tuple[str, ...], int, str]] = [
    # What is wrong with the data: 3.
    ({"q": [], "s": []}, FOUR, 3, "has a header and no rows"),
    ({"q": B, "x": A}, FOUR, 3, "the table has no attribute s: there are q, x"),
    ({"Q": B, "s": A}, FOUR, 3, "the table has no attribute q: did you mean Q?"),
    ({"q": B, "s": [A[0]] * 8, "q ": B}, ("--quasi", "q,q,t"), 3, "the table has no attribute t"),
    ({"q": ["x" * 201] * 8, "s": A}, FOUR, 3, "attribute q: 8 cells are longer than 200 characters"),
    # A promise out of reach: 4.
    ({"q": [1], "s": ["a"]}, FOUR, 4, "diversity is 4 but the table has 1 records"),
    ({"q": [1, 2], "s": ["a", "b"]}, FOUR, 4, "Lower diversity to at most 2"),
    ({"q": B, "s": ["a"] * 3 + A[1:6]}, FOUR, 4, "the commonest stands in 3 of 8 records, so that 2 is the most"),
    ({"q": B, "s": ["a"] * 8}, FOUR, 4, "has 1 value, and the commonest stands in 8 of 8 records"),
    ({"q": B, "s": [""] * 8}, FOUR, 4, "attribute s has 1 value"),
    ({"q": B, "s": A}, (*FOUR, "--delta", "1/5"), 4, "delta must be at least 1/4 (Property 1)"),
    ({"q": B, "s": A, "t": ["a"] * 8}, (*FOUR, "--sensitive", "t"), 4, "attribute t has 1 value"),
    ({"q": B, "s": ["a", "b"] * 4}, (*FOUR, "--principle", "distinct"), 4, "so that 2 is the most that the table"),
    ({"q": B, "s": ["a", "b"] * 4}, (*FOUR, "--principle", "entropy"), 4, "Lower diversity to 2, or take"),
    # What works.
    ({"q": B[:4], "s": A[:4]}, FOUR, 0, "smallest group 4"),
    ({"q": [1] * 8, "s": A}, FOUR, 0, "cells changed 0.0%"),
    ({"q": [1] * 8, "s": A}, (*FOUR, "--delta", "1/2"), 0, "information loss 0.0"),
    ({"q": [""] * 8, "s": A}, FOUR, 0, "cells changed 0.0%"),
    ({"q": B, "s": A}, ("--quasi", "q", "--diversity", "4"), 0, "released untouched: s"),
    ({"q": B, "s": A, "t": A}, (*FOUR, "--sensitive", "t"), 0, "smallest group 4"),
    ({"q": [1, 2], "s": ["a", "b"]}, (*FOUR[:-1], "2"), 0, "smallest group 2"),
    ({"q": [1], "s": ["a"]}, (*FOUR[:-1], "1"), 0, "smallest group 1"),
    (MANY, ("--quasi", ",".join(MANY), "--diversity", "4"), 0, "records 8"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "words", "code", "message"), TABLES)
def test_odd_tables_have_a_result_or_a_named_error(
    tmp_path: Path, columns: dict[str, list[Any]], words: tuple[str, ...], code: int, message: str
) -> None:
    ran = muco("anonymize", write_table(tmp_path / "in.csv", columns), *words, "-o", tmp_path / "out.csv")
    assert (ran.code, message in " ".join(ran.err.split())) == (code, True), ran.err
    assert (tmp_path / "out.csv").exists() == (code == 0)
    assert not list(tmp_path.glob(".muco*"))


FILES = [
    (b"", "in.csv is empty"),
    (b"q,s\n1,a\n2\n", "in.csv: row 2 has another number of fields than the header"),
    (b'q,s\n1,"a\n', "row 1 opens a quote that is never closed"),
    (b"q,s\n1,\x00\n", "row 1 holds a NUL byte"),
    (b"q,s\n1,\xff\n", "row 1 is not in UTF-8"),
    (b"q,q\n1,a\n", "in.csv repeats the column q"),
    (b"q, \n1,a\n", "column 2 has no name"),
]


@pytest.mark.parametrize(("content", "message"), FILES)
def test_a_file_that_is_no_table_leaves_with_3(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "in.csv").write_bytes(content)
    ran = muco("anonymize", tmp_path / "in.csv", *FOUR, "-o", tmp_path / "out.csv")
    assert (ran.code, message in " ".join(ran.err.split())) == (3, True), ran.err


def test_a_parquet_file_that_repeats_a_column_is_told_so(tmp_path: Path) -> None:
    pq.write_table(pa.table([[1], [2]], names=["q", "q"]), tmp_path / "in.parquet")
    ran = muco("anonymize", tmp_path / "in.parquet", *FOUR, "--dry-run")
    assert (ran.code, "in.parquet cannot be read: it repeats the name of a column" in ran.err) == (3, True)


def test_a_table_that_is_not_there_leaves_with_3(tmp_path: Path) -> None:
    ran = muco("anonymize", tmp_path / "none.csv", *FOUR, "--dry-run")
    assert (ran.code, "none.csv cannot be read: No such file or directory" in ran.err) == (3, True)


def test_what_cannot_be_written_leaves_with_74(table: Path, tmp_path: Path) -> None:
    for out, message in (
        (tmp_path / "none" / "out.csv", "its directory does not exist. Make it first."),
        (tmp_path / "folder.csv", "it is a directory. Name a file in it."),
    ):
        (tmp_path / "folder.csv").mkdir(exist_ok=True)
        ran = muco("anonymize", table, *ROLES, "--diversity", "4", "-o", out)
        assert (ran.code, message in ran.err) == (74, True), ran.err


def test_a_full_stdout_leaves_with_74(table: Path) -> None:
    with Path("/dev/full").open("w") as full:
        words = program("anonymize", table, *ROLES, "--diversity", "4", "--dry-run", "--json")
        ran = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 74
    assert "No space left on device" in ran.stderr


def test_a_stdout_that_nobody_reads_leaves_with_74(table: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    words = program("anonymize", table, *ROLES, "--diversity", "4", "--dry-run", "--json", "-q")
    ran = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (ran.returncode, ran.stderr) == (74, "")


def test_a_full_stderr_leaves_with_74_and_no_words_of_python(table: Path, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            program("anonymize", table, *ROLES, "--diversity", "4", "-o", tmp_path / "out.csv"),
            stdout=subprocess.PIPE,
            stderr=full,
            check=False,
        )
    assert (ran.returncode, ran.stdout) == (74, b"")


def test_a_file_name_that_is_no_text_is_written(table: Path, tmp_path: Path) -> None:
    out = Path(os.fsdecode(bytes(tmp_path) + b"/\xff.csv"))
    ran = muco("anonymize", table, *ROLES, "--diversity", "4", "-o", out)
    assert (ran.code, out.exists()) == (0, True), ran.err
    assert json.loads(out.with_name(f"{out.stem}.certificate.json").read_text())["release"]["file"] == "?.csv"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (RuntimeError("canary"), "error: unexpected RuntimeError at "),
        (MemoryError("canary"), "error: memory is short: free some, or give a smaller table. Nothing was written"),
    ],
)
def test_a_fault_at_run_time_leaves_with_1_and_not_its_words(table: Path, fault: Exception, message: str) -> None:
    def broken(*_: object, **__: object) -> None:
        raise fault

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("narwhals.from_native", broken)
        ran = muco("anonymize", table, *ROLES, "--dry-run")
    assert (ran.code, message in ran.err, "canary" in ran.err) == (1, True, False)


def test_stages_are_shown_on_a_terminal(tmp_path: Path) -> None:
    main, other = pty.openpty()
    words = program("demo", tmp_path / "demo", "--records", "2000")
    run = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=other, env=environment(TERM="xterm", COLUMNS="160")
    )
    os.close(other)
    shown = b""
    with suppress(OSError):  # how a terminal tells that the other end is closed
        while True:
            shown += os.read(main, 65536)
    os.close(main)
    assert (run.communicate()[0], run.returncode) == (b"", 0)
    assert "dividing into groups" in shown.decode()


def test_a_run_on_a_terminal_moves_and_shows_rate_and_time_left(tmp_path: Path) -> None:
    path = people(tmp_path / "in.csv", 60_000)
    main, other = pty.openpty()
    words = program("anonymize", path, *ROLES, "--diversity", "4", "--delta", "1/3", "--dry-run")
    run = subprocess.Popen(words, stderr=other, env=environment(TERM="xterm", COLUMNS="160"))
    os.close(other)
    shown = b""
    with suppress(OSError):
        while True:
            shown += os.read(main, 65536)
    os.close(main)
    assert run.wait() == 0
    states = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode()).split("\r")
    # Batches of 2^14 records: 0, about 16,384, 32,768 and 49,152 are done; the rate is known from the second on.
    assert (
        len({found[1] for state in states if (found := re.search(r"covering records.* ([0-9]+)/60000", state))})
        == 4
    )
    told = r"covering records.*/60000 +[0-9,]+ records/s +[0-9]:[0-9]{2}:[0-9]{2}"
    assert any(re.search(told, state) for state in states)


def test_progress_shows_rate_and_time_left_and_then_goes() -> None:
    out = Console(file=io.StringIO(), force_terminal=True, width=160)
    with watching(out, quiet=False, verbose=False) as watch:
        for done in (0, 200, 400):
            watch("cover", done, 1000)
            time.sleep(0.02)
    assert isinstance(out.file, io.StringIO)
    shown = out.file.getvalue()
    assert re.search(r"covering records.*400/1000.*\d records/s.*0:00:0\d", shown)
    assert shown.endswith("\x1b[2K")  # the line is cleared


@pytest.mark.parametrize(("quiet", "terminal"), [(True, True), (False, False)])
def test_progress_is_silent_when_quiet_or_without_a_terminal(*, quiet: bool, terminal: bool) -> None:
    out = Console(file=io.StringIO(), force_terminal=terminal)
    with watching(out, quiet=quiet, verbose=False) as watch:
        watch("cover", 1, 2)
    assert isinstance(out.file, io.StringIO)
    assert out.file.getvalue() == ""


def test_a_terminal_wraps_between_words_and_breaks_no_path() -> None:
    out = Console(file=io.StringIO(), force_terminal=True, width=20, no_color=True)
    say(out, "a message of several words", "release: /a/path/longer/than/the/terminal.csv")
    assert isinstance(out.file, io.StringIO)
    lines = [line.strip() for line in out.file.getvalue().splitlines()]
    assert lines == ["a message of several", "words", "release:", "/a/path/longer/than/the/terminal.csv"]


def test_the_demo_makes_its_files_and_never_replaces_others(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    ran = muco("demo", folder, "--records", "2000")
    assert (ran.code, ran.out) == (0, "")
    names = {"census.csv", "policy.toml", "release.csv", "certificate.json", "report.html"}
    assert {path.name for path in folder.iterdir()} == {*names, "paper"}
    assert {path.name for path in (folder / "paper").iterdir()} == names - {"census.csv"}
    assert pl.read_csv(folder / "release.csv").shape == (2000, 8)
    assert all(name in ran.err for name in ("muco, provable", "muco, paper", "Mondrian", "Anatomy", "query error"))
    (folder / "census.csv").unlink()
    ran = muco("demo", folder, "--records", "2000")
    assert (ran.code, "policy.toml exists: use --force" in ran.err) == (2, True)
    assert muco("demo", folder, "--records", "2000", "--force").code == 0
    (tmp_path / "file").write_text("x")
    assert muco("demo", tmp_path / "file").code == 74


def test_the_demo_s_policy_anonymizes_the_demo_s_table(tmp_path: Path) -> None:
    muco("demo", tmp_path / "demo", "--records", "2000")
    words = ("-c", tmp_path / "demo" / "policy.toml", "-o", tmp_path / "release.csv")
    ran = muco("anonymize", tmp_path / "demo" / "census.csv", *words)
    assert (ran.code, "note:" in ran.err) == (0, False)


def test_the_schema_goes_to_stdout_as_json() -> None:
    ran = muco("schema")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out) == Policy.model_json_schema()


def test_the_version_is_told() -> None:
    assert re.fullmatch(r"muco \d+\.\d+.*\n", muco("--version").out)


@pytest.mark.parametrize(
    "words", [["import muco"], ["import muco.cli; muco.cli.cli(['--help'], standalone_mode=False)"]]
)
def test_help_and_import_load_nothing_heavy(words: list[str]) -> None:
    told = "import sys; print([n for n in ('polars', 'pydantic', 'rich', 'numpy', 'narwhals') if n in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", f"{words[0]}\n{told}"], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


COMMANDS = [
    "",
    "anonymize",
    "assess",
    "check",
    "compare",
    "demo",
    "hierarchy",
    "init",
    "report",
    "reproduce",
    "risk",
    "schema",
    "tune",
    "verify",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_the_stored_text(command: str) -> None:
    """MUCO_STORE_HELP=1 stores it anew."""
    words = [command, "--help"] if command else ["--help"]
    ran = subprocess.run(
        program(*words), capture_output=True, text=True, check=True, env=environment(COLUMNS="100")
    )
    text = "\n".join(line.rstrip() for line in ran.stdout.splitlines()) + "\n"
    path = HELP / f"{command or 'muco'}.txt"
    if os.environ.get("MUCO_STORE_HELP"):
        HELP.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()
