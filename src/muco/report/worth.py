"""The sections of a page on what a release is worth: distributions, associations, queries, information loss."""

from __future__ import annotations

import re

from muco.assess.query import Aggregate
from muco.assess.verdict import percent
from muco.report import charts
from muco.report.contents import Contents
from muco.report.section import Chart, Section
from muco.report.words import Table


def tell_distributions(contents: Contents) -> Section:
    """How often each value stands in both tables."""
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


def tell_association(contents: Contents) -> Section:
    """How strongly each pair of attributes goes together in both tables."""
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


def tell_queries(contents: Contents) -> Section:
    """How far answers to queries of each width are off."""
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


def tell_loss(contents: Contents) -> Section:
    """How far the values of each attribute moved, and how wide they became."""
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


def tell_models(contents: Contents) -> Section | None:
    """What a model learns from the release, and how well a tree tells it from the original."""
    models = contents.assessment.models
    if models is None:
        return None
    words = [
        "A model learns to tell a sensitive attribute from the quasi-identifiers, once from the original and once "
        "from the release, and both are asked about original people who were held out. What lies above always "
        "answering the commonest class was learned.",
        "The propensity score asks how well a tree tells released rows from original records: 0 is the original "
        "itself, 1 another sample of the same people, more a difference that can be seen.",
    ]
    if models.propensity is None:
        return Section("models", "What models learn", (models.missing,))
    words += [f"{models.note[:1].upper()}{models.note[1:]}."] if models.note else []
    heads = ("asked", "trained on the original", "trained on the release", "commonest class", "kept")
    rows = tuple(
        (
            f"{each.attribute}, {each.target}",
            f"{each.original:.1%}",
            f"{each.release:.1%}" + ("" if each.held_out else " (had seen them)"),
            f"{each.majority:.1%}",
            "–" if each.kept is None else f"{each.kept:.0%}",
        )
        for each in models.learned
    )
    learned = Table("Right answers on people held out; kept is the share of what the original teaches", heads, rows)
    found = models.propensity
    score = Table(
        "Propensity score",
        ("", "pMSE", "two samples of one table", "ratio"),
        (("release", f"{found.pmse:.4f}", f"{found.expected:.4f}", f"{found.ratio:.2f}"),),
    )
    return Section("models", "What models learn", tuple(words), (*([learned] if rows else []), score))


def _short(value: float) -> str:
    """Two digits without the zero in front, for a small cell."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.2f}").replace("-.00", ".00")
