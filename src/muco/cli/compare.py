"""`muco compare`: methods and settings side by side on one table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from muco.cli.options import policy_for, policy_options
from muco.cli.standings import show_frontier, watching_runs
from muco.cli.tables import layout_options, read_release, read_source
from muco.cli.terminal import console, say
from muco.errors import InfeasibleError, PolicyError

if TYPE_CHECKING:
    from muco.policy import Policy
    from muco.tune.frontier import Frontier
    from muco.tune.setting import Setting


@click.command("compare")
@click.argument("table", type=click.Path(path_type=Path))
@policy_options
@layout_options
@click.option("--setting", "policies", multiple=True, metavar="NAME=POLICY", help="Another policy to compare.")
@click.option("--release", "releases", multiple=True, metavar="NAME=FILE", help="Another tool's release.")
@click.option("--only", metavar="NAMES", help="Of the usual settings only these, with commas between.")
@click.option("--runs", type=click.IntRange(1, 100), default=3, show_default=True, help="Keys a setting meets.")
@click.option("--report", type=click.Path(path_type=Path), metavar="PAGE", help="A page (HTML) with the frontier.")
@click.option("--pick", metavar="NAME", help="The setting whose policy is written to -o.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="POLICY", help="Where that policy goes.")
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.option("--json", "as_json", is_flag=True, help="Print every figure as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
def command(table: Path, **given: Any) -> None:
    """Run several settings on TABLE, with the same queries and adversaries for all, and show who is beaten.

    The paper's preset at several delta, the provable settings, Mondrian and Anatomy are looked at, the policy given
    with -c, other policies, and releases of other tools (of Anatomy's two tables FILE is the first, and the second
    is found beside it as .sensitive). All are measured by the kinds of the first policy. Nothing is released.
    """
    from muco.atomic import Batch, Existing, check_target

    check_pick(given)
    named = [(*_part(each, "--setting", "mine=other.toml"), False) for each in given["policies"]]
    named += [(*_part(each, "--release", "ARX=arx.csv"), True) for each in given["releases"]]
    inputs = [path for path in (table, given["config"], *(path for _, path, _ in named)) if path is not None]
    existing = Existing.REPLACE if given["force"] else Existing.REFUSE
    targets = [path for path in (given["report"], given["output"]) if path is not None]
    for target in targets:
        check_target(target, existing=existing, inputs=inputs)
    frontier, policy = _compare(table, named, given)
    parts = _pages(frontier, policy, table.name, given)
    if given["as_json"]:
        click.echo(json.dumps(frontier.to_frame().to_dicts(), indent=2, ensure_ascii=False))
    else:
        show_frontier(frontier)
    if parts:
        with Batch(existing=existing, inputs=inputs) as batch:
            for path, content in parts:
                batch.add(path, content)
        for path, _ in parts:
            say(console(), f"{'page' if path == given['report'] else 'policy'}: {path}")


def check_pick(given: dict[str, Any]) -> None:
    """Refuse, before any work, a pick without a place for it, and a page without what draws it."""
    if (given["pick"] is None) != (given["output"] is None):
        raise PolicyError("--pick NAME says whose policy is written and -o POLICY where to: give both, or neither")
    if given["report"] is not None:
        from muco.report.charts import check_extra

        check_extra()


def _compare(table: Path, named: list[tuple[str, Path, bool]], given: dict[str, Any]) -> tuple[Frontier, Policy]:
    from muco.policy import Policy
    from muco.tune.frontier import compare_settings
    from muco.tune.setting import Setting, usual_settings

    source = read_source([table], given)
    policy = policy_for(source, given)
    settings = _only(list(usual_settings(policy)), given["only"])
    if given["config"] is not None:
        own = Setting(given["config"].name, policy)
        alike = [s for s in settings if (s.method, s.switches) == (own.method, own.switches)]
        settings = [replace(s, name=f"{s.name} ({own.name})") if s in alike else s for s in settings]
        settings = settings if alike else [own, *settings]
    for name, path, is_release in named:
        if is_release:
            settings.append(Setting(name, policy, release=read_release(path, given, policy)))
        else:
            settings.append(Setting(name, source.complete(Policy.read(path))))
    _check_picked(settings, given["pick"])
    with watching_runs(quiet=given["quiet"]) as watch:
        return compare_settings(source.table, settings, runs=given["runs"], judge=policy, watch=watch), policy


def _only(usual: list[Setting], names: str | None) -> list[Setting]:
    if names is None:
        return usual
    wanted = [name.strip() for name in names.split(",")]
    known = [setting.name for setting in usual]
    if strays := [name for name in wanted if name not in known]:
        raise PolicyError(f"--only {', '.join(strays)} is no usual setting: choose among {', '.join(known)}")
    return [setting for setting in usual if setting.name in wanted]


def _check_picked(settings: list[Setting], pick: str | None) -> None:
    from muco.switches import Method

    names = [each.name for each in settings if each.release is None and each.method is Method.MUCO]
    if pick is not None and pick not in names:
        raise PolicyError(f"--pick {pick} is no setting with a policy: choose one of {', '.join(names)}")


def _pages(frontier: Frontier, policy: Policy, title: str, given: dict[str, Any]) -> list[tuple[Path, str]]:
    parts = []
    if given["report"] is not None:
        from muco.tune.page import render_frontier

        parts.append((given["report"], render_frontier(frontier, title=title)))
    if given["output"] is not None:
        chosen = next(s for s in frontier.standings if s.setting.name == given["pick"])
        if not chosen.scores:
            raise InfeasibleError(f"{chosen.setting.name} cannot be picked: {chosen.refusal}")
        tried = policy.tried + frontier.runs
        parts.append((given["output"], chosen.setting.policy.model_copy(update={"tried": tried}).to_toml()))
    return parts


def _part(given: str, option: str, example: str) -> tuple[str, Path]:
    name, sign, path = given.partition("=")
    if not (name and sign and path):
        raise PolicyError(f"{option} {given} does not say NAME=FILE: write, for example, {example}")
    return name, Path(path)
