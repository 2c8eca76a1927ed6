"""Trees as other programs write them: Amnesia's text and JSON, mosaicrown's JSON, and any nested JSON like them.

What comes back is the form that `Hierarchy.from_tree` reads, without the root: lists of leaves and of one-entry
tables {label: branch}. Errors say what is wrong and on which line, and quote no label.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from muco.errors import PolicyError
from muco.fault import place_of_toml_error
from muco.hierarchy_ranges import read_word
from muco.hierarchy_spec import DEEPEST

_LABELS = ("cat", "text", "label", "name", "value")  # mosaicrown, Amnesia, and what others use
_BRANCHES = ("subcats", "children", "nodes")
_RANGES = re.compile(r"^\s*range\s*$", re.IGNORECASE)
_HEADS = re.compile(r"^\s*(distinct|range)?\s*(name|type|height)\s", re.IGNORECASE)


def is_table(text: str) -> bool:
    """Whether a file is ARX's or anjana's: neither JSON nor Amnesia's text."""
    head = text.removeprefix("\ufeff").lstrip()
    return not (head[:1] in {"{", "["} and _is_json(head)) and not (
        _HEADS.match(head) or (_HEADS.match(head.partition("\n")[2]) and head.split()[0].lower() in _FIRST_WORDS)
    )


def read_foreign(text: str) -> list[Any]:
    """The tree of Amnesia's text or of JSON. Raises PolicyError."""
    head = text.removeprefix("\ufeff").lstrip()
    if head[:1] in {"{", "["}:
        return _read_json(json.loads(head))
    return _read_amnesia(head.splitlines())


def read_toml(text: str) -> Mapping[str, Any]:
    """Branches by hand: a key a branch, a list of leaves or a table of branches below it. Raises PolicyError."""
    place = ""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        place = place_of_toml_error(str(error))
    raise PolicyError(f"a hierarchy is not TOML: {place}")


_FIRST_WORDS = {"distinct", "range"}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _read_json(content: Any) -> list[Any]:
    if isinstance(content, Mapping) and "edges" in content:
        return _read_graph(content)
    if isinstance(content, list) and all(isinstance(node, Mapping) and "parent" in node for node in content):
        return _read_flat(content)
    if isinstance(content, Mapping) and _key(content, _LABELS) is None:
        return [content]  # {branch: {branch: [leaves]}}: the form of a policy
    return _below_root(_branch([content] if isinstance(content, Mapping) else content, depth=1))


def _branch(nodes: Any, *, depth: int) -> list[Any]:
    """Nodes that carry their children: `subcats` may be one node, a list, empty or null."""
    if depth > DEEPEST:
        raise PolicyError(f"a hierarchy is deeper than {DEEPEST} levels")
    found: list[Any] = []
    for node in [nodes] if isinstance(nodes, Mapping) else nodes:
        if not isinstance(node, Mapping):
            found.append(node)
            continue
        name, below = _key(node, _LABELS), _key(node, _BRANCHES)
        if name is None:
            raise PolicyError(f"a hierarchy has a node without a name: give it one of {', '.join(_LABELS)}")
        children = node[below] if below else None
        found.append({node[name]: _branch(children, depth=depth + 1)} if children else node[name])
    return found


def _read_graph(content: Mapping[str, Any]) -> list[Any]:
    """Amnesia's graph: nodes with an id and a label, edges from parent to child."""
    with suppress(KeyError, TypeError):
        names = {node["id"]: node[_key(node, _LABELS) or "id"] for node in content["nodes"]}
        return _grown([(names[edge["from"]], names[edge["to"]]) for edge in content["edges"]])
    raise PolicyError("a hierarchy has an edge between nodes that are not there: see its nodes and edges")


def _read_flat(content: Sequence[Mapping[str, Any]]) -> list[Any]:
    """A list of nodes that name their parent by its id; # is the parent of the root."""
    names = {node.get("id"): node.get(_key(node, _LABELS) or "id") for node in content}
    pairs = [(names.get(node["parent"]), names[node.get("id")]) for node in content if node["parent"] in names]
    return _grown(pairs)


def _read_amnesia(lines: Sequence[str]) -> list[Any]:
    """Amnesia's text: a head (name, type, height), then `parent has child child ...` on each line."""
    is_ranges = bool(lines and _RANGES.match(lines[0]))
    is_date = any(re.match(r"\s*type\s+date\s*$", line, re.IGNORECASE) for line in lines[:5])
    pairs = []
    for number, line in enumerate(lines, start=1):
        words = line.split()
        heads = {"distinct", "range", "name", "type", "height"}
        if not words or (words[0].lower() in heads and "has" not in words):
            continue
        if len(words) < 3 or words[1] != "has":
            raise PolicyError(
                f"a hierarchy cannot be read on line {number}: Amnesia writes `parent has child child`"
            )
        pairs += [(words[0], child) for child in words[2:]]
        if is_ranges:
            pairs[2 - len(words) :] = _ranges(words, number, is_date=is_date)
    return _grown(pairs)


def _ranges(words: Sequence[str], number: int, *, is_date: bool) -> list[tuple[Any, Any]]:
    """The pairs of one line of ranges, without the node of nulls: a missing value stands outside the tree."""
    named: list[str | None] = []
    with suppress(ValueError, ArithmeticError):
        named = [read_word(word, is_date=is_date) for word in (words[0], *words[2:])]
    if not named or named[0] is None:
        raise PolicyError(
            f"a hierarchy cannot be read on line {number}: Amnesia writes a range of numbers as 0,10 and one of "
            "dates as 1/1/2000,31/12/2000"
        )
    return [(named[0], child) for child in named[1:] if child not in {None, named[0]}]


def _grown(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    """The tree of (parent, child) pairs, without its root. Raises PolicyError for anything else."""
    children: dict[Any, list[Any]] = {}
    parents: dict[Any, Any] = {}
    for parent, child in pairs:
        if parents.setdefault(child, parent) != parent:
            raise PolicyError("a hierarchy gives a node a second parent: each node has one")
        children.setdefault(parent, []).append(child)
    roots = [node for node in children if node not in parents]
    if len(roots) != 1:
        raise PolicyError(f"a hierarchy has {len(roots)} nodes without a parent: one of them must be above all")

    def grow(node: Any, depth: int) -> Any:
        if depth > DEEPEST:
            raise PolicyError(f"a hierarchy is deeper than {DEEPEST} levels")
        return {node: [grow(child, depth + 1) for child in children[node]]} if node in children else node

    return _below_root([grow(roots[0], 1)])


def _below_root(tree: list[Any]) -> list[Any]:
    """A single root is the top of every tree, and has no name of its own here."""
    while len(tree) == 1 and isinstance(tree[0], Mapping):
        (tree,) = tree[0].values()
    return tree


def _key(node: Any, words: Sequence[str]) -> str | None:
    return next((word for word in words if isinstance(node, Mapping) and word in node), None)
