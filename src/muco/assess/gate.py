"""The gate: whether a release may pass, by its risk and by what else is asked of it."""

from __future__ import annotations

from collections.abc import Iterable

from muco.assess.assessment import Assessment
from muco.assess.requirement import Requirement, list_failures
from muco.assess.verdict import percent


def check_bounds(
    assessment: Assessment, requirements: Iterable[Requirement] = (), *, max_risk: float | None = None
) -> list[str]:
    """What is not kept, a line each; nothing where the release may pass."""
    failures = list_failures(assessment, requirements)
    risk = assessment.risk
    if max_risk is not None and risk is None:
        failures.append(
            f"risk {max_risk:g} at most is asked, and which row is whose is not known, so that no risk is "
            "measured: name a column of records"
        )
    elif max_risk is not None and risk is not None and risk > max_risk:
        failures.append(f"risk {max_risk:g} at most is asked, and it is {risk:.4f} ({percent(risk)})")
    return failures
