"""One panel of a figure: boxes or lines as SVG, in colours that show on light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

COLOURS = ("#3a8bc8", "#d9742b", "#7a7a7a")  # told apart without red or green
WIDTH, HEIGHT = 210, 150


@dataclass(frozen=True, slots=True)
class Panel:
    """What one panel shows: where along x, which series, and one y a run."""

    title: str
    x: str
    y: str
    series: tuple[str, ...]
    is_log: bool = False
    sort: tuple[str, ...] | None = None


def draw_boxes(frame: pl.DataFrame, panel: Panel) -> str:
    """A box a place and series over the runs, its whiskers all of them; `frame` has `at`, `series`, `y`."""
    mark = {"type": "boxplot", "extent": "min-max", "size": 9, "median": {"color": "currentColor"}}
    offset = {"field": "series", "type": "nominal", "sort": list(panel.series)}
    return draw_svg(_spec(frame, panel, mark, {"xOffset": offset}))


def draw_lines(frame: pl.DataFrame, panel: Panel) -> str:
    """A line a series."""
    return draw_svg(_spec(frame, panel, {"type": "line", "point": True}, {}))


def _spec(frame: pl.DataFrame, panel: Panel, mark: dict[str, Any], beside: dict[str, Any]) -> dict[str, Any]:
    scale = {"type": "log"} if panel.is_log else {"zero": True}
    x = {
        "field": "at",
        "type": "ordinal",
        "title": panel.x,
        "axis": {"labelAngle": 0},
        "sort": list(panel.sort) if panel.sort else "ascending",
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "title": panel.y,
        "scale": scale,
        "axis": {"tickCount": 4, "format": "~s" if panel.is_log else "~g"},
    }
    return {
        "title": panel.title,
        "width": WIDTH,
        "height": HEIGHT,
        "mark": mark,
        "encoding": {"x": x, "y": y, "color": colour_by(panel.series), **beside},
        "data": {"values": frame.select("at", "series", "y").drop_nulls().to_dicts()},
    }


def colour_by(series: Sequence[str]) -> dict[str, Any]:
    """Vega's words for a colour a series, without a legend: the page has it."""
    scale = {"domain": list(series), "range": list(COLOURS[: len(series)])}
    return {"field": "series", "type": "nominal", "legend": None, "scale": scale}


def draw_svg(spec: dict[str, Any]) -> str:
    """A Vega-Lite chart as SVG that needs no script and no font of its own."""
    from vl_convert import vegalite_to_svg

    # The page's own colour of text, so that one drawing serves a light and a dark page.
    ink = {"labelColor": "currentColor", "titleColor": "currentColor"}
    lines = {"gridColor": "currentColor", "domainColor": "currentColor", "tickColor": "currentColor"}
    config = {
        "aria": False,
        "background": "transparent",
        "font": "system-ui, sans-serif",
        "view": {"stroke": None},
        "axis": {
            **ink,
            **lines,
            "gridOpacity": 0.15,
            "domainOpacity": 0.5,
            "tickOpacity": 0.5,
            "titleFontWeight": 400,
        },
        "axisX": {"grid": False},
        "title": {"color": "currentColor", "fontSize": 12, "anchor": "start"},
        "line": {"strokeWidth": 2},
    }
    drawn: str = vegalite_to_svg({**spec, "config": config})
    return drawn
