"""The command line: every exit code with its message; odd tables, targets and streams."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shell import muco, people, program, write_table

HELP = Path(__file__).parent / "help"
ROLES = ("--identifier", "name", "--quasi", "age,town", "--sensitive", "illness")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return people(tmp_path / "in.csv")


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


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "1" * 5000])
@pytest.mark.parametrize("command", ["check", "anonymize", "risk"])
def test_a_policy_too_deep_or_too_long_for_its_reader_leaves_with_2(table: Path, command: str, text: str) -> None:
    (policy := table.with_name("policy.toml")).write_text(text)
    ran = muco(command, table, "-c", policy, *(("--dry-run",) if command == "anonymize" else ()))
    assert (ran.code, "policy.toml is not TOML" in ran.out + ran.err) == (2, True), ran.err


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
        (".", ". cannot be written: it is a directory. Name a file in it."),
        ("/", "/ cannot be written: it is a directory. Name a file in it."),
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
