"""D[A] of one attribute: codes and back, in the one form in which values are released."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muco.attribute import Attribute
from muco.domain import Domain, encode
from muco.errors import PolicyError, TableError
from muco.switches import Kind, Role


def encoded(
    *cells: Any, dtype: Any = None, missing: tuple[str, ...] = (), **words: Any
) -> tuple[Domain, list[int]]:
    domain, codes = encode(pl.Series("a", cells, dtype=dtype), Attribute(role=Role.QUASI, **words), missing)
    return domain, codes.tolist()


@pytest.mark.parametrize(
    ("cells", "released", "codes"),
    [
        (["34.0", "34", "+5", "34.00"], ["+5", "34"], [1, 1, 0, 1]),  # one number, one form
        (["01234", "1234", "01234"], ["01234", "1234"], [0, 1, 0]),  # text: two values
        (["b", "A", "a", "B"], ["A", "B", "a", "b"], [3, 0, 2, 1]),  # casing is kept
        (["x", "", "  ", "x", ""], ["x", ""], [0, 1, 1, 0, 1]),  # the commonest marker of missing
        ([3, 1, None, 2], [1, 2, 3, None], [2, 0, 3, 1]),
        (["TRUE", "true", "False", " false"], ["False", "TRUE"], [1, 1, 0, 0]),  # two truths, not four
    ],
)
def test_equal_values_share_a_code_and_a_form(cells: list[Any], released: list[Any], codes: list[int]) -> None:
    domain, found = encoded(*cells)
    assert domain.cells.to_list() == released
    assert found == codes


@settings(deadline=None)  # the machine may be shared
@given(st.lists(st.none() | st.integers(-(2**60), 2**60) | st.just(7), min_size=1, max_size=30))
def test_whole_numbers_come_back_exactly(cells: list[int | None]) -> None:
    domain, codes = encoded(*cells, dtype=pl.Int64)
    assert domain.cells.gather(codes).to_list() == cells


@settings(deadline=None)  # the machine may be shared
@given(st.lists(st.text(max_size=4), min_size=1, max_size=20))
def test_text_of_any_letters_comes_back_but_for_blanks(cells: list[str]) -> None:
    domain, codes = encoded(*cells, kind="categorical")
    back = domain.cells.gather(codes).to_list()
    assert [cell for cell in back if cell.strip()] == [cell for cell in cells if cell.strip()]


def test_distances_follow_the_kind() -> None:
    # Numbers 1, 2, 5: |1 - 2| / 4; ranks a < b < c: 1 / 2; a tree of height 2: siblings 1/2; own distances: 3 / 4.
    tree = {"tree": {"Office": ["a", "b"], "Field": ["c"]}}
    matrix = {"values": ["a", "b", "c"], "matrix": [[0, 3, 4], [3, 0, 2], [4, 2, 0]]}
    zero, one = np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)
    for words, expected in (
        ({}, 1.0),
        ({"order": ["a", "b", "c"]}, 0.5),
        ({"hierarchy": tree}, 0.5),
        ({"distances": matrix}, 0.75),
    ):
        domain, _ = encoded("a", "b", "c", **words)
        assert domain.distance.between(zero, one).tolist() == [expected]
    assert encoded(1, 2, 5)[0].distance.between(zero, one).tolist() == [0.25]


def test_a_missing_value_is_dis_max_from_all_others() -> None:
    domain, codes = encoded(1, None, 3)
    assert domain.has_missing
    assert domain.distance.between(np.array([0, 2], np.int32), np.array([2, 1], np.int32)).tolist() == [1.0, 1.0]
    assert codes == [0, 2, 1]


def test_loss_of_numbers_is_over_the_range_plus_one() -> None:
    # Section 8: |3 - 1| / (5 - 1 + 1); a missing value loses all of it.
    domain, _ = encoded(1, 3, 5, None)
    assert domain.loss(np.array([0, 0], np.int32), np.array([1, 3], np.int32)).tolist() == [pytest.approx(0.4), 1.0]


def test_hierarchies_by_intervals_and_ordered_lists_apply_to_cells() -> None:
    domain, codes = encoded("25", "21", "31", hierarchy={"intervals": {"widths": [10, 20]}})
    assert (domain.kind, codes) == (Kind.CATEGORICAL, [1, 0, 2])
    domain, codes = encoded("L", "S", hierarchy={"ordered": {"values": ["S", "M", "L"], "sizes": [2]}})
    assert domain.cells.gather(codes).to_list() == ["L", "S"]


@pytest.mark.parametrize("wild", ["x", "1e999999999", "-1e-999999999", "inf"])
def test_intervals_refuse_what_is_no_number_at_once(wild: str) -> None:
    with pytest.raises(TableError, match="attribute a: intervals need finite numbers: 1 of the distinct"):
        encoded("25", wild, hierarchy={"intervals": {"widths": [10]}})


@pytest.mark.parametrize(
    ("cells", "words", "message"),
    [
        (["a", "x"], {"hierarchy": {"tree": ["a", "b"]}}, r"1 cell hold.* that its hierarchy lacks \(row 2\)"),
        (["x"], {"distances": {"values": ["a", "b"], "matrix": [[0, 1], [1, 0]]}}, r"its distances lack \(row 1\)"),
        (["a" * 201], {}, r"1 cell are longer than 200 characters \(row 1\): free text is no quasi-identifier"),
        (["a", "b", "c"], {"kind": "boolean"}, "has 3 different values, but a boolean has two"),
        (["a"], {"kind": "continuous"}, "cannot be read as a finite number"),
        ([1.0], {"kind": "date"}, "cannot be read as a date"),
        ([dt.timedelta(days=1)], {"kind": "date"}, "cannot be read as a date"),
    ],
)
def test_a_cell_that_does_not_fit_is_refused_by_row(cells: list[Any], words: dict[str, Any], message: str) -> None:
    with pytest.raises(TableError, match=message):
        encoded(*cells, **words)


def test_numbers_too_far_apart_for_distances_are_refused() -> None:
    with pytest.raises(PolicyError, match="lie too far apart for distances: make it ordinal"):
        encoded(-1e308, 1e308, 1.0)


def test_only_values_of_the_domain_are_found() -> None:
    domain, _ = encoded("x", "y")
    with pytest.raises(TableError, match="attribute a: 1 values are not of its domain"):
        domain.find(pl.Series(["x", "z"]))


def test_a_domain_shows_no_value() -> None:
    assert repr(encoded("canary", "x")[0]) == "Domain(a, categorical, 2 values)"
