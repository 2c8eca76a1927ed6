"""How the values of a column compare, proposed: a kind, and the order, form or tree that goes with it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from muco.guess.names import split_name
from muco.guess.orders import find_order, find_school_order
from muco.guess.traits import Traits
from muco.guess.words import Topic
from muco.switches import Kind

# Numbers of these topics are codes: their differences mean nothing.
_CODED = frozenset(
    {Topic.SEX, Topic.PLACE, Topic.POSTCODE, Topic.ORIGIN, Topic.RELIGION, Topic.MARITAL, Topic.RELATION}
    | {Topic.WORK, Topic.HEALTH}
)
_FEW = 12
_SCALES = frozenset({"rate", "rating", "scale", "level", "stufe", "niveau", "nivel", "livello"})


@dataclass(frozen=True, slots=True)
class Comparison:
    """A kind with what belongs to it, in the words of a policy; why; what is doubtful; what else is possible."""

    kind: Kind
    words: dict[str, Any] = field(default_factory=dict, repr=False)
    reasons: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()  # lines of a policy that may take the place of the kind


def compare(traits: Traits, topic: Topic | None) -> Comparison:
    """The kind of one column, from its values and what it is about."""
    if traits.forms:
        return _dates(traits)
    if traits.are_truths:
        return Comparison(Kind.BOOLEAN, reasons=("two words that mean yes and no",))
    if traits.has_leading_zeros:
        return _codes(traits, "codes with leading zeros, which numbers would lose")
    if traits.numbers is not None:
        return _numbers(traits, topic)
    return _texts(traits, topic)


def _dates(traits: Traits) -> Comparison:
    form, *others = traits.forms
    levels = ("month", "quarter", "year", "decade") if _years(traits, form) < 40 else ("year", "decade")
    stated = {"form": form} if form else {}
    written = f"dates written as {form}" if form else "dates"
    doubts: tuple[str, ...] = ()
    if {form[:2], *(other[:2] for other in others)} >= {"%d", "%m"}:
        doubts = ("every date reads with the day first and with the month first: see form",)
    tree = ", ".join(f'"{level}"' for level in levels)
    beside = f', form = "{form}"' if form else ""
    instead = ('kind = "categorical"', f"hierarchy.dates = {{ levels = [{tree}]{beside} }}")
    return Comparison(Kind.DATE, stated, (written,), doubts, instead)


def _years(traits: Traits, form: str) -> float:
    import polars as pl

    from muco.moments import read_moments

    known = traits.distinct.known
    if known.dtype == pl.Time:
        return 0.0
    moments = (
        known.cast(pl.Datetime("us")) if known.dtype.is_temporal() else read_moments(traits.text, form or None)
    )
    years = moments.drop_nulls().dt.year().to_numpy()
    return float(np.ptp(years)) if years.size else 0.0


def _numbers(traits: Traits, topic: Topic | None) -> Comparison:
    numbers = traits.numbers if traits.numbers is not None else np.empty(0)
    if len(numbers) <= 2:
        return Comparison(Kind.CATEGORICAL, reasons=("two numbers, which stand for two answers",))
    if len(numbers) <= _FEW and _SCALES & {*split_name(traits.name)}:
        return Comparison(Kind.ORDINAL, reasons=("numbers of a scale",))
    if topic is Topic.POSTCODE and traits.is_whole:
        return _codes(traits, "postal codes are codes, not numbers")
    if topic in _CODED and traits.is_whole and not _is_measure(traits, topic):
        doubts = ("numbers of an occupation or place: codes, or a measure?",) if len(numbers) > _FEW else ()
        return Comparison(Kind.CATEGORICAL, reasons=("numbers that stand for categories",), doubts=doubts)
    if topic is Topic.EDUCATION and len(numbers) <= 30:
        return Comparison(Kind.ORDINAL, reasons=("numbers that stand for steps",))
    reasons = ("whole numbers",) if traits.is_whole else ("numbers",)
    return Comparison(Kind.CONTINUOUS, reasons=reasons, instead=_intervals(numbers))


def _is_measure(traits: Traits, topic: Topic | None) -> bool:
    """Years married and blood values are measures, though marital status and diagnoses are codes."""
    if topic is Topic.HEALTH:
        return len(traits.text) > _FEW
    return topic is Topic.MARITAL and len(traits.text) > _FEW


def _intervals(numbers: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[str, ...]:
    """Nested round widths, the finest of about twenty intervals."""
    span = float(np.ptp(numbers))
    if not np.isfinite(span) or span <= 0 or len(numbers) < 10:
        return ()
    power = math.floor(math.log10(span / 20))
    unit = next(step for step in (1, 2, 5, 10) if step * 10.0**power >= span / 20)
    widths = {1: (1, 5, 10), 2: (2, 10, 20), 5: (5, 10, 20), 10: (10, 50, 100)}[unit]
    written = ", ".join(f"{width * 10**power}" if power >= 0 else f"{width / 10**-power:.12g}" for width in widths)
    return ('kind = "categorical"', f"hierarchy.intervals = {{ widths = [{written}] }}")


def _codes(traits: Traits, reason: str) -> Comparison:
    """Codes share more the longer the prefix they share, if they are of one length."""
    low, high = traits.lengths
    if high < 3 or len(traits.text) < 8:
        return Comparison(Kind.CATEGORICAL, reasons=(reason,))
    lengths = [length for length in (high - 1, high - 2, high - 3, 1) if length > 0]
    lengths = [length for length, after in pairwise([*dict.fromkeys(lengths), 0]) if length > after][:4]
    doubts: tuple[str, ...] = ()
    if low != high:
        doubts = (f"codes of {low} to {high} characters: were leading zeros lost?",)
    words = {"hierarchy": {"prefixes": {"lengths": lengths}}}
    return Comparison(Kind.CATEGORICAL, words, (reason, "neighbours share their first characters"), doubts)


def _texts(traits: Traits, topic: Topic | None) -> Comparison:
    import polars as pl

    known = traits.distinct.known
    if isinstance(known.dtype, pl.Enum):
        return Comparison(Kind.ORDINAL, reasons=("a categorical with an order of its own",))
    values = known.cast(pl.String).to_list() if len(known) <= 100 else []
    order = find_school_order(values) if topic is Topic.EDUCATION else None
    if order := order or find_order(values):
        return Comparison(Kind.ORDINAL, {"order": list(order)}, ("values with an order",))
    if topic is Topic.POSTCODE and traits.share(r"^[0-9A-Za-z][0-9A-Za-z -]{2,9}$") > 0.9:
        return _codes(traits, "postal codes")
    return Comparison(Kind.CATEGORICAL, reasons=("texts without an order that could be told",))
