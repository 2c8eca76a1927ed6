"""What is to be said of single columns: cells that do not fit, lost zeros, identifiers in disguise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muco.arrays import Codes
from muco.attribute import Attribute
from muco.domain import Domain, encode
from muco.errors import MucoError, TableError
from muco.frame import Frame
from muco.guess.names import entries_of
from muco.guess.shapes import find_shape
from muco.guess.traits import Traits, find_markers
from muco.guess.words import Topic
from muco.policy import Policy
from muco.preflight.finding import SHOWN, Blame, Finding, Severity, rows_shown
from muco.switches import Kind, Role
from muco.values import Distinct

if TYPE_CHECKING:
    import polars as pl


def encode_or_find(frame: Frame, name: str, policy: Policy) -> tuple[tuple[Domain, Codes] | None, list[Finding]]:
    """One attribute encoded as a run would, or what keeps it from being encoded."""
    try:
        return encode(frame.column(name), policy.attributes[name], policy.missing, numerals=policy.numerals), []
    except MucoError as error:
        found = Finding.of(error, attribute=name)
        if isinstance(error, TableError) and error.rows:
            values = _values_at(frame.column(name), error.rows)
            found = [
                replace(each, count=len(error.rows), rows=rows_shown(error.rows), values=values) for each in found
            ]
        return None, found


def find_in_column(column: pl.Series, attribute: Attribute | None, missing: tuple[str, ...]) -> Iterator[Finding]:
    """What weakens a run in one column that is not removed."""
    role = attribute.role if attribute else Role.OTHER
    own = attribute.missing if attribute else ()
    distinct = Distinct.of(column, {*missing, *own})
    counts = np.bincount(distinct.index, minlength=len(distinct.cells))
    traits = Traits(column.name, distinct, counts[~distinct.is_missing], own, len(column))
    yield from _disguised(traits, role)
    if role is Role.QUASI:
        yield from _too_few_values(traits)
    if role is not Role.OTHER:
        yield from _unlisted_markers(traits)
    yield from _lost_zeros(traits, attribute)
    if role in {Role.QUASI, Role.SENSITIVE} and (attribute is None or attribute.kind is not Kind.BOOLEAN):
        yield from _twice_written(traits)


def _disguised(traits: Traits, role: Role) -> Iterator[Finding]:
    """A column that is covered or released though it looks like an identifier."""
    shape = find_shape(traits)
    is_text = traits.numbers is None and not traits.forms
    is_named = any(entry.role is Role.QUASI for entry in entries_of(traits.name))
    serial = traits.known >= 20 and (traits.is_serial or (traits.is_near_unique and is_text)) and not is_named
    if not (shape or serial):
        return
    looks = f"its values look like {shape}" if shape else "hardly any two records share a value"
    where = "a quasi-identifier" if role is Role.QUASI else "released untouched"
    yield Finding(
        Severity.WARNING,
        Blame.POLICY,
        f"attribute {traits.name} looks like an identifier ({looks}) and is {where}",
        "give it role identifier, so that it is removed",
        traits.name,
        len(traits.text),
    )


def _too_few_values(traits: Traits) -> Iterator[Finding]:
    if len(traits.text) < 2:
        values = "one value" if len(traits.text) else "no value"
        yield Finding(
            Severity.NOTE,
            Blame.POLICY,
            f"attribute {traits.name} is a quasi-identifier with {values}",
            "it changes nothing: leave it, or give it role other",
            traits.name,
        )


def _unlisted_markers(traits: Traits) -> Iterator[Finding]:
    """Cells that mean missing, most likely, and are taken for values."""
    markers = set(find_markers(traits.distinct))
    if not markers:
        return
    text = traits.text.str.replace(r"\.0$", "")
    yield _at(
        traits,
        text.is_in(list(markers)).to_numpy() | traits.text.is_in(list(markers)).to_numpy(),
        Severity.WARNING,
        "look as if they meant missing, and are taken for values",
        "list them under `missing`",
        blame=Blame.POLICY,
    )


def _lost_zeros(traits: Traits, attribute: Attribute | None) -> Iterator[Finding]:
    """Codes of which some are shorter than the rest, such as postal codes that were once read as numbers."""
    spec = attribute.hierarchy if attribute else None
    is_code = any(entry.topic is Topic.POSTCODE for entry in entries_of(traits.name)) or (
        spec is not None and (spec.prefixes is not None or spec.redaction is not None)
    )
    if not is_code or not len(traits.text) or not traits.text.str.contains(r"^\d+(\.0)?$").all():
        return
    sizes = traits.text.str.replace(r"\.0$", "").str.len_chars().to_numpy()
    usual = int(sizes.max())
    shorter = (sizes < usual) & (sizes >= usual - 2)
    if not shorter.any() or usual < 4:
        return
    yield _at(
        traits,
        shorter,
        Severity.WARNING,
        f"have fewer digits than the {usual} of the others: codes that lost their leading zeros",
        f"read the column as text from its source, or write the zeros back ({usual} digits each)",
    )


def _twice_written(traits: Traits) -> Iterator[Finding]:
    """Values that differ from others in blanks or capitals alone: two values to the engine, one to a reader."""
    if traits.numbers is not None or traits.forms or len(traits.text) > 100_000:
        return
    plain = traits.text.str.to_lowercase()
    if plain.n_unique() == len(plain):
        return
    yield _at(
        traits,
        (~plain.is_unique()).to_numpy(),
        Severity.WARNING,
        "hold values that differ in blanks or capitals only",
        "write each value in one form: now they are as far apart as any two",
    )


def _at(
    traits: Traits,
    is_bad: NDArray[np.bool_],
    severity: Severity,
    what: str,
    advice: str,
    *,
    blame: Blame = Blame.TABLE,
) -> Finding:
    """A finding about the records whose known cell is bad."""
    marked = np.zeros(len(traits.distinct.cells), dtype=bool)
    marked[np.flatnonzero(~traits.distinct.is_missing)] = is_bad
    rows = np.flatnonzero(marked[traits.distinct.index])
    return Finding(
        severity,
        blame,
        f"attribute {traits.name}: {len(rows):,} cell{'s' * (len(rows) > 1)} {what}",
        advice,
        traits.name,
        len(rows),
        rows_shown(rows.tolist()),
        tuple(traits.text.filter(is_bad).to_list()[:SHOWN]),
    )


def _values_at(column: pl.Series, rows: object) -> tuple[str, ...]:
    import polars as pl

    bad = column.gather(np.array(rows, dtype=np.int64)).cast(pl.String, strict=False)
    return tuple(str(value) for value in bad.value_counts(sort=True)[column.name].to_list()[:SHOWN])
