"""The lines of Algorithms 1 and 2, each on its own: over a batch of groups, or over one group for inspection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from muco import _core
from muco._core import Tables
from muco.arrays import Codes
from muco.domain import Domain
from muco.errors import InfeasibleError, PolicyError, ReleaseError, TableError
from muco.microdata import Batch, Group, Groups, Key, Microdata
from muco.output_table import OutputTable
from muco.presets import TIGHT, read_delta


def divide_table(microdata: Microdata) -> Groups:
    """Algorithm 1, line 2: the groups, by Mondrian and the policy's grouping; each keeps the principle.

    The groups do not depend on the order of the records.

    >>> import polars as pl, muco
    >>> table = pl.DataFrame({"age": [28, 28, 29, 40], "pay": [1, 2, 1, 2]})
    >>> policy = muco.Policy.of(quasi="age", sensitive="pay", diversity=2)
    >>> groups = muco.divide_table(muco.Microdata.of(table, policy))
    >>> sorted(sorted(group.records.tolist()) for group in groups)
    [[0, 1], [2, 3]]
    """
    policy, households = microdata.policy, microdata.households
    order, starts, leaves = _core.divide_table(
        microdata.codes,
        microdata.sensitive_codes,
        microdata.tags,
        microdata.distances,
        microdata.principle,
        sizes=[len(domain.cells) for domain in microdata.sensitive],
        ordered=[domain.is_ordered for domain in microdata.sensitive],
        grouping=policy.grouping,
        sweep=policy.sweep,
        exchanges=policy.exchanges,
        temperature=policy.temperature or 0.0,
        key=microdata.key.bits,
        partition=microdata.partition,
        asks=microdata.least,
        households=None if households is None else (households.number, households.middles),
    )
    groups = Groups(microdata, order, starts, leaves)
    _check_personal(groups)
    return groups


def calculate_tables(batch: Batch, delta: Fraction | str | None = None) -> Tables:
    """Algorithm 1, line 5, for every group of a batch and every attribute: exact and checked before any draw.

    `delta` is the policy's unless given; a group whose records ask for more has 1 over the most that is asked for.
    Raises InfeasibleError for a delta below 1/m (Property 1) and ReleaseError
    for a table that fails its check.
    """
    microdata, policy = batch.groups.microdata, batch.groups.microdata.policy
    limit = policy.delta if delta is None else delta
    smallest = int(np.diff(batch.starts).min())
    if isinstance(limit, Fraction) and limit < Fraction(1, smallest):
        raise InfeasibleError(
            f"delta is {limit} but the smallest group has {smallest} records: delta must be at least 1/{smallest} "
            "(Property 1). Raise delta or diversity"
        )
    try:
        return _core.calculate_tables(
            microdata.codes,
            batch.order,
            batch.starts,
            microdata.distances,
            delta=(limit.numerator, limit.denominator) if isinstance(limit, Fraction) else None,
            cover=policy.cover,
            columns=policy.columns,
            asks=microdata.asks,
        )
    except ArithmeticError as error:
        raise ReleaseError(f"{error}. Nothing is released; please report this table's policy") from None
    except ValueError as error:
        raise InfeasibleError(f"{error}. Make the attribute coarser, or set delta to tight") from None


def calculate_table(group: Group, attribute: str, delta: Fraction | str | float | None = None) -> OutputTable:
    """Algorithm 1, line 5: the random output table of one group and attribute, at its centre.

    `delta` is a number such as 1/6, or tight; the policy's unless given.

    >>> import polars as pl, muco
    >>> table = pl.DataFrame({"age": [28, 28, 29], "pay": [1, 2, 3]})
    >>> policy = muco.Policy.of(quasi="age", sensitive="pay", diversity=3, delta="1/2")
    >>> group = muco.divide_table(muco.Microdata.of(table, policy))[0]
    >>> print(muco.calculate_table(group, "age"))
    age      28      29
    28   0.7089  0.2911
    28   0.7089  0.2911
    29   0.4179  0.5821
    """
    place = _place(group, attribute)
    try:
        limit = None if delta is None else read_delta(delta)
    except ValueError as error:
        raise PolicyError(f"delta {error}") from None
    tables = calculate_tables(group.batch, limit)
    row_codes, _, column_codes, numerators, total = tables.table(0, place)
    codes = group.microdata.codes[group.records, place]
    domain = group.microdata.quasi[place]
    return OutputTable(
        group,
        attribute,
        tuple(domain.cells.gather(codes).to_list()),
        tuple(domain.cells.gather(column_codes).to_list()),
        numerators[np.searchsorted(row_codes, codes)],
        total,
        tables,
    )


def draw_values(tables: Tables, batch: Batch, key: Key) -> Codes:
    """Algorithm 1, line 6, for a batch: a code a record and attribute, in the batch's order.

    Streams are addressed by key, group, attribute and step, so that batches of any size draw the same.
    """
    policy = batch.groups.microdata.policy
    return _core.output_values(
        tables, key.bits, first_group=batch.first, draw=policy.draw, blocks=policy.block_places
    )


def output_values(table: OutputTable, *, key: bytes | str | Key) -> list[Any]:
    """Algorithm 1, line 6: a random value for each record of a group, drawn from its random output table.

    The same key, group and attribute draw the same values, here and in a whole run.

    >>> import polars as pl, muco
    >>> table = pl.DataFrame({"age": [28, 28, 29], "pay": [1, 2, 3]})
    >>> policy = muco.Policy.of(quasi="age", sensitive="pay", diversity=3)
    >>> group = muco.divide_table(muco.Microdata.of(table, policy))[0]
    >>> sorted(muco.output_values(muco.calculate_table(group, "age"), key=bytes(32)))
    [28, 28, 29]
    """
    drawn = draw_values(table.tables, table.group.batch, Key.of(key))
    place = _place(table.group, table.attribute)
    return table.group.microdata.quasi[place].cells.gather(drawn[:, place]).to_list()


def keep_rules(tables: Tables, drawn: Codes, batch: Batch, key: Key) -> Codes:
    """The drawn codes of a batch with values exchanged inside groups until fewest rows break an edit rule.

    Only records whose rows in the tables are equal exchange values, so that every p_ij stays what its table says,
    and in the provable setting every matching as likely (docs/algebra/rules.md).
    """
    microdata = batch.groups.microdata
    if not microdata.rules:
        return drawn
    return _core.keep_rules(
        tables,
        drawn,
        key.bits,
        first_group=batch.first,
        rules=[list(rule.conditions) for rule in microdata.rules],
        draw=microdata.policy.draw,
        blocks=microdata.policy.block_places,
    )


def repair_tuples(tables: Tables, drawn: Codes, batch: Batch, key: Key) -> tuple[Codes, int, int]:
    """Algorithm 2, for a batch: the codes, how many tuples were repaired, and how many could not be."""
    repair = batch.groups.microdata.policy.repair
    return _core.randomize_unchanged_tuples(tables, drawn, key.bits, first_group=batch.first, repair=repair)


def randomize_unchanged_tuples(
    group: Group, outputs: Mapping[str, Sequence[Any]], *, key: bytes | str | Key, repair: int = 1
) -> dict[str, list[Any]]:
    """Algorithm 2: perturb the tuples of a group that kept their value on every quasi-identifier.

    `outputs` has the output values of every attribute. An attribute is chosen by weight, dis_max(attribute, group)
    over dis_max(attribute, T), and replaced by a random value of the group, until `repair` values differ. A group
    whose records are all equal is left as it is.
    """
    microdata = group.microdata
    if set(outputs) != set(microdata.policy.quasi):
        raise PolicyError(f"outputs are needed for each quasi-identifier: {', '.join(microdata.policy.quasi)}")
    if not 0 <= repair <= len(outputs):
        raise PolicyError(
            f"repair is {repair} but there are {len(outputs)} quasi-identifiers: choose from 0 to that"
        )
    columns = [_codes(domain, outputs[domain.attribute], records=len(group)) for domain in microdata.quasi]
    drawn = np.ascontiguousarray(np.stack(columns, axis=1))
    tables = calculate_tables(group.batch, TIGHT)
    codes, _, _ = _core.randomize_unchanged_tuples(
        tables, drawn, Key.of(key).bits, first_group=group.number, repair=repair
    )
    return {
        domain.attribute: domain.cells.gather(codes[:, place]).to_list()
        for place, domain in enumerate(microdata.quasi)
    }


def _codes(domain: Domain, outputs: Sequence[Any], *, records: int) -> Codes:
    """The codes of output values. Errors: TableError for too many or too few, and for others than the domain's."""
    if len(outputs) != records:
        raise TableError(
            f"attribute {domain.attribute} has {len(outputs)} outputs, but its group has {records} records"
        )
    cells = pl.Series(outputs, dtype=domain.cells.dtype, strict=False)
    if strays := cells.null_count() - sum(value is None for value in outputs):
        raise TableError(f"attribute {domain.attribute}: {strays} values are not of its domain")
    return domain.find(cells)


def _check_personal(groups: Groups) -> None:
    """Raise ReleaseError unless each record is among as many as it needs, and with all of its household."""
    least, households = groups.microdata.least, groups.microdata.households
    if len(least) and (least[groups.order] > np.repeat(groups.sizes, groups.sizes)).any():
        raise ReleaseError("a record is among fewer records than it needs. Nothing is released; please report this")
    if households is not None:
        number = households.number[groups.order].astype(np.int64)
        whole = households.sizes[groups.order] > 1
        held = number * len(groups) + np.repeat(np.arange(len(groups)), groups.sizes)
        if len(np.unique(held[whole])) > len(np.unique(number[whole])):
            raise ReleaseError("a household stands in two groups. Nothing is released; please report this")


def _place(group: Group, attribute: str) -> int:
    quasi = group.microdata.policy.quasi
    if attribute not in quasi:
        raise PolicyError(f"{attribute} is no quasi-identifier: there are {', '.join(quasi)}")
    return quasi.index(attribute)
