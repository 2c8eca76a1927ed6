"""`muco anonymize` on tables of every form: what it says, what it writes, and with which exit code it stops."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import polars as pl
import pytest

import shell
from muco.files import read_table
from muco.policy import Policy

HEADER = "age;town;ill"
ROWS = [f"{20 + at % 7},5;{at % 3:02d};{'flu' if at % 2 else 'NA'}" for at in range(12)]
ROLES = ["--quasi", "age,town", "--sensitive", "ill", "--diversity", "2"]


def muco(*words: object, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """`muco WORDS`: in this process, or as a program that is given its input."""
    if given is not None:
        return subprocess.run(shell.program(*words), input=given, capture_output=True, check=False)
    ran = shell.muco(*words)
    return subprocess.CompletedProcess([], ran.code, ran.out.encode(), ran.err.encode())


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("\r\n".join([HEADER, *ROWS]) + "\r\n", newline="")
    return tmp_path / "t.csv"


def test_a_release_is_written_as_its_input_and_what_was_found_is_stated(table: Path) -> None:
    ran = muco("anonymize", table, *ROLES, "-o", table.with_name("r.csv"))
    assert ran.returncode == 0
    assert b"note: t.csv: read with delimiter ;, decimal comma" in ran.stderr
    released = table.with_name("r.csv").read_bytes().decode().split("\r\n")
    assert released[0] == HEADER
    assert sorted(row.split(";")[2] for row in released[1:-1]) == sorted(row.split(";")[2] for row in ROWS)
    assert {row.split(";")[0] for row in released[1:-1]} <= {row.split(";")[0] for row in ROWS}


def test_a_table_goes_through_a_pipe(table: Path) -> None:
    ran = muco("anonymize", "-", *ROLES, "-o", "-", given=table.read_bytes())
    assert ran.returncode == 0
    assert len(ran.stdout.splitlines()) == 13
    assert b"no certificate is kept" in ran.stderr
    assert not list(table.parent.glob("*.json"))
    both = muco("anonymize", "-", *ROLES, "-o", "-", "--json", given=table.read_bytes())
    assert (both.returncode, both.stdout) == (2, b"")


def test_the_layout_is_kept_in_the_policy_and_not_guessed_again(table: Path) -> None:
    hidden = table.with_name("h.zip")
    assert muco("anonymize", table, *ROLES, "-o", table.with_name("r.csv"), "--hidden", hidden).returncode == 0
    policy = table.with_name("p.toml")
    policy.write_bytes(
        subprocess.run(["unzip", "-p", hidden, "policy.toml"], capture_output=True, check=True).stdout
    )
    layout = Policy.read(policy).table
    assert layout is not None
    assert (layout.delimiter, layout.decimal, layout.line_end) == (";", ",", "crlf")
    # Without a delimiter in its header nothing else would say that ; parts the fields.
    table.write_text(table.read_text().replace(HEADER, '"age";"town";"ill"').replace(";", ";"))
    assert muco("anonymize", table, "-c", policy, "--dry-run").returncode == 0


def test_dropped_rows_are_counted_in_the_certificate_and_errors_name_the_rows_of_the_file(table: Path) -> None:
    table.write_text("\n".join([HEADER, *["bad"] * 11, *ROWS]) + "\n")
    assert muco("anonymize", table, *ROLES, "--dry-run").returncode == 3
    ran = muco("anonymize", table, *ROLES, "--dry-run", "--json", "--bad-rows", "drop")
    assert json.loads(ran.stdout)["rows_dropped"] == 11
    table.write_text("\n".join([HEADER, "bad", *ROWS, "1e999;01;flu"]) + "\n")
    policy = table.with_name("p.toml")
    policy.write_text('[attributes]\nage = {role="quasi", kind="continuous"}\nill = {role="sensitive"}\n')
    ran = muco("anonymize", table, "-c", policy, "--dry-run", "--bad-rows", "drop")
    assert ran.returncode == 3
    assert b"attribute age: 1 cell cannot be read as a finite number (row 14)" in ran.stderr
    assert b"1e999" not in ran.stderr


def test_cells_that_a_spreadsheet_would_run_are_noted_or_quoted(table: Path) -> None:
    cells = ["=1+1", "+4", "-3,5", "@x", "-x", "plain"] * 2
    rows = [f"{row};{cell}" for row, cell in zip(ROWS, cells)]
    table.write_text("\n".join([HEADER + ";=note", *rows]) + "\n")
    out = table.with_name("r.csv")
    ran = muco("anonymize", table, *ROLES, "-o", out)
    assert b"which a spreadsheet runs as formulas: =note (6)" in ran.stderr
    assert ran.returncode == 0
    muco("anonymize", table, *ROLES, "-o", out, "--force", "--spreadsheet-safe")
    release = pl.read_csv(out, separator=";", infer_schema=False)
    assert release.columns[-1] == "'=note"
    assert set(release["'=note"]) == {"'=1+1", "+4", "-3,5", "'@x", "'-x", "plain"}


def test_a_header_of_odd_characters_works_everywhere(tmp_path: Path) -> None:
    names = ["=a,b", 'q"uo"te', "two\nlines", "[bold]x[/bold]", "🙂", "a.b", "'", "#"]
    table = pl.DataFrame({name: [str(at % 4) for at in range(12)] for name in names})
    table.write_csv(tmp_path / "t.csv")
    policy = Policy.of(quasi=names[:3], sensitive=names[3], identifier=names[4], diversity=2)
    (tmp_path / "p.toml").write_text(policy.to_toml())
    assert Policy.read(tmp_path / "p.toml") == policy
    roles = ["--quasi", names[0], "--quasi", names[1], "--sensitive", names[3], "--diversity", 2]
    for words in (["-c", tmp_path / "p.toml"], roles):
        ran = muco("anonymize", tmp_path / "t.csv", *words, "-o", tmp_path / "r.csv", "--force", "--json")
        assert ran.returncode == 0, ran.stderr
        left = [name for name in names if name != "🙂" or words is roles]
        assert read_table(tmp_path / "r.csv").table.columns == left
        certificate = json.loads(ran.stdout)
        assert certificate["attributes"]["sensitive"] == [names[3]]
    ran = muco("anonymize", tmp_path / "t.csv", "--quasi", names[0], "--principle", "anonymity", "--dry-run", "-q")
    assert "[bold]x[/bold], 🙂, a.b" in ran.stderr.decode()  # a name is no markup


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"a,b\n1,2\n3\n", 3, "row 2 has another number of fields"),
        (b"a,b\n", 3, "a header and no rows"),
        (b"a,a\n1,2\n", 3, "repeats the column a"),
        (b"a,b\n1,\0\n", 3, "row 1 holds a NUL byte"),
    ],
)
def test_bad_input_has_one_message_and_exit_code_3(tmp_path: Path, content: bytes, code: int, message: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    ran = muco("anonymize", tmp_path / "t.csv", *ROLES, "-o", tmp_path / "r.csv")
    assert (ran.returncode, ran.stdout) == (code, b"")
    assert message in ran.stderr.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_an_unknown_layout_is_refused_with_its_place(table: Path) -> None:
    policy = table.with_name("p.toml")
    policy.write_text('[table]\ndelimter = ";"\n')
    ran = muco("anonymize", table, "-c", policy, "--dry-run")
    assert (ran.returncode, ran.stderr) == (2, b"error: unknown key table.delimter: did you mean delimiter?\n")
    ran = muco("anonymize", table, *ROLES, "--encoding", "klingon", "--dry-run")
    assert ran.returncode == 2
    assert b"table.encoding is no encoding of text" in ran.stderr
