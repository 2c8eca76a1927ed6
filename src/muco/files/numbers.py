"""Numbers of programs that know only doubles: whole ones are integers here, and none is bent on its way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_EXACT = 2**53  # up to here every whole number is a double


def as_integers(table: pl.DataFrame) -> pl.DataFrame:
    """The table with columns of whole doubles as integers."""
    import polars as pl

    whole = []
    for column in table.iter_columns():
        known = column.drop_nulls() if column.dtype.is_float() else None
        if known is not None and len(known) and ((known % 1 == 0) & (known.abs() <= _EXACT)).all():
            whole.append(column.cast(pl.Int64))
    return table.with_columns(whole)


def as_dates(table: pl.DataFrame) -> pl.DataFrame:
    """The table with columns of midnights as dates."""
    import polars as pl

    times = [column for column in table.iter_columns() if column.dtype == pl.Datetime]
    days = [column for column in times if (column == column.dt.truncate("1d")).all() and column.count()]
    return table.with_columns(column.cast(pl.Date) for column in days)


def as_doubles(table: pl.DataFrame) -> pl.DataFrame:
    """The table in types such programs know: integers that no double holds as text, decimals as doubles."""
    import polars as pl

    changed = []
    for column in table.iter_columns():
        if column.dtype.is_integer():
            known = column.drop_nulls().cast(pl.Int128)
            fits = known.is_empty() or (known.abs() <= _EXACT).all()
            changed.append(column.cast(pl.Int64 if fits else pl.String))
        elif column.dtype.is_decimal() or column.dtype == pl.Float32:
            changed.append(column.cast(pl.Float64))
        elif column.dtype in {pl.Categorical, pl.Enum}:
            changed.append(column.cast(pl.String))
        elif column.dtype == pl.Datetime:
            changed.append(column.dt.replace_time_zone(None).dt.cast_time_unit("us"))
    return table.with_columns(changed)
