"""Microdata T as integer codes, and back: D[A] of each attribute, exact in both directions.

A code is the place of a value in its domain: numbers, dates and ranks ascend, leaves stand as in their tree, a
missing value is the last code. Values that are equal in kind (34 and 34.0 of a column of numbers) share a code and
are released in one form, so that a changed cell does not look different from one that was kept.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muco._core import Distance
from muco.arrays import Codes
from muco.attribute import Attribute
from muco.errors import MucoError, PolicyError, TableError
from muco.hierarchy import Hierarchy
from muco.moments import moment_keys
from muco.numerals import PLAIN, Numerals
from muco.origin import Origin
from muco.switches import Kind, Role
from muco.values import (
    Distinct,
    category_keys,
    infer_kind,
    leaf_keys,
    number_keys,
    plainest,
    positions,
    rank_keys,
    text_keys,
    truth_keys,
)

if TYPE_CHECKING:
    import polars as pl

_ON_A_LINE = {Kind.CONTINUOUS, Kind.ORDINAL, Kind.DATE}
LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Domain:
    """D[A] of one attribute: one cell a code, and dis(.) between codes. Its repr shows no value."""

    attribute: str
    kind: Kind
    cells: pl.Series
    records: NDArray[np.int64]  # a record that has each cell, shape (codes,)
    has_missing: bool
    distance: Distance
    form: str | None = None  # of dates written as text
    numerals: Numerals = PLAIN  # of numbers written as text

    def __repr__(self) -> str:
        return f"Domain({self.attribute}, {self.kind}, {len(self.cells)} values)"

    @property
    def is_ordered(self) -> bool:
        """Whether codes ascend with the values (t-closeness moves earth along them)."""
        return self.kind in _ON_A_LINE

    @property
    def known(self) -> int:
        """How many codes stand for values that are not missing."""
        return len(self.cells) - self.has_missing

    @property
    def numbers(self) -> NDArray[np.float64] | None:
        """The known values as numbers, in the order of their codes; None where one of them is none."""
        import polars as pl

        cells = self.cells[: self.known]
        if cells.dtype == pl.Duration:
            cells = cells.to_physical()
        if not cells.dtype.is_numeric():
            cells = self.numerals.plain(cells.cast(pl.String).str.strip_chars())
        found = cells.cast(pl.Float64, strict=False)
        return None if found.null_count() else found.to_numpy()

    def find(self, values: pl.Series) -> Codes:
        """The codes of cells of this domain, in the form they are released in. Raises TableError for others."""
        import polars as pl

        places = pl.DataFrame({"cell": self.cells, "code": np.arange(len(self.cells), dtype=np.int32)})
        found = values.cast(self.cells.dtype, strict=False).alias("cell").to_frame()
        codes = found.join(places, on="cell", how="left", nulls_equal=True, maintain_order="left")["code"]
        if codes.null_count():
            raise TableError(f"attribute {self.attribute}: {codes.null_count()} values are not of its domain")
        return codes.to_numpy()

    def loss(self, original: Codes, released: Codes) -> NDArray[np.float64]:
        """Information loss of each cell, in [0, 1] (docs/measures/loss.md).

        |released - original| / (max - min + 1) for numbers, dates and ranks; dis / dis_max for the rest and for a
        missing value.
        """
        apart = self.distance.between(original, released)
        if self.kind not in _ON_A_LINE:
            return apart
        ratio = self.distance.scale / (self.distance.scale + 1)
        return np.where((original < self.known) & (released < self.known), apart * ratio, apart)


def encode(
    column: pl.Series,
    attribute: Attribute,
    missing: Collection[str] = (),
    *,
    numerals: Numerals = PLAIN,
    origin: Origin | None = None,
) -> tuple[Domain, Codes]:
    """One column as its domain and int32 codes, shape (records,); `missing` adds to the attribute's own texts.

    `numerals` says how its numbers are written, `origin` where its records stood.

    Raises TableError, with counts and row numbers and never a value, for cells that do not fit the attribute.
    """
    values = Distinct.of(column, {*missing, *attribute.missing}, numerals=numerals, origin=origin)
    kind = attribute.kind or infer_kind(values)
    if attribute.role is Role.QUASI:
        _check_length(values)
    keys, tree = _keys(values, attribute, kind)
    known = keys.unique().sort()
    ranks = keys.to_frame("key").join(
        known.to_frame("key").with_row_index("code"), on="key", how="left", maintain_order="left"
    )["code"]
    has_missing = bool(values.is_missing.any())
    code_of = np.full(len(values.cells), len(known), dtype=np.int32)
    code_of[~values.is_missing] = ranks.to_numpy()
    codes = code_of[values.index]
    counts = np.bincount(values.index, minlength=len(values.cells))
    # Of several forms of one number the shortest is released, of several markers of missing the commonest.
    places = plainest(values.cells, code_of, np.where(values.is_missing, counts, 0))
    first = np.full(len(values.cells), -1, dtype=np.int64)
    first[values.index[::-1]] = np.arange(len(column) - 1, -1, -1)
    distance = _distance(column.name, known, kind, attribute, tree, has_missing=has_missing)
    distance = distance.weighted(attribute.keep or 1)
    cells = values.cells.gather(places)
    domain = Domain(column.name, kind, cells, first[places], has_missing, distance, attribute.form, numerals)
    return domain, codes


def _check_length(values: Distinct) -> None:
    import polars as pl

    if values.cells.dtype == pl.String:
        values.refuse(
            (values.known.str.len_chars() > LONGEST_TEXT).to_numpy(),
            f"are longer than {LONGEST_TEXT} characters",
            "free text is no quasi-identifier: give it role identifier, or leave it out",
        )


def _keys(values: Distinct, attribute: Attribute, kind: Kind) -> tuple[pl.Series, Hierarchy | None]:
    """What the known cells sort by, and the tree of a categorical attribute."""
    if kind is Kind.CONTINUOUS:
        return number_keys(values), None
    if kind is Kind.DATE:
        return moment_keys(values, attribute.form), None
    if kind is Kind.ORDINAL:
        return rank_keys(values, attribute.order), None
    return (truth_keys(values), None) if kind is Kind.BOOLEAN else _category_keys(values, attribute)


def _category_keys(values: Distinct, attribute: Attribute) -> tuple[pl.Series, Hierarchy | None]:
    if attribute.distances is not None:
        return leaf_keys(values, attribute.distances.values, "distances"), None
    if attribute.hierarchy is None:
        return category_keys(values), None
    try:
        tree = Hierarchy.of(attribute.hierarchy, values=text_keys(values), folder=Path(), numerals=values.numerals)
    except MucoError as error:
        raise type(error)(f"attribute {values.name}: {error}") from None
    return leaf_keys(values, tree.leaves, "hierarchy"), tree


def _distance(
    name: str, known: pl.Series, kind: Kind, attribute: Attribute, tree: Hierarchy | None, *, has_missing: bool
) -> Distance:
    """Definition 4 over the values that occur, each of them a code."""
    if kind in _ON_A_LINE:
        places = positions(known)
        if places.size and places[-1] / 2 - places[0] / 2 > np.finfo(np.float64).max / 2:
            raise PolicyError(f"attribute {name}: its numbers lie too far apart for distances: make it ordinal")
        return Distance.line(places, missing=has_missing)
    if tree is not None:
        steps = tree.restricted(known.to_numpy()).steps
        return Distance.tree(steps, leaves=len(known), missing=has_missing)
    if attribute.distances is not None:
        matrix = np.array(attribute.distances.matrix, dtype=np.float64)
        here = known.to_numpy()
        return Distance.matrix(np.ascontiguousarray(matrix[np.ix_(here, here)]), missing=has_missing)
    return Distance.tree(np.ones(max(len(known) - 1, 0)), leaves=len(known), missing=has_missing)
