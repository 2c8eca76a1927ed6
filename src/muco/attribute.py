"""What a policy says of one attribute: its role, its kind, and how its values compare."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from pathlib import PurePath
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from muco.switches import Kind, Role

DEEPEST = 64

# What ARX and anjana call the four roles; `-`, `_`, blanks and capitals do not matter.
ROLE_WORDS = {role.value: role for role in Role} | {
    "identifying": Role.IDENTIFIER,
    "ident": Role.IDENTIFIER,
    "quasi-identifying": Role.QUASI,
    "quasi-identifier": Role.QUASI,
    "quasi-ident": Role.QUASI,
    "qi": Role.QUASI,
    "sens-att": Role.SENSITIVE,
    "sa": Role.SENSITIVE,
    "insensitive": Role.OTHER,
}


def read_role(value: object) -> object:
    """The role that a word means, in any of the peers' spellings; what is no such word comes back as it is."""
    if not isinstance(value, str):
        return value
    return ROLE_WORDS.get("-".join(value.lower().replace("_", " ").replace("-", " ").split()), value)


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


def _text(value: object) -> str:
    """Cells are compared as text, so a bare 9 in a list means the cell "9"."""
    return value if isinstance(value, str) else str(_number(value))


def _listed(value: object) -> object:
    """Only what has an order of its own: a set would follow the hash seed."""
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list")
    return value


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    if repeated := len(values) - len(set(values)):
        raise ValueError(f"repeats {repeated} of its {len(values)} values: each may stand once")
    return values


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
            branch += [{_text(label): read_tree(below, depth=depth + 1)} for label, below in item.items()]
        elif isinstance(item, str | int | float):
            branch.append(_text(item))
        else:
            raise ValueError("has a list inside a list: a branch needs a name, so write it as a table")
    return branch


def _beside(value: str) -> str:
    path = PurePath(value)
    if not path.name or path.is_absolute() or ".." in path.parts or not value.isprintable():
        raise ValueError("must name a file in the policy's folder or below it")
    return value


Number = Annotated[int | float, PlainValidator(_number), WithJsonSchema({"type": "number"})]
Numbers = Annotated[tuple[Number, ...], BeforeValidator(_listed)]
Text = Annotated[str, BeforeValidator(_text), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]})]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed), AfterValidator(_distinct)]
Nested = AfterValidator(check_nested)
TREE_SCHEMA = {"type": ["object", "array"], "minItems": 1, "minProperties": 1}


class Clause(BaseModel):
    """One part of a policy: no unknown keys, no later changes, no input in its errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, validate_default=True)


class Intervals(Clause):
    """Half-open intervals of numbers, each level of one width: 25 is in [20, 30)."""

    widths: Annotated[Numbers, Nested] = Field(
        description="The width of each level, each a larger multiple of the one before."
    )
    origin: Number = Field(0, description="A number at which an interval of every level begins.")


class Ordered(Clause):
    """A list in order, whose neighbours are grouped by the given sizes."""

    values: Annotated[Texts, Field(min_length=1)] = Field(description="The leaves, in order.")
    sizes: Annotated[tuple[Annotated[int, Field(strict=True, ge=1)], ...], BeforeValidator(_listed), Nested] = (
        Field(description="How many leaves a node of each level holds, each a larger multiple of the one before.")
    )


class HierarchySpec(Clause):
    """Where the tree of a categorical attribute comes from (Section 4, after Definition 4)."""

    tree: Annotated[list[Any], BeforeValidator(read_tree), WithJsonSchema(TREE_SCHEMA)] | None = Field(
        None, description="Nested tables of branches; the innermost are lists of leaves."
    )
    file: Annotated[str, AfterValidator(_beside)] | None = Field(
        None, description="A file in ARX's form (leaf;level 1;level 2;...;*), relative to the policy file."
    )
    intervals: Intervals | None = Field(None, description="Intervals, for an attribute of numbers.")
    ordered: Ordered | None = Field(None, description="A list in order, grouped by neighbours.")

    @model_validator(mode="after")
    def _is_one(self) -> HierarchySpec:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            has = " and ".join(given) or "none of them"
            raise ValueError(f"must have exactly one of tree, file, intervals and ordered; it has {has}")
        return self


class Distances(Clause):
    """An own distance dis(v_i, v_j) for each pair of values (Definition 4)."""

    values: Texts = Field(description="The values, in the order of the matrix.")
    matrix: Annotated[tuple[Numbers, ...], BeforeValidator(_listed)] = Field(
        description="A symmetric square of distances >= 0 with a zero diagonal; its unit does not matter."
    )

    @model_validator(mode="after")
    def _is_distance(self) -> Distances:
        rows, size = self.matrix, len(self.values)
        if len(rows) != size or any(len(row) != size for row in rows):
            raise ValueError(f"has a matrix that is not {size} rows of {size} numbers, one for each of its values")
        if any(entry < 0 for row in rows for entry in row) or any(rows[i][i] != 0 for i in range(size)):
            raise ValueError("has a matrix with a distance below 0, or one of a value from itself that is not 0")
        if rows != tuple(zip(*rows)):
            raise ValueError("has a matrix that is not symmetric: dis(a, b) must be dis(b, a)")
        if not any(map(any, rows)):
            raise ValueError("has a matrix of zeros: at least two values must differ")
        return self


class Attribute(Clause):
    """One attribute A of the microdata (Section 3): what it is to an adversary, and its dis(.).

    `order` makes an attribute ordinal; a hierarchy or own distances make it categorical. With any other kind
    they are refused: numbers, dates and ordinal values compare along the line (METHOD, section 7), and a tree
    that were read and then ignored would look like a setting.

    >>> Attribute(role="qi", order=["low", "high"]).kind
    <Kind.ORDINAL: 'ordinal'>
    """

    role: Annotated[
        Role, BeforeValidator(read_role), WithJsonSchema({"type": "string", "enum": sorted(ROLE_WORDS)})
    ] = Field(
        description="identifier (removed), quasi (covered), sensitive or other (both released untouched). "
        "ARX's and anjana's words are read too."
    )
    missing: Texts = Field((), description="Cell texts that mean missing, beside an empty cell, null and NaN.")
    order: Annotated[Texts, Field(min_length=1)] | None = Field(
        None, description="The values of an ordinal attribute, lowest first; sorted when absent."
    )
    hierarchy: HierarchySpec | None = Field(
        None,
        description="The tree of a categorical attribute: dis is the height of the lowest common ancestor.",
    )
    distances: Distances | None = Field(
        None, description="Own distances of a categorical attribute, in place of a hierarchy."
    )
    # Last, so that what decides it is known when it is checked.
    kind: Kind | None = Field(
        None,
        description="How values compare; absent: ordinal with an order, categorical with a hierarchy or "
        "distances, else inferred from the column.",
    )

    @field_validator("kind")
    @classmethod
    def _fits(cls, kind: Kind | None, info: ValidationInfo) -> Kind | None:
        given = [name for name in ("order", "hierarchy", "distances") if info.data.get(name) is not None]
        if len(given) > 1:
            raise ValueError(f"cannot be told: {' and '.join(given)} are given, and each says how values compare")
        if not given:
            return kind
        needed = Kind.ORDINAL if given == ["order"] else Kind.CATEGORICAL
        if kind not in {None, needed}:
            raise ValueError(f"is {kind}, but {given[0]} goes with kind {needed} only: take one of them out")
        return needed

    @field_validator("order")
    @classmethod
    def _is_present(cls, order: tuple[str, ...] | None, info: ValidationInfo) -> tuple[str, ...] | None:
        if both := set(order or ()) & set(info.data.get("missing", ())):
            raise ValueError(f"holds {len(both)} of the texts that mean missing: a value is one or the other")
        return order
