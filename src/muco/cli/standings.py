"""How settings that were compared are shown: a table on stderr, and a bar while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from muco.cli.terminal import console, printable, say

if TYPE_CHECKING:
    from muco.tune.frontier import Frontier

# Short enough for a terminal of 80 columns; what they mean is said below the table.
_TITLES = {
    "proven": "proven",
    "informed": "known",
    "nearest": "near",
    "exact": "exact",
    "query": "query",
    "supported": "large",
    "association": "ties",
    "loss": "loss",
}


@contextmanager
def watching_runs(*, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar of runs on a terminal; nothing elsewhere."""
    out = console()
    if quiet or not out.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task("", total=None)

        def watch(name: str, done: int, runs: int) -> None:
            progress.update(task, description=printable(name), completed=done, total=runs or None)

        yield watch


def show_frontier(frontier: Frontier) -> None:
    """Every setting with the mean of its figures; one that another beats in everything is dimmed."""
    out = console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("setting", overflow="fold")
    for title in _TITLES.values():
        table.add_column(title, justify="right", no_wrap=True)
    for standing in frontier.standings:
        style = "dim" if not standing.scores or frontier.beaten_by(standing) else ""
        cells = [_cell(name, standing.mean(name)) for name in _TITLES]
        table.add_row(standing.setting.name, *cells, style=style)
    out.print(table)
    for standing in frontier.standings:
        if standing.refusal:
            say(out, f"{standing.setting.name}: {standing.refusal}")
        elif beaten := frontier.beaten_by(standing):
            say(out, f"{standing.setting.name} is beaten throughout by {', '.join(beaten)}")
    say(
        out,
        f"{frontier.runs} runs. Share of records linked: proven at most; by who knows groups and tables; by the "
        "nearest row; by an exact match. Lost: median error of queries, and mean error of those with 100 records "
        "or more; change of associations; information loss.",
        *frontier.sampled,
    )


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{abs(value):,.0f}" if name == "loss" else f"{value:.4f}" if name == "association" else f"{value:.3f}"
