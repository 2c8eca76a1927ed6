"""Disclosure at P_match (Section 5.1): what equal values give away, with each of them known at a probability."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muco._core import disclose, uniforms
from muco.arrays import Offsets
from muco.assess.comparison import Comparison
from muco.assess.rate import Rate, Risk
from muco.assess.sample import PUBLIC, choose_targets, encode_for_core, framed, shuffle_rows
from muco.assess.shown import Shown
from muco.errors import PolicyError
from muco.scale import Reals

MATCH_PROBABILITIES = (0.3, 0.5, 0.7, 0.8, 0.9, 1.0)  # the paper's
MOST_EXACT = 12  # quasi-identifiers of which every set is tried
SETS = 256  # sets a P_match that are drawn beyond
# Of a generalised table each record is compared with all rows: so many (record, row) pairs are tried at most.
PAIRS = 4 * 10**9
_FEWEST = 1_000
_CONTROLS = 5_000  # records tried in the shuffled control of a generalised table

Masks = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Disclosure(Shown):
    """Identity and attribute disclosure at each P_match, and singling out (WP216), each with its controls.

    `identity` is None where it is not known which row is whose; `attribute` has one list a sensitive attribute.
    """

    match_probabilities: tuple[float, ...]
    identity: tuple[Risk, ...] | None
    attribute: dict[str, tuple[Risk, ...]]
    singling_out: Risk | None


def measure_disclosure(
    comparison: Comparison, match_probabilities: Iterable[float] = MATCH_PROBABILITIES
) -> Disclosure:
    """The paper's disclosure: each quasi-identifier of a record is known with P_match, and at least one.

    Matches are the rows that equal the record (cover it, where cells are ranges) in all that is known; identity is
    1/matches if its own row is one of them, attribute the share of matches with its sensitive value. Means over all
    records and all sets of known attributes. Raises PolicyError for a P_match outside (0, 1].

    >>> import polars as pl
    >>> from muco.policy import Policy
    >>> table = pl.DataFrame({"age": [20, 30, 40], "pay": [1, 2, 3]})
    >>> released = table.with_columns(age=pl.Series([20, 20, 40]))
    >>> made = Comparison.of(table, released, Policy.of(quasi="age", sensitive="pay"))
    >>> measure_disclosure(made, [1.0]).identity[0].rate.value  # 1/2, none, 1
    0.5
    """
    chosen = tuple(match_probabilities)
    if not chosen or not all(0 < p <= 1 for p in chosen):
        raise PolicyError("a P_match is a probability above 0 and at most 1 (Section 5.1)")
    attributes = len(comparison.quasi)
    sets = [_Sets.of(attributes, p, place) for place, p in enumerate(chosen)]
    is_aligned = comparison.record is not None
    masks = np.unique(np.concatenate([part.masks for part in sets] + [_whole(attributes)]))
    released = _Sums.of(comparison, masks)
    raw = _Sums.of(comparison.raw(), masks)
    chance = _Sums.of(shuffle_rows(comparison), masks, most=_CONTROLS)

    def risks(what: str, place: int | None) -> tuple[Risk, ...]:
        return tuple(
            framed(
                f"A0p at {part.probability:g}",
                f"each quasi-identifier with probability {part.probability:g}, exactly",
                [each.rate(part, what, place) for each in (released, raw, chance)],
                _note(part, released),
            )
            for part in sets
        )

    names = [domain.attribute for domain in comparison.sensitive]
    return Disclosure(
        chosen,
        risks("identity", None) if is_aligned else None,
        {name: risks("attribute", place) for place, name in enumerate(names)},
        _singling(attributes, (released, raw, chance)) if is_aligned else None,
    )


def rate_exact(comparison: Comparison, *, most: int | None = None) -> Rate:
    """Identity disclosure at P_match 1 alone, without the controls of `measure_disclosure`."""
    whole = _Sets.of(len(comparison.quasi), 1.0, 0)
    return _Sums.of(comparison, whole.masks, most=most).rate(whole, "identity", None)


@dataclass(frozen=True, slots=True)
class _Sets:
    """The sets of known attributes at one P_match as bits, and what each weighs."""

    probability: float
    masks: Masks
    weights: Reals
    is_exact: bool

    @staticmethod
    def of(attributes: int, probability: float, place: int) -> _Sets:
        if probability == 1:
            return _Sets(1.0, _whole(attributes), np.ones(1), is_exact=True)
        if attributes <= MOST_EXACT:
            masks = np.arange(1, 1 << attributes, dtype=np.uint64)
            known = np.bitwise_count(masks).astype(np.float64)
            weights = probability**known * (1 - probability) ** (attributes - known)
            return _Sets(probability, masks, weights / weights.sum(), is_exact=True)
        drawn = _draw_sets(attributes, probability, place)
        masks, counts = np.unique(drawn, return_counts=True)
        return _Sets(probability, masks, counts / counts.sum(), is_exact=False)


def _whole(attributes: int) -> Masks:
    return np.array([(1 << attributes) - 1], dtype=np.uint64)


def _draw_sets(attributes: int, probability: float, place: int) -> Masks:
    """Sets with each attribute at its probability; empty ones are drawn again."""
    chance = 1 - (1 - probability) ** attributes
    tries = math.ceil(2 * SETS / chance) + 64
    is_known = uniforms(PUBLIC, place, tries * attributes).reshape(tries, attributes) < probability
    bits = np.left_shift(np.uint64(1), np.arange(attributes, dtype=np.uint64))
    masks: Masks = np.where(is_known, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64)
    return masks[masks > 0][:SETS]


@dataclass(frozen=True, slots=True)
class _Sums:
    """Mean disclosure over the targets, one a set of known attributes."""

    masks: Masks
    identity: Reals
    singled: Reals
    attribute: Reals  # (masks, sensitive attributes)
    trials: int
    records: int

    @staticmethod
    def of(comparison: Comparison, masks: Masks, *, most: int | None = None) -> _Sums:
        targets = _targets(comparison, most)
        identity, singled, attribute = disclose(encode_for_core(comparison), masks, targets)
        trials = max(len(targets), 1)
        return _Sums(
            masks, identity / trials, singled / trials, attribute / trials, trials, len(comparison.original)
        )

    def rate(self, sets: _Sets, what: str, place: int | None) -> Rate:
        here = np.searchsorted(self.masks, sets.masks)
        means = self.attribute[here, place] if what == "attribute" else getattr(self, what)[here]
        value = float((means * sets.weights).sum())
        is_exact = sets.is_exact and self.trials == self.records
        rate = Rate.of_mean(value, self.trials, exact=is_exact)
        if sets.is_exact:
            return rate
        # What the draw of the sets adds to the interval, as a standard error of their mean.
        spread = float((sets.weights * (means - value) ** 2).sum()) / SETS
        wider = [math.hypot(end - value, 1.96 * math.sqrt(spread)) for end in (rate.low, rate.high)]
        return Rate(value, max(0.0, value - wider[0]), min(1.0, value + wider[1]), self.trials, is_exact)


def _targets(comparison: Comparison, most: int | None) -> Offsets:
    records = len(comparison.original)
    if not comparison.is_generalized:
        return np.arange(records)
    bearable = max(_FEWEST, PAIRS // max(1, len(comparison.low)))
    return choose_targets(records, bearable if most is None else min(most, bearable))


def _note(sets: _Sets, sums: _Sums) -> str:
    parts = [] if sets.is_exact else [f"{SETS} sets of known attributes drawn"]
    parts += [] if sums.trials == sums.records else [f"{sums.trials} of {sums.records} records tried"]
    return "; ".join(parts)


def _singling(attributes: int, sums: Sequence[_Sums]) -> Risk:
    """WP216's singling out: the share of records whose values one row alone has, and it is theirs."""
    whole = _Sets.of(attributes, 1.0, 0)
    rates = [each.rate(whole, "singled", None) for each in sums]
    return framed("singling out", "all quasi-identifiers, exactly", rates, _note(whole, sums[0]))
