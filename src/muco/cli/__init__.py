"""The command line: a thin door. Errors become one message and an exit code; data go to stdout, the rest to stderr.

0 done, 1 run time, 2 usage or policy, 3 data, 4 promise not met, 74 output, 129, 130 and 143 stopped
"""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click
from click.exceptions import Exit

from muco.errors import MucoError

# By the order in which a curator needs them.
_COMMANDS = {
    "Prepare": {
        "init": "guess the role and kind of every column and write a policy",
        "check": "find everything that would stop or weaken a run",
        "hierarchy": "make, check and show trees of values",
    },
    "Publish": {
        "anonymize": "anonymize a table and write a release with its certificate",
    },
    "Choose": {
        "compare": "methods and settings side by side on one table",
        "tune": "the policy that keeps a risk asked for at the least loss",
    },
    "Judge": {
        "risk": "how exposed a table is before anything is done to it",
        "assess": "what a release of any tool protects and is worth",
        "report": "write what assess finds as one HTML page",
        "verify": "whether a release is the file its certificate speaks of",
    },
    "Learn": {
        "demo": "make an example table and anonymize it with both presets",
        "reproduce": "repeat the paper's experiments, and hold its claims against what comes out",
        "schema": "print the JSON Schema of a policy",
    },
}


# True at any moment: an interrupt may come after the last rename.
_STOPPED = "stopped: no file was left half written"


class _Lazy(click.Group):
    """Commands are loaded when they are called, and its own help needs no rich, so that it comes at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [name for section in _COMMANDS.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            from muco.fault import suggest

            ctx.fail(f"there is no command {cmd_name}{suggest(cmd_name, self.list_commands(ctx))}")
        command: click.Command = import_module(f"muco.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for title, section in _COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl(list(section.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="muco", message="muco %(version)s")
def cli() -> None:
    """Publish tables about people by mutual cover: every released cell is a real value, one row a record."""


# SIGINT is Python's own KeyboardInterrupt.
_STOPS = (signal.SIGTERM, signal.SIGHUP)


class Terminated(BaseException):
    """SIGTERM or SIGHUP arrived: everything is cleaned up on the way out."""


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    try:
        _listen()
        code = cli.main(prog_name="muco", standalone_mode=False) or 0  # what a command leaves with, as `check` does
    except Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except MucoError as error:
        code = _report(str(error), error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        code = _stop(signal.SIGINT)
    except Terminated as stop:
        code = _stop(stop.args[0])
    except MemoryError:
        code = _report("memory is short: free some, or give a smaller table. Nothing was written", 1)
    except SystemExit:  # how click leaves when nobody reads stdout any more
        code = 74
    except OSError as error:
        reason = error.strerror or type(error).__name__
        code = _report(f"the system refused to go on: {reason}. Free some space, or write elsewhere", 74)
    except Exception as error:
        code = _report(f"unexpected {type(error).__name__} at {_place(error)}: please report it", 1)
    sys.exit(code)


def _listen() -> None:
    """Answer signals from here on; the witness blocked them until now."""
    for number in _STOPS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` asks
            signal.signal(number, _terminate)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, *_STOPS))


def _terminate(signum: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - signal's signature
    raise Terminated(signum)


def _stop(number: int) -> int:
    for each in (signal.SIGINT, *_STOPS):  # a second Ctrl-C asks for what is already done
        signal.signal(each, signal.SIG_IGN)
    return _report(_STOPPED, 128 + number)


def _report(message: str, code: int) -> int:
    from muco.cli.terminal import console, say

    with suppress(OSError):  # where stderr is full or gone, the code still tells
        say(console(), f"error: {message}", style="red")
    return code


def _place(error: Exception) -> str:
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    return f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place else "?"
