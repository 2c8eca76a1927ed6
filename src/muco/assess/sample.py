"""Which records are tried where all would take too long, under a key that is known: a measure must repeat."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from muco import gate
from muco._core import Encoded, shuffled
from muco.arrays import Offsets
from muco.assess.comparison import Comparison
from muco.assess.rate import Rate, Risk

# Nothing secret is drawn under it: it chooses targets and orders controls, the same ones on every machine. It is
# the gate's, so that an assessment finds what the gate found.
PUBLIC = gate.PUBLIC


def choose_targets(records: int, most: int | None) -> Offsets:
    """At most `most` of the records, each as likely, ascending; all of them for None.

    >>> len(choose_targets(10, 4)), choose_targets(3, 4)
    (4, array([0, 1, 2]))
    """
    if most is None or records <= most:
        return np.arange(records)
    return np.sort(shuffled(PUBLIC, records)[:most])


def shuffle_rows(comparison: Comparison) -> Comparison:
    """The control of every adversary: quasi-identifiers dealt out among the rows again."""
    return comparison.permuted(shuffled(PUBLIC, len(comparison.low)))


def shuffle_columns(comparison: Comparison) -> Comparison:
    """The control for questions about a whole release: each quasi-identifier dealt out among the rows by itself."""
    low, high = comparison.low.copy(), comparison.high.copy()
    for place in range(low.shape[1]):
        order = shuffled(hashlib.sha256(PUBLIC + place.to_bytes(4, "big")).digest(), len(low))
        low[:, place], high[:, place] = low[order, place], high[order, place]
    return replace(comparison, low=low, high=high)


def encode_for_core(comparison: Comparison) -> Encoded:
    """The arrays of a comparison for the core; of unaligned tables no row is any record's own."""
    unknown = np.full(len(comparison.original), -1, dtype=np.int64)
    row = unknown if comparison.record is None else comparison.row
    return Encoded(
        np.ascontiguousarray(comparison.original),
        np.ascontiguousarray(comparison.low),
        np.ascontiguousarray(comparison.high),
        row,
        np.ascontiguousarray(comparison.original_sensitive),
        np.ascontiguousarray(comparison.released_sensitive),
    )


def framed(adversary: str, knows: str, rates: Sequence[Rate | None], note: str = "") -> Risk:
    """A risk between its controls: the rates of the release, of the raw table and of shuffled rows."""
    rate, raw, chance = rates
    if rate is None:
        raise ValueError("a risk needs the rate of the release")
    return Risk(adversary, knows, rate, raw, chance, note)
