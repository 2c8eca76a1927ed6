"""How exposed a raw table is, before anything is done to it: who is alone, and which attributes make them so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from muco.arrays import Codes, Offsets
from muco.assess.classes import class_sizes
from muco.assess.shown import Shown, show_frame
from muco.domain import encode
from muco.errors import PolicyError, TableError
from muco.frame import Frame
from muco.policy import Policy
from muco.switches import Role

if TYPE_CHECKING:
    import polars as pl

# Classes of these many records and more, up to the next: 1, 2, 3 to 4, ...
SIZES = (1, 2, 3, 5, 10, 20)


@dataclass(frozen=True, slots=True)
class Driver:
    """What one quasi-identifier adds: the share of records unique by it alone, and unique by all the others."""

    attribute: str
    values: int
    alone: float
    without: float


@dataclass(frozen=True, slots=True)
class Exposure(Shown):
    """A raw table seen by one who knows all quasi-identifiers; shares are of records.

    `found` is the mean of 1/k over the records: how many would be found by an exact match. `untouched` is the share
    that is unique by the columns that a release leaves as they are, sensitive ones included; None without any.
    """

    records: int
    unique: float
    found: float
    smallest: int
    sizes: tuple[tuple[int, float], ...]
    drivers: tuple[Driver, ...]
    untouched_names: tuple[str, ...]
    untouched: float | None

    def __repr__(self) -> str:
        return f"Exposure({self.records} records, {self.unique:.1%} unique)"

    def _repr_html_(self) -> str:
        found = f"<p><strong>{self.unique:.1%} of {self.records:,} records are unique</strong></p>"
        return found + show_frame(self.to_frame())

    @property
    def labels(self) -> tuple[str, ...]:
        """How the classes of `sizes` are called: 1, 2, 3 to 4, ..., 20 or more."""
        ends = [after - 1 for after in SIZES[1:]]
        spans = [f"{size}" if size == end else f"{size} to {end}" for size, end in zip(SIZES, ends)]
        return (*spans, f"{SIZES[-1]} or more")

    def to_frame(self) -> pl.DataFrame:
        """A row a quasi-identifier, the one that makes most records unique first."""
        import polars as pl

        return pl.DataFrame(
            {
                "attribute": [driver.attribute for driver in self.drivers],
                "values": [driver.values for driver in self.drivers],
                "unique_alone": [driver.alone for driver in self.drivers],
                "unique_without": [driver.without for driver in self.drivers],
            }
        )

    def to_words(self) -> dict[str, Any]:
        """The same as nested mappings, for machines."""
        return {
            "records": self.records,
            "unique": self.unique,
            "found_by_exact_match": self.found,
            "smallest_class": self.smallest,
            "records_in_classes_of": {label: share for label, (_, share) in zip(self.labels, self.sizes)},
            "attributes": self.to_frame().to_dicts(),
            "untouched": list(self.untouched_names),
            "unique_by_untouched": self.untouched,
        }


def measure_exposure(table: Any, policy: Policy) -> Exposure:
    """Uniques, the distribution of k, what each quasi-identifier adds (leave-one-out), and untouched columns.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [20, 20, 30, 30], "sex": [1, 2, 1, 1], "pay": [1, 2, 3, 4]})
    >>> found = measure_exposure(table, Policy.of(quasi=["age", "sex"], sensitive="pay"))
    >>> found.unique, found.drivers[0].attribute, found.drivers[0].without  # without sex nobody is unique
    (0.5, 'sex', 0.0)
    """
    frame = Frame.of(table)
    if not policy.quasi:
        raise PolicyError("the policy names no quasi-identifier: name what others may know of a person")
    if missing := [name for name in (*policy.quasi, *policy.sensitive) if name not in frame.names]:
        raise TableError(f"the table has no attribute {', '.join(missing)}")
    codes = {
        name: encode(frame.plain_text(name), policy.attributes[name], policy.missing, numerals=policy.numerals)[1]
        for name in policy.quasi
    }
    sizes = _sizes(codes.values())
    drivers = [_driver(name, codes) for name in codes]
    gone = {*policy.quasi, *policy.named(Role.IDENTIFIER)}
    others = tuple(name for name in frame.names if name not in gone)
    return Exposure(
        len(frame),
        _unique(sizes),
        float((1 / sizes).mean()),
        int(sizes.min()),
        tuple(_distribution(sizes)),
        tuple(sorted(drivers, key=lambda driver: driver.without)),
        others,
        _unique(_sizes(_ranks(frame, name) for name in others)) if others else None,
    )


def _sizes(columns: Iterable[Codes]) -> Offsets:
    return class_sizes(np.stack(list(columns), axis=1))


def _unique(sizes: Offsets) -> float:
    return float((sizes == 1).mean())


def _driver(name: str, codes: dict[str, Codes]) -> Driver:
    rest = [column for other, column in codes.items() if other != name]
    without = _unique(_sizes(rest)) if rest else 0.0
    return Driver(name, len(np.unique(codes[name])), _unique(_sizes([codes[name]])), without)


def _distribution(sizes: Offsets) -> Iterable[tuple[int, float]]:
    places = np.searchsorted(SIZES, sizes, side="right") - 1
    shares = np.bincount(places, minlength=len(SIZES)) / len(sizes)
    return zip(SIZES, shares.tolist())


def _ranks(frame: Frame, name: str) -> Codes:
    import polars as pl

    column = frame.plain_text(name).fill_null("")
    ranks: Codes = column.rank("dense").cast(pl.Int32).to_numpy()
    return ranks
