"""Options that say how a table is written, and how a command reads it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from muco.cli.options import Command
from muco.formats import STREAM, BadRows, Format, is_database

if TYPE_CHECKING:
    from muco.files import Source
    from muco.layout import Layout
    from muco.policy import Policy

LAYOUT = ("format", "encoding", "delimiter", "decimal", "thousands", "sheet")

_OPTIONS = (
    click.option(
        "--format",
        type=click.Choice([form.value for form in Format if form is not Format.DATABASE]),
        help="The form of TABLE where no suffix tells it, as on standard input.",
    ),
    click.option("--encoding", metavar="NAME", help="The encoding of TABLE, such as utf-8 or cp1252.  [found]"),
    click.option("--delimiter", metavar="MARK", help="What stands between fields; tab for a tab.  [found]"),
    click.option("--decimal", metavar="MARK", help="The decimal mark, . or a comma.  [found]"),
    click.option("--thousands", metavar="MARK", help="The mark between thousands, or nothing.  [found]"),
    click.option("--sheet", metavar="NAME", help="The sheet of a workbook.  [default: the first]"),
    click.option(
        "--bad-rows",
        type=click.Choice([choice.value for choice in BadRows]),
        default=BadRows.REFUSE.value,
        show_default=True,
        help="What becomes of rows that cannot be read; those dropped are counted in the certificate.",
    ),
)


def table_options(command: Command) -> Command:
    """Give a command the options that say how its tables are written."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def layout_options(command: Command) -> Command:
    """The same for a command that writes no release: every row must be readable."""
    for option in reversed(_OPTIONS[: len(LAYOUT)]):
        command = option(command)
    return command


def read_layout(given: dict[str, Any]) -> Layout:
    """How a table is written: as the options of a command say, else as the policy's `[table]` does."""
    from muco.layout import Layout

    words = {name: given[name] for name in LAYOUT if given.get(name) is not None}
    words |= {"delimiter": "\t"} if words.get("delimiter") in {"tab", "\\t"} else {}
    stated = Layout.of(**words)
    return stated.over(Layout.read(given["config"])) if given.get("config") is not None else stated


def read_source(tables: Iterable[str | Path], given: dict[str, Any]) -> Source:
    """The table of a command's arguments."""
    from muco.files import read_table

    bad_rows = BadRows(given.get("bad_rows", BadRows.REFUSE))
    return read_table([str(table) for table in tables], stated=read_layout(given), bad_rows=bad_rows)


def read_release(path: Path, given: dict[str, Any], policy: Policy) -> Any:
    """A release to be judged: one table, or Anatomy's two, the second named or found beside the first."""
    from muco.publish import name_second
    from muco.release import Parts

    table = read_source([path], given).table
    second = given.get("sensitive_table")
    if second is None and set(policy.sensitive) - set(table.columns) and name_second(path).is_file():
        second = name_second(path)
    return table if second is None else Parts.of(table, read_source([second], given).table, policy)


def input_files(tables: Iterable[str]) -> list[Path]:
    """The files among a command's arguments, and those of its folders: none of them may be a target."""
    paths = [Path(table) for table in tables if table != STREAM and not is_database(table)]
    return [file for path in paths for file in ([path, *path.iterdir()] if path.is_dir() else [path])]
