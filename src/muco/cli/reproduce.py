"""`muco reproduce`: every experiment of the paper, and its text held against what came out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from muco.cli.terminal import console


@click.command("reproduce")
@click.option("--data", type=click.Path(path_type=Path), metavar="CENSUS", help="The paper's own table (CSV).")
@click.option("-o", "--output", type=click.Path(path_type=Path), default="reproduction", show_default=True)
@click.option("--runs", type=click.IntRange(1, 1_000), default=10, show_default=True, help="Runs of each setting.")
@click.option(
    "--queries",
    type=click.IntRange(1, 100_000),
    default=1_000,
    show_default=True,
    help="Queries of a run and width.",
)
@click.option(
    "--kinds",
    type=click.Choice(["numbers", "table"]),
    default="numbers",
    show_default=True,
    help="Every code of CENSUS a number, as the authors' program has it, or categories as the paper's Table 1.",
)
@click.option(
    "--records", type=click.IntRange(200), default=10_000, show_default=True, help="Of the example table."
)
@click.option("--force", is_flag=True, help="Replace the files of an earlier reproduction.")
@click.option("-q", "--quiet", is_flag=True, help="Print no verdicts.")
def command(data: Path | None, output: Path, **given: Any) -> None:
    """Repeat the experiments of the paper and write OUTPUT (reproduction): report.html and its numbers as CSV.

    Without --data they run on the example table, which is not the paper's: shapes can be compared, figures not.
    """
    from muco.atomic import Existing
    from muco.files import read_table
    from muco.paper.page import prepare_folder, reproduce, write
    from muco.paper.plan import Kinds, Plan

    out, often = console(), {"runs": given["runs"], "queries": given["queries"]}
    if data is None:
        plan = Plan.of_example(given["records"], **often)
    else:
        plan = Plan.of_census(read_table(data).table, kinds=Kinds(given["kinds"]), **often)
    existing = Existing.REPLACE if given["force"] else Existing.REFUSE
    prepare_folder(output, existing, (data,) if data is not None else ())
    with out.status(f"on {plan.source}") as status:

        def watch(stage: str, done: int, settings: int) -> None:
            status.update(f"{stage} ({done} of {settings} settings)")

        made = reproduce(plan, watch)
        status.update("writing")
        write(made, output, existing)
    if not given["quiet"]:
        out.print(f"on {plan.source}", soft_wrap=True)
        out.print(", ".join(f"{count} findings: {verdict}" for verdict, count in made.verdicts.items()))
        out.print(f"report: {output / 'report.html'}", soft_wrap=True)
