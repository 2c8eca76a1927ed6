"""Where the records of a table stood before it was read, for errors that name rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Origin:
    """The row numbers, from 1, of the records of each file; without parts the records of one table, all in order.

    >>> Origin().describe([0, 4])
    'rows 1, 5'
    >>> Origin((("a.csv", np.array([1, 2])), ("b.csv", np.array([1, 3])))).describe([1, 3])
    'rows 2 of a.csv, 3 of b.csv'
    """

    parts: tuple[tuple[str, NDArray[np.int64]], ...] = ()

    def describe(self, records: Sequence[int] | NDArray[Any]) -> str:
        """The first rows of `records` (from 0), as `row 3` or `rows 3, 7, ...`."""
        shown = ", ".join(self._named(int(record)) for record in records[:_SHOWN])
        return f"row{'s' * (len(records) > 1)} {shown}{', ...' * (len(records) > _SHOWN)}"

    def _named(self, record: int) -> str:
        if not self.parts:
            return str(record + 1)
        for name, rows in self.parts:
            if record < len(rows):
                return f"{rows[record]} of {name}" if len(self.parts) > 1 else str(rows[record])
            record -= len(rows)
        raise IndexError("there are fewer records")

    @staticmethod
    def joined(origins: Iterable[tuple[str, Origin, int]]) -> Origin:
        """The origin of several tables one below the other, each given as name, origin and number of records."""
        return Origin(
            tuple(
                (name, origin.parts[0][1] if origin.parts else np.arange(1, records + 1))
                for name, origin, records in origins
            )
        )


WHOLE = Origin()
