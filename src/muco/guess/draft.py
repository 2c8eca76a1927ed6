"""A proposal as a commented policy: TOML that runs as it stands; its comments carry names and counts, no cells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from muco.guess.proposal import Proposal, Suggestion
from muco.switches import Role

_WIDTH = 110
_HEAD = """\
# A first policy, guessed from names and values. Read the reasons; decide what is marked UNSURE.
#   identifier  removed          quasi  covered: an adversary may know it
#   sensitive   to be protected, released untouched          other  released untouched"""


def write_draft(proposal: Proposal, *, blocks: Sequence[Sequence[str]] = ()) -> str:
    """The text of the policy file; `blocks` are written into it."""
    unsure = sum(bool(suggestion.doubts) for suggestion in proposal.suggestions)
    lines = [_HEAD]
    if unsure:
        lines.append(f"# {unsure} of {len(proposal.suggestions)} columns are marked UNSURE.")
    lines += ["", "schema_version = 1", 'preset = "provable"', *_comment(proposal.why)]
    lines += [f"{name} = {_value(value)}" for name, value in proposal.switches.items()]
    if blocks:
        lines += ["", *_comment("Strongly associated in the table, so drawn together: what ties them stays.")]
        lines.append(f"blocks = {_value(blocks)}")
    for remark in proposal.remarks:
        lines += ["", *_comment(f"NOTE: {remark}")]
    for suggestion in proposal.suggestions:
        lines += ["", *_section(suggestion)]
    return "\n".join(lines) + "\n"


def _section(suggestion: Suggestion) -> Iterator[str]:
    yield from _comment("; ".join(suggestion.reasons))
    for doubt in suggestion.doubts:
        yield from _comment(f"UNSURE: {doubt}")
    yield f"[attributes.{_key(suggestion.name)}]"
    for name, value in suggestion.words.items():
        if name == "hierarchy":
            yield from (f"hierarchy.{rule} = {_value(words)}" for rule, words in value.items())
        else:
            yield f"{name} = {_value(value)}"
    if suggestion.comparison and suggestion.comparison.instead and suggestion.role is Role.QUASI:
        yield "# or, as a tree: " + "; ".join(suggestion.comparison.instead)


def _comment(text: str) -> Iterator[str]:
    """Lines of comment; a name in it may hold anything, but no line may end early."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    line = "#"
    for word in plain.split(" "):
        if len(line) + len(word) >= _WIDTH and line != "#":
            yield line
            line = "#  "
        line += f" {word}"
    yield line


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    """A value in TOML: JSON's texts, numbers and lists are TOML's but for one control character."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_value(part)}" for name, part in value.items()) + " }"
    if isinstance(value, list | tuple):
        whole = "[" + ", ".join(map(_value, value)) + "]"
        return whole if len(whole) < _WIDTH else "[\n" + "".join(f"    {_value(part)},\n" for part in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
