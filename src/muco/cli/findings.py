"""What the command line shows of an assessment, an exposure and a certificate: tables on stdout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Table

from muco.cli.terminal import labelled, stdout

if TYPE_CHECKING:
    from muco.assess.assessment import Assessment
    from muco.assess.exposure import Exposure
    from muco.assess.figures import Figure


def show_assessment(assessment: Assessment) -> None:
    """The verdict, the regulator's three questions, and every figure that is not of one attribute only."""
    from muco.assess.figures import Aspect

    out, verdict = stdout(), assessment.verdict
    out.print(verdict.sentence, style="bold")
    out.print(f"\n{assessment.records:,} records, {assessment.rows:,} rows\n")
    regulator = _grid("in the regulator's words (WP216)", "within", "")
    for finding in verdict.findings:
        regulator.add_row(finding.term, f"{finding.meets[-1]:g}" if finding.meets else "none", finding.words)
    out.print(regulator)
    risks = _grid("", "rate", "95 % interval", "raw table", "chance")
    for figure in _of(assessment, Aspect.RISK):
        interval = "" if figure.low is None else f"{figure.low:.3f} to {figure.high:.3f}"
        risks.add_row(figure.name, f"{figure.value:.3f}", interval, _share(figure.raw), _share(figure.chance))
    out.print("\nrisks", style="bold")
    out.print(risks)
    noted = [figure for figure in _of(assessment, Aspect.RISK) if figure.note]
    for note in dict.fromkeys(figure.note for figure in noted):
        names = ", ".join(figure.name for figure in noted if figure.note == note)
        out.print(f"[yellow]note:[/] {names}: {note}")
    for title, aspect in (("form", Aspect.FORM), ("worth", Aspect.WORTH)):
        table = _grid("", "", "")
        for figure in _of(assessment, aspect):
            if aspect is Aspect.FORM or ":" not in figure.name or figure.name.startswith("learning"):
                table.add_row(figure.name, f"{figure.value:,.4g}", figure.words + _beside(figure))
        out.print(f"\n{title}", style="bold")
        out.print(table)
        for note in dict.fromkeys(figure.note for figure in _of(assessment, aspect) if figure.note):
            out.print(labelled("note", note, "yellow"))
    if assessment.models is not None and assessment.models.missing:
        out.print(labelled("note", f"models. {assessment.models.missing}", "yellow"))
    for limit in verdict.limits:
        out.print(labelled("limit", limit, "yellow"))


def show_exposure(exposure: Exposure) -> None:
    """Uniques, how records share their classes, and what each quasi-identifier adds."""
    out = stdout()
    out.print(
        f"{exposure.unique:.1%} of {exposure.records:,} records are unique in their quasi-identifiers", style="bold"
    )
    out.print(f"an exact match finds {exposure.found:.1%}; the smallest class has {exposure.smallest}\n")
    classes = _grid("class of", "records")
    for label, (_, share) in zip(exposure.labels, exposure.sizes):
        classes.add_row(label, f"{share:.1%}")
    out.print(classes)
    drivers = _grid("attribute", "values", "unique by it alone", "unique without it")
    for driver in exposure.drivers:
        drivers.add_row(driver.attribute, f"{driver.values:,}", f"{driver.alone:.1%}", f"{driver.without:.1%}")
    out.print(drivers)
    if exposure.untouched is not None:
        names = ", ".join(exposure.untouched_names)
        out.print(f"\n{exposure.untouched:.1%} are unique by what a release leaves as it is: {names}")


def show_certificate(name: str, words: Mapping[str, Any]) -> None:
    """That the seal holds, and what the certificate promises and does not."""
    out = stdout()
    out.print(f"{name} is the file that the certificate speaks of", style="bold")
    for label, part in (("promise", "promise"), ("limit", "limits")):
        for line in words.get(part) or ():
            out.print(f"{label}: {line}")


def _of(assessment: Assessment, aspect: str) -> list[Figure]:
    return [figure for figure in assessment.figures if figure.aspect == aspect]


def _beside(figure: Figure) -> str:
    """What a model of the original, and always answering the commonest class, get."""
    if figure.raw is None or figure.chance is None:
        return ""
    return f" (trained on the original {figure.raw:.3g}, commonest class {figure.chance:.3g})"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _grid(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(heads))
    for place, head in enumerate(heads):
        is_number = place and head
        table.add_column(head, justify="right" if is_number else "left")
    return table
