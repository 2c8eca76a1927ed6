"""An assessment as one HTML page: verdict first, then risks, worth, distributions, and how to repeat it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import count

from muco.assess.contest import Entry
from muco.report import charts
from muco.report.contents import Audience, Contents
from muco.report.section import Chart, Section
from muco.report.words import (
    Reader,
    Table,
    name_figure,
    risk_figures,
    tell_entries,
    tell_findings,
    tell_risks,
    tell_roles,
    tell_settings,
)
from muco.report.worth import tell_association, tell_distributions, tell_loss, tell_models, tell_queries
from muco.switches import Method


def render_page(contents: Contents, audience: Audience = Audience.PUBLIC) -> str:
    """The page as HTML, in itself complete: no script, no address, nothing that is loaded from elsewhere.

    A public page tells no count of fewer than ten people and nothing of single ones. Neither kind tells a key, a
    group or a cell. Raises MucoError where the extra `report` is not installed.
    """
    charts.check_extra()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    reader = Reader(audience, contents.assessment.records)
    loader = PackageLoader("muco.report", package_path="")
    environment = Environment(
        autoescape=True,
        finalize=_unbroken,
        loader=loader,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        title=contents.title,
        audience=audience.value,
        records=f"{contents.assessment.records:,}",
        rows=f"{contents.assessment.rows:,}",
        verdict=contents.assessment.verdict,
        findings=tell_findings(contents),
        roles=tell_roles(contents),
        sections=_unique(list(_sections(contents, reader))),
        version=version("muco"),
        colours=charts.COLOURS,
    )


def _sections(contents: Contents, reader: Reader) -> Iterator[Section]:
    yield _risk(contents, reader)
    if contents.assessment.disclosure.identity or contents.assessment.disclosure.attribute:
        yield _disclosure(contents, reader)
    yield _beside(contents, reader)
    yield tell_distributions(contents)
    yield tell_association(contents)
    yield tell_queries(contents)
    yield tell_loss(contents)
    if (models := tell_models(contents)) is not None:
        yield models
    yield _repeat(contents, reader)


def _risk(contents: Contents, reader: Reader) -> Section:
    rows = []
    for figure in risk_figures(contents, reader):
        name = name_figure(figure, contents.assessment.method)
        ends = figure.low, figure.high
        for series, value in (("release", figure.value), ("raw table", figure.raw), ("chance", figure.chance)):
            if value is not None:
                rate = reader.blur(value)
                low, high = (reader.blur(e) if series == "release" and e is not None else rate for e in ends)
                rows.append({"label": name, "series": series, "rate": rate, "low": low, "high": high})
    words = (
        "Each line is one way to look for a person. An attack is only worth reading beside its controls: in the "
        "raw table it should find nearly everybody, by chance (quasi-identifiers shuffled) nearly nobody."
    )
    alt = "Share of people found by each adversary in the release, in the raw table and by chance"
    table = tell_risks(contents, reader)
    verdict = contents.assessment.verdict
    lists = (("Proven", verdict.proven), ("Only measured", verdict.measured), ("What neither says", verdict.limits))
    chart = Chart("Risk by adversary", alt, charts.draw_rates(rows), table, is_wide=True)
    return Section("risk", "Who finds whom", (words,), charts=(chart,), lists=lists)


def _disclosure(contents: Contents, reader: Reader) -> Section:
    of = contents.assessment.disclosure
    level = contents.assessment.policy.diversity
    mondrian = None if contents.assessment.method is Method.MONDRIAN else contents.baselines.disclosure
    parts = [("identity disclosure", of.identity, mondrian.identity if mondrian else None)]
    parts += [
        (f"attribute disclosure of {name}", risks, mondrian.attribute.get(name) if mondrian else None)
        for name, risks in of.attribute.items()
    ]
    drawn = []
    for title, ours, theirs in parts:
        if ours is None:
            continue
        series = [("release", [risk.rate.value for risk in ours])]
        series += [(f"Mondrian, l = {level}", [risk.rate.value for risk in theirs])] if theirs else []
        series += [("chance", [risk.chance.value for risk in ours if risk.chance])]
        raw = [reader.share(risk.raw.value) if risk.raw else "–" for risk in ours]
        rows = [
            {"series": name, "x": p, "y": reader.blur(value)}
            for name, values in series
            for p, value in zip(of.match_probabilities, values)
        ]
        heads = ("P_match", *(name for name, _ in series), "raw table")
        columns = [[reader.share(value) for value in values] for _, values in series]
        cells = tuple((f"{p:g}", *row) for p, *row in zip(of.match_probabilities, *columns, raw))
        svg = charts.draw_lines(rows, x="P_match: how probably each value is known", y=title)
        drawn.append(Chart(title.capitalize(), f"{title} at each P_match", svg, Table(title, heads, cells)))
    words = (
        "Each quasi-identifier of a person is known with probability P_match, and rows that equal all that is "
        "known are taken as theirs (the paper's disclosure, Section 5.1). The raw table is in the table below each "
        "chart: it would press the other lines flat."
    )
    return Section("disclosure", "Disclosure at P_match", (words,), charts=tuple(drawn))


def _beside(contents: Contents, reader: Reader) -> Section:
    others = contents.baselines.entries
    assessment = contents.assessment
    own = Entry.of("this release", assessment)
    others = tuple(each for each in others if assessment.method is None or each.method.lower() != assessment.method)
    entries = others if own in [replace(each, method=own.method) for each in others] else (own, *others)
    words = (
        "The same table, anonymized by other methods at the same diversity and measured alike. Loss in "
        "moves and loss in widths are different units: compare within a column only. Anatomy leaves every "
        "quasi-identifier as it is, so whoever knows them finds the row; it only hides the sensitive value."
    )
    left = contents.baselines.left_out
    missing = (f"Not possible on this table and policy: {', '.join(left)}.",) if left else ()
    return Section("beside", "Beside other methods", (words, *missing), (tell_entries(entries, reader),))


def _repeat(contents: Contents, reader: Reader) -> Section:
    words = (
        "The settings below, the same version of muco and the same original give a release of the same kind; "
        "the same release comes only under the same secret key, which stands in no page.",
    )
    method = contents.assessment.method
    code = (
        "muco anonymize TABLE -c policy.toml -o RELEASE --hidden HIDDEN\n"
        "muco report TABLE RELEASE -c policy.toml --hidden HIDDEN -o report.html"
    )
    if method in {Method.MONDRIAN, Method.ANATOMY}:
        code = f"muco anonymize TABLE -c policy.toml --method {method} -o RELEASE --report report.html"
    return Section(
        "repeat", "What was done, and how to repeat it", words, tuple(tell_settings(contents, reader)), code=code
    )


def _unbroken(cell: object) -> object:
    """A number stays on one line with its percent sign."""
    return cell.replace(" %", "\u00a0%") if type(cell) is str else cell


def _unique(sections: Sequence[Section]) -> list[tuple[Section, list[tuple[Chart, str]]]]:
    """Charts with the names inside them made unique, for they share one page."""
    numbers = count(1)
    return [(part, [(chart, _rename(chart.svg, next(numbers))) for chart in part.charts]) for part in sections]


def _rename(svg: str, number: int) -> str:
    return re.sub(r"<[^>]*>", lambda tag: re.sub(r'( id="|url\(#)', rf"\g<1>c{number}-", tag[0]), svg)
