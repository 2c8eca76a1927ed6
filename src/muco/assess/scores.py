"""Adversaries who score every released row: with tables but no groups (A2), and by simulating the method (A5)."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from muco._core import score_rows, search_rows, shuffled, sum_rows, tag_records
from muco.anonymize import mutual_cover
from muco.arrays import Codes, Offsets
from muco.assess.informed import drawn_as
from muco.assess.rate import Rate, Risk
from muco.assess.sample import PUBLIC, choose_targets, framed
from muco.microdata import Key, Microdata
from muco.release import Hidden
from muco.steps import divide_table

SIMULATIONS = 12
MOST_TARGETS = 2_000
PAIRS = 2 * 10**9  # (group, row) pairs that A2 looks at
WIDEST = 256  # values an attribute may have; wider ones are cut in so many bins
_PRIOR = 2.0  # simulated releases that the average person is worth beside a person's own
Scores = NDArray[np.float32]


def search_without_groups(hidden: Hidden) -> Risk:
    """A2: knows which tables each person's value was drawn from, but no row's group: the row most its own.

    Of the probabilities of everybody to have become a row, the target's share is its posterior, but for what rows
    tell of each other; the row with the largest is taken, ties share. Of a large table a keyed sample of groups is
    tried, and stands for the others. There is no raw control: tables that kept every value would be others.
    """
    groups, released = hidden.outcome.groups, hidden.outcome.released
    place = np.empty(len(released), dtype=np.int64)
    place[shuffled(PUBLIC, len(released))] = np.arange(len(released))
    tried = choose_targets(len(groups), max(100, PAIRS // max(1, len(released))))
    weight = (len(groups) - 1) / max(1, len(tried) - 1)
    repair, blocks = drawn_as(groups.microdata.policy)
    parts = [
        (tables, tried[(tried >= batch.first) & (tried < batch.last)] - batch.first, batch)
        for batch, tables in zip(groups.batches(), hidden.tables, strict=True)
    ]

    def rate(rows: Codes) -> Rate:
        sums = (sum_rows(tables, here, rows, repair=repair, blocks=blocks) for tables, here, _ in parts)
        totals = sum(sums, np.zeros(len(rows)))
        hits = []
        for tables, here, batch in parts:
            own = np.arange(groups.starts[batch.first], groups.starts[batch.last])
            hits.append(search_rows(tables, here, rows, own, totals, weight=weight, repair=repair, blocks=blocks))
        return Rate.of(np.concatenate(hits), exact=len(tried) == len(groups))

    knows = (
        "the tables of each person and all quasi-identifiers of everybody, but not which rows are of which group"
    )
    note = "no raw control: in the raw table nothing was drawn from these tables"
    note += "" if len(tried) == len(groups) else f"; {len(tried)} of {len(groups)} groups tried"
    return framed("A2 top guess", knows, [rate(released), None, rate(np.ascontiguousarray(released[place]))], note)


def simulate_method(hidden: Hidden, *, simulations: int = SIMULATIONS) -> Risk:
    """A5: knows the algorithm, its switches and everybody's quasi-identifiers, and simulates it under own keys.

    Sensitive values, which it does not know, are dealt out at random. How often a person became each value in the
    simulations, with a prior of how often the like did, over how often the release has it, is the score of a value
    (Fellegi and Sunter's agreement weights, value by value); their sum is the score of a row, and the best row is
    taken. `hidden` gives the encoded table and the policy, nothing else of the run. A keyed
    sample of targets is tried; the raw table has no control, for it is no release of the method.
    """
    microdata = hidden.outcome.groups.microdata
    runs = [_simulate(microdata, number) for number in range(simulations)]
    targets = choose_targets(len(microdata), MOST_TARGETS)
    row = np.empty(len(microdata), dtype=np.int64)
    row[hidden.rows] = np.arange(len(hidden.rows))
    order = np.argsort(hidden.outcome.groups.order)[hidden.rows]
    released = hidden.outcome.released[order]
    is_repaired = microdata.policy.repair > 0

    def rate(rows: Codes, *, takes_equal: bool) -> Rate:
        parts, binned, sizes = [], [], []
        for place, domain in enumerate(microdata.quasi):
            bins = _bins(rows[:, place], len(domain.cells))
            sizes.append(int(bins.max()) + 1)
            columns = [bins[run[:, place]] for run in runs]
            binned.append(bins[rows[:, place]])
            parts.append(_weights(bins[microdata.codes[:, place]], columns, binned[-1], targets))
        hits = score_rows(
            np.ascontiguousarray(np.concatenate(parts, axis=1), dtype=np.float32),
            np.ascontiguousarray(microdata.codes[targets]),
            row[targets],
            np.ascontiguousarray(np.stack(binned, axis=1), dtype=np.int32),
            sizes,
            takes_equal=takes_equal,
        )
        return Rate.of(hits, exact=len(targets) == len(microdata))

    mixed = released[shuffled(PUBLIC, len(released))]
    rates = [rate(released, takes_equal=not is_repaired), None, rate(mixed, takes_equal=not is_repaired)]
    knows = "the algorithm, its switches and all quasi-identifiers of everybody"
    note = f"{simulations} simulations; no raw control: the raw table is no release of the method"
    note += f"; {len(targets)} records tried" if len(targets) < len(row) else ""
    return framed("A5", knows, rates, note)


def _simulate(microdata: Microdata, number: int) -> Codes:
    """One release under a key of the adversary's own, as released codes record by record."""
    key = hashlib.sha256(PUBLIC + number.to_bytes(4, "big")).digest()
    deal = shuffled(key, len(microdata))
    guessed = replace(
        microdata,
        sensitive_codes=np.ascontiguousarray(microdata.sensitive_codes[deal]),
        tags=tag_records(key, np.arange(len(microdata), dtype=np.uint64)[:, None]),
        key=Key(key),
    )
    outcome = mutual_cover(divide_table(guessed), Key(key), lambda *_: None, lambda _: None)
    released = np.empty_like(outcome.released)
    released[outcome.groups.order] = outcome.released
    return released


def _bins(codes: Codes, size: int) -> Codes:
    """The bin of each code: its own, or one of many with about as many rows each."""
    if size <= WIDEST:
        return np.arange(size, dtype=np.int32)
    reached = np.cumsum(np.bincount(codes, minlength=size))
    bins: Codes = (reached * (WIDEST - 1) // max(1, reached[-1])).astype(np.int32)
    return bins


def _weights(own: Codes, simulated: list[Codes], released: Codes, targets: Offsets) -> Scores:
    """Log P(target becomes value) / P(value), shape (targets, values)."""
    size = int(max(own.max(), released.max(), *(run.max() for run in simulated))) + 1
    moves = np.zeros((size, size))
    personal = np.zeros((len(targets), size))
    for run in simulated:
        np.add.at(moves, (own, run), 1.0)
        np.add.at(personal, (np.arange(len(targets)), run[targets]), 1.0)
    frequency = (np.bincount(released, minlength=size) + 0.5) / (len(released) + 0.5 * size)
    # The like of a value nobody has are everybody; one more such person keeps every chance above 0.
    alike = (moves + frequency) / (moves.sum(axis=1, keepdims=True) + 1)
    chances = (personal + _PRIOR * alike[own[targets]]) / (len(simulated) + _PRIOR)
    weights: Scores = np.log(chances / frequency).astype(np.float32)
    return weights
