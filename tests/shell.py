"""The command line as tests call it: in this process for its words and codes, as a program for signals."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from muco import cli

KEY = "5c" * 32


@dataclass(frozen=True, slots=True)
class Ran:
    """What one call left: its exit code and what it said on the two streams."""

    code: int
    out: str
    err: str


def muco(*words: object) -> Ran:
    """`muco WORDS`, in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    code: Any = 0
    with patch.object(sys, "argv", ["muco", *map(str, words)]), redirect_stdout(out), redirect_stderr(err):
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)
    read = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return Ran(code, *read)


def program(*words: object) -> list[str]:
    """The words that run `muco WORDS` as a program of its own."""
    return [sys.executable, "-c", "from muco.cli import main; main()", *map(str, words)]


def start(*words: object, **given: Any) -> subprocess.Popen[str]:
    """`muco WORDS` as a program, started."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **given}
    return subprocess.Popen(program(*words), **pipes)


def write_table(path: Path, columns: dict[str, list[Any]], *, delimiter: str = ",") -> Path:
    """A CSV file of a few records."""
    rows = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    path.write_text("".join(delimiter.join(map(str, row)) + "\n" for row in rows))
    return path


def people(path: Path, records: int = 40) -> Path:
    """Records with a name, an age, a town and one of eight illnesses, in turn: 4-diverse in groups of 4."""
    turns = range(records)
    return write_table(
        path,
        {
            "name": [f"person {i}" for i in turns],
            "age": [20 + i * 7 % 50 for i in turns],
            "town": [("Aston", "Borth", "Corfe")[i * i % 3] for i in turns],
            "illness": [f"illness {i % 8}" for i in turns],
        },
    )


def environment(**more: str) -> dict[str, str]:
    """This process's environment, without what changes how a terminal is written to."""
    left = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR", "TERM"}}
    return {**left, **more}
