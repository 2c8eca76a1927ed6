"""What a policy says of one attribute: its role, its kind, and how its values compare."""

from __future__ import annotations

from typing import Annotated

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from muco.clause import Clause, Numbers, Texts, as_list
from muco.hierarchy_spec import HierarchySpec
from muco.moments import check_form
from muco.switches import Kind, Role

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


# Each of these says how values compare, and so the kind.
_DECIDES = {
    "order": Kind.ORDINAL,
    "hierarchy": Kind.CATEGORICAL,
    "distances": Kind.CATEGORICAL,
    "form": Kind.DATE,
}


class Distances(Clause):
    """An own distance dis(v_i, v_j) for each pair of values (Definition 4)."""

    values: Texts = Field(description="The values, in the order of the matrix.")
    matrix: Annotated[tuple[Numbers, ...], BeforeValidator(as_list)] = Field(
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
    they are refused: numbers, dates and ordinal values compare along the line (docs/values.md), and a tree
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
    form: Annotated[str, AfterValidator(check_form)] | None = Field(
        None, description="How the dates of a column of text are written, such as %d.%m.%Y; absent: 2026-07-01."
    )
    keep: Annotated[float, Field(gt=0, le=1000)] | None = Field(
        None,
        description="How often a quasi-identifier counts where groups are formed; 1 when absent. Groups are "
        "tighter in what counts more, and it is lost less.",
    )
    # Last, so that what decides it is known when it is checked.
    kind: Kind | None = Field(
        None,
        description="How values compare; absent: ordinal with an order, categorical with a hierarchy or "
        "distances, date with a form, else inferred from the column.",
    )

    @field_validator("kind")
    @classmethod
    def _fits(cls, kind: Kind | None, info: ValidationInfo) -> Kind | None:
        given = [name for name in _DECIDES if info.data.get(name) is not None]
        if len(given) > 1:
            raise ValueError(f"cannot be told: {' and '.join(given)} are given, and each says how values compare")
        if not given:
            return kind
        needed = _DECIDES[given[0]]
        if kind not in {None, needed}:
            raise ValueError(f"is {kind}, but {given[0]} goes with kind {needed} only: take one of them out")
        return needed

    @field_validator("keep")
    @classmethod
    def _is_covered(cls, keep: float | None, info: ValidationInfo) -> float | None:
        if keep is not None and info.data.get("role", Role.QUASI) is not Role.QUASI:
            raise ValueError("belongs to quasi-identifiers: only they decide who shares a group. Take it out")
        return keep

    @field_validator("order")
    @classmethod
    def _is_present(cls, order: tuple[str, ...] | None, info: ValidationInfo) -> tuple[str, ...] | None:
        if both := set(order or ()) & set(info.data.get("missing", ())):
            raise ValueError(f"holds {len(both)} of the texts that mean missing: a value is one or the other")
        return order
