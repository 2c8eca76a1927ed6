"""The microdata T of Section 3, encoded: what the algorithm sees of a table, and its groups."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muco._core import Distance, Principle, tag_records
from muco.arrays import Codes, Offsets
from muco.domain import Domain, encode
from muco.errors import PolicyError, TableError
from muco.fault import suggest
from muco.feasibility import find_obstacles, principle_of
from muco.frame import Frame
from muco.personal import Households, read_asks, read_households, read_weights
from muco.policy import Policy
from muco.rule_codes import CodedRule, code_rules
from muco.switches import Partition, Role
from muco.switches import Principle as Form
from muco.values import Distinct

BATCH = 1 << 14  # records of a batch of groups: progress moves and a stop is heard; 2^13 to 2^18 are equally fast

# 32 random bytes have fewer than 16 different ones with probability 256^15/15! (15/256)^32 = 4e-16 at most.
_FEWEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Key:
    """The 256 secret bits that every random number of a run comes from. They never show."""

    bits: bytes

    def __repr__(self) -> str:
        return "Key(...)"

    @staticmethod
    def of(given: bytes | str | Key | None) -> Key:
        """A key given as 32 bytes or 64 hexadecimal digits, for tests and repeats; a fresh one for None.

        Raises PolicyError.
        """
        if isinstance(given, Key):
            return given
        if given is None:
            return Key(secrets.token_bytes(32))
        try:
            bits = bytes.fromhex(given.strip()) if isinstance(given, str) else bytes(given)
        except (ValueError, TypeError):
            bits = b""
        if len(bits) != 32:
            raise PolicyError("a key is 32 bytes, or 64 hexadecimal digits such as `openssl rand -hex 32` prints")
        return Key(bits)

    @property
    def is_guessable(self) -> bool:
        """Whether the key looks made up: few different bytes, even steps, or text.

        Of random keys one in 10^14 does. A key that is not is no proof of chance: it may be the hash of a word.
        """
        steps = {(after - before) % 256 for before, after in pairwise(self.bits)}
        is_text = all(32 <= byte < 127 for byte in self.bits)
        return is_text or len(set(self.bits)) < _FEWEST_BYTES or len(steps) < _FEWEST_BYTES


@dataclass(frozen=True, slots=True)
class Microdata:
    """A table and its policy, as integer codes.

    `codes` has shape (records, quasi-identifiers), `sensitive_codes` (records, sensitive attributes). `tags` orders
    records that are equal in every quasi-identifier, at random under the key. `key` is what the grouping `sampled`
    draws from. `asks` says among how many records each is to hide, `households` which belong together: empty, and
    None, where the policy names no column for it.
    """

    frame: Frame
    policy: Policy
    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...]
    codes: Codes
    sensitive_codes: Codes
    tags: NDArray[np.uint64]
    key: Key
    asks: NDArray[np.uint32]
    households: Households | None
    rules: tuple[CodedRule, ...] = ()
    partition: Partition = Partition.RANGE

    def __repr__(self) -> str:
        return f"Microdata({len(self)} records, {len(self.quasi)} quasi-identifiers)"

    def __len__(self) -> int:
        return len(self.codes)

    @staticmethod
    def of(frame: Any, policy: Policy, *, key: bytes | str | Key | None = None) -> Microdata:
        """Encode a pandas, polars or pyarrow table by a policy.

        Raises PolicyError for a policy that does not fit any table (no quasi-identifier), TableError for a table
        that does not fit the policy, InfeasibleError for a diversity that the table cannot bear.
        """
        table = frame if isinstance(frame, Frame) else Frame.of(frame)
        _check_names(table, policy)
        quasi = [_encode(table, policy, name) for name in policy.quasi]
        asks = read_asks(table, policy)
        read_weights(table, policy)  # what they count is the analyst's; here they only have to be there
        needed = policy.sensitive if policy.principle is not Form.ANONYMITY else ()
        sensitive = [_encode(table, policy, name) for name in needed]
        secret, codes = Key.of(key), _stacked([codes for _, codes in quasi], len(table))
        microdata = Microdata(
            table,
            policy,
            tuple(domain for domain, _ in quasi),
            tuple(domain for domain, _ in sensitive),
            codes,
            _stacked([codes for _, codes in sensitive], len(table)),
            _tag(table, policy, [*(codes for _, codes in quasi), *([asks] if len(asks) else [])], secret),
            secret,
            asks,
            read_households(table, policy, codes, secret.bits),
            code_rules(policy, [domain for domain, _ in quasi]),
        )
        if obstacle := next(find_obstacles(policy, sensitive, len(table)), None):
            raise obstacle
        return microdata

    @property
    def distances(self) -> list[Distance]:
        """dis(.) of each quasi-identifier."""
        return [domain.distance for domain in self.quasi]

    @property
    def least(self) -> NDArray[np.uint32]:
        """How many records the group of each record must have: its ask, and l for each of its household's."""
        if self.households is None:
            return self.asks
        needed = (self.households.sizes * self.policy.diversity).astype(np.uint32)
        return np.maximum(needed, self.asks) if len(self.asks) else needed

    @property
    def principle(self) -> Principle:
        """What every group must keep."""
        return principle_of(self.policy)

    def released(self, rows: Offsets, codes: Codes, dropped: tuple[str, ...] = ()) -> Any:
        """The frame that may leave: row i is record `rows[i]` with the quasi-identifiers of `codes[i]`.

        Identifiers go, and what is `dropped` beside.
        """
        cells = zip(self.quasi, codes.T, strict=True)
        covered = {domain.attribute: domain.records[column] for domain, column in cells}
        return self.frame.released(rows, covered, frozenset((*self.policy.named(Role.IDENTIFIER), *dropped)))

    @property
    def released_names(self) -> tuple[str, ...]:
        """The columns that leave: all but identifiers."""
        hidden = set(self.policy.named(Role.IDENTIFIER))
        return tuple(name for name in self.frame.names if name not in hidden)


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of Algorithm 1, line 2.

    `order` lists the records of group 0, then of group 1, ...; group g is `order[starts[g]:starts[g + 1]]`.
    `leaves[g]` is the Mondrian leaf that group g comes from.
    """

    microdata: Microdata
    order: Offsets
    starts: Offsets
    leaves: Offsets

    def __repr__(self) -> str:
        return f"Groups({len(self)} groups of {len(self.order)} records)"

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> Group:
        if not -len(self) <= number < len(self):
            raise IndexError(f"there are {len(self)} groups")
        return Group(self, number % len(self))

    def __iter__(self) -> Iterator[Group]:
        return (Group(self, number) for number in range(len(self)))

    @property
    def sizes(self) -> Offsets:
        """How many records each group has."""
        sizes: Offsets = np.diff(self.starts)
        return sizes

    @property
    def largest_share(self) -> Fraction:
        """The largest share of a group that one household has, or one record where there are none."""
        households = self.microdata.households
        sizes = np.repeat(self.sizes, self.sizes)
        held = np.ones_like(sizes) if households is None else households.sizes[self.order]
        place = int((held / sizes).argmax())
        return Fraction(int(held[place]), int(sizes[place]))

    def batches(self, records: int = BATCH) -> Iterator[Batch]:
        """Runs of whole groups of about so many records."""
        cuts = np.searchsorted(self.starts, np.arange(0, len(self.order), records))
        for first, last in pairwise(np.unique(np.append(cuts, len(self))).tolist()):
            yield Batch(self, first, last)


@dataclass(frozen=True, slots=True)
class Batch:
    """Groups `first` to `last` (excluded), whose tables are calculated and drawn from in one call."""

    groups: Groups
    first: int
    last: int

    @property
    def order(self) -> Offsets:
        """The records, group by group."""
        return self.groups.order[self.groups.starts[self.first] : self.groups.starts[self.last]]

    @property
    def starts(self) -> Offsets:
        """Where in `order` each group begins, and where the last ends."""
        starts: Offsets = self.groups.starts[self.first : self.last + 1] - self.groups.starts[self.first]
        return starts


@dataclass(frozen=True, slots=True)
class Group:
    """One group of records that cover for each other."""

    groups: Groups
    number: int

    def __repr__(self) -> str:
        return f"Group({len(self)} records)"

    def __len__(self) -> int:
        return len(self.records)

    @property
    def records(self) -> Offsets:
        """The row numbers of its records in the microdata, from 0."""
        return self.batch.order

    @property
    def batch(self) -> Batch:
        """The batch of this group alone."""
        return Batch(self.groups, self.number, self.number + 1)

    @property
    def microdata(self) -> Microdata:
        """The table that the group is of."""
        return self.groups.microdata


def _encode(table: Frame, policy: Policy, name: str) -> tuple[Domain, Codes]:
    attribute = policy.attributes[name]
    return encode(table.column(name), attribute, policy.missing, numerals=policy.numerals, origin=table.origin)


def _check_names(table: Frame, policy: Policy) -> None:
    if not policy.quasi:
        raise PolicyError("no quasi-identifier is named: name the attributes that an adversary may know")
    absent = [name for name in policy.attributes if name not in table.names]
    if absent:
        raise TableError(
            "\n".join(f"the table has no attribute {name}{suggest(name, table.names)}" for name in absent)
        )
    if not len(table):
        raise TableError("the table has no records")


def _stacked(columns: list[Codes], records: int) -> Codes:
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.empty((records, 0), dtype=np.int32)


def _tag(table: Frame, policy: Policy, known: list[NDArray[Any]], key: Key) -> NDArray[np.uint64]:
    """Keyed tags of all that leaves or is `known` to the groups: no order of the input is left among equals."""
    untouched = [*policy.sensitive, *(name for name in table.names if name not in policy.attributes)]
    untouched += policy.named(Role.OTHER)
    places = [Distinct.of(table.plain_text(name), ()).index for name in untouched]
    return tag_records(key.bits, np.ascontiguousarray(np.stack([*known, *places], axis=1), dtype=np.uint64))
