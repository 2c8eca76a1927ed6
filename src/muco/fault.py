"""A fault of a policy, in words: where it stands, what is wrong, and what was meant; never the value."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic_core import ErrorDetails

_OWN_WORDS = "Value error, "
_PYTHON_WORDS = re.compile(r"a valid (tuple|dictionary)( or instance of \w+)?")  # what TOML calls otherwise


def describe_fault(fault: ErrorDetails, model: type[BaseModel]) -> str:
    """One fault that pydantic found in words for `model`, as one line."""
    place = [part for part in fault["loc"] if isinstance(part, int) or _is_a_name(str(part))]
    path = ".".join(str(part) for part in place)
    if fault["type"] == "extra_forbidden":
        inner = _model_at(model, fault["loc"][:-1])
        known = list(inner.model_fields) if inner else []
        return f"unknown key {path}{suggest(str(place[-1]), known)}"
    if fault["type"] == "missing":
        return f"{path} is missing: it must be given"
    message = fault["msg"].removeprefix(_OWN_WORDS)
    if fault["type"] != "value_error":
        message = re.sub(r"^Input should be|^Value should be", "must be", message)
        message = _PYTHON_WORDS.sub(lambda found: "a list" if found[1] == "tuple" else "a table", message)
    return f"{path} {message}" if path else message


def suggest(word: str, known: Iterable[str]) -> str:
    """`: did you mean ...?` with the nearest known word, else the list of known ones while it is short.

    >>> suggest("rol", ["role", "kind"])
    ': did you mean role?'
    """
    names = list(known)
    near = get_close_matches(word.lower(), [name.lower() for name in names], n=1, cutoff=0.6)
    if near:
        return f": did you mean {next(name for name in names if name.lower() == near[0])}?"
    return f": there are {', '.join(names)}" if 0 < len(names) <= 20 else ""


def place_of_toml_error(message: str) -> str:
    """Where a TOML text breaks off: the parser's own words may quote the text."""
    found = re.search(r"\(at (line \d+, column \d+|end of document)\)", message)
    return f"see {found[1]}" if found else "its form is wrong"


def _is_a_name(part: str) -> bool:
    """Pydantic puts the members of a union into the path: they are no names of the policy."""
    return not re.search(r"[\[({]|^(constrained-|function-|literal)", part)


def _model_at(model: type[BaseModel] | None, place: Sequence[int | str]) -> type[BaseModel] | None:
    for part in place:
        if model is None:
            return None
        field = model.model_fields.get(str(part))
        model = _inner(field.annotation) if field else model
    return model


def _inner(annotation: Any) -> type[BaseModel] | None:
    """The model inside an annotation such as `dict[str, Attribute]` or `Intervals | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for found in map(_inner, get_args(annotation)) if found), None)
