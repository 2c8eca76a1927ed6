"""Columns that say something of each record to the method, and are no attribute: its cover, household, weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from muco._core import tag_records
from muco.arrays import Codes, Offsets
from muco.clause import Clause
from muco.errors import InfeasibleError, TableError
from muco.frame import Frame
from muco.switches import Role
from muco.values import Distinct, number_keys

if TYPE_CHECKING:
    from muco.policy import Policy

# The role that a column gets if it is given none, and the roles it may be given.
_ROLES: Mapping[str, tuple[Role, ...]] = {
    "asks": (Role.IDENTIFIER, Role.OTHER),
    "household": (Role.IDENTIFIER,),
    "weight": (Role.OTHER,),
}
PERSONAL = tuple(_ROLES)  # the fields that name such columns
_ALONE = 2**32 - 1  # the household of a record that has none


class Personal(Clause):
    """The part of a policy that names such columns."""

    asks: str | None = Field(
        None,
        min_length=1,
        description="A column that says among how many records each record is to hide; diversity where it is "
        "missing. It is removed, unless it has role other.",
    )

    household: str | None = Field(
        None,
        min_length=1,
        description="A column that says which records are of one household, or of one person who has several: they "
        "stand in one group, and are at most 1 over diversity of it. It is removed.",
    )

    weight: str | None = Field(
        None,
        min_length=1,
        description="A column of survey weights, by which queries count the rows. It is released untouched.",
    )

    def check_columns(self, roles: Mapping[str, Role]) -> None:
        """Raise ValueError unless each column that is named has a role that it can have."""
        for field, allowed in _ROLES.items():
            name = getattr(self, field)
            if name is not None and roles[name] not in allowed:
                raise ValueError(
                    f"{field} names {name}, which has role {roles[name]}: it can be {' or '.join(allowed)}"
                )


def fill_roles(words: dict[str, Any]) -> dict[str, Any]:
    """Give the columns that are named for each record, and have no role, the role that leaks least."""
    parts = words.get("attributes", {})
    named = {
        words[field]: {"role": roles[0]} for field, roles in _ROLES.items() if isinstance(words.get(field), str)
    }
    if not named or not isinstance(parts, Mapping):
        return words
    return {**words, "attributes": {**parts, **{name: role for name, role in named.items() if name not in parts}}}


def read_asks(table: Frame, policy: Policy) -> NDArray[np.uint32]:
    """Among how many records each record is to hide, shape (records,); empty where the policy names no column.

    Raises TableError for a cell that is no whole number from 1 on, InfeasibleError for one above the records.
    """
    if policy.asks is None:
        return np.empty(0, dtype=np.uint32)
    import polars as pl

    values = _distinct(table, policy, policy.asks)
    numbers = number_keys(values).cast(pl.Float64).to_numpy()
    values.refuse(
        (numbers < 1) | (numbers != np.floor(numbers)),
        "cannot be an ask",
        "each is a whole number from 1 on: among how many records its record is to hide; leave empty what asks for "
        "no more than diversity",
    )
    asks = np.full(len(values.cells), policy.diversity, dtype=np.float64)
    asks[~values.is_missing] = numbers
    rows = np.flatnonzero((asks > len(table))[values.index])
    if rows.size:
        raise InfeasibleError(
            f"attribute {policy.asks}: {rows.size} record{'s' * (rows.size > 1)} ({values.origin.describe(rows)}) "
            f"ask{'s' * (rows.size == 1)} to hide among more than the {len(table)} records of the table: no group "
            f"can have so many. Lower what is asked to at most {len(table)}"
        )
    return asks.astype(np.uint32)[values.index]


def read_weights(table: Frame, policy: Policy) -> NDArray[np.float64]:
    """The survey weight of each record, shape (records,); empty where the policy names no column.

    Raises TableError for a cell that is no finite number above 0: a record without a weight stands for nobody.
    """
    import polars as pl

    if policy.weight is None:
        return np.empty(0)
    values = _distinct(table, policy, policy.weight)
    absent = np.flatnonzero(values.is_missing[values.index])
    if absent.size:
        raise TableError(
            f"attribute {policy.weight}: {absent.size} cell{'s are' if absent.size > 1 else ' is'} missing "
            f"({values.origin.describe(absent)}): each record needs a weight above 0. Give them one, or leave the "
            "records out",
            rows=absent.tolist(),
        )
    numbers = number_keys(values).cast(pl.Float64).to_numpy()
    values.refuse(
        ~(numbers > 0), "cannot be a weight", "each is above 0 and says for how many people its record stands"
    )
    weights: NDArray[np.float64] = numbers[values.index]
    return weights


@dataclass(frozen=True, slots=True)
class Households:
    """Which records are of one household: their number, the codes of its middle, and how many they are.

    `number` is 2^32 - 1 for a record that has none, and in an order of the key else. `middles` has the shape of the
    codes: the lower median of the household on each quasi-identifier. `sizes` is the household's, shape (records,).
    """

    number: NDArray[np.uint32]
    middles: Codes
    sizes: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"Households({len(self.number)} records)"


def read_households(table: Frame, policy: Policy, codes: Codes, key: bytes) -> Households | None:
    """The households of a table with these codes; None where the policy names no column.

    Raises InfeasibleError for a household that is more than 1 over diversity of the whole table.
    """
    if policy.household is None:
        return None
    values = _distinct(table, policy, policy.household)
    _, household, counts = np.unique(_living_in(values), return_inverse=True, return_counts=True)
    sizes = counts[household]
    rows = np.flatnonzero(sizes * policy.diversity > len(table))
    if rows.size:
        raise InfeasibleError(
            f"attribute {policy.household}: {rows.size} record{'s' * (rows.size > 1)} "
            f"({values.origin.describe(rows)}) of households that are more than "
            f"1/{policy.diversity} of the {len(table)} records of the table: no group can hold such a household. "
            "Lower diversity, or leave some of their records out"
        )
    # Households of one middle are swept in an order of the key: that of their names is nobody's to see.
    places = np.arange(len(values.cells), dtype=np.uint64).reshape(-1, 1)
    rank = np.argsort(np.argsort(tag_records(key, places)))
    number = np.where(values.is_missing[values.index], _ALONE, rank[values.index]).astype(np.uint32)
    return Households(number, _middle_codes(codes, household, counts), sizes)


def largest_share(table: Frame, policy: Policy, rows: Offsets, group: Offsets) -> Fraction:
    """The largest share of a group that one household has, or one record where the policy names no column.

    `rows` is the record of each released row, and `group` its group from 0 on.
    """
    sizes = np.bincount(group)
    if policy.household is None:
        return Fraction(1, int(sizes.min()))
    living = _living_in(_distinct(table, policy, policy.household))[rows]
    pairs, held = np.unique(np.column_stack((group, living)), axis=0, return_counts=True)
    place = int((held / sizes[pairs[:, 0]]).argmax())
    return Fraction(int(held[place]), int(sizes[pairs[place, 0]]))


def _living_in(values: Distinct) -> NDArray[np.int64]:
    """A number for each record's household, and one of its own for a record that has none."""
    own = len(values.cells) + np.arange(len(values.index))
    numbers: NDArray[np.int64] = np.where(values.is_missing[values.index], own, values.index)
    return numbers


def _middle_codes(codes: Codes, household: NDArray[np.int64], counts: NDArray[np.int64]) -> Codes:
    """The lower median of each record's household, attribute by attribute."""
    middle = np.cumsum(counts) - counts + (counts - 1) // 2
    medians = [column[np.lexsort((column, household))][middle] for column in codes.T]
    return np.ascontiguousarray(np.stack(medians, axis=1)[household])


def _distinct(table: Frame, policy: Policy, name: str) -> Distinct:
    if name not in table.names:
        raise TableError(f"the table has no attribute {name}")
    missing = {*policy.missing, *policy.attributes[name].missing}
    return Distinct.of(table.column(name), missing, numerals=policy.numerals, origin=table.origin)
