"""What a release is asked to keep, as `k>=5` or `identity@0.7<=0.03`, and whether it does."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from muco.assess.assessment import Assessment
from muco.assess.figures import Figure
from muco.assess.verdict import percent
from muco.errors import PolicyError
from muco.fault import suggest

_FORM = re.compile(r"\s*([a-z][a-z-]*)(?:@([0-9.]+))?(?::(.+?))?\s*(>=|<=|>|<|=)\s*([0-9./eE+-]+)\s*")
_TESTS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": math.isclose}
)
_SLACK = 1e-9  # a frequency of 10 computed as 10 - 1e-15 keeps l >= 10


@dataclass(frozen=True, slots=True)
class Requirement:
    """One bound on a figure; without `:attribute` it is asked of every attribute."""

    figure: str
    comparison: str
    bound: float

    @staticmethod
    def parse(text: str) -> Requirement:
        """Read `name[@probability][:attribute] >= number`. Raises PolicyError.

        >>> Requirement.parse("identity@0.70 <= 1/30")
        Requirement(figure='identity@0.7', comparison='<=', bound=0.03333333333333333)
        """
        found = _FORM.fullmatch(text)
        try:
            if found is None:
                raise ValueError
            name, at, attribute, comparison, bound = found.groups()
            place = f"@{float(at):g}" if at else ""
            return Requirement(
                name + place + (f":{attribute}" if attribute else ""), comparison, float(Fraction(bound))
            )
        except (ValueError, ZeroDivisionError):
            raise PolicyError(
                f"the requirement {text} is not understood: write a figure, a comparison and a number, as in k>=5, "
                "t<=0.2 or identity@0.7<=0.03"
            ) from None

    def __str__(self) -> str:
        return f"{self.figure} {self.comparison} {self.bound:g}"

    def is_met(self, assessment: Assessment) -> bool:
        """Whether the figure, for every attribute it has, keeps the bound. Raises PolicyError if there is none."""
        return all(self._holds(figure.value) for figure in self.figures(assessment))

    def describe(self, assessment: Assessment) -> str:
        """The requirement beside what was measured, the worst attribute where there are several."""
        figures = self.figures(assessment)
        worst = (
            min(figures, key=lambda each: each.value)
            if ">" in self.comparison
            else max(figures, key=lambda each: each.value)
        )
        return f"{self} asked, {worst.name} is {worst.value:.4g}"

    def figures(self, assessment: Assessment) -> list[Figure]:
        """The figures that are meant. Raises PolicyError where none of that name was measured."""
        known = assessment.figures
        found = [each for each in known if each.name == self.figure]
        found = found or [each for each in known if each.name.startswith(f"{self.figure}:")]
        if not found:
            names = dict.fromkeys(each.name.partition(":")[0] for each in known)
            unaligned = "" if assessment.is_aligned else "; which row is whose is not known, so less is measured"
            raise PolicyError(f"no figure {self.figure} was measured{unaligned}{suggest(self.figure, names)}")
        return found

    def _holds(self, value: float) -> bool:
        if self.comparison in {">=", "<="}:
            value += _SLACK if self.comparison == ">=" else -_SLACK
        return _TESTS[self.comparison](value, self.bound)


def check_bounds(
    assessment: Assessment, requirements: Iterable[Requirement] = (), *, max_risk: float | None = None
) -> list[str]:
    """What is not kept, a line each; nothing where the release may pass."""
    failures = [each.describe(assessment) for each in requirements if not each.is_met(assessment)]
    risk = assessment.risk
    if max_risk is not None and risk is None:
        failures.append(
            f"risk {max_risk:g} at most is asked, and it is not measured, for which row is whose is not "
            "known: name a column of records"
        )
    elif max_risk is not None and risk is not None and risk > max_risk:
        failures.append(f"risk {max_risk:g} at most is asked, and it is {risk:.4f} ({percent(risk)})")
    return failures
