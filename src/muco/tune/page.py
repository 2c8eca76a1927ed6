"""A frontier as one HTML page: who is beaten, a panel for each risk and each loss, and every figure as a table."""

from __future__ import annotations

from importlib.metadata import version

from muco.report import charts
from muco.report.section import Chart, Section
from muco.report.words import Table
from muco.tune.frontier import Frontier, Standing
from muco.tune.panels import draw_panel
from muco.tune.score import RISKS, WORTHS

_RISKS = {
    "informed": (
        "Who knows groups and tables",
        "who knows how the release was made, its groups, its tables and every quasi-identifier of everybody: the "
        "mean posterior of a person's own row",
    ),
    "nearest": (
        "The nearest row",
        "who knows a person's quasi-identifiers and takes the nearest row",
    ),
    "exact": (
        "An exact match",
        "who knows a person's quasi-identifiers and takes an equal row, guessing among several",
    ),
}
_LINKED = "share linked"
_WORTHS = {
    "query": ("Query error", "median error of queries"),
    "supported": ("Large queries", "mean error, 100 records or more"),
    "association": ("Associations", "mean change"),
    "loss": ("Information loss", "sum of moves"),
}
_TITLES = {
    **{name: name for name in ("proven", *RISKS)},
    "query": "query error",
    "supported": "the same, large",
    "association": "association change",
    "loss": "loss",
}


def render_frontier(frontier: Frontier, *, title: str) -> str:
    """The page as HTML, in itself complete: no script, no address; the figures of trial runs, and no cell.

    Raises MucoError where the extra `report` is not installed.
    """
    charts.check_extra()
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        loader=ChoiceLoader([PackageLoader("muco.tune", ""), PackageLoader("muco.report", "")]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("frontier.html.j2").render(
        title=title,
        runs=frontier.runs,
        version=version("muco"),
        verdict=tell_verdict(frontier),
        sampled=frontier.sampled,
        key=_key(frontier),
        figures=_figures(frontier),
        sections=[_section(frontier, risk) for risk in RISKS],
        colours=charts.COLOURS,
    )


def tell_verdict(frontier: Frontier) -> str:
    """Who is beaten by whom, in one sentence."""
    ran = [standing for standing in frontier.standings if standing.scores]
    beaten = [standing for standing in ran if frontier.beaten_by(standing)]
    free = [standing.setting.name for standing in ran if standing not in beaten]
    if not beaten:
        return f"None of the {len(ran)} settings is beaten in everything by another: what matters to you decides."
    words = "; ".join(f"{s.setting.name} by {', '.join(frontier.beaten_by(s))}" for s in beaten)
    return f"Beaten in every figure: {words}. Not beaten: {', '.join(free)}."


def _key(frontier: Frontier) -> Table:
    rows = tuple(
        (
            f"{number}  {standing.setting.name}",
            _proven(standing),
            str(len(standing.scores)),
            standing.refusal or ", ".join(frontier.beaten_by(standing)) or "none",
        )
        for number, standing in enumerate(frontier.standings, start=1)
    )
    return Table(
        "The settings, by the numbers that they have in every panel",
        ("setting", "proven: linked at most", "runs", "beaten in everything by"),
        rows,
    )


def _proven(standing: Standing) -> str:
    proven = standing.mean("proven")
    return "–" if proven is None else f"{proven:.4f}"


def _figures(frontier: Frontier) -> Table:
    rows = tuple(
        (
            f"{number}  {standing.setting.name}",
            *(tell_figure(standing, figure) for figure in ("proven", *RISKS, *WORTHS)),
        )
        for number, standing in enumerate(frontier.standings, start=1)
    )
    return Table(
        "Mean of the runs, and 1.96 standard errors of it to either side; the smaller the better",
        ("setting", *_TITLES.values()),
        rows,
    )


def tell_figure(standing: Standing, figure: str) -> str:
    """A mean with its interval."""
    mean, spread = standing.mean(figure), 1.96 * standing.spread(figure)
    if mean is None:
        return "–"
    form = ",.0f" if figure == "loss" else ".4f" if figure == "association" else ".3f"
    is_random = len(standing.scores) > 1 and figure != "proven"
    return f"{mean:{form}}" + (f" ± {spread:{form}}" if is_random else "")


def _section(frontier: Frontier, risk: str) -> Section:
    name, words = _RISKS[risk]
    table = _figures(frontier)
    drawn = []
    for worth, (heading, below) in _WORTHS.items():
        svg = draw_panel(frontier, (risk, _LINKED), (worth, below))
        if svg is not None:
            alt = f"{name}, {heading}: each setting by {below} and {_LINKED}; all figures stand in the table below"
            drawn.append(Chart(heading, alt, svg, table))
    return Section(risk, name, (f"How many are linked by {words}.",), charts=tuple(drawn))
