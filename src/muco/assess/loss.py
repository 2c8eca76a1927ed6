"""Information loss (Section 5.2): how far the released cells lie from the original ones, in two units.

move    |released - original| / (max - min + 1), or dis / dis_max for categories: what MuCo's figures are in
width   (width - 1) over the same (Xiao & Tao): what generalisation's figures are in; 0 for every exact value

They are different quantities and are never added or compared with each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from muco.assess.comparison import Comparison
from muco.assess.shown import Shown
from muco.scale import Scale, whole_spans

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Loss(Shown):
    """Information loss of a release, summed over its aligned records, by attribute and in total.

    `move` is None where rows are not aligned: then only widths can be measured. `suppressed` counts records
    without a row; they are in neither sum.
    """

    move: Mapping[str, float] | None
    width: Mapping[str, float]
    changed: Mapping[str, float] | None  # the share of cells that cannot be read as the original's
    records: int
    suppressed: int

    @property
    def total_move(self) -> float | None:
        """Σ over attributes and records of the moves."""
        return None if self.move is None else sum(self.move.values())

    @property
    def total_width(self) -> float:
        """Σ over attributes and records of the widths."""
        return sum(self.width.values())

    def to_frame(self) -> pl.DataFrame:
        """A row an attribute: the move, the width, the share of cells changed."""
        import polars as pl

        return pl.DataFrame(
            {
                "attribute": list(self.width),
                "move": None if self.move is None else list(self.move.values()),
                "width": list(self.width.values()),
                "changed": None if self.changed is None else list(self.changed.values()),
            },
            schema={"attribute": pl.String, "move": pl.Float64, "width": pl.Float64, "changed": pl.Float64},
        )


def measure_loss(comparison: Comparison) -> Loss:
    """Information loss of each attribute (docs/measures/loss.md), over the original's own range.

    >>> import polars as pl
    >>> from muco import Policy
    >>> table = pl.DataFrame({"age": [20, 22, 29], "pay": [1, 2, 3]})
    >>> release = pl.DataFrame({"age": ["[20, 22]", "[20, 22]", "29"], "pay": [1, 2, 3]})
    >>> loss = measure_loss(Comparison.of(table, release, Policy.of(quasi="age", sensitive="pay")))
    >>> loss.total_move, loss.total_width                    # (1 + 1) / 10 and (2 + 2) / 10
    (0.2, 0.4)
    """
    move, width, changed = {}, {}, {}
    record = comparison.record
    for place, domain in enumerate(comparison.quasi):
        scale = Scale.of(domain, comparison.original[:, place])
        low, high = whole_spans(comparison.low[:, place], comparison.high[:, place], len(domain.cells))
        width[domain.attribute] = float(scale.width(low, high).sum())
        if record is not None:
            original = comparison.original[record, place]
            is_changed = (low != original) | (high != original)
            move[domain.attribute] = float(scale.move(original, low, high)[is_changed].sum())
            changed[domain.attribute] = float(is_changed.mean()) if len(low) else 0.0
    aligned = record is not None
    return Loss(
        MappingProxyType(move) if aligned else None,
        MappingProxyType(width),
        MappingProxyType(changed) if aligned else None,
        len(comparison.low),
        len(comparison.original) - len(comparison.low) if aligned else 0,
    )
