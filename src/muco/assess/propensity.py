"""The propensity score: how well a tree tells the rows of the release from the records of the original (pMSE).

Woo, Reiter, Oganian and Karr (2009); the expected value under no difference as Snoke et al. (2018) have it for
trees, by labels dealt at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muco._core import shuffled, uniforms
from muco.assess.comparison import Comparison
from muco.assess.features import MOST, PUBLIC_KEY, as_features, draw_codes, load, seed_of
from muco.assess.shown import Shown
from muco.scale import Reals

_LABELS = 2000  # the first stream of dealt labels
_LEAF = 20  # the fewest rows of a leaf


@dataclass(frozen=True, slots=True)
class Propensity(Shown):
    """pMSE = mean of (share of release among the row's leaf - share of release)², in [0, 1/4].

    `expected` is its mean over tables whose labels were dealt at random: the score of two samples of one whole.
    """

    pmse: float
    expected: float
    records: int
    rows: int

    @property
    def ratio(self) -> float:
        """PMSE over its expected value: 0 for the original itself, 1 for another sample, above for a difference."""
        return self.pmse / self.expected if self.expected > 0 else 0.0


def measure_propensity(
    comparison: Comparison, *, key: bytes = PUBLIC_KEY, most: int = MOST, repeats: int = 5
) -> Propensity:
    """One decision tree over quasi-identifiers and sensitive attributes together, with at least 20 rows a leaf.

    At most `most` records and rows take part, drawn under the key: of aligned tables the same people. Spans are
    drawn from. Raises MucoError without scikit-learn.
    """
    records = shuffled(key, len(comparison.original))[:most]
    rows = shuffled(key, len(comparison.low))[:most]
    if comparison.record is not None:
        rows = comparison.row[records]
        rows = rows[rows >= 0]
    domains = (*comparison.quasi, *comparison.sensitive)
    before = np.hstack([comparison.original[records], comparison.original_sensitive[records]])
    after = np.hstack([draw_codes(comparison, key)[rows], comparison.released_sensitive[rows]])
    features = as_features(np.vstack([before, after]), domains)
    label = np.repeat([False, True], [len(records), len(rows)])
    dealt = [label[np.argsort(uniforms(key, _LABELS + turn, len(label)))] for turn in range(repeats)]
    expected = float(np.mean([_score(features, labels, key) for labels in dealt])) if dealt else 0.0
    return Propensity(_score(features, label, key), expected, len(records), len(rows))


def _score(features: Reals, label: NDArray[np.bool_], key: bytes) -> float:
    if not label.any() or label.all():
        return 0.0
    tree: Any = load("tree").DecisionTreeClassifier(min_samples_leaf=_LEAF, random_state=seed_of(key))
    chance = tree.fit(features, label).predict_proba(features)[:, 1]
    return float(((chance - label.mean()) ** 2).mean())
