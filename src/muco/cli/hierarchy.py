"""`muco hierarchy`: trees of values, made by a rule or read from a peer's file, checked and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from rich.text import Text
from rich.tree import Tree

from muco.cli.terminal import printable, stdout
from muco.errors import PolicyError
from muco.numerals import PLAIN, Numerals

if TYPE_CHECKING:
    import polars as pl

    from muco.hierarchy import Hierarchy
    from muco.hierarchy_spec import HierarchySpec

PATH = click.Path(path_type=Path)
_RULES = ("widths", "dates", "prefixes", "ordered", "redaction")


@click.group("hierarchy")
def command() -> None:
    """Make, check and show hierarchies: trees that say which values are near each other."""


@command.command("make")
@click.argument("table", type=PATH, required=False)
@click.argument("column", required=False)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Where the tree goes.  [default: stdout]")
@click.option("--widths", metavar="NUMBERS", help="Intervals of these widths: 5,10,20 puts 25 into [25, 30).")
@click.option("--origin", type=float, default=0, help="A number at which intervals begin.  [default: 0]")
@click.option("--dates", metavar="LEVELS", help="Some of day,month,quarter,year,decade,century.")
@click.option("--form", metavar="FORM", help="How the dates are written, such as %d.%m.%Y.")
@click.option("--prefixes", metavar="LENGTHS", help="First characters kept, longest first: 4,3,1.")
@click.option("--redaction", type=click.Choice(["right", "left"]), help="Mask characters from this end.")
@click.option("--ordered", metavar="VALUES", help="A list in order, with commas between.")
@click.option("--sizes", metavar="NUMBERS", help="How many neighbours of the list a node of each level holds: 2,4.")
@click.option("--from", "source", type=PATH, metavar="FILE", help="A file of ARX, anjana, Amnesia, JSON or TOML.")
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def make(table: Path | None, column: str | None, output: Path | None, **given: Any) -> None:
    """Make the tree of a COLUMN of TABLE by a rule, or of another program's file, and write it in ARX's form."""
    from muco.atomic import Batch, Existing
    from muco.hierarchy import Hierarchy

    chosen = [name for name in (*_RULES, "source") if given[name] is not None]
    if len(chosen) != 1:
        raise PolicyError("name one of --widths, --dates, --prefixes, --redaction, --ordered and --from")
    if given["source"] is not None:
        tree = Hierarchy.read(given["source"])
    else:
        values, numerals = ((), PLAIN) if given["ordered"] is not None else _values(table, column)
        tree = Hierarchy.of(_spec(chosen[0], given), values=values, folder=Path(), numerals=numerals)
    if output is None:
        click.echo(tree.to_arx(), nl=False)
        return
    existing = Existing.REPLACE if given["force"] else Existing.REFUSE
    with Batch(existing=existing, inputs=[path for path in (table, given["source"]) if path]) as batch:
        batch.add(output, tree.to_arx())


@command.command("check")
@click.argument("file", type=PATH)
@click.argument("table", type=PATH, required=False)
@click.argument("column", required=False)
@click.pass_context
def check(ctx: click.Context, file: Path, table: Path | None, column: str | None) -> None:
    """Find what is wrong with a hierarchy FILE, and which rows of a COLUMN of TABLE hold a value it lacks."""
    from muco.cli.check import show_findings
    from muco.preflight.finding import exit_code
    from muco.preflight.reading import find_outside, read_tree_file

    tree, found = read_tree_file(file)
    if tree is not None and table is not None:
        values, numerals = _values(table, column)
        found += find_outside(tree.holding(values, numerals), values, attribute=column or "")
    show_findings(found)
    if tree is not None:
        click.echo(f"{len(tree.leaves)} leaves, {tree.height} levels above them")
    ctx.exit(exit_code(found))


@command.command("show")
@click.argument("file", type=PATH)
@click.option("--most", type=click.IntRange(1, 10_000), default=12, show_default=True, help="Branches a node.")
def show(file: Path, most: int) -> None:
    """Draw the tree of a hierarchy FILE."""
    from muco.hierarchy import Hierarchy

    stdout().print(draw_tree(Hierarchy.read(file), most=most))


def draw_tree(hierarchy: Hierarchy, *, most: int) -> Tree:
    """The tree for a terminal, with at most so many branches shown below a node."""
    root = Tree(Text("*", style="bold"))
    _grow(root, hierarchy.tree, most)
    return root


def _grow(node: Tree, branches: Sequence[Any], most: int) -> None:
    for branch in branches[:most]:
        if isinstance(branch, dict):
            for label, below in branch.items():
                # Above a leaf of a short branch the leaf itself is repeated: shown once.
                if below == [label]:
                    node.add(Text(printable(label)))
                else:
                    _grow(node.add(Text(printable(label), style="bold")), below, most)
        else:
            node.add(Text(printable(branch)))
    if len(branches) > most:
        node.add(Text(f"... and {len(branches) - most} more", style="dim"))


def _values(table: Path | None, column: str | None) -> tuple[pl.Series, Numerals]:
    """The different values of a column, and how the table writes numbers."""
    from muco.fault import suggest
    from muco.files import read_table
    from muco.values import Distinct, text_keys

    if table is None or column is None:
        raise PolicyError("name the TABLE and the COLUMN whose values the tree is for")
    source = read_table(table)
    frame = source.table
    if column not in frame.columns:
        raise PolicyError(f"the table has no attribute {column}{suggest(column, frame.columns)}")
    return text_keys(Distinct.of(frame[column], ())), source.layout.numerals


def _spec(rule: str, given: dict[str, Any]) -> HierarchySpec:
    """The options as the words of a policy, whose checks they pass."""
    from muco.policy import Policy

    words: dict[str, Any] = {
        "widths": {"intervals": {"widths": _numbers(given["widths"]), "origin": given["origin"]}},
        "dates": {"dates": {"levels": _words(given["dates"]), "form": given["form"]}},
        "prefixes": {"prefixes": {"lengths": _numbers(given["prefixes"])}},
        "redaction": {"redaction": {"side": given["redaction"]}},
        "ordered": {"ordered": {"values": _words(given["ordered"]), "sizes": _numbers(given["sizes"])}},
    }[rule]
    policy = Policy.of(attributes={"x": {"role": "quasi", "hierarchy": words}})
    spec = policy.attributes["x"].hierarchy
    if spec is None:
        raise PolicyError("name a rule")
    return spec


def _words(given: str | None) -> list[str]:
    return [word.strip() for word in (given or "").split(",") if word.strip()]


def _numbers(given: str | None) -> list[int | float]:
    try:
        return [int(word) if word.isdigit() else float(word) for word in _words(given)]
    except ValueError:
        pass
    raise PolicyError("give numbers with commas between them, such as 5,10,20")
