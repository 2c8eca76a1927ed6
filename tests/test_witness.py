"""The witness of a run: silent where the run ends by itself, however it was started and is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shell import environment

MUCO = "from muco.cli.witness import main; main()"
STOPPED = "error: stopped: no file was left half written\n"


def run(code: str, *words: str, **given: Any) -> subprocess.CompletedProcess[str]:
    """Python that runs the program, after what `code` prepares."""
    return subprocess.run(
        [sys.executable, "-c", f"{code}\n{MUCO}", *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        **given,
    )


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2)])
def test_closed_streams_change_no_exit_code_and_bring_no_words(closed: tuple[int, ...]) -> None:
    def close() -> None:
        for stream in closed:
            os.close(stream)

    ran = run("", "--version", preexec_fn=close)
    assert (ran.returncode, ran.stderr) == (0, "")
    ran = run("", "nonsense", preexec_fn=close)
    assert (ran.returncode, ran.stdout, "no command nonsense" in ran.stderr) == (2, "", 2 not in closed)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("moment", ["muco.cli.main", "muco.cli.cli.main", "muco.cli.terminal.console"])
def test_a_signal_at_any_moment_ends_in_one_sentence(number: signal.Signals, code: int, moment: str) -> None:
    """Before the run can answer, while it works, and a second one while it tells of the first."""
    at = f"import os, signal, muco.cli, muco.cli.terminal\nformer = {moment}\n"
    at += f"def sent(*words, **given):\n    os.kill(os.getpid(), {number:d})\n    return former(*words, **given)\n"
    at += f"{moment} = sent\n"
    if "terminal" in moment:
        at += f"muco.cli.cli.main = lambda **_: os.kill(os.getpid(), {number:d})\n"
    ran = run(at, "--version")
    assert (ran.returncode, ran.stderr) == (code, STOPPED)


def test_a_hang_up_that_nohup_ignores_ends_nothing() -> None:
    at = "import os, signal, muco.cli\nmuco.cli.cli.main = lambda **_: os.kill(os.getpid(), signal.SIGHUP)"
    ran = run(at, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    "loss", ["os.kill(witness, signal.SIGKILL)", "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"]
)
def test_a_lost_witness_is_not_missed(loss: str) -> None:
    at = "import os, signal, muco.cli\nfork = os.fork\ndef forked():\n    global witness\n    witness = fork()\n"
    at += f"    return witness\nos.fork = forked\nmuco.cli.cli.main = lambda **_: {loss} and None"
    ran = run(at)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_witness_keeps_no_reader_waiting(tmp_path: Path) -> None:
    """Whoever reads the output sees its end when the run closes it, while the run goes on."""
    go_on = tmp_path / "fifo"
    os.mkfifo(go_on)
    at = f"import os, muco.cli\nmuco.cli.cli.main = lambda **_: (os.close(1), open({str(go_on)!r}).read()) and None"
    started = subprocess.Popen(
        [sys.executable, "-c", f"{at}\n{MUCO}"], stdout=subprocess.PIPE, text=True, env=environment()
    )
    assert started.stdout
    assert started.stdout.read() == ""
    assert started.poll() is None
    go_on.write_text("")
    started.stdout.close()
    started.wait(60)
