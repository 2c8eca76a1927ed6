"""What models say of a release: machine-learning worth and the propensity score, where scikit-learn is there."""

from __future__ import annotations

from dataclasses import dataclass

from muco.assess.comparison import Comparison
from muco.assess.learning import Learned, measure_learning
from muco.assess.propensity import Propensity, measure_propensity
from muco.assess.shown import Shown
from muco.errors import MucoError


@dataclass(frozen=True, slots=True)
class Models(Shown):
    """What was learned, on at most `most` people; `missing` says why a part was not measured, and what to do."""

    learned: tuple[Learned, ...]
    propensity: Propensity | None
    most: int
    missing: str = ""

    @property
    def note(self) -> str:
        """How many took part, where not all did."""
        if self.propensity is None or self.propensity.records < self.most:
            return ""
        return f"models saw {self.most:,} people at most, drawn by a public key"


def measure_models(comparison: Comparison, *, most: int) -> Models:
    """Both measures. Without scikit-learn, and for tables too small to hold any people out, it says so."""
    try:
        propensity = measure_propensity(comparison, most=most)
        return Models(measure_learning(comparison, most=most), propensity, most)
    except MucoError as error:
        return Models((), None, most, f"Not measured: {error}.")
