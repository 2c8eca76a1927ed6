"""What every part of a policy is made of: clauses that cannot change, and their numbers and texts."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PlainValidator, WithJsonSchema


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


def text_of(value: object) -> str:
    """Cells are compared as text, so a bare 9 in a list means the cell "9"."""
    return value if isinstance(value, str) else str(_number(value))


def as_list(value: object) -> object:
    """Only what has an order of its own: a set would follow the hash seed."""
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list")
    return value


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    if repeated := len(values) - len(set(values)):
        raise ValueError(f"repeats {repeated} of its {len(values)} values: each may stand once")
    return values


Number = Annotated[int | float, PlainValidator(_number), WithJsonSchema({"type": "number"})]
Numbers = Annotated[tuple[Number, ...], BeforeValidator(as_list)]
Text = Annotated[str, BeforeValidator(text_of), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]})]
Texts = Annotated[tuple[Text, ...], BeforeValidator(as_list), AfterValidator(_distinct)]


class Clause(BaseModel):
    """One part of a policy: no unknown keys, no later changes, no input in its errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, validate_default=True)
