"""Numbers in text: which are numbers, and that none is bent."""

from __future__ import annotations

from decimal import Decimal

import polars as pl
import pytest

from muco.anonymize import anonymize
from muco.errors import TableError
from muco.layout import Layout
from muco.numerals import PLAIN, Numerals
from muco.policy import Policy


@pytest.mark.parametrize(
    ("numerals", "text", "plain"),
    [
        (PLAIN, "1234.50", "1234.50"),
        (PLAIN, "+7", "7"),
        (PLAIN, "1,5", None),
        (Numerals(",", "."), "1.234,50", "1234.50"),
        (Numerals(",", "."), "1234,50", "1234.50"),
        (Numerals(",", "."), "12.34,50", None),
        (Numerals(",", "."), "0.123", None),  # a group of thousands does not begin with 0
        (Numerals(".", ","), "-1,234,567.8e-3", "-1234567.8e-3"),
        (Numerals(",", " "), "1 234", "1234"),
        (Numerals(",", ""), ",5", ".5"),
    ],
)
def test_one_way_of_writing_is_read(numerals: Numerals, text: str, plain: str | None) -> None:
    assert numerals.plain(pl.Series([text])).to_list() == [plain]


def test_whole_numbers_and_decimals_are_exact() -> None:
    assert PLAIN.read(pl.Series(["9007199254740993", "-1"])).to_list() == [2**53 + 1, -1]
    numbers = PLAIN.read(pl.Series(["0.1", "0.10000000000000000001", ".5", "2.", "9007199254740993"]))
    assert numbers.to_list()[:2] == [Decimal("0.1"), Decimal("0.10000000000000000001")]
    assert numbers.n_unique() == 5
    assert PLAIN.read(pl.Series(["1e3", "2.5"])).to_list() == [1000.0, 2.5]


def column(cells: list[str], **attribute: object) -> list[str]:
    table = pl.DataFrame({"a": cells, "s": [str(at) for at in range(len(cells))]})
    policy = Policy.of(quasi="a", sensitive="s", diversity=len(cells), attributes={"a": attribute})
    release: list[str] = (
        anonymize(table, policy.model_copy(update={"table": Layout(decimal=",")})).data["a"].to_list()
    )
    return sorted(release)


@pytest.mark.parametrize(
    "cells",
    [
        ["1,5", "2,50", "30,25", "100"],
        ["9007199254740992", "9007199254740993", "9007199254740994"],
        ["1600-02-29", "1999-12-31", "2020-01-01"],
        ["01234", "01235", "99999"],
        ["NA", "1,5", "NA", "3"],
        ["-9", "1", "-9", "3"],
    ],
)
def test_a_release_has_the_cells_as_they_came(cells: list[str]) -> None:
    assert column(cells, missing=["NA", "-9"]) == sorted(cells)  # provable: a permutation


@pytest.mark.parametrize("cell", ["NaN", "inf", "1e400", "1.234.5", "12,3,4"])
def test_what_is_no_finite_number_is_refused_by_its_row(cell: str) -> None:
    with pytest.raises(
        TableError, match=r"attribute a: 1 cell cannot be read as a finite number \(row 2\)"
    ) as caught:
        column(["1,5", cell, "2"], kind="continuous")
    assert cell not in str(caught.value)
