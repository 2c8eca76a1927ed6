"""Every result has a frame of its figures, and shows itself in a notebook without a cell of a table."""

from __future__ import annotations

import polars as pl
import pytest

import muco
from muco.assess.assessment import Effort, assess_release
from muco.assess.contest import measure_baselines
from muco.assess.exposure import measure_exposure
from muco.assess.rate import Rate, Risk
from muco.assess.shown import Shown
from muco.policy import Policy
from muco.tune.frontier import compare_settings
from muco.tune.setting import Setting

# Towns whose names would be seen wherever a cell is shown.
TABLE = pl.DataFrame(
    {"age": range(40), "town": [f"Canary{place % 8}" for place in range(40)], "pay": [x % 9 for x in range(40)]}
)
POLICY = Policy.of(quasi=["age", "town"], sensitive="pay", diversity=4)


@pytest.fixture(scope="module")
def results() -> list[Shown]:
    release, hidden = muco.anonymize_with_hidden(TABLE, POLICY, key=bytes(32))
    found = assess_release(TABLE, release, POLICY, hidden=hidden, effort=Effort.FULL)
    parts = [
        *(found.informed, found.classes, found.disclosure, found.linkage, found.loss, found.distributions),
        *(found.models, found.minimality, found.simulation, *found.queries, *found.single_value),
        measure_exposure(TABLE, POLICY),
        measure_baselines(TABLE, POLICY),
        compare_settings(TABLE, [Setting("one", POLICY)], runs=1),
    ]
    shown: list[Shown] = [part for part in parts if isinstance(part, Shown)]
    assert len(shown) == len(parts)
    return shown


def test_every_result_has_a_frame_with_figures(results: list[Shown]) -> None:
    for result in results:
        frame = result.to_frame()
        assert len(frame) and any(kind.is_numeric() for kind in frame.dtypes), type(result).__name__


def test_no_result_shows_a_cell(results: list[Shown]) -> None:
    for result in results:
        html = result._repr_html_()
        assert html.startswith("<") and "Canary" not in html and "Canary" not in str(result.to_frame().rows())


def test_a_risk_is_a_row_with_its_interval_and_controls() -> None:
    risk = Risk("A3", "everything", Rate(0.5, 0.4, 0.6, 100), Rate(1.0, 0.9, 1.0, 100), None)
    assert risk.to_frame().rows() == [("A3", 0.5, 0.4, 0.6, 1.0, None)]


def test_names_of_attributes_are_escaped() -> None:
    table = TABLE.rename({"town": "<b>"})
    found = measure_exposure(table, Policy.of(quasi=["age", "<b>"], sensitive="pay"))
    assert "<b>" not in found._repr_html_() and "&lt;b&gt;" in found._repr_html_()
