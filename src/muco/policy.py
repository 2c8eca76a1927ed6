"""The policy: what each attribute is, and every switch of the method, with all defaults and checks.

A policy is one TOML file; with the same key it replays a run exactly.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Self

import tomli_w
from pydantic import Field, ValidationError, model_validator

from muco.attribute import Attribute
from muco.blocks import check_blocks
from muco.clause import Texts
from muco.errors import InfeasibleError, MucoError, PolicyError
from muco.fault import describe_fault, place_of_toml_error
from muco.hierarchy import Hierarchy
from muco.hierarchy_files import read_file
from muco.hierarchy_spec import HierarchySpec
from muco.layout import Layout
from muco.numerals import PLAIN, Numerals
from muco.personal import Personal, fill_roles
from muco.presets import TIGHT, Delta, fill_switches
from muco.rule import Rule, check_rules
from muco.switches import Columns, Cover, Draw, Grouping, Preset, Principle, Role, Sweep


class Policy(Personal):
    """How a table is anonymized: the roles of its attributes, and the switches of the one engine.

    A numeric delta without a preset means preset paper, none means provable; a switch given by name overrides its
    preset. Valid from birth: PolicyError for what makes no sense, InfeasibleError where Property 1 forbids delta.

    >>> policy = Policy.of(quasi=["age", "zip"], sensitive="disease", delta="1/6", diversity=8)
    >>> policy.preset, policy.grouping
    (<Preset.PAPER: 'paper'>, <Grouping.BUCKETS: 'buckets'>)
    """

    schema_version: Literal[1] = Field(1, description="The version of this form.")
    preset: Preset = Field(
        Preset.PROVABLE, description="The switches that are not named: paper where delta is a number."
    )
    delta: Delta = Field(
        TIGHT, description="The limit of Definition 3 as 1/6 or 0.1667; tight is 1/m in a group of m records."
    )
    diversity: int = Field(
        10, strict=True, ge=1, le=10**9, description="l (k for anonymity); every group has as many records."
    )
    principle: Principle = Field(
        Principle.FREQUENCY,
        description="What every group keeps: frequency l-diversity is the paper's; anonymity needs no sensitive "
        "attribute, and is what applies where there is none.",
    )
    c: float | None = Field(None, gt=0, le=10**6, description="c of recursive (c, l)-diversity; 3 when absent.")
    t: float | None = Field(None, ge=0, le=1, description="t of t-closeness; 0.2 when absent.")
    grouping: Grouping = Field(
        Grouping.NEIGHBOURS,
        description="How a Mondrian leaf becomes groups; sampled draws them from the whole table. All but leaves "
        "keep frequency l-diversity of one sensitive attribute, or anonymity; elsewhere leaves applies.",
    )
    sweep: Sweep = Field(Sweep.LEAF, description="Whether neighbours are sought in a leaf or the whole table.")
    exchanges: int = Field(
        0,
        strict=True,
        ge=0,
        le=100,
        description="How many rounds of exchanges draw near groups together after they are formed; 4 take most.",
    )
    temperature: float | None = Field(None, ge=0, le=1000, description="How evenly grouping sampled draws groups.")
    cover: Cover = Field(
        Cover.BALANCED, description="The cheapest table (the paper's), or one that keeps the group's counts."
    )
    columns: Columns = Field(
        Columns.OBSERVED,
        description="What a table may output: values of the group, or of the table within its range.",
    )
    draw: Draw = Field(Draw.CONTROLLED, description="Independent draws, or ones whose counts are held.")
    blocks: tuple[Texts, ...] = Field(
        (),
        description="Quasi-identifiers that are drawn together, so that what ties them stays; one in no block is "
        "drawn alone.",
    )
    rules: tuple[Rule, ...] = Field(
        (), description="Edit rules: rows that are forbidden, and kept out where the tables allow."
    )
    repair: int = Field(
        0, strict=True, ge=0, description="How many values of an unchanged tuple are replaced (Algorithm 2)."
    )
    max_risk: float | None = Field(
        None,
        gt=0,
        le=1,
        description="The gate: a release whose informed risk is above it is not made. 0.09 is usual in public.",
    )
    accept_risk: str | None = Field(
        None,
        min_length=1,
        max_length=500,
        description="Why a release above max_risk is made all the same; the certificate shows it.",
    )
    tried: int = Field(
        0,
        strict=True,
        ge=0,
        description="How many runs on this table were looked at before these switches were chosen; the certificate "
        "says it.",
    )
    missing: Texts = Field((), description="Cell texts that mean missing in every attribute.")
    table: Layout | None = Field(None, description="How the table is written; what is stated is not guessed.")
    attributes: dict[str, Attribute] = Field(
        default_factory=dict, description="Each column by name; one that is not named is other."
    )

    @classmethod
    def of(
        cls,
        *,
        quasi: Iterable[str] | str = (),
        sensitive: Iterable[str] | str = (),
        identifier: Iterable[str] | str = (),
        attributes: Mapping[str, Any] | None = None,
        **switches: Any,
    ) -> Self:
        """A policy from lists of names; `attributes` adds kinds, orders and hierarchies, `switches` the rest."""
        parts: dict[str, Any] = {
            name: {"role": None, **_as_dict(part)} for name, part in (attributes or {}).items()
        }
        for role, names in ((Role.QUASI, quasi), (Role.SENSITIVE, sensitive), (Role.IDENTIFIER, identifier)):
            for name in [names] if isinstance(names, str) else names:
                given = parts.setdefault(name, {}).get("role")
                if given not in {None, role}:
                    raise PolicyError(f"attribute {name} is given as {given} and as {role}: it has one role")
                parts[name]["role"] = role
        for part in parts.values():
            part["role"] = part["role"] or Role.OTHER
        return cls.parse({**switches, "attributes": parts})

    @classmethod
    def parse(cls, words: Mapping[str, Any]) -> Self:
        """A policy from nested mappings, as a TOML file has them; every fault is named at once."""
        try:
            return cls.model_validate(dict(words))
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False)
        # Out here, so that pydantic's error, which holds the words, is not its context.
        raise PolicyError("\n".join(dict.fromkeys(describe_fault(fault, cls) for fault in faults)))

    @classmethod
    def read(cls, path: str | Path, **changes: Any) -> Self:
        """A policy file; the hierarchy files it names are read, from its own folder, into the policy.

        `changes` (roles as lists of names, and switches) win over what the file says.
        """
        words = _read_words(Path(path))
        parts = words.get("attributes", {})
        for role in (Role.QUASI, Role.SENSITIVE, Role.IDENTIFIER):
            names = changes.pop(role, ())
            for name in [names] if isinstance(names, str) else names:
                # What is no table of attributes, or no attribute, is for `parse` to say.
                if isinstance(parts, Mapping) and isinstance(given := parts.get(name, {}), Mapping):
                    parts = {**parts, name: {**given, "role": role}}
        words["attributes"] = parts
        return cls.parse({**words, **changes}).inlined(Path(path).parent)

    @staticmethod
    def files_of(path: str | Path) -> list[Path]:
        """The hierarchy files that a policy file names: inputs like itself, which no release may replace."""
        parts = _read_words(Path(path)).get("attributes", {})
        trees = [part.get("hierarchy") for part in _tables(parts)]
        names = [tree["file"] for tree in trees if isinstance(tree, Mapping) and isinstance(tree.get("file"), str)]
        return [Path(path).parent / name for name in names]

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, words: Any) -> Any:
        return fill_switches(fill_roles(dict(words))) if isinstance(words, Mapping) else words

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.delta == TIGHT and self.repair:
            raise ValueError(
                "delta tight does not go with repair: replacing values of unchanged tuples voids the proof. "
                "Set repair to 0, or give delta a number"
            )
        check_blocks(self.blocks, self.quasi)
        if (
            self.blocks
            and self.draw is Draw.CONTROLLED
            and not (self.delta == TIGHT and self.cover is Cover.BALANCED)
        ):
            raise ValueError(
                "blocks with controlled draws permute whole combinations, which needs delta tight and cover "
                "balanced: set those, or take independent draws"
            )
        check_rules(self.rules, self.quasi)
        self.check_columns({name: attribute.role for name, attribute in self.attributes.items()})
        if self.accept_risk is not None and self.max_risk is None:
            raise ValueError(
                "accept_risk names a reason to pass max_risk, which is not set: set it, or take it out"
            )
        if self.repair > max(1, len(self.quasi)):
            raise ValueError(
                f"repair is {self.repair} but there are {len(self.quasi)} quasi-identifiers: lower repair"
            )
        if isinstance(self.delta, Fraction) and self.delta < Fraction(1, self.diversity):
            raise InfeasibleError(
                f"delta is {self.delta} but the smallest group that diversity {self.diversity} allows has "
                f"{self.diversity} records: delta must be at least 1/{self.diversity} (Property 1). "
                "Raise delta or diversity."
            )
        return self

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the order of the policy, which breaks ties of the partition."""
        return self.named(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes."""
        return self.named(Role.SENSITIVE)

    @property
    def numerals(self) -> Numerals:
        """How the table's numbers are written in text."""
        return self.table.numerals if self.table else PLAIN

    @property
    def is_provable(self) -> bool:
        """Whether every record of a group draws by one law, so that the proof of docs/algebra/provable.md holds.

        Equal rows are not enough where the attributes of a block share a random number, laid out from each
        record's own value on.
        """
        shares = bool(self.blocks) and self.draw is Draw.INDEPENDENT
        return self.delta == TIGHT and self.repair == 0 and not shares

    @property
    def block_places(self) -> list[list[int]]:
        """The blocks as places among the quasi-identifiers, as the core names them."""
        return [[self.quasi.index(name) for name in block] for block in self.blocks]

    def named(self, role: Role) -> tuple[str, ...]:
        """The attributes of one role."""
        return tuple(name for name, attribute in self.attributes.items() if attribute.role is role)

    def inlined(self, folder: Path) -> Self:
        """The same policy with the hierarchy files it names, relative to `folder`, written into it."""
        trees: dict[str, Attribute] = {}
        for name, attribute in self.attributes.items():
            if attribute.hierarchy is None or attribute.hierarchy.file is None:
                continue
            try:
                hierarchy = Hierarchy.of(attribute.hierarchy, values=(), folder=folder)
            except MucoError as error:
                raise type(error)(f"attribute {name}: {error}") from None
            spec = HierarchySpec(tree=hierarchy.tree)
            trees[name] = attribute.model_copy(update={"hierarchy": spec})
        return self.with_attributes(trees)

    def with_attributes(self, attributes: Mapping[str, Attribute]) -> Self:
        """The same policy with some attributes replaced or added."""
        return self.model_copy(update={"attributes": {**self.attributes, **attributes}})

    def to_toml(self) -> str:
        """The policy as a TOML text that reads back equal, every switch written out."""
        words = self.model_dump(mode="json", exclude_none=True)
        for part in (words, *words["attributes"].values()):
            if not part["missing"]:
                del part["missing"]
        return tomli_w.dumps(words)


def _read_words(path: Path) -> dict[str, Any]:
    text, place = read_file(path), ""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # beside its own: numbers too long, and lists too deep
        place = place_of_toml_error(str(error))
    raise PolicyError(f"{path} is not TOML: {place}")


def _tables(parts: object) -> list[Mapping[str, Any]]:
    """The attributes that are tables; what is none is for `parse` to say."""
    values = parts.values() if isinstance(parts, Mapping) else ()
    return [part for part in values if isinstance(part, Mapping)]


def _as_dict(part: Any) -> dict[str, Any]:
    return part.model_dump(exclude_none=True) if isinstance(part, Attribute) else dict(part)
