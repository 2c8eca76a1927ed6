"""`muco compare`: methods and settings side by side on one table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import rich_click as click

from muco.cli.options import policy_for, policy_options
from muco.cli.standings import show_frontier, watching_runs
from muco.cli.tables import layout_options, read_release, read_source
from muco.errors import PolicyError


@click.command("compare")
@click.argument("table", type=click.Path(path_type=Path))
@policy_options
@layout_options
@click.option("--release", "releases", multiple=True, metavar="NAME=FILE", help="Another tool's release.")
@click.option("--runs", type=click.IntRange(1, 100), default=3, show_default=True, help="Keys a setting meets.")
@click.option("--json", "as_json", is_flag=True, help="Print every figure as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
def command(table: Path, releases: tuple[str, ...], **given: Any) -> None:
    """Run several settings on TABLE, with the same queries and adversaries for all, and show who is beaten.

    The paper's preset at several delta, the provable settings, Mondrian and Anatomy are looked at, the settings of
    a policy given with -c, and releases of other tools: of Anatomy FILE is the first table, and its second is found
    beside it as .sensitive. Nothing is written.
    """
    from muco.tune.frontier import compare_settings
    from muco.tune.setting import Setting, usual_settings

    source = read_source([table], given)
    policy = policy_for(source, given)
    settings = list(usual_settings(policy))
    if given["config"] is not None:
        settings.insert(0, Setting(given["config"].name, policy))
    for name, path in map(_part, releases):
        settings.append(Setting(name, policy, release=read_release(path, given, policy)))
    with watching_runs(quiet=given["quiet"]) as watch:
        frontier = compare_settings(source.table, settings, runs=given["runs"], watch=watch)
    if given["as_json"]:
        click.echo(json.dumps(frontier.to_frame().to_dicts(), indent=2, ensure_ascii=False))
    else:
        show_frontier(frontier)


def _part(given: str) -> tuple[str, Path]:
    name, sign, path = given.partition("=")
    if not (name and sign and path):
        raise PolicyError(f"--release {given} does not say NAME=FILE: write, for example, ARX=arx.csv")
    return name, Path(path)
