"""What can go wrong, and the exit code each kind gives.

    MucoError               1   anything else at run time
    ├── PolicyError         2   what was asked for makes no sense
    ├── TableError          3   the data cannot be read or understood
    ├── InfeasibleError     4   the promise cannot be met: nothing was computed
    ├── ReleaseError        4   the promise was not met: nothing was released
    └── OutputError        74   the release cannot be written: the old file is whole

Messages carry attribute names, row numbers and counts, never a cell value, a key or a group.
"""

from __future__ import annotations

from collections.abc import Sequence


class MucoError(Exception):
    """The root of every error that muco raises on purpose."""

    exit_code = 1


class MucoWarning(UserWarning):
    """Something that a curator should know and that stops no run."""


class PolicyError(MucoError):
    """The policy, or an option that builds it, is wrong."""

    exit_code = 2


class TableError(MucoError):
    """The microdata cannot be read, or do not fit the policy.

    `rows` are the numbers, from 0, of the records whose cell does not fit its attribute; empty for other faults.
    """

    exit_code = 3

    def __init__(self, message: str, *, rows: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.rows = rows


class InfeasibleError(MucoError):
    """The promise asked for cannot be met on this table (Property 1, or diversity out of reach)."""

    exit_code = 4


class ReleaseError(MucoError):
    """A promise was checked and found broken: the run stops and nothing leaves it."""

    exit_code = 4


class OutputError(MucoError):
    """The release could not be written; whatever stood at the target is untouched."""

    exit_code = 74
