"""Trees of categorical values: built from a policy, intervals, an ordered list, or ARX's files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from muco.ancestries import (
    TOP,
    climb_dates,
    climb_intervals,
    climb_ordered,
    climb_prefixes,
    climb_redaction,
)
from muco.errors import PolicyError, TableError
from muco.hierarchy_files import Ancestry, find_problems, find_strays, read_file, read_lines
from muco.hierarchy_formats import is_table, read_foreign, read_toml
from muco.hierarchy_ranges import place_values
from muco.hierarchy_spec import Dates, HierarchySpec, Redaction, check_lengths, check_nested, read_tree
from muco.numerals import PLAIN, Numerals

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The hierarchy tree of a categorical attribute (Section 4, after Definition 4).

    `leaves` are the values in depth-first order, so that a node is always a range of codes.
    `levels[h - 1][i]` is the ancestor of leaf i at height h; the last level is the top, "*". Every leaf has
    the same number of levels: above a leaf of a shorter branch the leaf itself is repeated, as ARX does, so
    that a node's height counts from the leaf level of the padded tree. `steps[i]`, float64 in (0, 1], shape
    (leaves - 1,), is the height of the lowest common ancestor of leaves i and i + 1 over the height of the
    tree: dis(a, b) is the largest step between.

    >>> Hierarchy.from_tree({"Office": ["clerk", "manager"], "Field": ["farmer"]}).steps
    array([0.5, 1. ])
    """

    leaves: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    steps: NDArray[np.float64] = field(compare=False)

    @staticmethod
    def of(spec: HierarchySpec, *, values: Iterable[Any], folder: Path, numerals: Numerals = PLAIN) -> Hierarchy:
        """The tree that a policy asks for.

        `values` are the distinct non-missing values of the column, whose numbers are written as `numerals`
        say; `folder` is where the policy stands: a file is read from there or below, never through a link that
        leads out.
        Raises PolicyError for a tree that is none, TableError for values that intervals cannot hold.
        """
        if spec.file is not None:
            return Hierarchy.read(folder.resolve() / spec.file, inside=folder).holding(values, numerals)
        if spec.tree is not None:
            return Hierarchy.from_tree(spec.tree).holding(values, numerals)
        return _grow(spec, values, numerals)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.leaves)} leaves, height {self.height})"

    @property
    def height(self) -> int:
        """How many levels stand above each leaf."""
        return len(self.levels)

    @property
    def tree(self) -> list[Any]:
        """The same tree for `from_tree` or a policy, padding included: lists of leaves and of branches."""
        root: list[Any] = []
        for path in zip(self.leaves, *self.levels[:-1]):
            branch = root
            for label in reversed(path[1:]):
                if not branch or label not in branch[-1]:
                    branch.append({label: []})
                branch = branch[-1][label]
            branch.append(path[0])
        return root

    def index_of(
        self, values: pl.Series | Sequence[str | None] | NDArray[Any], *, attribute: str
    ) -> NDArray[np.int32]:
        """The code of each value of a column of text, shape (records,); -1 where it is null.

        Raises TableError with the count and the first five rows, from 1, of the values that are no leaf.
        """
        import polars as pl

        column = None
        with suppress(TypeError, pl.exceptions.PolarsError):
            column = pl.Series(values=values, dtype=pl.String)
        if column is None:
            raise TableError(f"attribute {attribute}: its hierarchy needs a column of text")
        codes = column.cast(pl.Enum(self.leaves), strict=False).to_physical()
        outside = np.flatnonzero((codes.is_null() & column.is_not_null()).to_numpy())
        if outside.size:
            rows = ", ".join(str(row + 1) for row in outside[:5]) + (", ..." if outside.size > 5 else "")
            raise TableError(
                f"attribute {attribute}: {outside.size} cells hold a value that its hierarchy lacks "
                f"(rows {rows}): add their values to the hierarchy, or list them as missing"
            )
        return codes.cast(pl.Int32).fill_null(-1).to_numpy()

    def holding(self, values: Iterable[Any], numerals: Numerals = PLAIN) -> Hierarchy:
        """The tree with a column's values below its leaves, where these are ranges and no value is one of them.

        >>> import polars as pl
        >>> Hierarchy.from_tree({"young": ["[0, 9]", "[10, 19]"]}).holding(pl.Series(["7", "10"])).levels[0]
        ('[0, 9]', '[10, 19]')
        """
        import polars as pl

        cells = values if isinstance(values, pl.Series) else pl.Series(list(values), dtype=pl.String, strict=False)
        if not len(cells) or cells.cast(pl.String).is_in(list(self.leaves)).any():
            return self
        placed = place_values(cells, self.leaves, numerals)
        if not placed:
            return self
        above = list(zip(self.leaves, *self.levels))
        return _arranged([(value, *above[place]) for value, place in placed])

    def restricted(self, codes: NDArray[np.integer[Any]]) -> Hierarchy:
        """The same tree with only the leaves at the given ascending codes: D[A] of a smaller table.

        Heights are those of the whole tree, so that distances stay.
        """
        leaves = tuple(self.leaves[code] for code in codes)
        levels = tuple(tuple(level[code] for code in codes) for level in self.levels)
        return Hierarchy(leaves, levels, _steps([leaves, *levels]))

    @staticmethod
    def from_tree(tree: Mapping[str, Any] | Sequence[Any]) -> Hierarchy:
        """The tree written as nested tables of branches whose innermost are lists of leaves."""
        try:
            paths = list(_paths(read_tree(tree), ()))
        except ValueError as error:
            raise PolicyError(f"a hierarchy {error}") from None
        leaves = {path[0] for path in paths}
        if repeated := len(paths) - len(leaves):
            raise PolicyError(f"a hierarchy repeats {repeated} of its {len(paths)} leaves: each may stand once")
        height = max(map(len, paths))
        return _arranged([(path[0],) * (height - len(path)) + path for path in paths])

    @staticmethod
    def read(path: Path, *, inside: Path | None = None) -> Hierarchy:
        """The tree of a file: ARX's and anjana's CSV, Amnesia's text, JSON, or branches by hand in TOML.

        `inside` is the folder out of which the file may not lie. Raises PolicyError.
        """
        text = read_file(path, inside=inside)
        if path.suffix.lower() == ".toml":
            return Hierarchy.from_tree(read_toml(text))
        return Hierarchy.from_arx(text) if is_table(text) else Hierarchy.from_tree(read_foreign(text))

    @staticmethod
    def from_arx(source: str | Path, *, inside: Path | None = None) -> Hierarchy:
        """The tree in ARX's form, `leaf;level 1;level 2;...;*`, as text or as the path of a file.

        The delimiter is one of ; tab | and comma; the top may be left out. Lines may come in any order:
        siblings are brought together, each node standing where its first line does. Raises PolicyError with
        line numbers.
        """
        if isinstance(source, Path):
            text, name = read_file(source, inside=inside), source.name
        else:
            text, name = source, "a hierarchy"
        lines = read_lines(text.removeprefix("\ufeff"), name=name)
        if problems := find_problems(lines):
            raise PolicyError(f"{name} {problems[0]}")
        return _arranged([fields for _, fields in lines])

    @staticmethod
    def from_intervals(
        values: Iterable[Any], widths: Sequence[float], *, origin: float = 0, numerals: Numerals = PLAIN
    ) -> Hierarchy:
        """Half-open intervals above the distinct numbers of a column: 25 is in [20, 30).

        Leaves ascend, so that leaf i is the i-th smallest of the distinct values; a number is written as a
        plain decimal, a text that is a number as it stands. Numbers, widths and origin count as the decimals
        they print as, so that 0.3 is in [0.3, 0.4) whatever its binary form. Raises TableError for a value
        that is no finite number.
        """
        _check(widths)
        return _arranged(climb_intervals(values, widths, origin, numerals))

    @staticmethod
    def from_ordered(values: Sequence[str], sizes: Sequence[int]) -> Hierarchy:
        """An ordered list whose neighbours are grouped by the first size, then by the next, and so on.

        >>> Hierarchy.from_ordered(["a", "b", "c"], [2]).levels
        (('[a, b]', '[a, b]', 'c'), ('*', '*', '*'))
        """
        _check(sizes)
        return _arranged(climb_ordered(values, sizes))

    @staticmethod
    def from_dates(values: Iterable[Any], spec: Dates) -> Hierarchy:
        """The months, quarters, years, ... of the distinct dates of a column, ascending."""
        return _arranged(climb_dates(values, spec))

    @staticmethod
    def from_prefixes(values: Iterable[Any], lengths: Sequence[int]) -> Hierarchy:
        """The first characters of the distinct codes of a column.

        >>> Hierarchy.from_prefixes(["10115", "10117", "80331"], [3]).levels[0]
        ('101*', '101*', '803*')
        """
        try:
            return _arranged(climb_prefixes(values, check_lengths(tuple(lengths))))
        except ValueError as error:
            raise PolicyError(f"the list of lengths of a hierarchy {error}") from None

    @staticmethod
    def from_redaction(values: Iterable[Any], spec: Redaction) -> Hierarchy:
        """The distinct codes of a column, masked one character more at each level, as ARX does.

        >>> Hierarchy.from_redaction(["81667", "81669"], Redaction()).levels[0]
        ('8166*', '8166*')
        """
        return _arranged(climb_redaction(values, spec))

    def to_arx(self, delimiter: str = ";") -> str:
        """The tree in ARX's form, a line a leaf: `leaf;level 1;...;*`."""
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(zip(self.leaves, *self.levels))
        return text.getvalue()


def _grow(spec: HierarchySpec, values: Iterable[Any], numerals: Numerals) -> Hierarchy:
    """The tree that a rule makes of the values of a column."""
    if spec.ordered is not None:
        return Hierarchy.from_ordered(spec.ordered.values, spec.ordered.sizes)
    if spec.intervals is not None:
        rule = spec.intervals
        return Hierarchy.from_intervals(values, rule.widths, origin=rule.origin, numerals=numerals)
    if spec.dates is not None:
        return Hierarchy.from_dates(values, spec.dates)
    if spec.prefixes is not None:
        return Hierarchy.from_prefixes(values, spec.prefixes.lengths)
    return Hierarchy.from_redaction(values, spec.redaction or Redaction())


def _paths(tree: Sequence[Any], above: Ancestry) -> Iterator[Ancestry]:
    for item in tree:
        if isinstance(item, Mapping):
            for label, below in item.items():
                yield from _paths(below, (label, *above))
        else:
            yield (item, *above)


def _arranged(ancestries: Sequence[Ancestry]) -> Hierarchy:
    """The tree of equally long ancestries: below each node its branches, as their first leaves come."""
    if strays := find_strays(ancestries):
        raise PolicyError(
            f"a hierarchy has the label of one level below two parents ({len(strays)} leaves concerned): "
            "nodes of one level need different names"
        )
    levels = list(zip(*ancestries)) or [()]
    if set(levels[-1]) != {TOP}:
        levels.append((TOP,) * len(ancestries))
    ranks = []
    for level in levels:
        first: dict[str, int] = {}
        ranks.append([first.setdefault(label, len(first)) for label in level])
    order = np.lexsort(ranks)
    leaves, *above = [tuple(level[at] for at in order) for level in levels]
    return Hierarchy(leaves, tuple(above), _steps([leaves, *above]))


def _steps(levels: Sequence[Ancestry]) -> NDArray[np.float64]:
    """The share of the height at which neighbours first meet: on how many levels their labels differ."""
    apart = [[one != other for one, other in pairwise(level)] for level in levels]
    steps: NDArray[np.float64] = np.array(apart, dtype=np.float64).sum(axis=0) / (len(levels) - 1)
    return steps


def _check(sizes: Sequence[float]) -> None:
    try:
        check_nested(tuple(sizes))
    except ValueError as error:
        raise PolicyError(f"the list of sizes of a hierarchy {error}") from None
