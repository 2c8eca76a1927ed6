"""What was read, and all that a release in the same form needs to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muco.layout import OPEN, Layout
from muco.origin import WHOLE, Origin

if TYPE_CHECKING:
    import polars as pl

    from muco.policy import Policy


@dataclass(frozen=True, slots=True)
class Source:
    """A table that was read, and how it was written.

    `layout` is what was stated or found of its form; `notes` say what was found in words, without any cell;
    `missing` are the codes that a file itself declares missing; `dropped` counts the rows that were left out;
    `labels` is what a file of SPSS, Stata or SAS says of its columns.
    """

    table: pl.DataFrame
    layout: Layout = OPEN
    origin: Origin = WHOLE
    dropped: int = 0
    notes: tuple[str, ...] = ()
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Source({len(self.table)} records, {len(self.table.columns)} columns)"

    def complete(self, policy: Policy) -> Policy:
        """The policy with the layout and the declared missing codes written into it, where it leaves them open."""
        table = (policy.table or OPEN).over(self.layout)
        changed = {
            name: attribute.model_copy(
                update={"missing": tuple(dict.fromkeys((*attribute.missing, *self.missing[name])))}
            )
            for name, attribute in policy.attributes.items()
            if name in self.missing
        }
        return policy.with_attributes(changed).model_copy(update={"table": table})
