"""The forms a table comes in, told by the end of its name; free of anything that loads slowly."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

from muco.errors import PolicyError


class Format(StrEnum):
    """The form of a table outside."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    EXCEL = "excel"
    SPSS = "spss"
    STATA = "stata"
    SAS = "sas"
    DATABASE = "database"


class Compression(StrEnum):
    """What a file of text is packed in."""

    GZIP = "gzip"
    ZSTD = "zstd"


class BadRows(StrEnum):
    """What becomes of rows that cannot be read as their header says."""

    REFUSE = "refuse"
    DROP = "drop"


SUFFIXES = {
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".txt": Format.CSV,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".ipc": Format.ARROW,
    ".feather": Format.ARROW,
    ".xlsx": Format.EXCEL,
    ".xlsm": Format.EXCEL,
    ".xlsb": Format.EXCEL,
    ".xls": Format.EXCEL,
    ".ods": Format.EXCEL,
    ".sav": Format.SPSS,
    ".zsav": Format.SPSS,
    ".dta": Format.STATA,
    ".sas7bdat": Format.SAS,
}
_PACKED = {".gz": Compression.GZIP, ".zst": Compression.ZSTD}
SCHEMES = ("postgresql://", "postgres://", "sqlite://")
STREAM = "-"


def is_database(place: object) -> bool:
    """Whether a place is the URL of a database."""
    return str(place).startswith(SCHEMES)


def format_of(path: str | os.PathLike[str]) -> Format:
    """The form that a file's name ends in. Raises PolicyError for an end that names none."""
    if is_database(path):
        return Format.DATABASE
    packed = compression_of(path)
    suffix = (Path(Path(path).stem) if packed else Path(path)).suffix.lower()
    if suffix not in SUFFIXES:
        raise PolicyError(
            f"{path} has no suffix that tells its form: give it one of {', '.join(sorted(SUFFIXES))}"
            f"{' before ' + Path(path).suffix if packed else ''}"
        )
    if packed and SUFFIXES[suffix] is not Format.CSV:
        raise PolicyError(f"{path} is packed, which only text is: {SUFFIXES[suffix]} packs itself. Unpack it")
    return SUFFIXES[suffix]


def compression_of(path: str | os.PathLike[str]) -> Compression | None:
    """What the end of a file's name says it is packed in."""
    return _PACKED.get(Path(path).suffix.lower())
