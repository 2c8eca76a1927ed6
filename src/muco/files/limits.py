"""How much a file may unpack to, so that a small one cannot fill the memory."""

from __future__ import annotations

import os
from dataclasses import dataclass

from muco.errors import PolicyError, TableError

_SLACK = 1 << 26  # below this, 64 MiB, no file is a bomb however well it packs


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what is read, checked while it streams. Each has a variable of the environment that moves it."""

    content: int = 16 << 30  # bytes, unpacked: MUCO_MAX_BYTES
    rows: int = 500_000_000  # MUCO_MAX_ROWS
    ratio: int = 250  # bytes unpacked for each byte read: MUCO_MAX_RATIO

    @staticmethod
    def of_environment() -> Limits:
        """The limits with what MUCO_MAX_BYTES, MUCO_MAX_ROWS and MUCO_MAX_RATIO say. Raises PolicyError."""
        default = Limits()
        return Limits(
            _number("MUCO_MAX_BYTES", default.content),
            _number("MUCO_MAX_ROWS", default.rows),
            _number("MUCO_MAX_RATIO", default.ratio),
        )

    def check_content(self, found: int, name: str, *, packed: int | None = None) -> None:
        """Raise TableError for `found` bytes that came out of `packed` ones."""
        if found > self.content:
            raise TableError(
                f"{name} holds more than {self.content:,} bytes (MUCO_MAX_BYTES): raise the limit if you trust it"
            )
        if packed is not None and found > max(_SLACK, self.ratio * packed):
            raise TableError(
                f"{name} unpacks to more than {self.ratio} times its size (MUCO_MAX_RATIO), as a file made to fill "
                "the memory does: raise the limit if you trust it"
            )

    def check_rows(self, found: int, name: str) -> None:
        """Raise TableError for more rows than allowed."""
        if found > self.rows:
            raise TableError(
                f"{name} has {found:,} rows, more than {self.rows:,} (MUCO_MAX_ROWS): raise the limit if you trust "
                "it"
            )


def _number(variable: str, default: int) -> int:
    given = os.environ.get(variable)
    if given is None:
        return default
    if not given.isascii() or not given.isdigit() or int(given) < 1:
        raise PolicyError(f"{variable} is not a whole number above 0: set it to one such as {default}")
    return int(given)
