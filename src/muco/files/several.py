"""Several files, or a folder of them, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from muco.errors import TableError
from muco.files.source import Source
from muco.formats import SUFFIXES, format_of
from muco.origin import Origin

if TYPE_CHECKING:
    import polars as pl


def list_folder(folder: Path) -> list[Path]:
    """The files of a folder in the order of their names; hidden ones and markers such as _SUCCESS do not count.

    Raises TableError for an empty folder, and for one that holds anything else than tables.
    """
    found = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    if not found:
        raise TableError(f"the folder {folder.name} holds no table")
    for path in found:
        if path.is_dir() or not SUFFIXES.keys() & {suffix.lower() for suffix in path.suffixes[-2:]}:
            raise TableError(f"the folder {folder.name} holds {path.name}, which is no table: take it out")
        format_of(path)
    return found


def join_sources(sources: Sequence[tuple[str, Source]]) -> Source:
    """One table of several with the same columns; the first says the order of the columns and the layout.

    Raises TableError, with the file and the column, where they do not fit together.
    """
    import polars as pl

    first_name, first = sources[0]
    for name, source in sources[1:]:
        _check_columns(first.table, source.table, first_name, name)
    table = pl.concat([source.table.select(first.table.columns) for _, source in sources])
    return Source(
        table,
        first.layout,
        origin=Origin.joined((name, source.origin, len(source.table)) for name, source in sources),
        dropped=sum(source.dropped for _, source in sources),
        notes=tuple(note for _, source in sources for note in source.notes),
        missing={
            column: tuple(dict.fromkeys(code for _, source in sources for code in source.missing.get(column, ())))
            for column in first.table.columns
            if any(column in source.missing for _, source in sources)
        },
        labels=first.labels,
    )


def _check_columns(first: pl.DataFrame, other: pl.DataFrame, first_name: str, name: str) -> None:
    lacking = [column for column in first.columns if column not in other.schema]
    beyond = [column for column in other.columns if column not in first.schema]
    if lacking or beyond:
        what = [f"lacks {', '.join(lacking[:5])}"] * bool(lacking) + [f"has {', '.join(beyond[:5])}"] * bool(beyond)
        raise TableError(f"{name} {' and '.join(what)}, unlike {first_name}: files of one table have one header")
    unlike = [column for column in first.columns if first.schema[column] != other.schema[column]]
    if unlike:
        raise TableError(
            f"column {unlike[0]} of {name} is {other.schema[unlike[0]]}, and {first.schema[unlike[0]]} in "
            f"{first_name}: make them one"
        )
