"""An edit rule of a policy: what no released row may be, such as a married six-year-old."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from muco.clause import Clause, Text, Texts, text_of
from muco.fault import suggest

MISSING = "missing"
_COMPARISON = re.compile(r"(<=|>=|<|>|=)\s*(\S.*)")
_FORMS = 'must be a list of values, a comparison such as "< 15", or "missing"'


def read_condition(value: object) -> object:
    """A condition as it is kept: a list of texts, or a comparison with one blank after its sign; or ValueError."""
    if isinstance(value, list | tuple):
        return tuple(text_of(item) for item in value)
    found = _COMPARISON.fullmatch(value.strip()) if isinstance(value, str) else None
    if found:
        return f"{found[1]} {found[2]}"
    if value != MISSING:
        raise ValueError(_FORMS)
    return value


def _has_values(value: str | tuple[str, ...]) -> str | tuple[str, ...]:
    if not value:
        raise ValueError("is an empty list: name the values that are forbidden, or take the condition out")
    return value


Condition = Annotated[
    Texts | str,
    BeforeValidator(read_condition),
    AfterValidator(_has_values),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}, "minItems": 1},
                {"type": "string", "pattern": r"^\s*(<=|>=|<|>|=)\s*\S.*$|^missing$"},
            ]
        }
    ),
]


class Rule(Clause):
    """A row is forbidden where every attribute that is named meets its condition.

    >>> Rule(forbid={"age": "<15", "marital_status": ["married", "widowed"]}).forbid["age"]
    '< 15'
    """

    name: Annotated[Text, Field(min_length=1, max_length=200)] | None = Field(
        None, description="What the rule is called in the certificate; its number when absent."
    )
    forbid: dict[str, Condition] = Field(
        min_length=1,
        description="Quasi-identifiers and what may not meet in one row: a list of values, a comparison such as "
        '"< 15" for what has an order, or "missing".',
    )


def check_rules(rules: Sequence[Rule], quasi: Sequence[str]) -> None:
    """Raise ValueError for a rule over anything but quasi-identifiers.

    Other columns leave untouched: a rule over them would let what a record draws depend on what it holds there, and
    no p_ij would be its table's any more (docs/algebra/rules.md).
    """
    for number, rule in enumerate(rules, start=1):
        for name in rule.forbid:
            if name not in quasi:
                fault = f"rules: {title_of(rule, number)} names {name}, which is no quasi-identifier"
                raise ValueError(fault + suggest(name, quasi))
    names = [title_of(rule, number) for number, rule in enumerate(rules, start=1)]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"rules: two are called {repeated[0]}: give each its own name")


def title_of(rule: Rule, number: int) -> str:
    """What a rule is called."""
    return rule.name or f"rule {number}"


def parted(condition: str) -> tuple[str, str]:
    """The sign and the value of a comparison."""
    sign, _, value = condition.partition(" ")
    return sign, value
