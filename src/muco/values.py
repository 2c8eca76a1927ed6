"""The distinct values of a column and how they compare, before they become the codes of a domain.

Everything here works on distinct values, never record by record; records meet their values once, by a join.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from muco.errors import TableError
from muco.moments import MOMENT
from muco.numerals import PLAIN, Numerals
from muco.origin import WHOLE, Origin
from muco.switches import Kind

if TYPE_CHECKING:
    import polars as pl

NUMBER = PLAIN.pattern
CODE = r"^[+-]?0[0-9]"  # 01234 is a code: as a number it would lose its zero
TRUTHS = (  # what two values of a question are called
    frozenset({"true", "false"}),
    frozenset({"t", "f"}),
    frozenset({"yes", "no"}),
    frozenset({"y", "n"}),
    frozenset({"ja", "nein"}),
    frozenset({"j", "n"}),
    frozenset({"oui", "non"}),
    frozenset({"vrai", "faux"}),
    frozenset({"sí", "no"}),
    frozenset({"si", "no"}),
    frozenset({"sì", "no"}),
    frozenset({"sim", "não"}),
    frozenset({"sim", "nao"}),
    frozenset({"verdadero", "falso"}),
    frozenset({"vero", "falso"}),
    frozenset({"verdadeiro", "falso"}),
    frozenset({"wahr", "falsch"}),
)


@dataclass(frozen=True, slots=True)
class Distinct:
    """The distinct cells of a column, in an order of their own, and where each record's cell is among them."""

    name: str
    cells: pl.Series
    index: NDArray[np.int32]  # (records,): place in `cells`
    is_missing: NDArray[np.bool_]  # (cells,)
    numerals: Numerals = PLAIN
    origin: Origin = WHOLE

    def __repr__(self) -> str:
        return f"Distinct({self.name}, {len(self.cells)} cells)"

    @staticmethod
    def of(
        column: pl.Series, missing: Collection[str], *, numerals: Numerals = PLAIN, origin: Origin | None = None
    ) -> Distinct:
        """`missing` are texts that mean missing, beside null, NaN and blank text.

        Blanks around a cell do not matter, and among numbers a marker is a number: -9 is -9.0.
        """
        import polars as pl

        cells = column.unique().sort()
        places = pl.DataFrame({"cell": cells, "place": np.arange(len(cells), dtype=np.int32)})
        whole = column.alias("cell").to_frame()
        index = whole.join(places, on="cell", how="left", nulls_equal=True, maintain_order="left")["place"]
        text = as_text(cells).str.strip_chars()
        absent = cells.is_null() | text.is_in([marker.strip() for marker in missing]).fill_null(value=False)
        if cells.dtype.is_numeric():
            absent |= _are_markers(cells, missing)
        if cells.dtype == pl.String:
            absent |= (text == "").fill_null(value=False)
        return Distinct(column.name, cells, index.to_numpy(), absent.to_numpy(), numerals, origin or WHOLE)

    @property
    def known(self) -> pl.Series:
        """The cells that are not missing."""
        return self.cells.filter(~self.is_missing)

    def refuse(self, is_bad: NDArray[np.bool_], what: str, advice: str) -> None:
        """Raise TableError with the number and the first rows, from 1, of records whose known cell is bad."""
        if not is_bad.any():
            return
        marked = np.zeros(len(self.cells), dtype=bool)
        marked[np.flatnonzero(~self.is_missing)] = is_bad
        rows = np.flatnonzero(marked[self.index])
        cells = "1 cell" if rows.size == 1 else f"{rows.size} cells"
        message = f"attribute {self.name}: {cells} {what} ({self.origin.describe(rows)}): {advice}"
        raise TableError(message, rows=rows.tolist())


def _are_markers(cells: pl.Series, missing: Collection[str]) -> pl.Series:
    """Which numbers are NaN or one of the markers that read as numbers."""
    import polars as pl

    markers = (
        pl.Series(list(missing), dtype=pl.String).str.strip_chars().cast(pl.Float64, strict=False).drop_nulls()
    )
    absent = cells.cast(pl.Float64).is_in(markers.to_list())
    if cells.dtype.is_float():
        absent |= cells.is_nan()
    return absent.fill_null(value=False)


def as_text(cells: pl.Series) -> pl.Series:
    """Cells of any type as text; durations and bytes, which Polars does not write, by their number and in hex."""
    import polars as pl

    if cells.dtype == pl.Binary:
        return cells.bin.encode("hex")
    return (cells.to_physical() if cells.dtype == pl.Duration else cells).cast(pl.String, strict=False)


def infer_kind(values: Distinct) -> Kind:
    """The kind of a column whose policy names none: by its type, and for text by what all its cells look like."""
    import polars as pl

    known = values.known
    if known.dtype == pl.String and not known.is_empty():
        return _kind_of_text(known.str.strip_chars(), values.numerals)
    if known.dtype == pl.Boolean:
        return Kind.BOOLEAN
    if known.dtype.is_numeric() or known.dtype == pl.Duration:
        return Kind.CONTINUOUS
    if isinstance(known.dtype, pl.Enum):
        return Kind.ORDINAL
    return Kind.DATE if known.dtype.is_temporal() else Kind.CATEGORICAL


def _kind_of_text(text: pl.Series, numerals: Numerals) -> Kind:
    if text.str.contains(numerals.pattern).all() and not text.str.contains(CODE).any():
        return Kind.CONTINUOUS
    if text.str.contains(MOMENT).all():
        return Kind.DATE
    return Kind.BOOLEAN if are_truths(text) else Kind.CATEGORICAL


def are_truths(text: pl.Series) -> bool:
    """Whether distinct texts are the two words of a question, such as yes and no, in any casing."""
    if len(text) > 8:
        return False
    words = set(text.str.to_lowercase())
    return any(words <= pair for pair in TRUTHS)


def truth_keys(values: Distinct) -> pl.Series:
    """The known cells as one of two texts; Yes and YES are one. Raises TableError for a third value."""
    keys = as_text(values.known)
    text = keys.str.strip_chars()
    keys = text.str.to_lowercase() if are_truths(text) else keys
    if keys.n_unique() > 2:
        raise TableError(
            f"attribute {values.name} has {keys.n_unique()} different values, but a boolean has two: "
            "list those that mean missing, or make it categorical"
        )
    return keys


def number_keys(values: Distinct) -> pl.Series:
    """The known cells as numbers: whole ones stay integers, however large. Raises TableError for any other cell."""
    import polars as pl

    known = values.known
    if known.dtype == pl.Duration:
        known = known.to_physical()
    if known.dtype == pl.Boolean:
        known = known.cast(pl.Int8)
    if not known.dtype.is_numeric():
        known = values.numerals.read(as_text(known).str.strip_chars())
    is_bad = known.is_null()
    if known.dtype.is_float():
        is_bad |= ~known.is_finite().fill_null(value=False)
    values.refuse(
        is_bad.to_numpy(),
        "cannot be read as a finite number",
        "mend them, list them as missing, or give the attribute another kind",
    )
    return known


def rank_keys(values: Distinct, order: tuple[str, ...] | None) -> pl.Series:
    """The known cells as ranks: in the order given, else among themselves, as numbers where all are."""
    import polars as pl

    if order is None:
        known = values.known
        keys = number_keys(values) if infer_kind(values) is Kind.CONTINUOUS else known
        if isinstance(known.dtype, pl.Enum):
            keys = known.to_physical()
        return keys.rank("dense").cast(pl.Int32)
    return _places(values, order, "hold a value that its order lacks", "add their values to the order")


def leaf_keys(values: Distinct, leaves: tuple[str, ...], source: str) -> pl.Series:
    """The known cells as places among the leaves of a hierarchy or the values of own distances."""
    return _places(values, leaves, f"hold a value that its {source} lack{'s' * (source == 'hierarchy')}", "add it")


def text_keys(values: Distinct) -> pl.Series:
    """The known cells as text, which gives values without any structure an order to stand in."""
    return as_text(values.known)


def category_keys(values: Distinct) -> pl.Series:
    """The known cells as text, or in the order of their numbers where all are: then neighbouring codes are near."""
    import polars as pl

    text = text_keys(values)
    if not text.str.strip_chars().str.contains(NUMBER).all():
        return text
    numbers = pl.DataFrame({"number": text.str.strip_chars().cast(pl.Float64, strict=False), "text": text})
    return numbers.select(pl.struct("number", "text").rank("dense")).to_series().cast(pl.Int32)


def _places(values: Distinct, known: tuple[str, ...], what: str, advice: str) -> pl.Series:
    import polars as pl

    text = as_text(values.known)
    places = {value: place for place, value in enumerate(known)}
    keys = (
        text.replace_strict(places, default=None, return_dtype=pl.Int32)
        if known
        else text.cast(pl.Int32, strict=False)
    )
    values.refuse(keys.is_null().to_numpy(), what, f"{advice}, or list it as missing")
    return keys


def positions(keys: pl.Series) -> NDArray[np.float64]:
    """Ascending distinct keys as ascending floats whose differences are theirs; exact where doubles can be."""
    import polars as pl

    if keys.is_empty():
        return np.empty(0)
    if keys.dtype.is_integer():
        keys = keys.cast(pl.Int128)
        keys = keys - keys[:1]
    places: NDArray[np.float64] = keys.cast(pl.Float64).to_numpy().copy()
    while (tied := np.flatnonzero(np.diff(places) <= 0)).size:
        places[tied + 1] = np.nextafter(places[tied], np.inf)
    return places


def plainest(cells: pl.Series, groups: NDArray[np.int32], counts: NDArray[np.int64] | None = None) -> NDArray[Any]:
    """Of the cells of each group (0, 1, ...) the place of the commonest by `counts`, shortest and first as text."""
    import polars as pl

    text = as_text(cells)
    table = pl.DataFrame(
        {
            "group": groups,
            "rare": -(counts if counts is not None else np.zeros(len(cells), dtype=np.int64)),
            "length": text.str.len_chars(),
            "text": text,
            "place": np.arange(len(cells)),
        }
    )
    ordered = table.sort("group", "rare", "length", "text", nulls_last=False)
    return ordered.unique("group", keep="first", maintain_order=True)["place"].to_numpy()
