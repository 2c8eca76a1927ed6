"""Trees of categorical values: built from a policy, intervals, an ordered list, or ARX's files."""

from __future__ import annotations

import csv
import io
import math
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from muco.attribute import HierarchySpec, check_nested, read_tree
from muco.errors import PolicyError, TableError

if TYPE_CHECKING:
    import polars as pl

TOP = "*"
DELIMITERS = ";\t|,"
LARGEST_FILE = 64 * 2**20

# A leaf, then its ancestors from the parent up to the top.
type_path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The hierarchy tree of a categorical attribute (Section 4, after Definition 4).

    `leaves` are the values in depth-first order, so that a node is always a range of codes. `levels[h - 1][i]` is
    the ancestor of leaf i at height h; the last level is the top, "*". Every leaf has the same number of levels:
    above a leaf of a shorter branch the leaf itself is repeated, as ARX does, so that a node's height counts from
    the leaf level of the padded tree. `steps[i]`, float64 in (0, 1], shape (leaves - 1,), is the height of the
    lowest common ancestor of leaves i and i + 1 over the height of the tree: dis(a, b) is the largest step between.

    >>> Hierarchy.from_tree({"Office": ["clerk", "manager"], "Field": ["farmer"]}).steps
    array([0.5, 1. ])
    """

    leaves: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    steps: NDArray[np.float64] = field(compare=False)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.leaves)} leaves, height {self.height})"

    @property
    def height(self) -> int:
        """How many levels stand above each leaf."""
        return len(self.levels)

    @property
    def tree(self) -> list[Any]:
        """The same tree for `from_tree` or a policy, padding included: lists of leaves and {label: branch}."""
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

        try:
            column = pl.Series(values=values, dtype=pl.String)
        except (TypeError, pl.exceptions.PolarsError):
            raise TableError(f"attribute {attribute}: its hierarchy needs a column of text") from None
        codes = column.cast(pl.Enum(self.leaves), strict=False).to_physical()
        outside = np.flatnonzero((codes.is_null() & column.is_not_null()).to_numpy())
        if outside.size:
            rows = ", ".join(str(row + 1) for row in outside[:5]) + (", ..." if outside.size > 5 else "")
            raise TableError(
                f"attribute {attribute}: {outside.size} cells hold a value that its hierarchy lacks (rows {rows}): "
                "add their values to the hierarchy, or list them as missing"
            )
        return codes.cast(pl.Int32).fill_null(-1).to_numpy()

    def restricted(self, codes: NDArray[np.integer[Any]]) -> Hierarchy:
        """The same tree with only the leaves at the given ascending codes: D[A] of a table without the others.

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
            raise PolicyError(
                f"a hierarchy repeats {repeated} of its {len(paths)} leaves: each may stand once"
            )
        height = max(map(len, paths))
        return _arranged([(path[0],) * (height - len(path)) + path for path in paths])

    @staticmethod
    def from_arx(source: str | Path) -> Hierarchy:
        """The tree in ARX's form, `leaf;level 1;level 2;...;*`, as text or as the path of a file.

        The delimiter is one of ; tab | and comma. Rows may come in any order: siblings are brought together,
        each node standing where its first row does. Raises PolicyError with line numbers.
        """
        text = read_file(source, limit=LARGEST_FILE) if isinstance(source, Path) else source
        rows = _rows(text.removeprefix("\ufeff"))
        lines: dict[str, list[int]] = {}
        for number, row in rows:
            lines.setdefault(row[0], []).append(number)
        if repeated := [str(number) for numbers in lines.values() for number in numbers[1:]]:
            raise PolicyError(
                f"a hierarchy repeats {len(repeated)} leaves of earlier lines, first on line {_first(repeated)}: "
                "each leaf may stand once"
            )
        return _arranged([row for _, row in rows])

    @staticmethod
    def from_intervals(
        values: Iterable[float] | NDArray[Any], widths: Sequence[float], *, origin: float = 0
    ) -> Hierarchy:
        """Half-open intervals above the distinct numbers of a column: 25 is in [20, 30).

        Leaves ascend. Numbers, widths and origin are taken as the decimals they print as, so that 0.3 is in
        [0.3, 0.4) whatever its binary form. Raises TableError for a number that is not finite.
        """
        _check(widths)
        numbers = values.tolist() if isinstance(values, np.ndarray) else list(values)
        if wild := sum(not math.isfinite(number) for number in numbers):
            raise TableError(f"intervals need finite numbers: {wild} of {len(numbers)} are not")
        exact = sorted({Fraction(str(number)) for number in numbers})
        start = Fraction(str(origin))
        bounds = [[_interval(number, start, Fraction(str(width))) for number in exact] for width in widths]
        return _arranged(list(zip(map(_decimal, exact), *bounds)))

    @staticmethod
    def from_ordered(values: Sequence[str], sizes: Sequence[int]) -> Hierarchy:
        """An ordered list whose neighbours are grouped by the first size, then by the next, and so on.

        >>> Hierarchy.from_ordered(["a", "b", "c"], [2]).levels
        (('[a, b]', '[a, b]', 'c'), ('*', '*', '*'))
        """
        _check(sizes)
        if repeated := len(values) - len(set(values)):
            raise PolicyError(f"an ordered hierarchy repeats {repeated} of its values: each may stand once")
        return _arranged(
            [
                (value, *(_span(values, at - at % size, size) for size in sizes))
                for at, value in enumerate(values)
            ]
        )
