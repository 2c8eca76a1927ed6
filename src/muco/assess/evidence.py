"""What a judge sees: a release encoded beside its original, and what is known of how it was made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from muco.arrays import Offsets
from muco.assess.answers import Answers
from muco.assess.comparison import Comparison
from muco.assess.groups import measure_groups
from muco.assess.informed import Informed, measure_informed
from muco.baselines import join_tables
from muco.errors import TableError
from muco.frame import Frame
from muco.personal import largest_share
from muco.policy import Policy
from muco.release import Anatomy, Hidden, HiddenGroups, Parts, Release
from muco.scale import Reals
from muco.switches import Method


@dataclass(frozen=True, slots=True)
class Evidence:
    """A release of any tool as all measures take it; None where something is not known or does not apply.

    `group` numbers the group of each row where that is known: of a baseline's run, and of Anatomy's two tables,
    which publish it. `share` is the largest of a group that one household, or record, has in a run of Mondrian.
    `averages` are the group averages that answer queries on Anatomy.
    """

    comparison: Comparison
    method: Method | None = None
    hidden: Hidden | None = None
    group: Offsets | None = None
    averages: Reals | None = None
    share: Fraction | None = None

    def __repr__(self) -> str:
        return f"Evidence({self.comparison})"

    @staticmethod
    def of(
        original: Any,
        release: Any,
        policy: Policy,
        kept: Hidden | HiddenGroups | None = None,
        *,
        record: Offsets | None = None,
    ) -> Evidence:
        """Encode a release, join Anatomy's two tables, and align what can be aligned. Raises TableError."""
        rows = record if kept is None else kept.rows
        if isinstance(release, Anatomy | Parts):
            return _join(original, release, policy, rows)
        table = release.data if isinstance(release, Release) else release
        comparison = Comparison.of(original, table, policy, record=rows)
        if kept is None:
            return Evidence(comparison)
        _check_kept(comparison, kept.rows)
        if isinstance(kept, Hidden):
            return Evidence(comparison, Method.MUCO, hidden=kept)
        share = largest_share(Frame.of(original), kept.policy, kept.rows, kept.group)
        return Evidence(comparison, kept.method, group=kept.group, share=share)

    @property
    def answers(self) -> Answers:
        """The release as queries see it."""
        return Answers.of(self.comparison, values=self.averages)

    @property
    def published_group(self) -> Offsets | None:
        """The group of each row where anybody may see it; what Anatomy protects, it protects by it."""
        return self.group if self.method is Method.ANATOMY else None

    @property
    def proven(self) -> float | None:
        """1/m, or a household's share of a group, where all its rows are equally likely to be of each member."""
        if self.hidden is not None and self.hidden.outcome.groups.microdata.policy.is_provable:
            return float(self.hidden.outcome.groups.largest_share)
        return None if self.share is None else float(self.share)

    def measure_informed(self) -> Informed | None:
        """A1, for one who knows the groups and, of mutual cover, the tables."""
        if self.hidden is not None:
            return measure_informed(self.comparison, self.hidden)
        return None if self.group is None else measure_groups(self.comparison, self.group)


def _join(original: Any, parts: Anatomy | Parts, policy: Policy, rows: Offsets | None) -> Evidence:
    import polars as pl

    joined, averages = join_tables(parts)
    if any(name not in joined.columns for name in policy.sensitive):
        raise TableError("Anatomy's two tables must hold every sensitive attribute of the policy")
    comparison = Comparison.of(original, joined, policy, record=rows)
    if rows is None:
        comparison = replace(comparison, record=_align(comparison))
    group = pl.Series(parts.data[parts.group]).rank("dense").to_numpy().astype(np.int64) - 1
    return Evidence(comparison, Method.ANATOMY, group=group, averages=averages if len(averages) else None)


def _align(comparison: Comparison) -> Offsets | None:
    """Rows beside the records that equal them in all that Anatomy publishes of a person; None where some do not.

    Which of several equal records a row is given makes no difference to any figure: the sensitive values of a
    group are dealt to its rows by lot.
    """
    left = np.column_stack((comparison.original, comparison.original_untouched))
    right = np.column_stack((comparison.low, comparison.released_untouched))
    records, rows = np.lexsort(left.T), np.lexsort(right.T)
    if comparison.is_generalized or not np.array_equal(left[records], right[rows]):
        return None
    found = np.empty(len(rows), dtype=np.int64)
    found[rows] = records
    return found


def _check_kept(comparison: Comparison, rows: Offsets) -> None:
    """The cells that no run changes must be those of the records that the run names."""
    if len(rows) != len(comparison.low) or not (
        np.array_equal(comparison.original_sensitive[rows], comparison.released_sensitive)
        and np.array_equal(comparison.original_untouched[rows], comparison.released_untouched)
    ):
        raise TableError("the hidden file is of another run: its rows are not those of this release")
