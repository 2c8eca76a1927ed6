"""What a page is made of: an assessment, its histograms, and the baselines at the same diversity."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from muco.assess.assessment import Assessment
from muco.assess.contest import Baselines, measure_baselines
from muco.assess.evidence import Evidence
from muco.assess.histogram import Histogram, count_values
from muco.assess.rules import count_rules
from muco.rule_codes import RuleCount


class Audience(StrEnum):
    """Who may read a page: anybody, or those who may see the original."""

    PUBLIC = "public"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything that a page shows; `title` names the release."""

    title: str
    assessment: Assessment
    histograms: tuple[Histogram, ...]
    baselines: Baselines
    rules: tuple[RuleCount, ...] = ()

    def __repr__(self) -> str:
        return f"Contents({self.assessment.records} records, {len(self.histograms)} attributes)"

    @staticmethod
    def gather(
        assessment: Assessment,
        original: Any,
        release: Any,
        *,
        title: str = "release",
        baselines: Baselines | None = None,
    ) -> Contents:
        """Count the values of both tables and try the baselines; `baselines` of the same table are taken as given.

        Raises TableError for tables that do not belong together.
        """
        policy = assessment.policy
        comparison = Evidence.of(original, release, policy).comparison
        return Contents(
            title,
            assessment,
            count_values(comparison),
            measure_baselines(original, policy) if baselines is None else baselines,
            count_rules(comparison),
        )
