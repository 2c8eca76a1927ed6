"""`muco init`: a table in, a commented policy out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from rich.table import Table
from rich.text import Text

from muco.cli.tables import layout_options, read_source
from muco.cli.terminal import console, say

if TYPE_CHECKING:
    from muco.guess.proposal import Proposal


@click.command("init")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="POLICY", help="Where the policy goes.")
@layout_options
@click.option("--blocks", "ties", is_flag=True, help="Propose which quasi-identifiers are drawn together.")
@click.option("--force", is_flag=True, help="Replace a policy that exists.")
@click.option("-q", "--quiet", is_flag=True, help="Do not show what was guessed.")
def command(table: Path, output: Path | None, *, ties: bool, force: bool, quiet: bool, **given: Any) -> None:
    """Guess the role and kind of every column of TABLE and write a policy that `muco anonymize` runs.

    Each guess has its reason, in the policy and on stderr; a ? marks what you should decide. Without -o the policy
    goes to stdout.
    """
    from muco.atomic import Batch, Existing, check_target
    from muco.guess.draft import write_draft
    from muco.guess.proposal import Proposal

    existing = Existing.REPLACE if force else Existing.REFUSE
    if output is not None:
        check_target(output, existing=existing, inputs=(table,))
    source = read_source([table], given)
    proposal = Proposal.of(source.table, numerals=source.layout.numerals)
    text = write_draft(proposal) + source.layout.to_toml()
    if ties:
        text = write_draft(proposal, blocks=_blocks(source.table, text)) + source.layout.to_toml()
    if output is None:
        click.echo(text, nl=False)
    else:
        with Batch(existing=existing, inputs=(table,)) as batch:
            batch.add(output, text)
    if not quiet:
        for note in source.notes:
            say(console(), f"note: {note}")
        _show(proposal)
        if output is not None:
            say(console(), f"policy: {output}", f"next: muco check {table} -c {output}")


def _blocks(table: Any, text: str) -> tuple[tuple[str, ...], ...]:
    """The blocks that the table proposes for a policy."""
    import tomllib

    from muco.policy import Policy
    from muco.tune.blocks import with_proposed_blocks

    return with_proposed_blocks(table, Policy.parse(tomllib.loads(text))).blocks


def _show(proposal: Proposal) -> None:
    out = console()
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("column", "role", "kind", "", "why"):
        shown.add_column(title, overflow="fold")
    for suggestion in proposal.suggestions:
        kind = suggestion.comparison.kind.value if suggestion.comparison else ""
        why = "; ".join((*suggestion.reasons, *suggestion.doubts))
        mark = Text("?" if suggestion.doubts else "", style="bold yellow")
        shown.add_row(suggestion.name, suggestion.role.value, kind, mark, why)
    out.print(shown)
    switches = ", ".join(f"{name} {value}" for name, value in proposal.switches.items())
    say(out, "", f"{switches}: {proposal.why}", *(f"note: {remark}" for remark in proposal.remarks))
