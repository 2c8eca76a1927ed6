"""Charts as SVG texts for a page: no script, address or font of their own, and colours by the page's CSS."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from muco.errors import MucoError

if TYPE_CHECKING:
    import altair

# Colours that no chart would choose: the page's CSS gives each its real one, in light, in dark and on paper.
INK, FAINT, GRID = "#010101", "#020202", "#030303"
ORIGINAL, RELEASE, OTHER = "#040404", "#050505", "#060606"
COLOURS = {
    "ink": INK,
    "faint": FAINT,
    "grid": GRID,
    "original": ORIGINAL,
    "release": RELEASE,
    "other": OTHER,
}
WIDTH = 340  # a column of the page; narrower screens scale it down
FRONTIER_WIDTH, FRONTIER_HEIGHT = 280, 190
_THOUSANDS = 1_000
_LETTER, _LONGEST = 6.6, 22  # pixels of a letter of a label, and how many are shown
_MOST_NUMBERED = 9  # attributes whose associations are written into the cells
_SHAPES = ("circle", "square", "triangle-up")
_DASHES = ((1, 0), (6, 3), (2, 2))

_SPARE = re.compile(r' (xmlns(:\w+)?|version|aria-[\w-]+|role|class|pointer-events)="[^"]*"')

Rows = Sequence[dict[str, Any]]


def check_extra() -> None:
    """Raise MucoError, with what to install, where the extra `report` is absent."""
    try:
        import altair  # noqa: F401
        import jinja2  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise MucoError(
            f"a report needs {error.name}, which is not installed: pip install 'muco[report]'"
        ) from None


def draw_histogram(rows: Rows) -> str:
    """Bars for the original and a mark for the release; rows of label, before, after."""
    import altair as alt

    base = _chart(rows).encode(y=_labels(rows, "label"))
    share = alt.Axis(format="%", tickCount=4)
    bars = base.mark_bar(color=ORIGINAL).encode(x=alt.X("before:Q", title="share of records", axis=share))
    marks = base.mark_tick(color=RELEASE, thickness=3, size=13, opacity=1).encode(x="after:Q")
    return _svg(alt.layer(bars, marks).properties(height={"step": 17}))


def draw_lines(rows: Rows, *, x: str, y: str, form: str = ".2~%") -> str:
    """A line a series; rows of series, x, y. Colour, shape and dashes tell them apart."""
    import altair as alt

    names = list(dict.fromkeys(row["series"] for row in rows))
    legend = alt.Legend(orient="top", title=None, columns=1, symbolSize=60)
    base = _chart(rows).encode(
        x=alt.X("x:Q", title=x, axis=alt.Axis(values=sorted({row["x"] for row in rows}), grid=False)),
        y=alt.Y("y:Q", title=y, axis=alt.Axis(format=form, tickCount=5)),
        color=alt.Color("series:N", legend=legend, scale=_scale(names, (RELEASE, OTHER, ORIGINAL))),
    )
    lines = base.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash("series:N", legend=None, scale=_scale(names, _DASHES))
    )
    points = base.mark_point(size=55, filled=True, opacity=1).encode(
        shape=alt.Shape("series:N", legend=legend, scale=_scale(names, _SHAPES))
    )
    return _svg(alt.layer(lines, points).properties(height=200))


def draw_rates(rows: Rows) -> str:
    """The rate of each attack with its interval, between its controls; rows of label, series, rate, low, high."""
    import altair as alt

    names = list(dict.fromkeys(row["series"] for row in rows))
    legend = alt.Legend(orient="top", title=None, columns=3, symbolSize=60)
    # The release is drawn last: where a control does as well, both are seen.
    drawn = sorted(rows, key=lambda row: -names.index(row["series"]))
    labels = list(dict.fromkeys(row["label"] for row in rows))
    base = _chart(drawn).encode(y=_labels(rows, "label", longest=32, sort=labels))
    colour = alt.Color("series:N", legend=legend, scale=_scale(names, (RELEASE, ORIGINAL, OTHER)))
    span = base.mark_rule(strokeWidth=3).encode(
        x=alt.X("low:Q", title="share of people found", scale=alt.Scale(domain=[0, 1]), axis=_percent()),
        x2="high:Q",
        color=colour,
    )
    shape = alt.Shape("series:N", legend=legend, scale=_scale(names, ("circle", "square", "triangle-up")))
    size = alt.Size("series:N", legend=None, scale=_scale(names, (45, 110, 130)))
    marks = base.mark_point(filled=True, opacity=1).encode(x="rate:Q", color=colour, shape=shape, size=size)
    return _svg(alt.layer(span, marks).properties(height={"step": 26}), width=500)


def draw_bars(rows: Rows, *, x: str, form: str = ".2~%") -> str:
    """One bar a label; rows of label, value."""
    import altair as alt

    bars = _chart(rows).mark_bar(color=RELEASE)
    return _svg(
        bars.encode(
            x=alt.X("value:Q", title=x, axis=alt.Axis(format=form, tickCount=4)),
            y=_labels(rows, "label"),
        ).properties(height={"step": 20})
    )


def draw_association(rows: Rows) -> str:
    """A heat map of pairs; rows of first, second, value in [-1, 1] and text."""
    import altair as alt

    turned = alt.Axis(grid=False, domain=False, ticks=False, labelAngle=-45, labelLimit=90)
    base = _chart(rows).encode(
        x=alt.X("second:N", sort=None, title=None, axis=turned),
        y=_labels(rows, "first"),
    )
    is_negative = alt.datum["value"] < 0
    cells = base.mark_rect(stroke=GRID).encode(
        color=alt.condition(is_negative, alt.value(OTHER), alt.value(RELEASE)),
        fillOpacity=alt.FillOpacity(
            "size:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0.02, 0.8], clamp=True)
        ),
    )
    words = base.mark_text(color=INK, fontSize=10).encode(text="text:N")
    count = len({row["first"] for row in rows})
    chart = alt.layer(cells, words) if count <= _MOST_NUMBERED else cells
    return _svg(chart.properties(height={"step": 26 if count <= _MOST_NUMBERED else 18}))


def draw_frontier(rows: Rows, edge: Rows, *, x: str, y: str, most: tuple[float, float], room: float) -> str:
    """Settings by loss and risk, with intervals and a number each; the lower left is best.

    Rows of x, y, their ends (x_low, ...), series (place in the colours), is_beaten, label and its place (label_x,
    label_y); `edge` holds the corners that none beats in these two. Both scales are of square roots, from 0 to
    `most`; `room` is the width in pixels that the y axis takes.
    """
    import altair as alt

    side = [alt.Scale(type="sqrt", domain=[0, end], nice=False) for end in most]
    axis = alt.Axis(tickCount=4, format="~s" if most[0] >= _THOUSANDS else "~r", grid=True)
    across = alt.X("x:Q", title=x, scale=side[0], axis=axis)
    title = alt.Axis(tickCount=5, format="~r", minExtent=room, maxExtent=room)
    up = alt.Y("y:Q", title=y, scale=side[1], axis=title)
    base = _chart(rows)
    series = [str(place) for place in range(len(_SHAPES))]
    fill = alt.Color("series:N", legend=None, scale=_scale(series, (RELEASE, OTHER, INK)))
    colour = alt.condition(alt.datum["is_beaten"], alt.value(ORIGINAL), fill)
    line = _chart(edge).mark_line(interpolate="step-after", color=FAINT, strokeWidth=1, strokeDash=[3, 3])
    spans = [
        base.mark_rule(strokeWidth=1.5).encode(x="x_low:Q", x2="x_high:Q", y=up, color=colour),
        base.mark_rule(strokeWidth=1.5).encode(x=across, y="y_low:Q", y2="y_high:Q", color=colour),
    ]
    shape = alt.Shape("series:N", legend=None, scale=_scale(series, _SHAPES))
    points = base.mark_point(size=48, filled=True, opacity=1).encode(x=across, y=up, shape=shape, color=colour)
    names = base.mark_text(fontSize=11).encode(
        x="label_x:Q",
        y="label_y:Q",
        text="label:N",
        color=alt.condition(alt.datum["is_beaten"], alt.value(FAINT), alt.value(INK)),
    )
    chart = alt.layer(line.encode(x=across, y=up), *spans, points, names)
    return _svg(chart.properties(height=FRONTIER_HEIGHT), width=FRONTIER_WIDTH)


def _chart(rows: Rows) -> altair.Chart:
    import altair as alt

    return alt.Chart(alt.Data(values=list(rows)))  # type: ignore[no-untyped-call]


def _labels(rows: Rows, field: str, *, longest: int = _LONGEST, sort: list[str] | None = None) -> altair.Y:
    """The names of the bars, with room for the widest font: who reads may have another than who draws."""
    import altair as alt

    room = min(longest, max((len(row[field]) for row in rows), default=0)) * _LETTER
    # A mark at nought must not touch the last letter.
    axis = alt.Axis(grid=False, minExtent=room + 8, maxExtent=room + 8, labelLimit=room, labelPadding=8)
    return alt.Y(f"{field}:N", sort=sort, title=None, axis=axis)


def _scale(names: Sequence[str], values: Sequence[Any]) -> altair.Scale:
    import altair as alt

    return alt.Scale(domain=list(names), range=list(values)[: len(names)])


def _percent() -> altair.Axis:
    import altair as alt

    return alt.Axis(format="%", tickCount=5)


def _svg(chart: Any, *, width: int = WIDTH) -> str:
    """The chart as an SVG element without namespaces, addresses or sizes in pixels: the page sets its width."""
    whole = (
        chart.properties(width=width, autosize={"type": "fit-x", "contains": "padding"})
        .configure(background="transparent", padding=4, font="sans-serif", aria=False)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            titleColor=FAINT,
            gridColor=GRID,
            domainColor=FAINT,
            tickColor=FAINT,
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
            labelLimit=130,
        )
        .configure_legend(labelColor=INK, labelFontSize=11, labelLimit=300)
        .configure_axisY(domain=False, ticks=False)
    )
    written = io.StringIO()
    whole.save(written, format="svg")
    return _plain(written.getvalue())


def _plain(svg: str) -> str:
    """Tags lose what a page has no use for; texts, in which every < and > is escaped, stay as they are."""
    svg = re.sub(r"<[^>]*>", lambda tag: _SPARE.sub("", tag[0]), svg)
    return re.sub(r'^<svg width="(\d+)" height="\d+"', r'<svg style="max-width:\1px" aria-hidden="true"', svg)
