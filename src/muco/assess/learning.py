"""Machine-learning worth: what a model learns from the release, tested on original records it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muco._core import shuffled
from muco.arrays import Codes, Offsets
from muco.assess.comparison import Comparison
from muco.assess.features import MOST, PUBLIC_KEY, as_features, draw_codes, load, seed_of
from muco.assess.shown import Shown
from muco.domain import Domain
from muco.errors import TableError
from muco.scale import Reals

_TESTED = 0.3  # the share of records that is held out
_CLASSES = 9  # the commonest values of a category; all others are one more class

Classes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Learned(Shown):
    """How often two models tell a sensitive attribute of held-out original records from their quasi-identifiers.

    Accuracies in [0, 1]; `majority` is that of always answering the commonest class: what is learned at all is what
    lies above it. Where rows are not aligned the model of the release has seen the held-out records' rows too.
    """

    attribute: str
    target: str
    original: float
    release: float
    majority: float
    trained: int
    tested: int
    held_out: bool

    @property
    def kept(self) -> float | None:
        """The share of what the original teaches above the majority that the release does; None for none."""
        taught = self.original - self.majority
        return (self.release - self.majority) / taught if taught > 0 else None


def measure_learning(comparison: Comparison, *, key: bytes = PUBLIC_KEY, most: int = MOST) -> tuple[Learned, ...]:
    """Gradient-boosted trees trained on either table, for each sensitive attribute.

    Numbers, dates and ranks are told as above the original's median or not, categories by their nine commonest
    values. 30 % of the original's records, drawn under the key, are held out; at most `most` train a model.
    Raises MucoError without scikit-learn, TableError for a table too small to hold any out.
    """
    order = shuffled(key, len(comparison.original))
    held = round(len(order) * _TESTED)
    test, train = order[:held][:most], order[held:][:most]
    if not len(test) or not len(train):
        raise TableError(f"{len(order)} records are too few to hold some out: a model needs 10 or so")
    if comparison.record is None:
        rows = shuffled(key, len(comparison.low))[: len(train)]
    else:
        rows = comparison.row[train]
        rows = rows[rows >= 0]
    drawn = as_features(draw_codes(comparison, key)[rows], comparison.quasi)
    original = as_features(comparison.original, comparison.quasi)
    found = []
    for place, domain in enumerate(comparison.sensitive):
        before = comparison.original_sensitive[:, place]
        target, (truth, taught) = _targets(domain, before, comparison.released_sensitive[rows, place])
        tested, learned = test[truth[test] >= 0], train[truth[train] >= 0]
        if not len(tested) or not len(learned):
            continue
        answers = [
            _answer(original[learned], truth[learned], original[tested], key),
            _answer(drawn[taught >= 0], taught[taught >= 0], original[tested], key),
            np.full(len(tested), np.bincount(truth[learned]).argmax()),
        ]
        shares = [float((answer == truth[tested]).mean()) for answer in answers]
        found.append(
            Learned(
                domain.attribute,
                target,
                original=shares[0],
                release=shares[1],
                majority=shares[2],
                trained=len(learned),
                tested=len(tested),
                held_out=comparison.record is not None,
            )
        )
    return tuple(found)


def _targets(domain: Domain, *columns: Codes) -> tuple[str, list[Classes]]:
    """What is told, and the class of each cell of the original's and the release's column; -1 for none."""
    original = columns[0]
    known = original[original < domain.known]
    if domain.is_ordered and len(known):
        middle = np.sort(known)[(len(known) - 1) // 2]
        return "above the median", [np.where(codes < domain.known, codes > middle, -1) for codes in columns]
    counts = np.bincount(original, minlength=len(domain.cells))
    common = np.argsort(-counts, kind="stable")[:_CLASSES]
    number = np.full(len(domain.cells), _CLASSES, dtype=np.int64)
    number[common] = np.arange(len(common))
    return f"one of {min(len(domain.cells), _CLASSES + 1)} classes", [number[codes] for codes in columns]


def _answer(features: Reals, classes: Classes, asked: Reals, key: bytes) -> Offsets:
    """The classes that trees grown on some records give to others; the one class there is, where there is one."""
    seen = np.unique(classes)
    if len(seen) < 2:
        return np.full(len(asked), seen[0] if len(seen) else -1)
    model: Any = load("ensemble").HistGradientBoostingClassifier(
        max_iter=50, early_stopping=False, random_state=seed_of(key)
    )
    # One thread adds up in one order, and does not wait for others on a busy machine.
    with import_module("threadpoolctl").threadpool_limits(limits=1):
        answers: Offsets = model.fit(features, classes).predict(asked)
    return answers
