"""`muco check`: everything that would stop or weaken a run, before it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from muco.cli.tables import layout_options, read_source
from muco.cli.terminal import labelled, stdout

if TYPE_CHECKING:
    from muco.preflight.finding import Finding

_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


@click.command("check")
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "-c", "--config", type=click.Path(path_type=Path), metavar="POLICY", required=True, help="The policy."
)
@layout_options
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--show-values", is_flag=True, help="Show some of the cells at fault: for your eyes only.")
@click.pass_context
def command(
    ctx: click.RichContext, /, table: Path, config: Path, *, as_json: bool, show_values: bool, **given: Any
) -> None:
    """Find everything that would stop or weaken a run of POLICY on TABLE, all at once. Nothing is written.

    Exit code: 0 nothing, or notes only; else 2 the policy, 3 the table or 4 the promise is to be changed.
    """
    from muco.errors import PolicyError
    from muco.preflight.finding import exit_code
    from muco.preflight.whole import find_all, without_values

    try:
        source = read_source([table], {**given, "config": config})
    except PolicyError:  # a policy with faults is told of below
        source = read_source([table], given)
    found = find_all(source.table, config)
    if not show_values:
        found = without_values(found)
    code = exit_code(found)
    if as_json:
        findings = [finding.to_dict() for finding in found]
        click.echo(json.dumps({"exit_code": code, "findings": findings}, indent=2, ensure_ascii=False))
    else:
        show_findings(found)
    ctx.exit(code)


def show_findings(findings: Sequence[Finding]) -> None:
    """Each finding with its rows and what to do, then how many there are."""
    out = stdout()
    for finding in findings:
        out.print(labelled(finding.severity, finding.what, _STYLES[finding.severity]), soft_wrap=True)
        if finding.rows and "(row" not in finding.what:
            more = ", ..." if finding.count > len(finding.rows) else ""
            out.print(f"    rows {', '.join(map(str, finding.rows))}{more}", soft_wrap=True)
        if finding.values:
            out.print(f"    values {', '.join(map(repr, finding.values))}", soft_wrap=True)
        if finding.advice:
            out.print(f"    {finding.advice}", soft_wrap=True)
    graves = [sum(finding.severity == severity for finding in findings) for severity in _STYLES]
    out.print(", ".join(f"{count} {name}{'s' * (count != 1)}" for count, name in zip(graves, _STYLES)))
