"""What a policy says of a hierarchy: a tree written out, a file, or a rule that makes one of a column's values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from pathlib import PurePath
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from muco.clause import Clause, Number, Numbers, Texts, as_list, text_of
from muco.moments import check_form

DEEPEST = 64


def check_nested(sizes: tuple[float, ...]) -> tuple[float, ...]:
    """The sizes of a hierarchy's levels, when each holds whole ones of the size before; else ValueError."""
    if not sizes:
        raise ValueError("is empty: give the size of each level, smallest first")
    exact = [Fraction(str(size)) for size in sizes]
    if min(exact) <= 0:
        raise ValueError("must be above 0")
    if any(large <= small or large % small for small, large in pairwise(exact)):
        raise ValueError("does not nest: each must be a larger multiple of the one before, such as 10, 20, 100")
    return sizes


def read_tree(value: object, *, depth: int = 1) -> list[Any]:
    """A tree as lists of leaves and of one-entry tables {label: branch}.

    TOML writes the plain values of a table before its tables; lists keep the order of the branches, which is
    the order of the codes, through every round trip. Raises ValueError; no text of the tree is quoted.
    """
    if depth > DEEPEST:
        raise ValueError(f"is deeper than {DEEPEST} levels")
    if isinstance(value, Mapping):
        return read_tree([{label: below} for label, below in value.items()], depth=depth)
    if not isinstance(value, list | tuple):
        raise ValueError("has a branch that is neither a table of branches nor a list of leaves")
    if not value:
        raise ValueError("has an empty branch: leave it out")
    branch: list[Any] = []
    for item in value:
        if isinstance(item, Mapping):
            branch += [{text_of(label): read_tree(below, depth=depth + 1)} for label, below in item.items()]
        elif isinstance(item, str | int | float):
            branch.append(text_of(item))
        else:
            raise ValueError("has a list inside a list: a branch needs a name, so write it as a table")
    return branch


def _beside(value: str) -> str:
    path = PurePath(value)
    if not path.name or path.is_absolute() or ".." in path.parts or not value.isprintable():
        raise ValueError("must name a file in the policy's folder or below it")
    return value


Nested = AfterValidator(check_nested)
TREE_SCHEMA = {"type": ["object", "array"], "minItems": 1, "minProperties": 1}


class Intervals(Clause):
    """Half-open intervals of numbers, each level of one width: 25 is in [20, 30)."""

    widths: Annotated[Numbers, Nested] = Field(
        description="The width of each level, each a larger multiple of the one before."
    )
    origin: Number = Field(0, description="A number at which an interval of every level begins.")


class Ordered(Clause):
    """A list in order, whose neighbours are grouped by the given sizes."""

    values: Annotated[Texts, Field(min_length=1)] = Field(description="The leaves, in order.")
    sizes: Annotated[tuple[Annotated[int, Field(strict=True, ge=1)], ...], BeforeValidator(as_list), Nested] = (
        Field(description="How many leaves a node of each level holds, each a larger multiple of the one before.")
    )


class DateLevel(StrEnum):
    """How much of a date a level of its hierarchy keeps."""

    DAY = "day"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"
    CENTURY = "century"


def check_date_levels(levels: tuple[DateLevel, ...]) -> tuple[DateLevel, ...]:
    """Levels of dates, each coarser than the one before; else ValueError."""
    ranks = [list(DateLevel).index(level) for level in levels]
    if not ranks or ranks != sorted(set(ranks)):
        raise ValueError(f"must go from fine to coarse: some of {', '.join(DateLevel)}, in this order")
    return levels


def check_lengths(lengths: tuple[int, ...]) -> tuple[int, ...]:
    """How many characters each level keeps, each fewer than the one before; else ValueError."""
    if not lengths or min(lengths) < 1 or any(short >= long for long, short in pairwise(lengths)):
        raise ValueError("must fall from level to level and stay above 0, such as 4, 3, 1")
    return lengths


class Dates(Clause):
    """Dates by what they have in common: the same month, the same year."""

    levels: Annotated[tuple[DateLevel, ...], BeforeValidator(as_list), AfterValidator(check_date_levels)] = Field(
        description="Some of day, month, quarter, year, decade, century, from fine to coarse."
    )
    form: Annotated[str, AfterValidator(check_form)] | None = Field(
        None, description="How the dates are written, such as %d.%m.%Y; absent: 2026-07-01."
    )


class Prefixes(Clause):
    """Codes by their first characters, as in postal codes: 10115 and 10117 share 101."""

    lengths: Annotated[
        tuple[Annotated[int, Field(strict=True)], ...], BeforeValidator(as_list), AfterValidator(check_lengths)
    ] = Field(description="How many characters each level keeps, longest first.")


class Side(StrEnum):
    """The end at which a redaction begins."""

    RIGHT = "right"
    LEFT = "left"


class Redaction(Clause):
    """Codes masked character by character, as ARX does: 81667, 8166*, 816**, ..."""

    mask: Annotated[str, Field(min_length=1, max_length=1)] = Field("*", description="What a character becomes.")
    side: Side = Field(Side.RIGHT, description="The end at which masking begins.")


class HierarchySpec(Clause):
    """Where the tree of a categorical attribute comes from (Section 4, after Definition 4)."""

    tree: Annotated[list[Any], BeforeValidator(read_tree), WithJsonSchema(TREE_SCHEMA)] | None = Field(
        None, description="Nested tables of branches; the innermost are lists of leaves."
    )
    file: Annotated[str, AfterValidator(_beside)] | None = Field(
        None,
        description="A file relative to the policy file: ARX's or anjana's CSV (leaf;level 1;...;*), Amnesia's "
        "text, or a JSON tree.",
    )
    intervals: Intervals | None = Field(None, description="Intervals, for an attribute of numbers.")
    ordered: Ordered | None = Field(None, description="A list in order, grouped by neighbours.")

    dates: Dates | None = Field(None, description="Months, years, decades of dates.")
    prefixes: Prefixes | None = Field(None, description="The first characters of codes.")
    redaction: Redaction | None = Field(None, description="Codes masked character by character.")

    @model_validator(mode="after")
    def _is_one(self) -> HierarchySpec:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            has = " and ".join(given) or "none of them"
            *most, last = type(self).model_fields
            raise ValueError(f"must have exactly one of {', '.join(most)} and {last}; it has {has}")
        return self
