"""Runs that are stopped: how soon, with which code, and that nothing is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from muco import Microdata, Policy, divide_table
from muco._core import allow_calls, stop_calls
from muco.example import generate, policy_text
from shell import people, start

ROLES = ("--identifier", "name", "--quasi", "age,town", "--sensitive", "illness", "--diversity", "4")


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half a million records and their policy: a run of some seconds."""
    folder = tmp_path_factory.mktemp("big")
    generate(500_000).write_csv(folder / "census.csv")
    (folder / "policy.toml").write_text(policy_text())
    return folder


def begin(big: Path, out: Path) -> subprocess.Popen[str]:
    """A run on the big table, once it has said that it started."""
    words = ("anonymize", big / "census.csv", "-c", big / "policy.toml", "-o", out, "--force", "-v")
    run = start(*words, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert run.stderr is not None
    assert run.stderr.readline() == "reading the table\n"
    return run


@pytest.mark.parametrize(
    ("stage", "number", "code"),
    [
        ("reading the table", signal.SIGINT, 130),
        ("encoding values", signal.SIGINT, 130),
        ("dividing into groups", signal.SIGINT, 130),
        ("covering records", signal.SIGINT, 130),
        ("dividing into groups", signal.SIGTERM, 143),
    ],
)
def test_a_stopped_run_ends_within_a_second_and_leaves_nothing(
    big: Path, tmp_path: Path, number: signal.Signals, code: int, stage: str
) -> None:
    run = begin(big, tmp_path / "out.csv")
    assert run.stderr is not None
    line = "reading the table"
    while not line.startswith(stage):
        line = run.stderr.readline()
        assert line, "the run ended before its stage"
    time.sleep(0.05)
    run.send_signal(number)
    sent = time.monotonic()
    _, told = run.communicate(timeout=30)
    assert run.returncode == code
    assert "error: stopped: no file was left half written" in told
    assert list(tmp_path.iterdir()) == []
    # A second on an idle machine; the tests may share theirs with others.
    assert time.monotonic() - sent < 1 + 2 * os.getloadavg()[0] / (os.cpu_count() or 1)


def test_calls_that_other_threads_wait_for_end_when_told() -> None:
    # Drawn groups of 100,000 records take seconds; a call looks up 20 times a second.
    policy = Policy.of(quasi=["age", "education"], sensitive="salary", grouping="sampled")
    microdata = Microdata.of(generate(100_000), policy)
    stop_calls()
    try:
        with ThreadPoolExecutor(1) as pool, pytest.raises(KeyboardInterrupt):
            pool.submit(divide_table, microdata).result()
    finally:
        allow_calls()


def test_a_run_killed_while_it_writes_leaves_whole_files_and_the_next_sweeps(tmp_path: Path) -> None:
    table, out = people(tmp_path / "in.csv", 4000), tmp_path / "folder" / "out.csv"
    out.parent.mkdir()
    words = ("anonymize", table, *ROLES, "-o", out, "--force")
    killed = 0
    for turn in range(60):
        run = start(*words)
        seen = False
        while run.poll() is None and not seen:  # until a temporary stands there
            seen = any(path.name.startswith(".muco-") for path in out.parent.iterdir())
        time.sleep(0.0004 * turn)
        run.kill()
        run.communicate()
        killed += run.returncode == -signal.SIGKILL
        if out.exists():
            assert pl.read_csv(out).shape == (4000, 3)
        if (out.parent / "out.certificate.json").exists():
            json.loads((out.parent / "out.certificate.json").read_text())
        if killed == 5:
            break
    assert killed == 5
    last = start(*words)
    last.communicate()
    assert last.returncode == 0
    assert sorted(path.name for path in out.parent.iterdir()) == ["out.certificate.json", "out.csv"]
