"""The presets, delta in every form, and what an unnamed switch becomes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muco.policy import Policy
from muco.presets import PRESETS, read_delta
from muco.switches import Columns, Grouping, Preset, Principle


@pytest.mark.parametrize("preset", list(Preset))
def test_a_preset_is_every_switch_of_its_line_in_the_method(preset: Preset) -> None:
    given: dict[str, Any] = {"delta": "1/6"} if preset is Preset.PAPER else {}
    policy = Policy.of(quasi="a", sensitive="s", preset=preset, **given)
    assert {name: getattr(policy, name) for name in PRESETS[preset]} == PRESETS[preset]


def test_a_number_means_paper_and_none_means_provable() -> None:
    assert Policy.of(quasi="a", sensitive="s", delta=0.5).preset is Preset.PAPER
    assert Policy.of(quasi="a", sensitive="s").preset is Preset.PROVABLE
    assert Policy.of(quasi="a", sensitive="s", delta="tight").preset is Preset.PROVABLE
    assert Policy.of(quasi="a", sensitive="s", delta="1/6", preset="provable").cover == "balanced"


@pytest.mark.parametrize(
    "switch",
    [
        {"grouping": "leaves"},
        {"cover": "cheapest"},
        {"draw": "independent"},
        {"columns": "domain", "cover": "cheapest"},
    ],
)
def test_a_switch_given_by_name_overrides_its_preset(switch: dict[str, Any]) -> None:
    policy = Policy.of(quasi="a", sensitive="s", **switch)
    assert {name: getattr(policy, name) for name in switch} == switch
    assert policy.preset is Preset.PROVABLE


def test_balanced_tables_take_observed_columns_even_in_preset_paper() -> None:
    assert Policy.of(quasi="a", sensitive="s", delta="1/6", cover="balanced").columns is Columns.OBSERVED


def test_without_a_sensitive_attribute_the_principle_is_anonymity() -> None:
    policy = Policy.of(quasi="a")
    assert (policy.principle, policy.grouping) == (Principle.ANONYMITY, Grouping.NEIGHBOURS)


def test_with_two_sensitive_attributes_leaves_applies() -> None:
    assert Policy.of(quasi="a", sensitive=["s", "t"]).grouping is Grouping.LEAVES


@pytest.mark.parametrize(("principle", "name", "value"), [("recursive", "c", 3.0), ("closeness", "t", 0.2)])
def test_a_principle_brings_its_own_number(principle: str, name: str, value: float) -> None:
    policy = Policy.of(quasi="a", sensitive="s", principle=principle)
    assert getattr(policy, name) == value
    assert policy.grouping is Grouping.LEAVES


@pytest.mark.parametrize(
    ("given_delta", "exact"),
    [
        ("1/6", Fraction(1, 6)),
        ("0.1667", Fraction(1667, 10000)),
        (0.1667, Fraction(1667, 10000)),
        (1 / 6, Fraction(1, 6)),
        (1, Fraction(1)),
        ("1e-1", Fraction(1, 10)),
        (Fraction(2, 3), Fraction(2, 3)),
        ("tight", "tight"),
    ],
)
def test_delta_is_read_exactly(given_delta: Any, exact: Any) -> None:
    assert read_delta(given_delta) == exact


@pytest.mark.parametrize("wrong", [0, -1, 1.1, "2", "1/0", "a", "", True, None, [], "1e309", "nan", "1e-99999999"])
def test_what_is_no_delta_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="must be"):
        read_delta(wrong)


def test_a_delta_too_fine_for_exact_checks_is_refused() -> None:
    with pytest.raises(ValueError, match="denominator of at most 1000000000"):
        read_delta(Fraction(1, 10**9 + 7))


@settings(deadline=None)  # the machine may be shared
@given(st.integers(1, 1000).flatmap(lambda d: st.builds(Fraction, st.integers(1, d), st.just(d))))
def test_a_ratio_comes_back_from_its_decimal_and_from_its_text(ratio: Fraction) -> None:
    assert read_delta(float(ratio)) == read_delta(str(ratio)) == ratio
