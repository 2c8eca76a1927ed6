"""Tables in and out: CSV, Parquet and Arrow IPC. Only a release is written, and only through `atomic`.

A CSV file is read as text, cell for cell, so that 01234 keeps its zero and what is written is what was read; the
kinds of its columns are the policy's, or inferred from their content.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from muco._core import scan_csv
from muco.errors import MucoError, PolicyError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

DELIMITERS = ",;\t|"
_FAULTS = {  # of one row, and of several
    "ragged": ("has", "have", "another number of fields than the header"),
    "after_quote": ("goes", "go", "on after a closing quote"),
    "open_quote": ("opens", "open", "a quote that is never closed"),
    "nul": ("holds", "hold", "a NUL byte"),
    "not_utf8": ("is", "are", "not in UTF-8"),
    "too_long": ("holds", "hold", "a field of more than 1 MiB"),
}


class Format(StrEnum):
    """The form of a file, told by its suffix."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"


_SUFFIXES = {
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".txt": Format.CSV,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".ipc": Format.ARROW,
    ".feather": Format.ARROW,
}


@dataclass(frozen=True, slots=True)
class Source:
    """A table that was read, and how it was written: what a release in the same form needs to know."""

    table: pl.DataFrame
    delimiter: str = ","

    def __repr__(self) -> str:
        return f"Source({len(self.table)} records, {len(self.table.columns)} columns)"


def format_of(path: str | os.PathLike[str]) -> Format:
    """The form that a file's suffix names. Raises PolicyError for a suffix that names none."""
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise PolicyError(
            f"{path} has no suffix that tells its form: give it one of {', '.join(sorted(_SUFFIXES))}"
        )
    return _SUFFIXES[suffix]


def read_table(path: str | os.PathLike[str]) -> Source:
    """A table from a file. Raises TableError with row numbers, and never a cell, for one that cannot be read."""
    import polars as pl

    form, name = format_of(path), Path(path).name
    reason = f"it is damaged, or not the {form} file its suffix says"
    try:
        # Given a path, Polars would take * and [ in it for patterns and read other files.
        with Path(path).open("rb") as file:
            if form is Format.CSV:
                return _read_csv(file.read(), name)
            return Source(pl.read_parquet(file) if form is Format.PARQUET else pl.read_ipc(file))
    except (MucoError, MemoryError):
        raise
    except OSError as error:
        reason = error.strerror or reason
    except pl.exceptions.DuplicateError:
        reason = "it repeats the name of a column, but each needs its own"
    except Exception:  # noqa: S110 - whatever a reader raises may quote cells, even as a context
        pass
    raise TableError(f"{name} cannot be read: {reason}")


def write_table(table: pl.DataFrame, form: Format, *, delimiter: str = ",") -> Callable[[Path], None]:
    """What writes a release to a path, for `atomic.Batch`: rebuilt from values, without metadata or statistics."""
    import polars as pl

    def write(path: Path) -> None:
        if form is Format.CSV:
            # An empty text is written as nothing, not as a pair of quotes: null and blank look alike in a CSV file.
            text = pl.selectors.string()
            table.with_columns(pl.when(text == "").then(None).otherwise(text).name.keep()).write_csv(
                path, separator=delimiter
            )
        elif form is Format.PARQUET:
            table.write_parquet(path, statistics=False)
        else:
            table.write_ipc(path, compression="zstd")

    return write


def _read_csv(text: bytes, name: str) -> Source:
    import polars as pl

    delimiter = sniff_delimiter(text)
    header, rows, faults, sound = scan_csv(text, ord(delimiter))
    _refuse_faults(faults, name)
    columns = [column.decode() for column in header]
    if repeated := [column for column, count in Counter(columns).items() if count > 1]:
        raise TableError(f"{name} repeats the column {', '.join(repeated)}: each column needs its own name")
    if not rows:
        raise TableError(f"{name} has a header and no rows" if header else f"{name} is empty")
    table = pl.read_csv(
        text if sound is None else sound,
        separator=delimiter,
        infer_schema=False,
        empty_string_is_null=False,
        has_header=False,
        skip_rows=1,
        new_columns=columns,
    )
    if table.shape != (rows, len(columns)):
        raise TableError(f"{name} was read as {table.shape} and not as {rows} rows of {len(columns)} fields")
    return Source(table, delimiter)


def sniff_delimiter(text: bytes) -> str:
    """The one of , ; tab and | that stands most often in the first line, outside quotes; a comma if none does."""
    head = text[: 1 << 20].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    line = re.split(r"[\r\n]", re.sub(r'"[^"]*("|$)', "", head), maxsplit=1)[0]
    return max(DELIMITERS, key=line.count)


def _refuse_faults(faults: list[tuple[int, str, int]], name: str) -> None:
    if not faults:
        return
    lines = []
    for kind in dict.fromkeys(kind for _, kind, _ in faults):
        rows = ["the header" if row == 0 else str(row) for row, found, _ in faults if found == kind]
        one, several, what = _FAULTS[kind]
        if len(rows) > 1:
            shown = ", ".join(rows[:5]) + ", ..." * (len(rows) > 5)
            lines.append(f"{name}: {len(rows)} rows {several} {what} ({shown})")
        else:
            lines.append(f"{name}: {rows[0] if rows[0] == 'the header' else f'row {rows[0]}'} {one} {what}")
    raise TableError("\n".join(lines) + "\nRows count from 1 after the header. Mend them in the file")
