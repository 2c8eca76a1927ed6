"""The command line on a terminal: progress, the demo, the help."""

from __future__ import annotations

import hashlib
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

import polars as pl
import pytest
from rich.console import Console

from muco.cli.terminal import say, watching
from muco.policy import Policy
from shell import environment, muco, people, program

HELP = Path(__file__).parent / "help"
ROLES = ("--identifier", "name", "--quasi", "age,town", "--sensitive", "illness")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return people(tmp_path / "in.csv")


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


@pytest.mark.parametrize("words", ["init {t}", "check {t} -c {p}", "risk {t} -c {p}", "assess {t} {t} -c {p}"])
def test_a_name_is_no_markup_and_steers_no_terminal(tmp_path: Path, words: str) -> None:
    names = ("name", "age [b]", "town [/x]", "illness\x1b[31m :skull: [/y]")
    table = people(tmp_path / "in [b].csv")
    table.write_text("\n".join([",".join(names), *table.read_text().splitlines()[1:]]))
    sensitive = names[3:] if words.startswith("assess") else ()  # else `check` tells what has no role
    policy = Policy.of(identifier=names[0], quasi=names[1:3], sensitive=sensitive, diversity=4)
    (tmp_path / "p [b].toml").write_text(policy.to_toml())
    ran = muco(*(word.format(t=table, p=tmp_path / "p [b].toml") for word in words.split()))
    assert (ran.code in (0, 3, 4), "\x1b" in ran.out + ran.err) == (True, False), ran.err
    shown = "".join((ran.out + ran.err).split())
    assert "illness\N{REPLACEMENT CHARACTER}[31m:skull:[/y]" in shown


def test_what_a_certificate_says_steers_no_terminal(tmp_path: Path) -> None:
    release, certificate = tmp_path / "r.csv", tmp_path / "c.json"
    release.write_text("age\n1\n")
    seal = hashlib.sha256(release.read_bytes()).hexdigest()
    words = {"release": {"sha256": seal}, "promise": ["all [/is] \x1b[31mred"], "limits": []}
    certificate.write_text(json.dumps(words))
    ran = muco("verify", release, certificate)
    assert (ran.code, ran.out.splitlines()[1:]) == (0, ["promise: all [/is] \N{REPLACEMENT CHARACTER}[31mred"])


def test_a_tree_is_drawn_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\x1b[31m;[b];*\nb;[b];*\n")
    ran = muco("hierarchy", "show", tmp_path / "t.csv")
    assert (ran.code, "\x1b" in ran.out, "[b]" in ran.out) == (0, False, True)


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
