"""Memory that is short: refused before the step, with the need, and nothing is left."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from muco.errors import TableError
from muco.files.columnar import write_columnar
from muco.formats import Format
from muco.memory import check_memory
from shell import people

ROLES = ("--identifier", "name", "--quasi", "age,town", "--sensitive", "illness", "--diversity", "4")
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "RAYON_NUM_THREADS": "1"}
MUCO = [sys.executable, "-c", "from muco.cli.witness import main; main()"]


def run(limit: int, *words: object) -> subprocess.CompletedProcess[str]:
    """`muco WORDS` under `ulimit -v`, in bytes."""
    return subprocess.run(
        [*MUCO, *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **ONE_THREAD},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )


def test_a_need_that_no_machine_has_is_refused() -> None:
    with pytest.raises(
        TableError, match=r"reading t.csv needs about 1,073,741,824.0 GiB of memory, and .* are free"
    ):
        check_memory(1 << 60, "reading t.csv")
    check_memory(1, "reading t.csv")


def test_too_little_for_the_libraries_is_refused_at_once(tmp_path: Path) -> None:
    out = tmp_path / "release" / "out.csv"
    out.parent.mkdir()
    ran = run(1 << 30, "anonymize", people(tmp_path / "in.csv"), *ROLES, "-o", out)
    assert ran.returncode == 3
    # 1 GiB for what is loaded and a quarter for the one thread.
    assert (
        "muco needs about 1.2 GiB of address space with 1 threads, and the limit is 1.0 GiB (ulimit -v)"
        in ran.stderr
    )
    assert list(out.parent.iterdir()) == []


def test_a_table_that_does_not_fit_is_refused_while_it_is_read(tmp_path: Path) -> None:
    # 200 MiB of text want four times as much beside themselves; of 1.6 GiB 1.2 are for the libraries.
    table = tmp_path / "in.csv"
    table.write_text("name,age,town,illness\n" + "person,30,Aston,cold\n" * 10_000_000)
    out = tmp_path / "release" / "out.csv"
    out.parent.mkdir()
    ran = run(13 << 27, "anonymize", table, *ROLES, "-o", out)
    assert ran.returncode == 3
    assert "reading in.csv needs about" in ran.stderr and "(ulimit -v): free some, raise the limit" in ran.stderr
    assert list(out.parent.iterdir()) == []


def test_what_fits_runs_under_a_limit(tmp_path: Path) -> None:
    ran = run(13 << 27, "anonymize", people(tmp_path / "in.csv"), *ROLES, "-o", tmp_path / "out.csv")
    assert (ran.returncode, (tmp_path / "out.csv").exists()) == (0, True), ran.stderr


def test_a_run_that_dies_without_a_word_gets_some() -> None:
    dying = "import os, muco.cli; muco.cli.main = os.abort; from muco.cli.witness import main; main()"
    ran = subprocess.run([sys.executable, "-c", dying], check=False, capture_output=True, text=True, timeout=60)
    assert ran.returncode == -6
    assert ran.stderr.startswith(
        "error: the run was ended from outside, or by a library that gave up: memory was short"
    )


def test_the_witness_is_silent_and_keeps_the_exit_code(tmp_path: Path) -> None:
    ran = run(resource.RLIM_INFINITY, "init", tmp_path / "no.csv")
    assert (ran.returncode, ran.stderr) == (3, "error: no.csv cannot be read: No such file or directory\n")


def test_what_a_library_writes_to_stderr_is_not_shown() -> None:
    loud = "import os, muco.cli; muco.cli.main = lambda: os.write(2, b'a cell'); "
    loud += "from muco.cli.witness import main; main()"
    ran = subprocess.run([sys.executable, "-c", loud], check=False, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_a_file_that_lies_about_its_sizes_ends_in_words(tmp_path: Path) -> None:
    # Before each packed buffer of Arrow stands the length it unpacks to; this one says 2^60 bytes.
    content = write_columnar(pl.DataFrame({"age": [*range(5000), None]}), Format.ARROW)
    lie = (1 << 60).to_bytes(8, "little")
    (tmp_path / "t.arrow").write_bytes(re.sub(rb"(?s).{8}(\x28\xb5\x2f\xfd)", lie + rb"\1", content))
    ran = run(resource.RLIM_INFINITY, "init", tmp_path / "t.arrow", "-o", tmp_path / "policy.toml")
    assert ran.returncode == -6
    assert ran.stderr.startswith("error: the run was ended from outside, or by a library that gave up")
    assert [path.name for path in tmp_path.iterdir()] == ["t.arrow"]
