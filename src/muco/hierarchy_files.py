"""Files of hierarchies: read within bounds, split into ancestries, and every problem of one found at once."""

from __future__ import annotations

import csv
import io
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from muco.errors import PolicyError

DELIMITERS = ";\t|,"
LARGEST_FILE = 64 * 2**20

# A leaf, then its ancestors from the parent up.
Ancestry = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """What keeps a file from being a hierarchy, on which lines (from 1), and what to do; no label is quoted.

    >>> print(Problem("repeats leaves", (4, 9), "each may stand once"))
    repeats leaves on 2 lines (4, 9): each may stand once
    """

    what: str
    lines: tuple[int, ...]
    advice: str

    def __str__(self) -> str:
        first = ", ".join(map(str, self.lines[:5])) + (", ..." if len(self.lines) > 5 else "")
        count = "1 line" if len(self.lines) == 1 else f"{len(self.lines)} lines"
        return f"{self.what} on {count} ({first}): {self.advice}"


def read_file(path: Path, *, inside: Path | None = None) -> str:
    """The text of a file of at most 64 MiB, in UTF-8; `inside` is the folder out of which it may not lie."""
    try:
        whole = path.resolve()
        if inside is not None and not whole.is_relative_to(inside.resolve()):
            raise PolicyError(f"{path.name} leads out of the policy's folder: put the file itself there")
        # A pipe would make a plain open wait for ever.
        with open(os.open(whole, os.O_RDONLY | os.O_NONBLOCK), "rb") as handle:  # noqa: PTH123
            if not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
                raise PolicyError(f"{path.name} is not a regular file: name the file itself")
            content = handle.read(LARGEST_FILE + 1)
    except (OSError, RuntimeError) as error:  # RuntimeError is how resolve tells of links in a circle
        reason = error.strerror if isinstance(error, OSError) else "its symbolic links go in a circle"
        raise PolicyError(f"{path.name} cannot be read: {reason}") from None
    if len(content) > LARGEST_FILE:
        raise PolicyError(
            f"{path.name} is larger than {LARGEST_FILE // 2**20} MiB: no policy or hierarchy needs that"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    raise PolicyError(f"{path.name} is not in UTF-8 (line {line}): save it in that encoding")


def read_lines(text: str, *, name: str = "a hierarchy") -> list[tuple[int, Ancestry]]:
    """The lines that are not blank, with their numbers, split at the one of ; tab | and comma that fits all."""
    readings = [_split(text, delimiter, name) for delimiter in DELIMITERS if delimiter in text]
    if not readings:
        raise PolicyError(f"{name} has no levels: write leaf;level 1;level 2;...;* on each line")
    even = [lines for lines in readings if len({len(fields) for _, fields in lines}) == 1 < len(lines[0][1])]
    return (even or readings)[0]


def find_problems(lines: Sequence[tuple[int, Ancestry]]) -> list[Problem]:
    """Everything that keeps numbered ancestries from being a tree, all at once; empty for a tree."""
    depth = len(lines[0][1]) if lines else 0
    first: dict[str, int] = {}
    repeated = [number for number, (leaf, *_) in lines if first.setdefault(leaf, number) != number]
    strays = find_strays([fields for _, fields in lines])
    found = [
        Problem(
            f"is of unequal depth: the first has {depth} fields, but not so many stand",
            tuple(number for number, fields in lines if len(fields) != depth),
            "give every leaf the same number of levels (repeat the leaf itself)",
        ),
        Problem(
            "has an empty label",
            tuple(number for number, fields in lines if not all(fields)),
            "name the node; a missing value needs no leaf, it stands outside the tree",
        ),
        Problem("repeats leaves", tuple(repeated), "each may stand once"),
        Problem(
            "gives a label of one level a second parent",
            tuple(lines[at][0] for at in strays),
            "nodes with different parents need different names",
        ),
    ]
    return [problem for problem in found if problem.lines]


def find_strays(ancestries: Sequence[Ancestry]) -> list[int]:
    """Which of the ancestries give a label another parent than an earlier one gave it on the same level."""
    parents: list[dict[str, str]] = [{} for _ in range(max(map(len, ancestries), default=0))]
    return [
        at
        for at, ancestry in enumerate(ancestries)
        if any(
            parents[height].setdefault(label, parent) != parent
            for height, (label, parent) in enumerate(pairwise(ancestry))
        )
    ]


def _split(text: str, delimiter: str, name: str) -> list[tuple[int, Ancestry]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, tuple(fields)) for fields in reader if any(fields)]
    except csv.Error:  # its text may quote the cell, even as a context
        pass
    raise PolicyError(f"{name} cannot be read on line {reader.line_num}: look for an open quote or a damaged cell")
