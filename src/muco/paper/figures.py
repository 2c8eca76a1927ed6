"""The paper's figures: small panels that a page lays out, each with a caption and the file of its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muco.paper.experiments import Results
from muco.paper.measures import MATCH_PROBABILITIES
from muco.paper.panels import COLOURS, Panel, colour_by, draw_boxes, draw_lines, draw_svg
from muco.paper.plan import DELTAS, DIVERSITY, READINGS, SWEPT_DELTA
from muco.paper.readings import Reading
from muco.paper.small_table import SmallTable
from muco.switches import Method

if TYPE_CHECKING:
    import polars as pl

_DELTAS = tuple(map(str, DELTAS))
_READINGS = tuple(map(str, READINGS))


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels with one caption and legend; `data` names the file that holds their numbers."""

    title: str
    caption: str
    legend: tuple[tuple[str, str], ...]  # (colour, what has it)
    panels: tuple[str, ...]  # SVG
    data: str


def draw_small(small: SmallTable) -> Figure:
    """Figure 2: the distribution of ages."""
    series = ("original", "5-diversity", "mutual cover")
    rows = [
        {"at": age, "series": name, "y": count}
        for name in series
        for age, count in small.ages.select("age", name).iter_rows()
    ]
    spec = {
        "width": 520,
        "height": 180,
        "mark": {"type": "line", "interpolate": "linear"},
        "encoding": {
            "x": {"field": "at", "type": "quantitative", "title": "age", "scale": {"zero": False}},
            "y": {"field": "y", "type": "quantitative", "title": "people"},
            "color": colour_by((series[1], series[2], series[0])),
            "strokeDash": {
                "field": "series",
                "type": "nominal",
                "legend": None,
                "scale": {"domain": list(series), "range": [[6, 3], [1, 0], [1, 0]]},
            },
        },
        "data": {"values": rows},
    }
    return Figure(
        "Figure 2: the distribution of ages",
        "People at each age: in the original, dashed; with each range of the 5-diverse table spread evenly over "
        "its years; and the column sums of the random output tables.",
        tuple(zip(COLOURS, (series[1], series[2], f"{series[0]} (dashed)"))),
        (draw_svg(spec),),
        "example_ages.csv",
    )


def draw_figures(results: Results) -> tuple[Figure, ...]:
    """The figures of Section 5, in its order."""
    return (
        *(_disclosure(results.disclosure, reading) for reading in READINGS),
        _baseline(results.disclosure),
        _loss(results.loss),
        _queries(results.queries, "mean", "Average relative error"),
        _queries(results.queries, "variance", "Variance of the relative errors"),
        _queries(results.queries, "median", "Median relative error (not in the paper)"),
        _influence(results),
    )


def _disclosure(frame: pl.DataFrame, reading: str) -> Figure:
    import polars as pl

    kinds = ("identity", "attribute")
    here = frame.filter(pl.col("method") == str(Method.MUCO), pl.col("reading") == reading)
    long = here.unpivot(kinds, index=["delta", "run", "match_probability"], variable_name="series", value_name="y")
    panels = tuple(
        draw_boxes(
            long.filter(pl.col("match_probability") == p).rename({"delta": "at"}),
            Panel(f"P_match = {p:g}", "δ", kinds, sort=_DELTAS),
        )
        for p in MATCH_PROBABILITIES
    )
    return Figure(
        f"Disclosure probability of MuCo, reading {reading}",
        f"l = {DIVERSITY}. A box is a quarter to three quarters of the runs, its "
        "whiskers all of them. Scales differ from panel to panel.",
        tuple(zip(COLOURS, kinds)),
        panels,
        "disclosure.csv",
    )


def _baseline(frame: pl.DataFrame) -> Figure:
    import polars as pl

    here = frame.filter(pl.col("method") == str(Method.MONDRIAN))
    panels = tuple(
        draw_lines(
            here.filter(pl.col("match_probability") == p).select(
                pl.col("diversity").alias("at"), pl.col("reading").alias("series"), pl.col(kind).alias("y")
            ),
            Panel(f"{kind.capitalize()}, P_match = {p:g}", "l", _READINGS),
        )
        for p in (1.0, 0.7)
        for kind in ("identity", "attribute")
    )
    return Figure(
        "Disclosure probability of Mondrian",
        "For who knows each value with P_match; the paper's figure does not say with which.",
        _legend(Reading.PROGRAM, Reading.LEAVES),
        panels,
        "disclosure.csv",
    )


def _loss(frame: pl.DataFrame) -> Figure:
    import polars as pl

    shown = (pl.col("reading").alias("series"), pl.col("method"))
    muco = frame.filter(pl.col("method") == str(Method.MUCO), pl.col("diversity") == DIVERSITY)
    mondrian = frame.filter(pl.col("method") == str(Method.MONDRIAN))
    boxes = muco.select(pl.col("delta").alias("at"), *shown, pl.col("move").alias("y"))
    lines = {
        unit: mondrian.select(pl.col("diversity").alias("at"), *shown, pl.col(unit).alias("y"))
        for unit in ("width", "move")
    }
    return Figure(
        "Information loss",
        "MuCo's is of moves: how far released values lie from the original. Mondrian's is of widths of ranges, as "
        "the paper has it; the last panel has the expected move of a value drawn from its range. Moves and widths "
        "are different units.",
        _legend(*READINGS),
        (
            draw_boxes(boxes, Panel(f"MuCo, l = {DIVERSITY}: moves", "δ", _READINGS, sort=_DELTAS)),
            *(draw_lines(rows, Panel(f"Mondrian: {unit}s", "l", _READINGS)) for unit, rows in lines.items()),
        ),
        "loss.csv",
    )


def _legend(*readings: Reading) -> tuple[tuple[str, str], ...]:
    return tuple((COLOURS[_READINGS.index(str(reading))], str(reading)) for reading in readings)


def _queries(frame: pl.DataFrame, kind: str, title: str) -> Figure:
    import polars as pl

    is_log = kind != "median"
    long = frame.select(
        "method",
        "reading",
        "diversity",
        "delta",
        pl.format("{} predicates", "predicates").alias("series"),
        pl.col(kind).alias("y"),
    )
    series = ("4 predicates", "5 predicates")
    muco = long.filter(pl.col("method") == str(Method.MUCO), pl.col("diversity") == DIVERSITY)

    def panels() -> Iterator[str]:
        for reading in map(str, READINGS):
            here = muco.filter(pl.col("reading") == reading)
            panel = Panel(f"MuCo, {reading}", "δ", series, is_log=is_log, sort=_DELTAS)
            yield draw_boxes(here.with_columns(pl.col("delta").alias("at")), panel)
        for method, reading, name in (
            (Method.MONDRIAN, "program", "Mondrian, program"),
            (Method.MONDRIAN, "leaves", "Mondrian, leaves"),
            (Method.ANATOMY, "", "Anatomy"),
        ):
            here = long.filter(pl.col("method") == str(method), pl.col("reading") == reading)
            yield draw_boxes(
                here.with_columns(pl.col("diversity").alias("at")),
                Panel(name, "l", series, is_log=is_log),
            )

    return Figure(
        title,
        "Each run asks its own queries, the same of every method. "
        + ("The scale is logarithmic: a few nearly empty queries make most of it." if is_log else ""),
        tuple(zip(COLOURS, series)),
        tuple(panels()),
        "queries.csv",
    )


def _influence(results: Results) -> Figure:
    import polars as pl

    here = (pl.col("method") == str(Method.MUCO)) & (pl.col("delta") == str(SWEPT_DELTA))
    shown = [pl.col("diversity").alias("at"), pl.col("reading").alias("series")]
    loss = results.loss.filter(here).select(*shown, pl.col("move").alias("y"))
    panels = [draw_boxes(loss, Panel("Information loss", "l", _READINGS))]
    for kind in ("mean", "median"):
        for predicates in (4, 5):
            asked = results.queries.filter(here, pl.col("predicates") == predicates)
            panel = Panel(
                f"{kind.capitalize()} error, {predicates} predicates",
                "l",
                _READINGS,
                is_log=kind == "mean",
            )
            panels.append(draw_boxes(asked.select(*shown, pl.col(kind).alias("y")), panel))
    return Figure(
        "Influence of l",
        f"MuCo at δ = {SWEPT_DELTA}, all readings.",
        _legend(*READINGS),
        tuple(panels),
        "loss.csv and queries.csv",
    )
