"""The program `muco`: the command line, and a witness that speaks where it dies without a word.

Allocators and readers in C and Rust abort where memory is short or a file lies about its sizes, and the system
kills what takes too much: no handler of Python's sees that. So a small second process waits, does nothing else, and
tells what became of the run. Signals go to the run itself, whose exit code is then that of the signal: 134, 137.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

# What asks a run to end; it cleans up and says so.
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_MESSAGE = (
    "error: the run was ended from outside, or by a library that gave up: memory was short, or a file is damaged "
    "in a way that its reader does not survive. No file was left half written. Free memory, give a smaller table, "
    "or mend the file\n"
)


def main() -> NoReturn:
    """Run the command line under the eyes of a witness, and leave with its exit code."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # until the run can answer; in the witness for good
    from muco.cli import main as run

    _open_closed_streams()
    seen, told = os.pipe()
    witness = os.fork()
    if not witness:
        os.close(told)
        _watch(seen)
    os.close(seen)
    _silence_libraries()
    try:
        run()
    finally:
        for number in STOPS:
            signal.signal(number, signal.SIG_IGN)
        with suppress(OSError):  # the witness was killed, or the system reaps children itself
            os.write(told, b".")
            os.waitpid(witness, 0)


def _watch(seen: int) -> NoReturn:
    """Wait for the end of the run, which is sound if it says so; then, or after a message, end too."""
    with suppress(OSError):
        for stream in (0, 1):  # so that whoever reads the output is not kept waiting
            os.close(stream)
        if not os.read(seen, 1):
            os.write(2, _MESSAGE.encode())
    os._exit(0)


def _open_closed_streams() -> None:
    """Give standard streams that the caller closed a number of their own, or the pipe would take it."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(opened)


def _silence_libraries() -> None:
    """Keep this process's own stderr for its own words: what a library writes there may quote cells."""
    encoding = "utf-8"
    if sys.stderr:  # else closed by the caller
        sys.stderr.flush()
        encoding = sys.stderr.encoding
    own = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    sys.stderr = os.fdopen(own, "w", buffering=1, encoding=encoding, errors="backslashreplace")
