"""One thing found before a run: how grave it is, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from muco.errors import InfeasibleError, MucoError, PolicyError, TableError

SHOWN = 5


class Severity(StrEnum):
    """How grave a finding is."""

    ERROR = "error"  # stops a run
    WARNING = "warning"  # weakens what a run gives
    NOTE = "note"  # good to know


class Blame(StrEnum):
    """What is to be changed; it decides the exit code, as for the errors of a run."""

    POLICY = "policy"
    TABLE = "table"
    PROMISE = "promise"

    @property
    def exit_code(self) -> int:
        """2, 3 or 4, as PolicyError, TableError and InfeasibleError give."""
        errors: dict[Blame, type[MucoError]] = {
            Blame.POLICY: PolicyError,
            Blame.TABLE: TableError,
            Blame.PROMISE: InfeasibleError,
        }
        return errors[self].exit_code


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found. It names attributes, rows (from 1) and counts; cells only where they were asked for."""

    severity: Severity
    blame: Blame
    what: str
    advice: str
    attribute: str | None = None
    count: int = 0
    rows: tuple[int, ...] = ()
    values: tuple[str, ...] = field(default=(), repr=False)

    @staticmethod
    def of(error: MucoError, *, attribute: str | None = None) -> list[Finding]:
        """The findings, one a line, of an error that would stop a run."""
        blame = next((blame for blame in Blame if blame.exit_code == error.exit_code), Blame.TABLE)
        return [Finding(Severity.ERROR, blame, *_parted(line), attribute) for line in str(error).splitlines()]

    def to_dict(self) -> dict[str, Any]:
        """The finding for JSON, without what is empty."""
        words = {name: getattr(self, name) for name in self.__slots__}
        return {name: word for name, word in words.items() if word not in (None, 0, ())}


def rows_shown(rows: Sequence[int]) -> tuple[int, ...]:
    """The first row numbers, from 1."""
    return tuple(int(row) + 1 for row in rows[:SHOWN])


def exit_code(findings: Iterable[Finding]) -> int:
    """0 with nothing but notes; else the code of the gravest kind, the one a run would stop with first."""
    found = list(findings)
    for severity in (Severity.ERROR, Severity.WARNING):
        if codes := [finding.blame.exit_code for finding in found if finding.severity is severity]:
            return min(codes)
    return 0


def _parted(line: str) -> tuple[str, str]:
    """A message and its advice: the house writes `what: advice` or `what. Advice`."""
    for sign in ("): ", ". ", ": "):
        what, found, advice = line.rpartition(sign)
        if found and " " in advice.strip():
            return what + sign.rstrip(": ."), advice
    return line, ""
