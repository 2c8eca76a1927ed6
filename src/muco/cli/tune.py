"""`muco tune`: a risk asked for, the policy that keeps most."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from muco.cli.options import policy_for, policy_options
from muco.cli.standings import show_frontier, watching_runs
from muco.cli.tables import layout_options, read_source
from muco.cli.terminal import console, say
from muco.errors import InfeasibleError, PolicyError

if TYPE_CHECKING:
    from muco.tune.search import Tuned

_UNITS = {"s": 1, "m": 60, "h": 3600}


@click.command("tune")
@click.argument("table", type=click.Path(path_type=Path))
@policy_options
@layout_options
@click.option(
    "--adversary",
    type=click.Choice(["informed", "nearest", "exact"]),
    default="informed",
    help="Whose risk.",
)
@click.option("--keep", default="query error", metavar="WHAT", help='"query error", associations, loss, or names.')
@click.option("--budget", default="5m", show_default=True, metavar="TIME", help="How long to look: 90s, 5m, 1h.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="POLICY", help="Where the policy goes.")
@click.option("--force", is_flag=True, help="Replace a policy that exists.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found and tried as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
def command(table: Path, output: Path | None, **given: Any) -> None:
    """Find the policy for TABLE that keeps --max-risk at the least loss, and say why.

    The policy goes to stdout, or to -o. The figures told are of keys that had no part in choosing it. Exits with 4,
    and says what would help, where nothing reaches the risk.
    """
    from muco.atomic import Batch, Existing, check_target
    from muco.tune.goal import Adversary, Goal
    from muco.tune.search import tune

    if given["max_risk"] is None:
        raise PolicyError("which risk do you accept? Name it with --max-risk, such as --max-risk 0.09")
    existing = Existing.REPLACE if given["force"] else Existing.REFUSE
    inputs = [path for path in (table, given["config"]) if path is not None]
    if output is not None:
        check_target(output, existing=existing, inputs=inputs)
    goal = Goal(given["max_risk"], Adversary(given["adversary"]), _kept(given["keep"]))
    source = read_source([table], given)
    words = {**given, "max_risk": None, "accept_risk": None, "block": ()}
    policy = policy_for(source, words)
    with watching_runs(quiet=given["quiet"]) as watch:
        tuned = tune(source.table, policy, goal, budget=_seconds(given["budget"]), watch=watch)
    if not given["quiet"] and tuned.finalists.standings:
        show_frontier(tuned.finalists)
    if given["as_json"]:
        click.echo(json.dumps(_as_words(tuned), indent=2, ensure_ascii=False))
    if tuned.policy is None:
        raise InfeasibleError("\n".join(tuned.words))
    say(console(), *tuned.words)
    if output is not None:
        with Batch(existing=existing, inputs=inputs) as batch:
            batch.add(output, tuned.to_toml())
        say(console(), f"policy: {output}")
    elif not given["as_json"]:
        click.echo(tuned.to_toml(), nl=False)


def _as_words(tuned: Tuned) -> dict[str, Any]:
    """What was found, why, and every setting that was tried; the rows that stand in the way, where some do."""
    return {
        "chosen": tuned.chosen and tuned.chosen.setting.name,
        "words": tuned.words,
        "leave_out": tuned.leave_out,
        "settings": tuned.frontier.to_frame().to_dicts(),
    }


def _kept(given: str) -> Any:
    from muco.tune.goal import Keep

    words = {keep.value: keep for keep in Keep}
    return words.get(given) or tuple(name.strip() for name in given.split(",") if name.strip())


def _seconds(given: str) -> float:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh]?)", given.strip())
    if not found or not float(found[1]):
        raise PolicyError(f"--budget {given} is no time: write 90s, 5m or 1h")
    return float(found[1]) * _UNITS[found[2] or "s"]
