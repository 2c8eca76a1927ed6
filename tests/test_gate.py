"""The gate: a run whose informed risk is above `max_risk` is not made, unless a reason is named."""

from __future__ import annotations

from fractions import Fraction

import pytest

import muco
from muco.assess.assessment import assess_release
from muco.errors import PolicyError, ReleaseError
from test_assessment import groups_of_four


def test_the_gate_lets_a_proven_run_pass_at_its_bound() -> None:
    _, release, hidden = groups_of_four(max_risk=0.25)
    assert hidden.outcome.smallest_group == 4
    assert release.certificate.gate["informed_risk"] == 0.25


def test_the_gate_stops_a_run_above_it_and_says_what_to_do() -> None:
    with pytest.raises(ReleaseError, match=r"is 0\.2500 .* max_risk is 0\.2.*Raise diversity to 5"):
        groups_of_four(max_risk=0.2)


def test_the_gate_measures_what_is_not_proven() -> None:
    with pytest.raises(ReleaseError, match=r"measured, no bound.*preset provable with diversity 20"):
        groups_of_four(max_risk=0.05, delta=Fraction(1, 2))


def test_the_gate_and_the_assessment_measure_the_same() -> None:
    table, release, hidden = groups_of_four(max_risk=1.0, delta="1/2")
    found = assess_release(table, release, hidden.outcome.groups.microdata.policy, hidden=hidden).risk
    assert release.certificate.gate["informed_risk"] == pytest.approx(found, abs=1e-4)


def test_a_reason_passes_the_gate_and_stands_in_the_certificate() -> None:
    _, release, _ = groups_of_four(max_risk=0.2, accept_risk="kept in house")
    assert release.certificate.gate["accepted_because"] == "kept in house"


def test_a_reason_without_a_gate_makes_no_sense() -> None:
    with pytest.raises(PolicyError, match="accept_risk names a reason"):
        muco.Policy.of(quasi="age", sensitive="pay", accept_risk="why")
