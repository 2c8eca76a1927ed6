"""`muco risk`: how exposed a table is, before anything is done to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import rich_click as click

from muco.cli.findings import show_exposure
from muco.cli.options import read_policy, role_options
from muco.cli.tables import layout_options, read_source


@click.command("risk")
@click.argument("table", type=click.Path(path_type=Path))
@role_options
@layout_options
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(table: Path, **given: Any) -> None:
    """Tell how exposed TABLE is as it stands: who is unique, and which columns make them so."""
    from muco.assess.exposure import measure_exposure

    source = read_source([table], given)
    exposure = measure_exposure(source.table, source.complete(read_policy(given, source.table.columns)))
    if given["as_json"]:
        click.echo(json.dumps(exposure.to_words(), indent=2, ensure_ascii=False))
    else:
        show_exposure(exposure)
