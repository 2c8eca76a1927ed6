"""Edit rules over codes: which codes of each attribute meet a condition, and how many rows break a rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muco.arrays import Codes
from muco.attribute import Attribute
from muco.domain import Domain
from muco.errors import PolicyError, TableError
from muco.fault import suggest
from muco.hierarchy import Hierarchy
from muco.moments import read_moments
from muco.rule import MISSING, parted, title_of
from muco.switches import Kind
from muco.values import as_text

if TYPE_CHECKING:
    import polars as pl

    from muco.policy import Policy

Flags = NDArray[np.bool_]
Places = NDArray[np.float64]
_SIGNS: Mapping[str, Callable[[Places, float], Flags]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "=": np.equal,
}


@dataclass(frozen=True, slots=True)
class CodedRule:
    """A rule, as the core takes it: attributes by place among the quasi-identifiers, each with a flag a code."""

    name: str
    conditions: tuple[tuple[int, Flags], ...]

    def __repr__(self) -> str:
        return f"CodedRule({self.name})"

    def is_broken(self, codes: Codes) -> Flags:
        """Which of some rows, shape (rows, quasi-identifiers), the rule forbids."""
        broken = np.ones(len(codes), dtype=bool)
        for place, met in self.conditions:
            broken &= met[codes[:, place]]
        return broken


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How many rows break a rule: of the original, of the release, and of its draw before any exchange."""

    name: str
    original: int
    released: int
    drawn: int | None = None  # None where only the release is known


def code_rules(policy: Policy, quasi: Sequence[Domain]) -> tuple[CodedRule, ...]:
    """The policy's rules over the codes of its quasi-identifiers.

    Raises PolicyError for a condition that makes no sense for its attribute, TableError for a value that neither
    the table nor the policy has. Both quote what the policy says, and nothing that the table says.
    """
    places = {domain.attribute: place for place, domain in enumerate(quasi)}
    coded = []
    for number, rule in enumerate(policy.rules, start=1):
        name = title_of(rule, number)
        conditions = []
        for attribute, condition in rule.forbid.items():
            place = places[attribute]
            read = _Reader(quasi[place], policy.attributes[attribute], f"{name}, attribute {attribute}")
            conditions.append((place, read.flags(condition)))
        coded.append(CodedRule(name, tuple(conditions)))
    return tuple(coded)


def count_broken(rules: Sequence[CodedRule], codes: Codes) -> NDArray[np.int64]:
    """How many rows each rule forbids, shape (rules,)."""
    return np.array([rule.is_broken(codes).sum() for rule in rules], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Conditions on one attribute."""

    domain: Domain
    attribute: Attribute
    where: str

    def flags(self, condition: str | tuple[str, ...]) -> Flags:
        """Which codes meet the condition."""
        met = np.zeros(len(self.domain.cells), dtype=bool)
        known = slice(0, self.domain.known)
        if condition == MISSING:
            met[self.domain.known :] = True
        elif isinstance(condition, tuple):
            for value in condition:
                met[known] |= self._equals(value)
        else:
            sign, value = parted(condition)
            met[known] = self._equals(value) if sign == "=" else self._compared(sign, value)
        return met

    def _equals(self, value: str) -> Flags:
        """Which known cells are a value: numbers and dates by what they mean, the rest by their text."""
        if self.domain.kind in {Kind.CONTINUOUS, Kind.DATE}:
            return self._compared("=", value)
        text = self._text()
        if self.domain.kind is Kind.BOOLEAN:
            text, value = text.str.to_lowercase(), value.lower()
        found: Flags = (text == value).to_numpy()
        if not found.any() and self.domain.cells.dtype.is_numeric() and (number := _number(value)) is not None:
            found = self._numbers() == number
        named = self._named()
        if not found.any() and value not in (*named, *self._categories()):
            raise TableError(
                f"{self.where}: no record has {value}, and the policy does not name it"
                f"{suggest(value, named) or ': mend the value, or take it out'}"
            )
        return found

    def _compared(self, sign: str, value: str) -> Flags:
        """Which known cells stand where the sign says."""
        kind = self.domain.kind
        if kind is Kind.CONTINUOUS:
            places, bound = self._numbers(), _number(value)
            if bound is None:
                raise PolicyError(f"{self.where}: {value} is no number, such as 15 or 0.5")
        elif kind is Kind.DATE:
            places, bound = self._moments(value)
        elif kind is Kind.ORDINAL:
            places, bound = self._ranks(value)
        else:
            raise PolicyError(
                f"{self.where}: {sign} needs an order and kind {kind} has none: list the values, or give an order"
            )
        return _SIGNS[sign](places, bound)

    def _text(self) -> pl.Series:
        return as_text(self.domain.cells[: self.domain.known]).str.strip_chars()

    def _numbers(self) -> Places:
        numbers = self.domain.numbers
        return np.empty(0) if numbers is None else numbers

    def _moments(self, value: str) -> tuple[Places, float]:
        """The microseconds of each known cell and of a date, which may stand in ISO 8601 or in the table's form."""
        import polars as pl

        cells, form = self.domain.cells[: self.domain.known], self.attribute.form
        if not cells.dtype.is_temporal():
            cells = read_moments(self._text(), form)
        written = pl.Series([value], dtype=pl.String)
        bound = read_moments(written, form)
        bound = bound if bound.null_count() == 0 else read_moments(written, None)
        if bound.null_count() or cells.dtype == pl.Time:
            raise PolicyError(f"{self.where}: {value} is no date, such as 2026-07-01")
        places, at = (
            each.cast(pl.Datetime("us")).to_physical().cast(pl.Float64).to_numpy() for each in (cells, bound)
        )
        return places, float(at[0])

    def _ranks(self, value: str) -> tuple[Places, float]:
        """The place of each known cell in the attribute's order, and that of the value."""
        import polars as pl

        if order := self.attribute.order or self._categories():
            ranks = {name: rank for rank, name in enumerate(order)}
            if value not in ranks:
                raise PolicyError(f"{self.where}: the order has no {value}{suggest(value, self._named())}")
            return self._text().replace_strict(ranks, return_dtype=pl.Float64).to_numpy(), ranks[value]
        numbers, number = self.domain.numbers, _number(value)
        if numbers is not None and number is not None:
            return numbers, number
        places = np.arange(self.domain.known, dtype=np.float64)
        found = np.flatnonzero((self._text() == value).to_numpy())
        if not len(found):
            raise TableError(f"{self.where}: no record has {value}: give the attribute an order that names it")
        return places, float(found[0])

    def _named(self) -> tuple[str, ...]:
        """The values that the policy itself names, whether or not a record has them."""
        attribute, tree = self.attribute, self.attribute.hierarchy
        if attribute.order is not None:
            return attribute.order
        if attribute.distances is not None:
            return attribute.distances.values
        if tree is None or (tree.tree is None and tree.ordered is None):
            return ()
        return Hierarchy.of(tree, values=self._text(), folder=Path()).leaves

    def _categories(self) -> tuple[str, ...]:
        """The values that the column's own type names."""
        import polars as pl

        dtype = self.domain.cells.dtype
        return tuple(dtype.categories) if isinstance(dtype, pl.Enum) else ()


def _number(text: str) -> float | None:
    """A number as a policy writes it; None for what is none, or is not finite."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
