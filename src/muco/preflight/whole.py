"""A policy and a table checked together, before a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from muco.arrays import Codes
from muco.domain import Domain
from muco.errors import MucoError, TableError
from muco.fault import suggest
from muco.feasibility import find_obstacles, largest_diversity
from muco.frame import Frame
from muco.personal import read_asks, read_households, read_weights
from muco.policy import Policy
from muco.preflight.columns import encode_or_find, find_in_column
from muco.preflight.finding import Blame, Finding, Severity, rows_shown
from muco.preflight.reading import read_policy
from muco.preflight.rules import find_broken_rules
from muco.switches import Principle, Role
from muco.uniqueness import name_some, unique_share

TINY = 100
_MANY = 0.05
_SMALL_GROUP = 5
_TIGHT = 0.8  # of the largest l: above it hardly any cut keeps the principle


def find_all(frame: Any, path: Path) -> list[Finding]:
    """Everything that would stop or weaken a run of the policy in a file on a table, the gravest first."""
    table = frame if isinstance(frame, Frame) else Frame.of(frame)
    policy, found = read_policy(path)
    if policy is not None:
        found += find_in_table(table, policy)
    order = list(Severity)
    return sorted(found, key=lambda finding: order.index(finding.severity))


def find_in_table(table: Frame, policy: Policy) -> list[Finding]:
    """The same for a policy that is valid in itself."""
    found = list(_names(table, policy))
    present = {name: policy.attributes[name] for name in policy.attributes if name in table.names}
    policy = policy.model_copy(update={"attributes": present})
    if not len(table):
        return [*found, Finding(Severity.ERROR, Blame.TABLE, "the table has no records", "see the file")]
    sensitive: list[tuple[Domain, Codes]] = []
    quasi: dict[str, tuple[Domain, Codes]] = {}
    for name, attribute in present.items():
        if attribute.role in {Role.QUASI, Role.SENSITIVE}:
            encoded, faults = encode_or_find(table, name, policy)
            found += faults
            if encoded and attribute.role is Role.SENSITIVE:
                sensitive.append(encoded)
            elif encoded:
                quasi[name] = encoded
    for name in table.names:
        if name not in present or present[name].role is not Role.IDENTIFIER:
            found += find_in_column(policy.numerals.rewrite(table.column(name)), present.get(name), policy.missing)
    found += find_broken_rules(policy, quasi)
    found += _personal(table, policy)
    found += _promise(policy, sensitive, len(table))
    return [*found, *_untouched(table, policy), *_persons(table, policy), *_size(table, policy)]


def without_values(findings: Sequence[Finding]) -> list[Finding]:
    """The findings as they may be shown to anybody."""
    return [replace(finding, values=()) for finding in findings]


def _names(table: Frame, policy: Policy) -> Iterator[Finding]:
    for name in policy.attributes:
        if name not in table.names:
            hint = suggest(name, table.names).removeprefix(": ") or "see the header"
            yield Finding(Severity.ERROR, Blame.TABLE, f"the table has no attribute {name}", hint, name)
    if not policy.quasi:
        yield Finding(
            Severity.ERROR,
            Blame.POLICY,
            "no quasi-identifier is named",
            "name the attributes that an adversary may know",
        )
    if unnamed := [name for name in table.names if name not in policy.attributes]:
        yield Finding(
            Severity.NOTE,
            Blame.POLICY,
            f"columns without a role are released untouched: {name_some(unnamed)}",
            "give each a role",
            count=len(unnamed),
        )


def _personal(table: Frame, policy: Policy) -> list[Finding]:
    """Cells that should say something of each record to the method, and do not."""
    found = []
    nothing = np.zeros((len(table), 1), dtype=np.int32)
    readers: dict[str | None, Callable[[], object]] = {
        policy.asks: lambda: read_asks(table, policy),
        policy.household: lambda: read_households(table, policy, nothing, bytes(32)),
        policy.weight: lambda: read_weights(table, policy),
    }
    for name, read in readers.items():
        try:
            if name in table.names:
                read()
        except MucoError as error:
            rows = error.rows if isinstance(error, TableError) else ()
            faults = Finding.of(error, attribute=name)
            found += [replace(each, count=len(rows), rows=rows_shown(rows)) for each in faults]
    return found


def _promise(policy: Policy, sensitive: Sequence[tuple[Domain, Codes]], records: int) -> Iterator[Finding]:
    """What cannot be kept, and what can hardly be kept."""
    needed = sensitive if policy.principle is not Principle.ANONYMITY else ()
    obstacles = list(find_obstacles(policy, needed, records))
    for obstacle in obstacles:
        yield from Finding.of(obstacle)
    if obstacles:
        return
    for domain, codes in needed if policy.principle is not Principle.CLOSENESS else ():
        largest, commonest = largest_diversity(policy, domain, codes), int(np.bincount(codes).max())
        if policy.diversity > _TIGHT * largest:
            yield Finding(
                Severity.WARNING,
                Blame.PROMISE,
                f"attribute {domain.attribute}: its commonest value stands in {commonest:,} of {records:,} "
                f"records, so l can be {largest} at most, and {policy.diversity} leaves little room to cut",
                f"lower diversity to {max(1, int(_TIGHT * largest))}, or make the value finer",
                domain.attribute,
                commonest,
            )
    if policy.diversity < _SMALL_GROUP:
        yield Finding(
            Severity.WARNING,
            Blame.PROMISE,
            f"a group may have as few as {policy.diversity} records: who knows the groups links a row with "
            f"probability 1/{policy.diversity}",
            "raise diversity; where a sensitive attribute cannot bear it, take principle closeness or anonymity",
        )


def _untouched(table: Frame, policy: Policy) -> Iterator[Finding]:
    """Columns that are released as they are, and single records out together."""
    hidden = {*policy.quasi, *policy.named(Role.IDENTIFIER)}
    names = [name for name in table.names if name not in hidden]
    share = unique_share([table.column(name) for name in names])
    if not share:
        return
    yield Finding(
        Severity.WARNING if share >= _MANY else Severity.NOTE,
        Blame.PROMISE,
        f"{share:.1%} of the records are unique in the columns that are released untouched ({name_some(names)})",
        "who knows these finds the person: make some of them quasi-identifiers, or leave them out",
        count=round(share * len(table)),
    )


def _persons(table: Frame, policy: Policy) -> Iterator[Finding]:
    """Identifiers that repeat: a person has several rows, and a group may hold one person only."""
    for name in set(policy.named(Role.IDENTIFIER)) - {policy.asks, policy.household}:
        column = table.column(name).drop_nulls()
        persons = column.n_unique()
        if persons < len(column) and persons > 1:
            yield Finding(
                Severity.WARNING,
                Blame.PROMISE,
                f"attribute {name} repeats: {len(column):,} rows of {persons:,} persons",
                f'name it as household ("household = {name}"), or make one row a person: else a group may hold one '
                "person many times, and the promise counts rows",
                name,
                len(column) - persons,
            )


def _size(table: Frame, policy: Policy) -> Iterator[Finding]:
    records = len(table)
    if records < TINY or records < 5 * policy.diversity:
        yield Finding(
            Severity.WARNING,
            Blame.TABLE,
            f"the table has {records} records: it makes {records // policy.diversity} groups at most",
            "think of publishing counts instead of records, or of collecting more",
            count=records,
        )
