"""Options that several commands share, and how they become a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

from muco import switches
from muco.errors import PolicyError

if TYPE_CHECKING:
    from muco.files import Source
    from muco.policy import Policy

Command = TypeVar("Command", bound=Callable[..., Any])
ROLES = ("quasi", "sensitive", "identifier")
SWITCHES = (
    "preset",
    "delta",
    "diversity",
    "principle",
    "grouping",
    "sweep",
    "exchanges",
    "temperature",
    "cover",
    "columns",
    "draw",
    "repair",
)
GATE = ("max_risk", "accept_risk")
AUTO = "auto"
PERSONAL = ("asks", "household", "weight")


def _choice(words: type[StrEnum]) -> click.Choice[str]:
    return click.Choice([word.value for word in words])


_OPTIONS = (
    click.option("-c", "--config", type=click.Path(path_type=Path), metavar="POLICY", help="A policy file (TOML)."),
    click.option("--quasi", multiple=True, metavar="NAMES", help="Quasi-identifiers, with commas or repeated."),
    click.option("--sensitive", multiple=True, metavar="NAMES", help="Sensitive attributes."),
    click.option("--identifier", multiple=True, metavar="NAMES", help="Identifiers: removed."),
    click.option("--preset", type=_choice(switches.Preset), help="The switches that are not named."),
    click.option("--delta", metavar="NUMBER", help="The limit of Definition 3: 1/6, 0.1667 or tight."),
    click.option("--diversity", type=int, metavar="L", help="l: every group has as many records.  [default: 10]"),
    click.option("--principle", type=_choice(switches.Principle), help="What every group keeps."),
    click.option("--grouping", type=_choice(switches.Grouping), help="How a leaf becomes groups."),
    click.option("--sweep", type=_choice(switches.Sweep), help="How far neighbours are sought."),
    click.option("--exchanges", type=int, metavar="N", help="Rounds of exchanges between near groups."),
    click.option("--temperature", type=float, metavar="T", help="How evenly grouping sampled draws groups."),
    click.option("--cover", type=_choice(switches.Cover), help="Which random output table is wanted."),
    click.option("--columns", type=_choice(switches.Columns), help="Which values a table may output."),
    click.option("--draw", type=_choice(switches.Draw), help="How values are drawn."),
    click.option(
        "--block", multiple=True, metavar="NAMES", help="Quasi-identifiers that are drawn together; auto proposes."
    ),
    click.option("--repair", type=int, metavar="N", help="How many values of an unchanged tuple are replaced."),
    click.option("--asks", metavar="NAME", help="A column: among how many records each is to hide."),
    click.option("--household", metavar="NAME", help="A column: which records are of one household, or person."),
    click.option("--weight", metavar="NAME", help="A column: survey weights, by which queries count."),
    click.option("--max-risk", type=float, metavar="RISK", help="Write nothing if the informed risk is above it."),
    click.option("--accept-risk", metavar="REASON", help="Pass --max-risk all the same; the certificate says why."),
)


def role_options(command: Command) -> Command:
    """Give a command the options that say what the columns are, and none that say how to anonymize."""
    for option in reversed(_OPTIONS[: 1 + len(ROLES)]):
        command = option(command)
    return command


def policy_options(command: Command) -> Command:
    """Give a command the options that make up a policy."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def policy_for(source: Source, given: dict[str, Any]) -> Policy:
    """The policy of a file and of options for a table that was read; blocks are proposed where they are auto."""
    names = source.table.columns
    policy = source.complete(read_policy(given, names))
    if not proposes_blocks(given, names):
        return policy
    from muco.tune.blocks import with_proposed_blocks

    return with_proposed_blocks(source.table, policy)


def proposes_blocks(given: Mapping[str, Any], names: Iterable[str]) -> bool:
    """Whether --block auto stands for a proposal, and not for a column of that name."""
    return given.get("block") == (AUTO,) and AUTO not in names


def read_policy(given: dict[str, Any], names: Iterable[str]) -> Policy:
    """The policy of a file and of options, which win; columns without a role become other.

    `given` are a command's parameters, `names` the columns of the table.
    """
    from muco.policy import Policy

    options = (*SWITCHES, *GATE, *PERSONAL)
    switched: dict[str, Any] = {name: given[name] for name in options if given.get(name) is not None}
    known = set(names)
    roles: dict[str, Any] = {name: _split(given[name], known) for name in ROLES if given[name]}
    if given.get("block") and not proposes_blocks(given, known):
        switched["blocks"] = [_split([words], known) for words in given["block"]]
    if given["config"] is not None:
        return Policy.read(given["config"], **roles, **switched)
    if not roles.get("quasi"):
        raise PolicyError("nothing is known of the columns: give a policy with -c, or --quasi and --sensitive")
    return Policy.of(**roles, **switched)


def _split(given: Iterable[str], names: set[str]) -> list[str]:
    """Names with commas between them; a name that holds a comma itself is taken whole."""
    found: list[str] = []
    for words in given:
        found += [words] if words in names else [word.strip() for word in words.split(",") if word.strip()]
    return list(dict.fromkeys(found))
