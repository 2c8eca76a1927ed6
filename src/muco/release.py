"""What a run gives: a Release, which may leave, and a Hidden, which may not; neither becomes the other."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from muco._core import Tables
from muco.arrays import Codes, Offsets
from muco.errors import TableError
from muco.microdata import Groups, Key
from muco.policy import Policy
from muco.rule_codes import RuleCount, count_broken
from muco.switches import Method


@dataclass(frozen=True, slots=True)
class Outcome:
    """What Algorithm 1 made of all groups: released codes in the order of the groups, and what Algorithm 2 did."""

    groups: Groups
    released: Codes
    repaired: int  # unchanged tuples that were perturbed
    unrepairable: int  # unchanged tuples of groups whose records are all equal
    drawn_broken: tuple[int, ...] = ()  # rows of the draw that broke each edit rule, before any exchange

    def __repr__(self) -> str:
        return f"Outcome({len(self.released)} records)"

    @property
    def original(self) -> Codes:
        """The original codes in the same order."""
        return self.groups.microdata.codes[self.groups.order]

    @property
    def rules(self) -> tuple[RuleCount, ...]:
        """How many rows break each edit rule."""
        rules = self.groups.microdata.rules
        original, released = (count_broken(rules, codes).tolist() for codes in (self.original, self.released))
        counts = zip(original, released, self.drawn_broken, strict=True)
        return tuple(RuleCount(rule.name, *each) for rule, each in zip(rules, counts))

    @property
    def smallest_group(self) -> int:
        """The fewest records that any group has."""
        return int(self.groups.sizes.min())

    @property
    def changed_share(self) -> float:
        """The share of quasi-identifier cells that differ from the original."""
        return float((self.original != self.released).mean())

    @property
    def information_loss(self) -> dict[str, float]:
        """Information loss of each attribute, summed over the records (docs/measures/loss.md)."""
        columns = zip(self.groups.microdata.quasi, self.original.T, self.released.T)
        return {
            domain.attribute: float(domain.loss(np.ascontiguousarray(a), np.ascontiguousarray(b)).sum())
            for domain, a, b in columns
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a run, for the curator's terminal."""

    records: int
    groups: int
    delta: str
    smallest_group: int
    changed_share: float  # of quasi-identifier cells
    information_loss: float  # summed over records and attributes
    seconds: float
    rules: tuple[RuleCount, ...] = ()


@dataclass(frozen=True, slots=True)
class Certificate:
    """What may be said in public of a release: how it was made, what that promises, and what it does not.

    It carries no key, group, table or count of fewer than ten records.
    """

    method: str
    settings: dict[str, Any]
    attributes: dict[str, tuple[str, ...]]
    records: int
    smallest_group: int
    changed_share: float
    information_loss: dict[str, float]
    repair: dict[str, int | str]
    promise: tuple[str, ...]
    limits: tuple[str, ...]
    version: str
    certificate_version: int = 1
    gate: dict[str, Any] = field(default_factory=dict)
    rules: tuple[dict[str, int | str], ...] = ()

    def to_json(self, **beside: Any) -> str:
        """The certificate as JSON, with what else is known of the written file, such as its SHA-256."""
        return json.dumps({**asdict(self), **beside}, indent=2, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True)
class Release:
    """T_anony: the published table in the caller's own kind of frame, and its certificate. It may leave.

    `summary` is for the curator: nothing of muco writes it beside the release.
    """

    data: Any
    certificate: Certificate
    summary: Summary

    def __repr__(self) -> str:
        certificate = self.certificate
        preset = certificate.settings.get("preset")
        how = f"preset {preset}" if preset else f"method {certificate.settings['method']}"
        return f"Release({certificate.records} records, {how}, smallest group {certificate.smallest_group})"


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The two published tables, in the caller's kind of frame: they are joined on the column `group`.

    `data` has a row a record: every column but identifiers and the sensitive attribute, and the group's number.
    `sensitive` has a row for each value of a group: its number, the value, how many records have it.
    """

    data: Any
    sensitive: Any
    group: str  # the name of the group's column
    count: str  # the name of the column of counts
    certificate: Certificate
    summary: Summary

    def __repr__(self) -> str:
        return f"Anatomy({self.certificate.records} records, smallest group {self.certificate.smallest_group})"


@dataclass(frozen=True, slots=True)
class Parts:
    """Anatomy's two tables as anybody may read them, whoever made them; the fields are those of `Anatomy`."""

    data: Any
    sensitive: Any
    group: str
    count: str

    def __repr__(self) -> str:
        return f"Parts(joined on {self.group})"

    @staticmethod
    def of(data: Any, sensitive: Any, policy: Policy) -> Parts:
        """Find the columns by which two tables are joined. Raises TableError where they are not Anatomy's."""
        left, right = list(data.columns), list(sensitive.columns)
        named = [name for name in policy.sensitive if name in right and name not in left]
        groups = [name for name in right if name in left and name not in policy.attributes]
        counts = [name for name in right if name not in {*named, *groups}]
        if len(named) != 1 or len(groups) != 1 or len(counts) != 1:
            raise TableError(
                "these are not Anatomy's two tables: the second needs one sensitive attribute that the first has "
                f"not ({len(named)} found), one column of group numbers that both have ({len(groups)}), and one of "
                f"counts ({len(counts)})"
            )
        return Parts(data, sensitive, groups[0], counts[0])


@dataclass(frozen=True, slots=True)
class HiddenGroups:
    """What must stay with the curator of a baseline's run: whose each row is, and which rows are of one group.

    `rows[i]` is the record (from 0) that row i stands for and `group[i]` the number of its group; `policy` names
    every column of the table.
    """

    method: Method
    policy: Policy
    rows: Offsets
    group: Offsets

    def __repr__(self) -> str:
        return f"HiddenGroups(method {self.method})"


@dataclass(frozen=True, slots=True)
class Hidden:
    """What must stay with the curator: the key, the groups, the tables, and which record became which row.

    `rows[i]` is the record (from 0) that row i of the release stands for. Tables come batch by batch.
    """

    key: Key
    outcome: Outcome
    tables: tuple[Tables, ...]
    rows: Offsets

    def __repr__(self) -> str:
        return f"Hidden({len(self.outcome.groups)} groups)"

    @property
    def policy(self) -> Policy:
        """What the run followed, every column of the table named."""
        return self.outcome.groups.microdata.policy
