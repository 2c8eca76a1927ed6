"""Membership: who knows a person asks whether that person is in the table, by the row that lies nearest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from muco._core import find_nearest, shuffled
from muco.arrays import Offsets
from muco.assess.comparison import Comparison
from muco.assess.rate import Rate, Risk
from muco.assess.sample import PUBLIC, choose_targets, encode_for_core, framed, shuffle_columns
from muco.errors import TableError
from muco.frame import Frame
from muco.policy import Policy
from muco.release import Release
from muco.scale import Reals

if TYPE_CHECKING:
    import polars as pl

MOST_TARGETS = 20_000  # people of either side; the interval is then narrower than .015


@dataclass(frozen=True, slots=True)
class Membership:
    """How well people of the table are told from people like them who are not in it; 1/2 is a guess.

    `order` is how often a person of the table lies nearer to the release than one who is not in it (the area under
    the ROC curve, ties half), `answers` the share of right answers, of as many people of either side, by a bound of
    the distance that other people taught. `with_sensitive` is `order` for an adversary who knows the sensitive
    values too, and looks only among the rows that have them; None without a sensitive attribute.
    """

    order: Risk
    answers: Risk
    with_sensitive: Risk | None

    @property
    def advantage(self) -> float:
        """True positive rate minus false positive rate of `answers`; 0 is a guess."""
        return 2 * self.answers.rate.value - 1


def hold_out(frame: Any, share: float = 0.5) -> tuple[Any, Any]:
    """A table in two, in the caller's kind: the part to release, and the `share` that is held out, in file order.

    >>> import polars as pl
    >>> kept, held = hold_out(pl.DataFrame({"age": range(10)}), 0.3)
    >>> len(kept), len(held)
    (7, 3)
    """
    table = Frame.of(frame).table
    order = shuffled(PUBLIC, len(table))
    held = round(len(table) * share)
    kept, out = np.sort(order[held:]), np.sort(order[:held])
    return table[kept].to_native(), table[out].to_native()


def measure_membership(
    original: Any, release: Any, holdout: Any, policy: Policy, *, most: int = MOST_TARGETS
) -> Membership:
    """Ask of the people of the original, and of those held out, whether the release was made from them.

    `holdout` holds people like those of the original, none of whom had a part in the release. Which row is whose
    need not be known. At most `most` people of either side are tried, keyed samples. `raw` is the same on the
    original released as it is; `chance` on rows whose quasi-identifiers were dealt out again, each by itself: it is
    off 1/2 where the two tables hold different kinds of people. Raises TableError for a held-out table that is
    empty, lacks an attribute, or holds only people of the original.
    """
    asked, members = _gather(original, holdout, policy)
    table = release.data if isinstance(release, Release) else release
    # People are asked about one by one: no weight counts them, and what is gathered has no column of weights.
    unweighted = policy.model_copy(update={"weight": None})
    released = replace(Comparison.of(asked, table, unweighted), record=None)
    worlds = [released, _raw(released, members), shuffle_columns(released)]
    sides = choose_targets(members, most), members + choose_targets(len(asked) - members, most)
    is_exact = len(sides[0]) + len(sides[1]) == len(asked)
    note = "" if is_exact else f"{len(sides[0])} people of the table and {len(sides[1])} held out tried"
    known = [_Told.of(world, sides, knows_sensitive=False) for world in worlds]
    quasi = "all quasi-identifiers"
    with_sensitive = None
    if released.sensitive:
        more = [_Told.of(world, sides, knows_sensitive=True) for world in worlds]
        what = f"{quasi} and the sensitive values"
        rates = [told.order(exact=is_exact) for told in more]
        with_sensitive = framed("membership with sensitive values", what, rates, note)
    return Membership(
        framed("membership", quasi, [told.order(exact=is_exact) for told in known], note),
        framed("membership answers", quasi, [told.answers(exact=is_exact) for told in known], note),
        with_sensitive,
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """How far from the nearest row the people of the table and those held out are, where they are asked about."""

    members: Reals
    outsiders: Reals

    @staticmethod
    def of(world: Comparison, sides: tuple[Offsets, Offsets], *, knows_sensitive: bool) -> _Told:
        blocks = np.zeros(len(world.low), dtype=np.int64), np.zeros(len(world.original), dtype=np.int64)
        if knows_sensitive:
            both = np.concatenate((world.released_sensitive, world.original_sensitive))
            number = np.unique(both, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
            blocks = number[: len(world.low)], number[len(world.low) :]
        encoded = encode_for_core(world)
        far = [find_nearest(encoded, world.distances, blocks, side, among="all")[0] for side in sides]
        # Sums of distances within this are ties: the order of additions must not decide who is nearer.
        return _Told(*(np.round(side, 9) for side in far))

    def order(self, *, exact: bool) -> Rate:
        """The area under the ROC curve; of any such area the variance is at most a(1 - a) / the smaller side."""
        ranked = np.sort(self.outsiders)
        farther = len(ranked) - np.searchsorted(ranked, self.members, side="right")
        tied = len(ranked) - farther - np.searchsorted(ranked, self.members, side="left")
        area = float((farther + tied / 2).mean() / len(ranked))
        return Rate.of_mean(area, min(len(self.members), len(ranked)), exact=exact)

    def answers(self, *, exact: bool) -> Rate:
        """Right answers by the bound that the other half of the people taught, each side weighing one half."""
        halves = [
            _Told(*(side[np.sort(part)] for side, part in zip((self.members, self.outsiders), parts)))
            for parts in zip(*(np.array_split(shuffled(PUBLIC, len(s)), 2) for s in (self.members, self.outsiders)))
        ]
        right = [one.right(other.bound()) for one, other in zip(halves, reversed(halves))]
        trials = 2 * min(len(self.members), len(self.outsiders))
        return Rate.of_mean(float(np.mean(right)), trials, exact=exact)

    def bound(self) -> float:
        """The distance up to which it is best to answer yes."""
        candidates = np.unique(np.concatenate((self.members, self.outsiders)))
        shares = [np.searchsorted(np.sort(side), candidates, side="right") / max(1, len(side))
                  for side in (self.members, self.outsiders)]  # fmt: skip
        return float(candidates[np.argmax(shares[0] - shares[1])]) if len(candidates) else 0.0

    def right(self, bound: float) -> float:
        """The mean of the shares of people of the table and of those held out who are answered rightly."""
        said = [float((side <= bound).mean()) if len(side) else 0.5 for side in (self.members, self.outsiders)]
        return (said[0] + 1 - said[1]) / 2


def _gather(original: Any, holdout: Any, policy: Policy) -> tuple[pl.DataFrame, int]:
    """Everybody who is asked about, people of the table first, and how many these are."""
    import polars as pl

    tables = [Frame.of(original), Frame.of(holdout)]
    names = [*policy.quasi, *policy.sensitive]
    for table, which in zip(tables, ("original", "held-out table")):
        if absent := [name for name in names if name not in table.names]:
            raise TableError(f"the {which} has no attribute {absent[0]}: both need what is known of a person")
    if not all(map(len, tables)):
        raise TableError("nobody is held out: give records that the release was not made from")
    members, outsiders = (pl.DataFrame([table.plain_text(name) for name in names]) for table in tables)
    shared = [name for name in tables[0].names if name in tables[1].names]
    whole, held = (pl.DataFrame([table.plain_text(name) for name in shared]) for table in tables)
    if held.join(whole, on=shared, how="anti", nulls_equal=True).is_empty():
        raise TableError(
            "every held-out record stands in the original too: hold out records that the release was not made from"
        )
    return pl.concat([members, outsiders]), len(members)


def _raw(world: Comparison, members: int) -> Comparison:
    """The original released as it is: the first `members` of those who are asked about."""
    codes, sensitive = world.original[:members], world.original_sensitive[:members]
    return replace(world, low=codes, high=codes, released_sensitive=sensitive)
