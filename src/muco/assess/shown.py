"""How a result shows itself in a notebook and a spreadsheet: a row a figure, and never a cell of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

_MOST = 30  # rows that a notebook shows


class Shown:
    """A frozen result of numbers, rates and risks: `to_frame` has a row a figure, named by its place."""

    __slots__ = ()

    def to_frame(self) -> pl.DataFrame:
        """A row a figure: name, value, interval and controls; null where there is none."""
        import polars as pl

        columns = ("value", "low", "high", "raw", "chance")
        schema = {"name": pl.String(), **dict.fromkeys(columns, pl.Float64())}
        return pl.DataFrame(list(_rows("", self)), schema=schema, orient="row")

    def _repr_html_(self) -> str:
        return show_frame(self.to_frame())


def show_frame(frame: pl.DataFrame) -> str:
    """The first rows of a frame of figures as an HTML table."""
    shown = frame.head(_MOST)
    head = "".join(f"<th>{escape(name)}</th>" for name in shown.columns)
    rows = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in shown.rows())
    more = f"<p>and {len(frame) - _MOST} more rows: to_frame()</p>" if len(frame) > _MOST else ""
    return f"<table><tr>{head}</tr>{rows}</table>{more}"


def _cell(cell: object) -> str:
    return "" if cell is None else escape(f"{cell:.4g}" if isinstance(cell, float) else str(cell))


Row = tuple[str, float, float | None, float | None, float | None, float | None]


def _rows(name: str, value: Any) -> Iterator[Row]:
    from muco.assess.rate import Rate, Risk

    if isinstance(value, Risk):
        controls = [control.value if control else None for control in (value.raw, value.chance)]
        yield name or value.adversary, value.rate.value, value.rate.low, value.rate.high, controls[0], controls[1]
    elif isinstance(value, Rate):
        yield name or "rate", value.value, value.low, value.high, None, None
    elif isinstance(value, bool | int | float):
        yield name, float(value), None, None, None, None
    elif is_dataclass(value):
        for field in fields(value):
            yield from _rows(f"{name}.{field.name}".strip("."), getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _rows(f"{name}:{key}", each)
    elif isinstance(value, tuple):
        for place, each in enumerate(value):
            label = getattr(each, "attribute", None) or getattr(each, "adversary", None) or place
            yield from _rows(f"{name}:{label}" if isinstance(label, str) else f"{name}[{label}]", each)
