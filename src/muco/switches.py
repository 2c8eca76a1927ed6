"""The few switches of the one engine (docs/policy.md), as plain enumerations.

They stand apart from `policy` so that the command line can offer them without loading pydantic.
"""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What an attribute is to an adversary: Section 1 of the paper."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    OTHER = "other"


class Kind(StrEnum):
    """How the values of an attribute compare, and so which distance (Definition 4) they take."""

    CONTINUOUS = "continuous"
    ORDINAL = "ordinal"
    CATEGORICAL = "categorical"
    DATE = "date"
    BOOLEAN = "boolean"


class Preset(StrEnum):
    """A named set of switches; a switch given by name overrides its preset."""

    PAPER = "paper"
    PROVABLE = "provable"


class Principle(StrEnum):
    """What Mondrian must keep when it cuts."""

    FREQUENCY = "frequency"
    DISTINCT = "distinct"
    ENTROPY = "entropy"
    RECURSIVE = "recursive"
    CLOSENESS = "closeness"
    ANONYMITY = "anonymity"


class Grouping(StrEnum):
    """How a Mondrian leaf becomes groups."""

    LEAVES = "leaves"
    BUCKETS = "buckets"
    NEIGHBOURS = "neighbours"
    SEEDS = "seeds"
    SAMPLED = "sampled"


class Sweep(StrEnum):
    """How far `neighbours` and `seeds` look: leaf by leaf, or over the whole table."""

    LEAF = "leaf"
    TABLE = "table"


class Partition(StrEnum):
    """How Mondrian cuts: the widest range over dis_max first, or as the authors' program does.

    No policy chooses it: their program ranks by unscaled sums of squares and so loses more. It is for reproducing
    the paper.
    """

    RANGE = "range"
    PROGRAM = "program"


class Cover(StrEnum):
    """Which random output table is wanted: the paper's cheapest, or one that keeps value counts."""

    CHEAPEST = "cheapest"
    BALANCED = "balanced"


class Columns(StrEnum):
    """Which values a table may output: those of the group, or of the table within the group's range."""

    OBSERVED = "observed"
    DOMAIN = "domain"


class Draw(StrEnum):
    """How values are drawn from a table."""

    INDEPENDENT = "independent"
    CONTROLLED = "controlled"


class Method(StrEnum):
    """How a table is anonymized: mutual cover, or one of the baselines it is compared with."""

    MUCO = "muco"
    MONDRIAN = "mondrian"
    ANATOMY = "anatomy"
