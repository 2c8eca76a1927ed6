"""Which row of a release is whose: by a column, by a run that muco kept, or by counts of records."""

from __future__ import annotations

import tomllib
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from muco.anonymize import anonymize_with_hidden
from muco.arrays import Offsets
from muco.attribute import Attribute
from muco.errors import PolicyError, TableError
from muco.frame import Frame
from muco.microdata import Key
from muco.policy import Policy
from muco.release import Hidden
from muco.switches import Role

LARGEST_PART = 1 << 30  # bytes of a part of a hidden file, unpacked


def read_record(original: Any, release: Any, column: str) -> Offsets:
    """The record (from 0) of each row of the release, by a column of it.

    A column that both tables have is a key: equal cells belong together. One of the release alone holds the numbers
    of records, from 0 or from 1. Raises TableError for cells that name no record or name one twice.
    """
    whole, released = Frame.of(original), Frame.of(release)
    if column not in released.names:
        raise TableError(f"the release has no column {column} to tell whose a row is")
    if column in whole.names:
        return _join(whole, released, column)
    return _count_from(released, column, len(whole))


def _join(whole: Frame, released: Frame, column: str) -> Offsets:
    import polars as pl

    key, record = whole.plain_text(column).alias("key"), pl.int_range(len(whole), eager=True).alias("record")
    if key.n_unique() < len(key):
        raise TableError(f"column {column} of the original repeats a value: it tells no record from another")
    rows = released.plain_text(column).alias("key").to_frame()
    found = rows.join(pl.DataFrame([key, record]), on="key", how="left", maintain_order="left")["record"]
    if found.null_count():
        raise TableError(
            f"column {column}: {found.null_count()} rows of the release name no record of the original"
        )
    return found.to_numpy()


def _count_from(released: Frame, column: str, records: int) -> Offsets:
    import polars as pl

    numbers = released.plain_text(column).str.strip_chars().cast(pl.Int64, strict=False)
    if numbers.null_count() or not len(numbers):
        raise TableError(f"column {column} of the release holds cells that are no record numbers")
    found = numbers.to_numpy()
    has_zero, has_last = bool((found == 0).any()), bool((found == records).any())
    if has_zero == has_last and not (len(found) == records and not has_zero):
        raise TableError(
            f"column {column} counts records neither from 0 nor from 1 beyond doubt: give both tables a key column"
        )
    return found if has_zero else found - 1


def repeat_rows(release: Any, column: str) -> Any:
    """A grouped release, whose `column` tells how many records each row stands for, with a row a record."""
    import polars as pl

    released = Frame.of(release)
    if column not in released.names:
        raise TableError(f"the release has no column {column} to count records by")
    counts = released.plain_text(column).str.strip_chars().cast(pl.Int64, strict=False)
    if counts.null_count() or (counts < 0).any():
        raise TableError(f"column {column} of the release holds cells that are no counts of records")
    rows = np.repeat(np.arange(len(counts)), counts.to_numpy())
    return released.table[rows].drop(column).to_native()


@dataclass(frozen=True, slots=True)
class KeptRun:
    """What a hidden file tells of a run: enough to repeat it on the same table."""

    policy: Policy
    key: Key
    rows: Offsets

    def __repr__(self) -> str:
        return f"KeptRun({len(self.rows)} rows)"

    @staticmethod
    def read(path: Path) -> KeptRun:
        """A file that `muco anonymize --hidden` wrote. Raises TableError, and never quotes what is in it."""
        import polars as pl

        try:
            with zipfile.ZipFile(path) as archive:
                if any(part.file_size > LARGEST_PART for part in archive.infolist()):
                    raise TableError(f"the hidden file {path} holds a part of more than 1 GiB")
                key = Key.of(archive.read("key.txt").decode("ascii").strip())
                policy = Policy.parse(tomllib.loads(archive.read("policy.toml").decode("utf-8")))
                groups = pl.read_parquet(BytesIO(archive.read("groups.parquet")), columns=["record", "row"])
        except OSError as error:
            raise TableError(f"the hidden file {path} cannot be read: {error.strerror}") from None
        except (zipfile.BadZipFile, KeyError, ValueError, PolicyError, pl.exceptions.PolarsError):
            raise TableError(f"{path} is no hidden file of muco, or it is damaged") from None
        return KeptRun(policy, key, groups.sort("row")["record"].to_numpy() - 1)

    def repeat(self, original: Any) -> Hidden:
        """The same run on the same table, so that groups and tables are at hand. Raises TableError for another."""
        rest = [name for name in Frame.of(original).names if name not in self.policy.attributes]
        policy = self.policy.with_attributes({name: Attribute(role=Role.OTHER) for name in rest})
        _, hidden = anonymize_with_hidden(original, policy, key=self.key)
        if not np.array_equal(hidden.rows, self.rows):
            raise TableError(
                "the hidden file is of a run on another table, or of another version of muco: its rows do not come "
                "out again"
            )
        return hidden
