"""The panels of a frontier: settings by one risk and one loss, where their numbers stand, who is at the edge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from muco.report import charts
from muco.switches import Method
from muco.tune.frontier import Frontier, Standing
from muco.tune.setting import Setting

_TWO = 1.96  # standard errors to either side
_ROOM, _SPARE = 46.0, 1.12  # pixels of the y axis; how far a scale goes beyond the largest value
_WIDTH, _HEIGHT = charts.FRONTIER_WIDTH - _ROOM - 8, charts.FRONTIER_HEIGHT
# Where a number may stand beside its point, in pixels, the best first; a second ring where the first is taken.
_PLACES = tuple((dx * far, dy * far) for far in (1.0, 1.8, 2.6) for dx, dy in
                ((11, -3), (-11, -3), (0, -12), (0, 12), (10, -11), (-10, -11), (10, 11), (-10, 11)))  # fmt: skip
_LETTERS = (7.0, 11.0)  # pixels of a digit: width and height


def family(setting: Setting) -> int:
    """Which colour and shape: 0 for provable settings, 1 for other settings of MuCo, 2 for other methods."""
    if setting.release is not None or setting.method is not Method.MUCO:
        return 2
    return 0 if setting.policy.is_provable else 1


def draw_panel(frontier: Frontier, risk: tuple[str, str], worth: tuple[str, str]) -> str | None:
    """One risk by one loss, each a figure and its title; None where no setting tells both."""
    told = [
        (number, standing)
        for number, standing in enumerate(frontier.standings, start=1)
        if standing.mean(risk[0]) is not None and standing.mean(worth[0]) is not None
    ]
    if not told:
        return None
    rows = [_row(frontier, number, standing, risk[0], worth[0]) for number, standing in told]
    most = tuple(max(1e-9, *(row[f"{axis}_high"] for row in rows)) * _SPARE for axis in "xy")
    _place_labels(rows, (most[0], most[1]))
    return charts.draw_frontier(rows, edge(rows), x=worth[1], y=risk[1], most=(most[0], most[1]), room=_ROOM)


def edge(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows that no other beats in x and y, from left to right.

    >>> [row["x"] for row in edge([{"x": 1, "y": 3}, {"x": 2, "y": 4}, {"x": 3, "y": 1}])]
    [1, 3]
    """
    found: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: (row["x"], row["y"])):
        if not found or row["y"] < found[-1]["y"]:
            found.append({"x": row["x"], "y": row["y"]})
    return found


def _row(frontier: Frontier, number: int, standing: Standing, risk: str, worth: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "label": str(number),
        "series": str(family(standing.setting)),
        "is_beaten": bool(frontier.beaten_by(standing)),
    }
    for axis, figure in (("x", worth), ("y", risk)):
        mean, spread = max(standing.mean(figure) or 0.0, 0.0), _TWO * standing.spread(figure)
        row |= {axis: mean, f"{axis}_low": max(mean - spread, 0.0), f"{axis}_high": mean + spread}
    return row


def _place_labels(rows: list[dict[str, Any]], most: tuple[float, float]) -> None:
    """Give each row a place for its number where it hides no point and no other number."""
    points = [(_WIDTH * math.sqrt(row["x"] / most[0]), _HEIGHT * math.sqrt(row["y"] / most[1])) for row in rows]
    taken: list[tuple[float, float, float]] = [(x, y, _LETTERS[0]) for x, y in points]
    for row, (x, y) in zip(rows, points):
        wide = _LETTERS[0] * len(row["label"])
        found = min(((x + dx, y - dy) for dx, dy in _PLACES), key=lambda place: _hidden(place, wide, taken))
        taken.append((*found, wide))
        row["label_x"], row["label_y"] = (
            end * (max(pixels, 0.0) / size) ** 2 for end, pixels, size in zip(most, found, (_WIDTH, _HEIGHT))
        )


def _hidden(place: tuple[float, float], wide: float, taken: Sequence[tuple[float, float, float]]) -> float:
    """How much of other marks a number here would hide, in pixels; leaving the panel counts most."""
    x, y = place
    out = sum(max(0.0, end) for end in (wide / 2 - x, x + wide / 2 - _WIDTH, 5 - y, y + 5 - _HEIGHT))
    over = (
        max(0.0, (wide + w) / 2 - abs(x - at)) * max(0.0, _LETTERS[1] - abs(y - height)) for at, height, w in taken
    )
    return 100 * out + sum(over)
