"""One panel of a figure: boxes or lines as SVG, in colours that show on light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

COLOURS = ("#3a8bc8", "#d9742b", "#7a7a7a")  # told apart without red or green
WIDTH, HEIGHT = 290, 170


@dataclass(frozen=True, slots=True)
class Panel:
    """What one panel shows: where along x, which series, and one y a run."""

    title: str
    x: str
    series: tuple[str, ...]
    is_log: bool = False
    sort: tuple[str, ...] | None = None


def draw_boxes(frame: pl.DataFrame, panel: Panel) -> str:
    """A box a place and series over the runs, its whiskers all of them; `frame` has `at`, `series`, `y`."""
    spec, y = _spec(frame, panel), _measured(frame["y"], panel)
    offset = {"field": "series", "type": "nominal", "sort": list(panel.series)}
    # Vega's own box plot hides the colour of a box as thin as its median.
    spec["encoding"]["xOffset"] = offset
    spec["layer"] = [
        _layer({"type": "rule", "strokeWidth": 1.5}, y, "min", "max"),
        _layer({"type": "bar", "size": 9, "opacity": 0.45}, y, "q1", "q3"),
        _layer({"type": "tick", "size": 11, "thickness": 2.5}, y, "median"),
    ]
    return draw_svg(spec)


def _layer(mark: dict[str, Any], y: dict[str, Any], low: str, high: str | None = None) -> dict[str, Any]:
    encoding: dict[str, Any] = {"y": {**y, "aggregate": low}}
    if high is not None:
        encoding["y2"] = {"field": "y", "aggregate": high}
    return {"mark": mark, "encoding": encoding}


def draw_lines(frame: pl.DataFrame, panel: Panel) -> str:
    """A line a series."""
    spec = _spec(frame, panel)
    spec["encoding"]["y"] = _measured(frame["y"], panel)
    return draw_svg({**spec, "mark": {"type": "line", "point": True}})


def _measured(values: pl.Series, panel: Panel) -> dict[str, Any]:
    """The y of a panel, on a scale that its values fill, in words that are read at a glance."""
    low, high = float(values.min() or 0), float(values.max() or 0)  # type: ignore[arg-type]
    axis: dict[str, Any] = {"tickCount": 4, "format": "~s" if high >= 1_000 else "~r"}
    scale: dict[str, Any] = {"zero": True}
    if panel.is_log and low > 0:
        tens = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        scale, axis["values"] = {"type": "log"}, [10.0**power for power in tens]
    elif not high:
        scale["domain"] = [0, 0.01]
    return {"field": "y", "type": "quantitative", "title": None, "scale": scale, "axis": axis}


def _spec(frame: pl.DataFrame, panel: Panel) -> dict[str, Any]:
    x = {
        "field": "at",
        "type": "ordinal",
        "title": panel.x,
        "axis": {"labelAngle": 0},
        "sort": list(panel.sort) if panel.sort else "ascending",
    }
    return {
        "title": panel.title,
        "width": WIDTH,
        "height": HEIGHT,
        "encoding": {"x": x, "color": colour_by(panel.series)},
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
