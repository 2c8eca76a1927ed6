"""`muco assess`: what a release of any tool protects, and what it is still worth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from muco.cli.findings import show_assessment
from muco.cli.options import Command, policy_for, role_options
from muco.cli.tables import layout_options, read_release, read_source
from muco.errors import PolicyError, ReleaseError

if TYPE_CHECKING:
    from muco.assess.assessment import Assessment

_OPTIONS = (
    role_options,
    layout_options,
    click.option(
        "--record", metavar="COLUMN", help="A column that tells whose each row is: a key, or record numbers."
    ),
    click.option(
        "--hidden", type=click.Path(path_type=Path), help="The hidden file of muco's run: tries who knows it."
    ),
    click.option(
        "--sensitive-table",
        type=click.Path(path_type=Path),
        help="The second of Anatomy's two tables.  [found beside RELEASE as .sensitive]",
    ),
)


def judge_options(command: Command) -> Command:
    """Give a command the options that say what is known of a release that is judged."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("assess")
@click.argument("original", type=click.Path(path_type=Path))
@click.argument("release", type=click.Path(path_type=Path))
@judge_options
@click.option("--count", metavar="COLUMN", help="A column that tells how many records each row stands for.")
@click.option(
    "--holdout",
    type=click.Path(path_type=Path),
    metavar="TABLE",
    help="People like those of ORIGINAL, none of them in it: measures membership.",
)
@click.option("--max-risk", type=click.FloatRange(0, 1), metavar="RISK", help="Exit with 4 for a risk above it.")
@click.option("--require", multiple=True, metavar="BOUND", help='Exit with 4 unless met, as in "k>=5"; repeatable.')
@click.option("--full", is_flag=True, help="Try every person and wider queries, not a sample: slower.")
@click.option("--json", "as_json", is_flag=True, help="Print every figure as JSON.")
def command(original: Path, release: Path, **given: Any) -> None:
    """Measure RELEASE, made from ORIGINAL by any tool: risks beside their controls, and worth.

    Ranges such as [20, 30) or 20-29, *, labels of the policy's hierarchies, and Anatomy's two tables are
    understood. BOUND names a figure of --json: k, l, distinct, entropy, t, identity@0.7, nearest, inference,
    query@4, loss and more.
    """
    from muco.assess.membership import measure_membership
    from muco.assess.requirement import Requirement, check_bounds

    if given["hidden"] and given["sensitive_table"]:
        raise PolicyError("--hidden and --sensitive-table exclude each other: mutual cover writes one table")
    if given["record"] and given["count"]:
        raise PolicyError("--record and --count exclude each other: a row of several records is no one's")
    requirements = [Requirement.parse(text) for text in given["require"]]
    table, released, assessment = assess_files(original, release, given)
    if given["holdout"] is not None:
        others = read_source([given["holdout"]], given).table
        asked = measure_membership(table, released, others, assessment.policy)
        assessment = replace(assessment, membership=asked)
    if given["as_json"]:
        click.echo(assessment.to_json(), nl=False)
    else:
        show_assessment(assessment)
    if failures := check_bounds(assessment, requirements, max_risk=given["max_risk"]):
        raise ReleaseError("the release does not keep what is asked of it\n" + "\n".join(failures))


def assess_files(original: Path, release: Path, given: dict[str, Any]) -> tuple[Any, Any, Assessment]:
    """Both tables, a row a record, and their assessment by a command's options."""
    from muco.assess.alignment import KeptRun, read_record, repeat_rows
    from muco.assess.assessment import Effort, assess_release
    from muco.release import Parts

    source = read_source([original], given)
    table = source.table
    effort = Effort.FULL if given["full"] else Effort.QUICK
    if given["hidden"] is not None:
        run = KeptRun.read(given["hidden"])
        has_roles = given["config"] is not None or given["quasi"]
        policy = policy_for(source, given) if has_roles else run.policy
        released, hidden = read_source([release], given).table, run.repeat(table)
        return table, released, assess_release(table, released, policy, hidden=hidden, effort=effort)
    policy = policy_for(source, given)
    released = read_release(release, given, policy)
    if isinstance(released, Parts):
        record = read_record(table, released.data, given["record"]) if given["record"] else None
        return table, released, assess_release(table, released, policy, record=record, effort=effort)
    record = read_record(table, released, given["record"]) if given["record"] else None
    rows = repeat_rows(released, given["count"]) if given["count"] else released
    return table, rows, assess_release(table, rows, policy, record=record, effort=effort)
