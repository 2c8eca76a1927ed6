"""The presets, and the switches that go together (METHOD, section 1).

paper     = delta given, buckets, cheapest, domain, independent, repair 1
provable  = delta tight, neighbours, balanced, observed, controlled, repair 0
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from muco.attribute import Attribute, read_role
from muco.switches import Columns, Cover, Draw, Grouping, Preset, Principle, Role, Sweep

TIGHT: Final = "tight"
# 1e-999999999 is short to write and would fill the memory as an exact ratio.
_EXACT = re.compile(r"[+-]?([0-9.]{1,40}([eE][+-]?[0-9]{1,3})?|[0-9]{1,40} ?/ ?[0-9]{1,40})")
TEMPERATURE, ROUNDS = 0.15, 4  # of the grouping sampled: docs/lab.md, section 14
FINEST = 10**9  # the largest denominator of a delta: its checks multiply it with 2^48 in 128 bits

PRESETS: Mapping[Preset, Mapping[str, object]] = {
    Preset.PAPER: {
        "grouping": Grouping.BUCKETS,
        "cover": Cover.CHEAPEST,
        "columns": Columns.DOMAIN,
        "draw": Draw.INDEPENDENT,
        "repair": 1,
    },
    Preset.PROVABLE: {
        "delta": TIGHT,
        "grouping": Grouping.NEIGHBOURS,
        "cover": Cover.BALANCED,
        "columns": Columns.OBSERVED,
        "draw": Draw.CONTROLLED,
        "repair": 0,
    },
}


def read_delta(value: object) -> Fraction | Literal["tight"]:
    """δ as 1/6, 0.1667, a Fraction or the word tight; the decimal of a ratio gives the ratio back.

    Raises ValueError.

    >>> read_delta("1/6"), read_delta(0.1667), read_delta(1 / 6)
    (Fraction(1, 6), Fraction(1667, 10000), Fraction(1, 6))
    """
    if value == TIGHT:
        return TIGHT
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise ValueError("must be a number such as 1/6 or 0.1667, or tight")
    try:
        text = str(value).strip()
        if not _EXACT.fullmatch(text):
            raise ValueError
        exact = Fraction(text.replace(" ", ""))
    except (ValueError, ZeroDivisionError):
        raise ValueError("must be a number such as 1/6 or 0.1667, or tight") from None
    simple = exact.limit_denominator(10**6)
    if isinstance(value, float) and float(simple) == value:
        exact = simple
    if not 0 < exact <= 1:
        raise ValueError("must be above 0 and at most 1 (Definition 3), or tight")
    if exact.denominator > FINEST:
        raise ValueError(f"must have a denominator of at most {FINEST}")
    return exact


Delta = Annotated[
    Fraction | Literal["tight"],
    BeforeValidator(read_delta),
    PlainSerializer(str, when_used="json"),
    WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 1}, {"type": "string"}]}),
]


def fill_switches(words: dict[str, Any]) -> dict[str, Any]:
    """Write out the switches that the preset, and the switches that are named, leave open."""
    tight = words.get("delta", TIGHT) == TIGHT
    preset = words.setdefault("preset", Preset.PROVABLE if tight else Preset.PAPER)
    if preset not in list(Preset) or not isinstance(words.get("attributes", {}), Mapping):
        return words
    if preset == Preset.PAPER and "delta" not in words:
        raise ValueError("preset paper needs delta, the limit of Definition 3: give a number such as 1/6")
    roles = [_role_of(attribute) for attribute in dict(words.get("attributes", {})).values()]
    if Role.SENSITIVE not in roles:
        words.setdefault("principle", Principle.ANONYMITY)
    _fill_principle(words, roles.count(Role.SENSITIVE))
    _fill_grouping(words, roles.count(Role.SENSITIVE))
    if words.get("cover", PRESETS[preset]["cover"]) == Cover.BALANCED:
        words.setdefault("columns", Columns.OBSERVED)
        if words["columns"] == Columns.DOMAIN:
            raise ValueError("columns domain does not go with cover balanced, which keeps the group's own values")
    return {**PRESETS[preset], **words}


def _fill_principle(words: dict[str, Any], sensitive: int) -> None:
    principle = words.get("principle", Principle.FREQUENCY)
    if principle != Principle.ANONYMITY and not sensitive and principle in list(Principle):
        raise ValueError(f"principle {principle} needs a sensitive attribute: name one, or use anonymity")
    for name, owner, usual in (("c", Principle.RECURSIVE, 3.0), ("t", Principle.CLOSENESS, 0.2)):
        if principle == owner:
            words.setdefault(name, usual)
        elif words.get(name) is not None:
            raise ValueError(f"{name} belongs to principle {owner}: take it out, or set that principle")


def _fill_grouping(words: dict[str, Any], sensitive: int) -> None:
    if words.get("household") is not None:
        _fill_whole_grouping(words)
        _fill_sampled(words, is_sampled=False)
        return
    principle = words.get("principle", Principle.FREQUENCY)
    takes = principle == Principle.ANONYMITY or (principle == Principle.FREQUENCY and sensitive == 1)
    if not takes and words.setdefault("grouping", Grouping.LEAVES) in list(Grouping)[1:]:  # all but leaves
        raise ValueError(
            f"grouping {words['grouping']} keeps frequency l-diversity of one sensitive attribute, or anonymity; "
            f"with principle {principle} and {sensitive} sensitive attributes it cannot: use leaves"
        )
    grouping = words.get("grouping", PRESETS[words["preset"]]["grouping"])
    _fill_sampled(words, is_sampled=grouping == Grouping.SAMPLED)
    if words.get("sweep", Sweep.LEAF) != Sweep.LEAF and grouping not in [Grouping.NEIGHBOURS, Grouping.SEEDS]:
        raise ValueError("sweep belongs to groupings neighbours and seeds: take it out, or set one of them")
    if words.get("exchanges") and grouping == Grouping.LEAVES:
        raise ValueError(
            "exchanges do not go with grouping leaves, whose groups are the partition's own: set another"
        )


def _fill_sampled(words: dict[str, Any], *, is_sampled: bool) -> None:
    if not is_sampled:
        if words.get("temperature") is not None:
            raise ValueError("temperature belongs to grouping sampled: take it out, or set that grouping")
        return
    words.setdefault("temperature", TEMPERATURE)
    if words.setdefault("exchanges", ROUNDS) == 0:
        raise ValueError("grouping sampled draws its groups by exchanges: take exchanges = 0 out, or set 1 or more")
    if words.get("asks") is not None:
        raise ValueError(
            "grouping sampled draws groups of one size, whatever records ask for: take asks out, or set grouping "
            "neighbours"
        )


def _fill_whole_grouping(words: dict[str, Any]) -> None:
    """Groupings that keep households whole, whatever the principle."""
    if words.setdefault("grouping", Grouping.NEIGHBOURS) not in [Grouping.NEIGHBOURS, Grouping.LEAVES]:
        raise ValueError(f"grouping {words['grouping']} would part households: use neighbours or leaves")
    if words.get("exchanges"):
        raise ValueError("exchanges would part households: leave them out")
    if words.get("sweep", Sweep.LEAF) != Sweep.LEAF and words["grouping"] == Grouping.LEAVES:
        raise ValueError("sweep belongs to grouping neighbours: take it out, or set that")


def _role_of(attribute: Any) -> Role | None:
    """The role that words give an attribute; None where they are wrong, which its own check will say."""
    if isinstance(attribute, Attribute):
        return attribute.role
    role = read_role(attribute.get("role")) if isinstance(attribute, Mapping) else None
    return role if isinstance(role, Role) else None
