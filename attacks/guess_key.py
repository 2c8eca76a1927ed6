"""A9: what a guessable key costs. Reruns the method under every key of a small set, and keeps the one that fits.

    python attacks/guess_key.py ORIGINAL RELEASE -c POLICY

The adversary knows the method, the policy and the table, as a member of a panel or a leaver may, and asks which row
is whose. A run is a function of table, policy and key: under the right key the same rows come out, in the same
order, and each is told its record. Under any other they do not, and nothing is learnt.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import muco
from muco.errors import MucoWarning


@dataclass(frozen=True, slots=True)
class Guess:
    """How many keys were tried, and, where one fits, the record of each row (from 0)."""

    tried: int
    record: NDArray[np.int64] | None


def small_keys(numbers: int = 10) -> Iterator[bytes]:
    """Keys that people give: a number with zeros before or after it, one byte or one digit again and again."""
    for number in range(numbers):
        yield number.to_bytes(32, "big")
        yield number.to_bytes(32, "little")
        yield str(number).zfill(32)[-32:].encode()
    for byte in range(256):
        yield bytes([byte]) * 32


def guess_key(original: pl.DataFrame, release: pl.DataFrame, policy: muco.Policy, keys: Iterable[bytes]) -> Guess:
    """The run among those under `keys` that gives the release, row by row."""
    tried = 0
    for key in keys:
        tried += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MucoWarning)
            again, hidden = muco.anonymize_with_hidden(original, policy, key=key)
        if _text(again.data).equals(_text(release)):
            return Guess(tried, hidden.rows)
    return Guess(tried, None)


def _text(table: Any) -> pl.DataFrame:
    written: pl.DataFrame = table.select(pl.all().cast(pl.String))
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("original", type=Path)
    parser.add_argument("release", type=Path)
    parser.add_argument("-c", "--config", type=Path, required=True, help="the policy of the release")
    parser.add_argument("--numbers", type=int, default=10, help="numbers tried as keys, from 0")
    given = parser.parse_args()
    original, release = (pl.read_csv(path, infer_schema=False) for path in (given.original, given.release))
    found = guess_key(original, release, muco.Policy.read(given.config), small_keys(given.numbers))
    linked = 0 if found.record is None else len(found.record)
    print(f"{found.tried:,} keys tried: {linked:,} of {len(release):,} rows linked")


if __name__ == "__main__":
    main()
