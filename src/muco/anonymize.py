"""Algorithm 1, MuCo(T, δ): divide, cover, draw, keep the rules, repair, over batches of groups."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from warnings import warn

import numpy as np

from muco._core import Tables, shuffled
from muco.arrays import Offsets
from muco.errors import MucoWarning
from muco.frame import Frame
from muco.gate import check_gate
from muco.memory import CELL, check_memory
from muco.microdata import Groups, Key, Microdata
from muco.policy import Policy
from muco.promise import certify, find_cautions, summarize
from muco.release import Hidden, Outcome, Release
from muco.request import Watch, choose_policy, ignore
from muco.rule_codes import count_broken
from muco.steps import calculate_tables, divide_table, draw_values, keep_rules, repair_tuples


def anonymize(
    frame: Any,
    policy: Policy | None = None,
    *,
    key: bytes | str | Key | None = None,
    watch: Watch | None = None,
    **switches: Any,
) -> Release:
    """Anonymize a pandas, polars or pyarrow table: the same schema and kind of values, one row a record.

    Give a policy, or its parts by name: `quasi`, `sensitive` and `identifier` (lists of column names), `attributes`
    (kinds, orders, hierarchies), and switches such as `preset`, `delta`, `diversity`. Columns that are not named
    are released untouched, with a warning. Without a key no two runs are the same.

    Raises PolicyError, TableError, InfeasibleError (the promise cannot be met) or ReleaseError (it was not met).

    >>> import polars as pl, muco
    >>> table = pl.DataFrame({"age": [20, 30, 40, 50], "pay": [1, 2, 3, 4]})
    >>> release = muco.anonymize(table, quasi="age", sensitive="pay", diversity=4)
    >>> sorted(release.data["age"])
    [20, 30, 40, 50]
    """
    chosen = choose_policy(frame, policy, switches)
    release, _, _ = _run(chosen, key=Key.of(key), watch=watch or ignore, keep=ignore)
    return release


def anonymize_with_hidden(
    frame: Any,
    policy: Policy | None = None,
    *,
    key: bytes | str | Key | None = None,
    watch: Watch | None = None,
    **switches: Any,
) -> tuple[Release, Hidden]:
    """The same, and what must never leave: the key, the groups and the tables, to measure what they would tell."""
    tables: list[Tables] = []
    secret, chosen = Key.of(key), choose_policy(frame, policy, switches)
    release, outcome, rows = _run(chosen, key=secret, watch=watch or ignore, keep=tables.append)
    return release, Hidden(secret, outcome, tuple(tables), rows)


def _run(
    chosen: tuple[Frame, Policy], *, key: Key, watch: Watch, keep: Callable[[Tables], object]
) -> tuple[Release, Outcome, Offsets]:
    started = time.perf_counter()
    table, policy = chosen
    check_memory(CELL * len(table) * len(table.names), "anonymizing the table")
    watch("encode", 0, len(table))
    microdata = Microdata.of(table, policy, key=key)
    watch("divide", 0, len(table))
    kept: list[Tables] = []

    def see(tables: Tables) -> None:
        keep(tables)
        if policy.max_risk is not None:
            kept.append(tables)

    outcome = mutual_cover(divide_table(microdata), key, watch, see)
    certificate = certify(outcome, check_gate(outcome, kept))
    for caution in find_cautions(outcome):
        warn(caution, MucoWarning, stacklevel=3)
    watch("release", 0, len(table))
    order = shuffled(key.bits, len(table))
    rows = outcome.groups.order[order]
    data = microdata.released(rows, outcome.released[order])
    summary = summarize(outcome, seconds=time.perf_counter() - started)
    return Release(data, certificate, summary), outcome, rows


def mutual_cover(groups: Groups, key: Key, watch: Watch, keep: Callable[[Tables], object]) -> Outcome:
    """Algorithm 1, lines 3 to 9, over batches of groups; each batch's tables are shown to `keep`."""
    covered, repaired, unrepairable = [], 0, 0
    rules = groups.microdata.rules
    broken = np.zeros(len(rules), dtype=np.int64)
    for batch in groups.batches():
        watch("cover", int(groups.starts[batch.first]), len(groups.order))
        tables = calculate_tables(batch)
        drawn = draw_values(tables, batch, key)
        broken += count_broken(rules, drawn)
        values = keep_rules(tables, drawn, batch, key)
        values, mended, left = repair_tuples(tables, values, batch, key)
        covered.append(values)
        repaired, unrepairable = repaired + mended, unrepairable + left
        keep(tables)
    return Outcome(groups, np.concatenate(covered), repaired, unrepairable, tuple(broken.tolist()))
