"""The example table: a census-like population with the eight attributes of Section 5, and a policy for it.

It is drawn from the weights in `population`, not from a file: as many records as wanted, always the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import polars as pl

from muco._core import uniforms
from muco.errors import PolicyError
from muco.population import Stream, people
from muco.switches import Kind, Preset, Role


@dataclass(frozen=True, slots=True)
class _Attribute:
    """One column of the table: what the policy says of it, and how often (per mille) nobody answers."""

    name: str
    role: Role
    remark: str
    kind: Kind = Kind.CATEGORICAL
    tree: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    unanswered: int = 0

    @property
    def domain(self) -> tuple[str, ...]:
        """The texts that the codes 0, 1, ... stand for; empty for numbers."""
        return self.order or tuple(chain.from_iterable(self.tree.values()))


_PERSON = _Attribute("person_id", Role.IDENTIFIER, "names one person: it never leaves")
# The order of Table 1 of the paper; texts in the order of the weights' columns in `population`.
_ATTRIBUTES = (
    _Attribute("gender", Role.QUASI, "two values, no hierarchy", order=("Female", "Male")),
    _Attribute("age", Role.QUASI, "16 to 70 years", Kind.CONTINUOUS),
    _Attribute(
        "relationship",
        Role.QUASI,
        "to the householder",
        tree={
            "Couple": ("Householder", "Spouse", "Partner or friend"),
            "Descendant": ("Child", "Child-in-law", "Grandchild"),
            "Kin": ("Sibling", "Sibling-in-law", "Parent", "Parent-in-law", "Other relative"),
            "Not related": ("Other non-relative", "Institution resident"),
        },
    ),
    _Attribute(
        "marital_status",
        Role.QUASI,
        "a cut keeps siblings of the tree together",
        tree={
            "Wed": ("Married", "Married apart", "Separated"),
            "No longer wed": ("Divorced", "Widowed"),
            "Single": ("Never married",),
        },
        unanswered=3,
    ),
    _Attribute(
        "race",
        Role.QUASI,
        "an empty cell means that nobody answered: a value of its own, far from all others",
        tree={
            "One race": ("White", "Black", "American Indian", "Other race"),
            "Asian or Pacific": ("Chinese", "Japanese", "Other Asian or Pacific"),
            "Several races": ("Two races", "Three or more races"),
        },
        unanswered=6,
    ),
    _Attribute(
        "education",
        Role.QUASI,
        "distances are differences of ranks in this order",
        Kind.ORDINAL,
        order=(
            "Up to grade 4",
            "Grades 5 to 8",
            "Grade 9",
            "Grade 10",
            "Grade 11",
            "High school",
            "Some college",
            "Associate degree",
            "Bachelor's degree",
            "Graduate degree",
        ),
        unanswered=5,
    ),
    _Attribute("hours_per_week", Role.QUASI, "1 to 99, usual hours", Kind.CONTINUOUS, unanswered=4),
    _Attribute("salary", Role.SENSITIVE, "dollars a year, as people round them", Kind.CONTINUOUS),
)


def generate(records: int = 10_000, *, seed: int = 1) -> pl.DataFrame:
    """The microdata T of Section 5 in likeness: an identifier, seven quasi-identifiers and a salary.

    One row a person, texts and int64; a null where nobody answered (never in the salary). The same `records`
    and `seed` give the same table on every machine. From about 20,000 records on each domain is as large as
    in Table 1 of the paper, and no salary is common enough to stand against l = 10.

    Raises:
        PolicyError: `records` is negative.

    Example:
        >>> generate(3).columns[:3]
        ['person_id', 'gender', 'age']
    """
    if records < 0:
        raise PolicyError(f"records is {records} but a table has 0 or more. Ask for at least 0.")
    key = hashlib.sha256(f"muco example {seed}".encode()).digest()
    person = pl.Series(np.arange(records) * 7_368_787 % 10**9).cast(pl.String).str.zfill(9)
    table = pl.DataFrame({_PERSON.name: "P" + person})
    values = people(lambda stream: uniforms(key, stream, records))
    for number, (attribute, value) in enumerate(zip(_ATTRIBUTES, values, strict=True)):
        domain = pl.Series(attribute.domain, dtype=pl.String)
        column = domain.gather(value) if attribute.domain else pl.Series(value, dtype=pl.Int64)
        answered = pl.Series(uniforms(key, Stream.UNANSWERED + number, records) * 1000 >= attribute.unanswered)
        table = table.with_columns(pl.when(answered).then(column).alias(attribute.name))
    return table


def policy_text(preset: Preset = Preset.PROVABLE) -> str:
    """A policy in TOML, with comments, for the example table: Section 5's roles, l = 10, the preset's delta.

    Example:
        >>> print(policy_text().splitlines()[3])
        preset = "provable"
    """
    return "\n".join(
        [_HEADER, *_SWITCHES[preset], *chain.from_iterable(map(_section, (_PERSON, *_ATTRIBUTES))), ""]
    )


_HEADER = """\
# How to anonymize the example table. Each switch may be left out; `muco schema` lists them all.

schema_version = 1"""
_SWITCHES = {
    Preset.PROVABLE: (
        f'preset = "{Preset.PROVABLE}"',
        'delta = "tight"  # 1/m in a group of m records, the smallest that Property 1 allows',
        "diversity = 10  # l: no salary is more than 1/10 of a group, so no group has fewer than 10 records",
    ),
    Preset.PAPER: (
        f'preset = "{Preset.PAPER}"',
        'delta = "1/6"  # Definition 3: on average, a value fits its record with at most this probability',
        "diversity = 10  # l: no salary is more than 1/10 of a group, so no group has fewer than 10 records",
    ),
}


def _section(attribute: _Attribute) -> Iterator[str]:
    """The lines of one attribute."""
    yield f'\n# {attribute.remark}\n[attributes.{attribute.name}]\nrole = "{attribute.role}"'
    if attribute.role is not Role.IDENTIFIER:
        yield f'kind = "{attribute.kind}"'
    if attribute.kind is Kind.ORDINAL:
        yield f"order = {json.dumps(attribute.order)}"
    if attribute.tree:
        yield f"[attributes.{attribute.name}.hierarchy.tree]"
        # A JSON string or list of strings is one of TOML too.
        yield from (f"{json.dumps(node)} = {json.dumps(leaves)}" for node, leaves in attribute.tree.items())
