"""What the command line shows: progress on stderr while it is a terminal, and short tables."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from muco.release import Summary

Watch = Callable[[str, int, int], None]
_STAGES = {
    "read": "reading the table",
    "encode": "encoding values",
    "divide": "dividing into groups",
    "cover": "covering records",
    "release": "putting the release together",
    "assess": "measuring risks",
    "compare": "trying other methods",
    "report": "drawing the page",
    "write": "writing",
}


class _Rate(ProgressColumn):
    """Records per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} records/s" if speed else "")


class _Plain(Console):
    """A console that takes strings as they are: what stands in a name is no markup, and steers no terminal."""

    def render_str(self, text: str, **given: Any) -> Text:
        return super().render_str(printable(text), **{**given, "markup": False, "emoji": False})


def console() -> Console:
    """Where everything goes that is no data."""
    return _Plain(stderr=True, highlight=False)


def stdout() -> Console:
    """Where tables and findings go that somebody asked for."""
    return _Plain(highlight=False)


def labelled(label: str, text: str, style: str) -> Text:
    """A line that begins with a word in colour."""
    return Text.assemble((f"{label}: ", style), printable(text))


@contextmanager
def watching(out: Console, *, quiet: bool, verbose: bool) -> Iterator[Watch]:
    """Show the stages of a run: a bar on a terminal, a line each when verbose, nothing when quiet."""
    if verbose:
        yield partial(_tell, out)
        return
    if quiet or not out.is_terminal:
        yield _ignore
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task("", total=None)

        def watch(stage: str, done: int, records: int) -> None:
            total = records if stage == "cover" else None
            progress.update(task, description=_STAGES[stage], completed=done, total=total, refresh=True)

        yield watch


def _tell(out: Console, stage: str, done: int, records: int) -> None:
    if not done:  # a line a stage, not one a batch
        say(out, f"{_STAGES[stage]}: {records:,} records" if records else _STAGES[stage])


def _ignore(*_: object) -> None:
    """Nobody watches."""


def say(out: Console, *lines: str, style: str = "") -> None:
    """Lines as they are: a name in them is no markup. A terminal wraps them between words, and breaks no path."""
    for line in "\n".join(lines).split("\n"):
        words = printable(line)
        if out.is_terminal:
            words = textwrap.fill(words, out.width, break_long_words=False, break_on_hyphens=False)
        out.print(Text(words, style=style), soft_wrap=True)


def printable(text: str) -> str:
    """Without the control characters by which a column name or a path could steer the terminal."""
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)


def show_summaries(out: Console, summaries: Mapping[str, Summary]) -> None:
    """The figures of one or several runs, side by side."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for name in summaries:
        table.add_column(Text(printable(name)), justify="right")
    runs = summaries.values()
    for label, cells in (
        ("records", [f"{run.records:,}" for run in runs]),
        ("groups", [f"{run.groups:,}" for run in runs]),
        ("delta", [run.delta for run in runs]),
        ("smallest group", [f"{run.smallest_group}" for run in runs]),
        ("cells changed", [f"{run.changed_share:.1%}" for run in runs]),
        ("information loss", [f"{run.information_loss:,.1f}" for run in runs]),
        ("time", [f"{run.seconds:.2f} s" for run in runs]),
    ):
        table.add_row(label, *cells)
    rules = {rule.name: None for run in runs for rule in run.rules}
    for name in rules:
        counts = [next((rule for rule in run.rules if rule.name == name), None) for run in runs]
        cells = [f"{each.released:,} of {each.drawn:,}" if each else "" for each in counts]
        table.add_row(Text(printable(f"rows that break {name}")), *cells)
    out.print(table)


def show_columns(out: Console, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on its side: each row becomes a column, for rows of many cells are wider than a terminal."""
    columns = list(rows)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for first, *_ in columns:
        table.add_column(Text(printable(first)), justify="right")
    for head, *cells in list(zip(heads, *columns))[1:]:
        table.add_row(Text(head), *(Text(printable(cell)) for cell in cells))
    out.print(table)
