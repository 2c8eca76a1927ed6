"""A policy file read for its faults: every one of them, and what is left of the policy to check the table with."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muco.attribute import Attribute
from muco.errors import InfeasibleError, MucoError, PolicyError
from muco.hierarchy import Hierarchy
from muco.hierarchy_files import find_problems, read_file, read_lines
from muco.hierarchy_formats import is_table
from muco.hierarchy_spec import HierarchySpec
from muco.policy import Policy
from muco.preflight.finding import Blame, Finding, Severity
from muco.presets import read_delta

if TYPE_CHECKING:
    import polars as pl


def read_policy(path: Path) -> tuple[Policy | None, list[Finding]]:
    """The policy, without the parts that are at fault, and its faults; None where nothing of it can be used."""
    words: dict[str, Any] = {}
    try:
        words = tomllib.loads(read_file(path))
        return Policy.read(path), []
    except InfeasibleError as error:
        found = [_nearest(error, words)]
        words["delta"] = f"1/{words.get('diversity', 10)}"
    except (PolicyError, ValueError, RecursionError):
        found = []
    if not words:
        return None, _faults_of(path)
    try:
        return _without_bad_trees(Policy.parse(words), path.parent, found)
    except MucoError as error:
        return None, [*found, *Finding.of(error)]


def _faults_of(path: Path) -> list[Finding]:
    """What the policy's own reader says of a file that is no TOML."""
    try:
        Policy.read(path)
    except MucoError as error:
        return Finding.of(error)
    return []


def _nearest(error: InfeasibleError, words: Mapping[str, Any]) -> Finding:
    """A delta below Property 1, with the nearest feasible delta and diversity."""
    level, delta = words.get("diversity", 10), read_delta(words["delta"])
    needed = math.ceil(1 / delta) if isinstance(delta, Fraction) else level
    advice = f"raise delta to 1/{level}, or diversity to {needed}: either is the nearest that is feasible"
    return Finding(Severity.ERROR, Blame.PROMISE, str(error).split(". ")[0], advice)


def _without_bad_trees(policy: Policy, folder: Path, found: list[Finding]) -> tuple[Policy, list[Finding]]:
    """The policy with its hierarchy files read; an attribute whose file is at fault goes on without it."""
    changed: dict[str, Attribute] = {}
    for name, attribute in policy.attributes.items():
        if attribute.hierarchy is None or attribute.hierarchy.file is None:
            continue
        tree, faults = read_tree_file(folder.resolve() / attribute.hierarchy.file, inside=folder, attribute=name)
        found += faults
        spec = HierarchySpec(tree=tree.tree) if tree else None
        changed[name] = attribute.model_copy(update={"hierarchy": spec})
    return policy.with_attributes(changed), found


def read_tree_file(
    path: Path, *, inside: Path | None = None, attribute: str | None = None
) -> tuple[Hierarchy | None, list[Finding]]:
    """A hierarchy file and everything that is wrong with it: repeated leaves, unequal depth, second parents."""
    try:
        text = read_file(path, inside=inside)
        is_lines = is_table(text) and path.suffix.lower() != ".toml"
        problems = find_problems(read_lines(text.removeprefix("\ufeff"))) if is_lines else []
        if not problems:
            return Hierarchy.read(path, inside=inside), []
    except MucoError as error:
        return None, Finding.of(error, attribute=attribute)
    return None, [
        Finding(
            Severity.ERROR,
            Blame.POLICY,
            f"the hierarchy in {path.name} {str(problem).rpartition(': ')[0]}",
            problem.advice,
            attribute,
            len(problem.lines),
        )
        for problem in problems
    ]


def find_outside(tree: Hierarchy, values: pl.Series, *, attribute: str) -> list[Finding]:
    """How many of the distinct values of a column the tree lacks."""
    lacking = int((~values.is_in(list(tree.leaves))).sum())
    if not lacking:
        return []
    return [
        Finding(
            Severity.ERROR,
            Blame.TABLE,
            f"{lacking} of the {len(values)} different values of attribute {attribute} are no leaf",
            "add them to the tree, or list them as missing in the policy (`muco check` gives their rows)",
            attribute,
            lacking,
        )
    ]
