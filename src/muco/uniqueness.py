"""How many records a combination of columns singles out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl


def name_some(names: Sequence[str], most: int = 8) -> str:
    """The first names, and how many more there are.

    >>> name_some(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def unique_share(columns: Sequence[pl.Series]) -> float:
    """The share of records that no other record equals in all of the columns; 0 without columns.

    >>> import polars as pl
    >>> unique_share([pl.Series("a", [1, 1, 2, 2]), pl.Series("b", [1, 1, 1, 2])])
    0.5
    """
    import polars as pl

    if not columns or not len(columns[0]):
        return 0.0
    rows = pl.DataFrame([column.alias(str(place)) for place, column in enumerate(columns)])
    return float(np.mean(rows.is_unique().to_numpy()))
