"""An assessment as one HTML page: verdict first, then risks, worth, distributions, and how to repeat it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import count

from muco.assess.contest import Entry
from muco.assess.query import Aggregate
from muco.assess.verdict import percent
from muco.report import charts
from muco.report.contents import Audience, Contents
from muco.report.words import (
    Reader,
    Table,
    name_figure,
    risk_figures,
    tell_entries,
    tell_findings,
    tell_risks,
    tell_settings,
)


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture with its title, the same in words for who cannot see it, and as a table."""

    title: str
    alt: str
    svg: str
    table: Table
    is_wide: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: what to know, then tables, then charts."""

    name: str
    title: str
    words: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()
    code: str = ""


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
        sections=_unique(list(_sections(contents, reader))),
        version=version("muco"),
        colours=charts.COLOURS,
    )


def _sections(contents: Contents, reader: Reader) -> Iterator[Section]:
    yield _risk(contents, reader)
    if contents.assessment.disclosure.identity or contents.assessment.disclosure.attribute:
        yield _disclosure(contents, reader)
    yield _beside(contents, reader)
    yield _distributions(contents)
    yield _association(contents)
    yield _queries(contents)
    yield _loss(contents)
    yield _repeat(contents)


def _risk(contents: Contents, reader: Reader) -> Section:
    rows = []
    for figure in risk_figures(contents, reader):
        name = name_figure(figure)
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
    mondrian = contents.baselines.disclosure
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
    own = Entry.of("this release", contents.assessment)
    entries = others if own in [replace(each, method=own.method) for each in others] else (own, *others)
    words = (
        "The same table, anonymized by other methods at the same diversity and measured alike. Loss in "
        "moves and loss in widths are different units: compare within a column only. Anatomy leaves every "
        "quasi-identifier as it is, so whoever knows them finds the row; it only hides the sensitive value."
    )
    left = contents.baselines.left_out
    missing = (f"Not possible on this table and policy: {', '.join(left)}.",) if left else ()
    return Section("beside", "Beside other methods", (words, *missing), (tell_entries(entries, reader),))


def _distributions(contents: Contents) -> Section:
    drawn = []
    variation = contents.assessment.distributions.total_variation
    for each in contents.histograms:
        rows = [{"label": bar.label, "before": bar.before, "after": bar.after} for bar in each.bars]
        cells = tuple((bar.label, f"{bar.before:.2%}", f"{bar.after:.2%}") for bar in each.bars)
        moved = percent(variation.get(each.attribute, 0.0))
        alt = f"Shares of the values of {each.attribute} before and after: {moved} of rows differ in total"
        table = Table(f"{each.attribute}: total variation {moved}", ("value", "original", "release"), cells)
        drawn.append(Chart(each.attribute, alt, charts.draw_histogram(rows), table))
    words = (
        "Bars are the original, marks the release: a mark at the end of its bar says that the value is as frequent "
        "as it was. Values of fewer than ten people are pooled as all others."
    )
    return Section("distributions", "Each attribute, before and after", (words,), charts=tuple(drawn))


def _association(contents: Contents) -> Section:
    found = contents.assessment.distributions
    words = (
        f"How strongly two attributes go together. The mean change over all pairs is {found.mean_change:.4f}, the "
        f"largest {found.largest_change:.4f}. Pairs of numbers: Pearson's r; of categories: Cramér's V; of a "
        "number and a category: the correlation ratio."
    )
    heads = ("pair", "measure", "original", "release", "change")
    cells = tuple(
        (f"{p.first} – {p.second}", p.kind.value, f"{p.original:.3f}", f"{p.released:.3f}", f"{p.change:.3f}")
        for p in found.pairs
    )
    table = Table("Association of each pair", heads, cells)
    drawn = []
    for title, values in (
        ("Original", [p.original for p in found.pairs]),
        ("Release", [p.released for p in found.pairs]),
        ("Change", [p.released - p.original for p in found.pairs]),
    ):
        rows = [
            {"first": p.second, "second": p.first, "value": v, "size": abs(v), "text": _short(v)}
            for p, v in zip(found.pairs, values)
        ]
        if rows:
            drawn.append(Chart(title, f"{title}: association of each pair", charts.draw_association(rows), table))
    return Section("association", "What goes together", (words,), charts=tuple(drawn))


def _queries(contents: Contents) -> Section:
    errors = contents.assessment.queries
    heads = ("predicates", "aggregate", "median", "mean", "mean, 100 records or more")
    cells = tuple(
        (
            f"{e.width}",
            e.aggregate.value.upper(),
            f"{e.median:.3f}",
            f"{e.mean:.3f}",
            "–" if e.supported is None else f"{e.supported:.3f}",
        )
        for e in errors
    )
    table = Table("Relative error of 1,000 random queries of each width", heads, cells)
    drawn = []
    for title, pick in (("Median relative error", "median"), ("Mean error, 100 records or more", "supported")):
        rows = [
            {"series": each.value.upper(), "x": e.width, "y": getattr(e, pick)}
            for each in Aggregate
            for e in errors
            if e.aggregate is each and getattr(e, pick) is not None
        ]
        if rows:
            svg = charts.draw_lines(rows, x="predicates of a query", y=title.lower(), form=".2~f")
            drawn.append(Chart(title, f"{title} by the number of predicates", svg, table))
    words = (
        "An analyst asks for a sum, a count or an average over people whom several predicates describe; the error "
        "is relative to the true answer. More predicates describe fewer people, and their answers are worse."
    )
    return Section("queries", "Answers to queries", (words,), charts=tuple(drawn))


def _loss(contents: Contents) -> Section:
    loss, drawn = contents.assessment.loss, []
    number = max(loss.records, 1)
    heads = ("attribute", "moves", "widths", "cells changed")
    move, changed = loss.move or {}, loss.changed or {}
    cells = tuple(
        (
            name,
            f"{move[name]:,.1f}" if name in move else "–",
            f"{width:,.1f}",
            f"{changed[name]:.1%}" if name in changed else "–",
        )
        for name, width in loss.width.items()
    )
    table = Table("Information loss of each attribute, summed over all records", heads, cells)
    for title, values in (("Mean move of a cell", move), ("Mean width of a cell", loss.width)):
        rows = [{"label": name, "value": value / number} for name, value in values.items()]
        if any(row["value"] for row in rows):
            svg = charts.draw_bars(rows, x="share of the attribute's range")
            drawn.append(Chart(title, f"{title} by attribute", svg, table))
    words = (
        "How far released values lie from the original ones (moves), and how wide released ranges are (widths), "
        "each as a share of the attribute's range. A release of exact values has no width."
    )
    return Section("loss", "Information loss", (words,), () if drawn else (table,), tuple(drawn))


def _repeat(contents: Contents) -> Section:
    words = (
        "The settings below, the same version of muco and the same original give a release of the same kind; "
        "the same release comes only under the same secret key, which stands in no page.",
    )
    code = (
        "muco anonymize TABLE -c policy.toml -o RELEASE --hidden HIDDEN\n"
        "muco report TABLE RELEASE -c policy.toml --hidden HIDDEN -o report.html"
    )
    return Section(
        "repeat", "What was done, and how to repeat it", words, tuple(tell_settings(contents)), code=code
    )


def _short(value: float) -> str:
    """Two digits without the zero in front, for a small cell."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.2f}").replace("-.00", ".00")


def _unbroken(cell: object) -> object:
    """A number stays on one line with its percent sign."""
    return cell.replace(" %", "\u00a0%") if type(cell) is str else cell


def _unique(sections: Sequence[Section]) -> list[tuple[Section, list[tuple[Chart, str]]]]:
    """Charts with the names inside them made unique, for they share one page."""
    numbers = count(1)
    return [(part, [(chart, _rename(chart.svg, next(numbers))) for chart in part.charts]) for part in sections]


def _rename(svg: str, number: int) -> str:
    return re.sub(r"<[^>]*>", lambda tag: re.sub(r'( id="|url\(#)', rf"\g<1>c{number}-", tag[0]), svg)
