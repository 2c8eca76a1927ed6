"""What generalisation writes in place of the values of a group: one text a group and attribute.

A value that all records of a group share stays as it is. Others become `[low, high]` for numbers and dates, the
label of the lowest common ancestor for categories with a hierarchy, else the set `{a, b}`; `*` where a set would be
the whole domain or unreadable, and where a missing value stands beside others.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from muco.ancestries import TOP
from muco.arrays import Codes
from muco.attribute import Attribute
from muco.domain import Domain
from muco.hierarchy import Hierarchy
from muco.microdata import Groups
from muco.moments import moment_keys
from muco.switches import Kind
from muco.values import Distinct, text_keys

if TYPE_CHECKING:
    import polars as pl

LONGEST_SET = 50  # values; above, the text of a group would outgrow its records
_UNREADABLE = r"[,{}]|^\s|\s$|^['\"]|['\"]$"  # a set of such texts could not be read back


def spans_of_groups(groups: Groups) -> tuple[Codes, Codes]:
    """The smallest and largest code of each group and attribute, shape (groups, attributes)."""
    codes, starts = groups.microdata.codes[groups.order], groups.starts[:-1]
    return np.minimum.reduceat(codes, starts, axis=0), np.maximum.reduceat(codes, starts, axis=0)


@dataclass(frozen=True, slots=True)
class Labels:
    """The text of each group for one quasi-identifier, null where all its records miss it, and what it covers."""

    text: pl.Series
    low: Codes
    high: Codes

    def __repr__(self) -> str:
        return f"Labels({self.text.name}, {len(self.text)} groups)"


def label_groups(groups: Groups, place: int, low: Codes, high: Codes) -> Labels:
    """What is released for the quasi-identifier at `place`, given the codes that each group spans."""
    import polars as pl

    domain = groups.microdata.quasi[place]
    attribute = groups.microdata.policy.attributes[domain.attribute]
    text = domain.cells.cast(pl.String)
    stars = pl.Series([TOP]).gather(np.zeros(len(low), dtype=np.int64))
    first, last = low, high
    if attribute.hierarchy is not None:
        wide, first, last = _ancestors(domain, attribute, low, high)
    elif (ends := _ends(domain)) is not None:
        from_, to = (end.gather(np.minimum(codes, domain.known - 1)) for end, codes in zip(ends, (low, high)))
        between = ";" if "," in {domain.numerals.decimal, domain.numerals.thousands} else ","
        wide = pl.select(pl.format(f"[{{}}{between} {{}}]", from_, to)).to_series()
    else:
        wide = _sets(groups, place, text)
    is_exact = low == high
    is_star = ~is_exact & ((high >= domain.known) | (wide == TOP).to_numpy())
    chosen = (
        pl.when(pl.Series(is_exact)).then(text.gather(low)).when(pl.Series(is_star)).then(stars).otherwise(wide)
    )
    return Labels(
        pl.select(chosen.alias(domain.attribute)).to_series(),
        np.where(is_exact, low, np.where(is_star, 0, first)).astype(np.int32),
        np.where(is_exact, high, np.where(is_star, len(text) - 1, last)).astype(np.int32),
    )


def _ends(domain: Domain) -> tuple[pl.Series, pl.Series] | None:
    """How each known code is written as the low and as the high end of a range, where ranges can be read back."""
    import polars as pl

    known = domain.cells[: domain.known]
    if known.is_empty() or not domain.is_ordered or known.dtype == pl.Time:
        return None
    if domain.kind is Kind.DATE:
        everything = np.arange(domain.known, dtype=np.int32)
        values = Distinct(domain.attribute, known, everything, np.zeros(domain.known, dtype=bool))
        days = moment_keys(values, domain.form).cast(pl.Float64)
        # A moment within a day lies between that day and the next.
        low, high = (end.cast(pl.Int32).cast(pl.Date).cast(pl.String) for end in (days.floor(), days.ceil()))
        return low, high
    text = known.cast(pl.String).str.strip_chars()
    if not text.str.contains(domain.numerals.pattern).all():
        return None
    ascends = (domain.numerals.plain(text).cast(pl.Float64, strict=False).diff().drop_nulls() > 0).all()
    return (text, text) if ascends else None


def _ancestors(domain: Domain, attribute: Attribute, low: Codes, high: Codes) -> tuple[pl.Series, Codes, Codes]:
    """The lowest common ancestor of a group's first and last leaf, and so of all between; the codes below it."""
    import polars as pl

    known = domain.cells[: domain.known]
    everything = np.arange(domain.known, dtype=np.int32)
    texts = text_keys(Distinct(domain.attribute, known, everything, np.zeros(domain.known, dtype=bool)))
    if attribute.hierarchy is None or texts.is_empty():
        return pl.Series([TOP]).gather(np.zeros(len(low), dtype=np.int64)), low, high
    tree = Hierarchy.of(attribute.hierarchy, values=texts, folder=Path(), numerals=domain.numerals)
    leaf = tree.index_of(texts, attribute=domain.attribute)
    starts, ends = (np.minimum(codes, domain.known - 1) for codes in (low, high))
    found = np.full(len(low), -1, dtype=np.int64)
    first, last = low.copy(), high.copy()
    labels: list[str] = []
    for level in tree.levels:
        names, numbers = np.unique(level, return_inverse=True)
        node = numbers[leaf]  # of each known code; the codes below a node stand side by side
        meets = (node[starts] == node[ends]) & (found < 0)
        here = node[starts][meets]
        found[meets] = here + len(labels)
        runs = [np.full(len(names), domain.known), np.zeros(len(names), dtype=np.int64)]
        np.minimum.at(runs[0], node, everything)
        np.maximum.at(runs[1], node, everything)
        first[meets], last[meets] = runs[0][here], runs[1][here]
        labels += names.tolist()
    return pl.Series(labels, dtype=pl.String).gather(found), first, last


def _sets(groups: Groups, place: int, text: pl.Series) -> pl.Series:
    """The different values of each group, in the order of the domain."""
    import polars as pl

    numbers = np.repeat(np.arange(len(groups)), groups.sizes)
    pairs = np.unique(numbers * len(text) + groups.microdata.codes[groups.order, place])
    group, code = np.divmod(pairs, len(text))
    members = pl.DataFrame({"group": group, "text": text.gather(code).fill_null("")})
    sets = members.group_by("group", maintain_order=True).agg(
        pl.len().alias("values"),
        pl.col("text").str.contains(_UNREADABLE).any().alias("unreadable"),
        pl.col("text").str.join(", ").alias("set"),
    )
    is_star = (pl.col("values") > LONGEST_SET) | (pl.col("values") == len(text)) | pl.col("unreadable")
    braced = pl.concat_str(pl.lit("{"), pl.col("set"), pl.lit("}"))
    return sets.select(pl.when(is_star).then(pl.lit(TOP)).otherwise(braced)).to_series()
