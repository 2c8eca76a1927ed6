"""`muco report`: what a release protects and what it is worth, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from muco.cli.assess import assess_files, judge_options
from muco.cli.terminal import console, say


@click.command("report")
@click.argument("original", type=click.Path(path_type=Path))
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="PAGE", help="Where it goes."
)
@judge_options
@click.option(
    "--kind",
    type=click.Choice(["public", "internal"]),
    default="public",
    show_default=True,
    help="Who may read it: a public page tells no count of fewer than ten people.",
)
@click.option("--full", is_flag=True, help="Try every person and wider queries, not a sample: slower.")
@click.option("--force", is_flag=True, help="Replace PAGE if it exists.")
def command(original: Path, release: Path, output: Path, **given: Any) -> None:
    """Write PAGE (HTML): what RELEASE, made from ORIGINAL by any tool, protects and what it is worth.

    One file that needs no network and no script: verdict, risks, other methods, distributions, queries. It needs
    the extra muco[report].
    """
    from muco.atomic import Batch, Existing, check_target
    from muco.report import Audience, Contents, render_page
    from muco.report.charts import check_extra

    check_extra()
    existing = Existing.REPLACE if given["force"] else Existing.REFUSE
    inputs = [path for path in (original, release, given["config"], given["hidden"]) if path is not None]
    check_target(output, existing=existing, inputs=inputs)
    table, released, assessment = assess_files(original, release, {"count": None, **given})
    contents = Contents.gather(assessment, table, released, title=release.name)
    page = render_page(contents, Audience(given["kind"]))
    with Batch(existing=existing, inputs=inputs) as batch:
        batch.add(output, page)
    say(console(), f"{given['kind']} page: {output}")
