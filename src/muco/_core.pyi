"""The compiled core: Algorithm 1 and 2 over whole batches of groups.

Every array is C-contiguous. `codes` is int32, shape (records, attributes): the code of each record on each
quasi-identifier, in domain order; a missing value is the last code of its attribute. A batch of groups is
`order` (int64, the records of group 0, then of group 1, ...) with `starts` (int64, groups + 1 offsets into
`order`). A key is 32 bytes. All calls release the interpreter, run on every core and answer Ctrl-C.
Errors: ValueError for arrays that do not fit, ArithmeticError for a table that fails its exact check.
"""

from typing import final

import numpy as np
from numpy.typing import NDArray

from muco.arrays import Codes, Offsets

@final
class Distance:
    """dis(.) of one attribute (Definition 4) over its codes, divided by dis_max(attribute, T)."""

    @staticmethod
    def line(positions: NDArray[np.float64], *, missing: bool) -> Distance:
        """The l1 distance (Definition 5) of ascending `positions`, one a code."""
    @staticmethod
    def tree(steps: NDArray[np.float64], *, leaves: int, missing: bool) -> Distance:
        """The tree distance of `leaves` leaves in depth-first order.

        `steps[i]`, in (0, 1], is the height of the lowest common ancestor of leaves i and i + 1.
        """
    @staticmethod
    def matrix(distances: NDArray[np.float64], *, missing: bool) -> Distance:
        """An own distance, shape (codes, codes), symmetric with a zero diagonal."""
    def weighted(self, weight: float) -> Distance:
        """The same distance, counted `weight` > 0 times where groups are formed, and nowhere else."""
    @property
    def size(self) -> int:
        """How many codes there are, the missing one included."""
    @property
    def scale(self) -> float:
        """dis_max(attribute, T) in the attribute's own unit; 1 where there is none."""
    def between(self, a: Codes, b: Codes) -> NDArray[np.float64]:
        """dis(a, b) for two code vectors of one shape (records,), in [0, 1]."""

@final
class Principle:
    """What every group must keep, for each sensitive attribute, beside having `diversity` records."""

    def __init__(self, name: str, diversity: int, *, c: float = 3.0, t: float = 0.2) -> None:
        """`name` is one of frequency, distinct, entropy, recursive, closeness, anonymity."""
    def holds(self, sensitive: Codes, sizes: list[int], ordered: list[bool]) -> bool:
        """Whether the whole of `sensitive` (records, attributes) satisfies the principle."""

def divide_table(
    codes: Codes,
    sensitive: Codes,
    tags: NDArray[np.uint64],
    distances: list[Distance],
    principle: Principle,
    *,
    sizes: list[int],
    ordered: list[bool],
    grouping: str,
    sweep: str,
    exchanges: int,
    temperature: float,
    key: bytes,
    shard: int = ...,
    partition: str = "range",
    asks: NDArray[np.uint32] | None = None,
    households: tuple[NDArray[np.uint32], Codes] | None = None,
) -> tuple[Offsets, Offsets, Offsets]:
    """Algorithm 1, line 2: the groups as (order, starts, leaf of each group).

    `sensitive` has shape (records, sensitive attributes); `sizes` and `ordered` tell the domain size of each and
    whether its codes are ordered (t-closeness). The whole table must satisfy the principle. `tags`, one a record,
    order those that share all quasi-identifiers.

    `partition` is range, or program for the authors' way of cutting. `grouping` is leaves, buckets, neighbours,
    seeds or sampled, `sweep` leaf or table. Then come `exchanges` rounds between near groups, which are near only
    inside a `shard` of so many; those of sampled are drawn under `key` at `temperature`, in mean distances within
    the first groups.

    `asks` says among how many records each record is to hide. `households` are the number of each record's
    household, 2^32 - 1 for none, and the codes of its middle, by which cuts see it: leaves and neighbours keep
    households whole, without exchanges.
    """

@final
class Tables:
    """The random output tables (Definition 1) of a batch, one a group and attribute; may not leave a run."""

    @property
    def solved(self) -> int:
        """How many different problems were solved for them."""
    @property
    def narrowed(self) -> int:
        """How many tables offer the observed columns because the domain's were too many."""
    def table(self, group: int, attribute: int) -> tuple[Codes, NDArray[np.int64], Codes, NDArray[np.uint64], int]:
        """(row codes, how many records share each row, column codes, numerators (rows, columns), total)."""
    def flat(
        self,
    ) -> tuple[NDArray[np.int64], Codes, Codes, Codes, NDArray[np.uint64], NDArray[np.uint64]]:
        """Every probability above 0: (group in the batch, attribute, row code, column code, numerator, total)."""

def calculate_tables(
    codes: Codes,
    order: Offsets,
    starts: Offsets,
    distances: list[Distance],
    *,
    delta: tuple[int, int] | None,
    cover: str,
    columns: str,
    asks: NDArray[np.uint32] | None = None,
) -> Tables:
    """Algorithm 1, line 5: the tables of a batch; `delta` is (numerator, denominator), None for tight.

    With `asks`, a number a record of the table, delta of a group is at most 1 over the largest of its members.
    """

def output_values(tables: Tables, key: bytes, *, first_group: int, draw: str, blocks: list[list[int]]) -> Codes:
    """Algorithm 1, line 6: drawn codes, shape (records of the batch, attributes), in the batch's order.

    `blocks` are sets of attributes, by place, that are drawn together.
    """

def keep_rules(
    tables: Tables,
    drawn: Codes,
    key: bytes,
    *,
    first_group: int,
    rules: list[list[tuple[int, NDArray[np.bool_]]]],
    draw: str,
    blocks: list[list[int]],
) -> Codes:
    """Drawn codes with values exchanged between records of equal rows until fewest rows break a rule.

    A rule is its conditions, each an attribute by place and whether each of its codes meets the condition, shape
    (codes of the attribute,); it forbids a row that meets them all. `draw` and `blocks` are those of the draw.
    """

def randomize_unchanged_tuples(
    tables: Tables, drawn: Codes, key: bytes, *, first_group: int, repair: int
) -> tuple[Codes, int, int]:
    """Algorithm 2: (codes, tuples repaired, tuples that could not be because their group is all equal)."""

def tag_records(key: bytes, columns: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A keyed tag of each row of `columns` (records, columns), random in its content and copy number."""

def stop_calls() -> None:
    """Let the calls that any thread waits for end with KeyboardInterrupt, until `allow_calls`."""

def allow_calls() -> None:
    """Let calls run to their end again."""

def shuffled(key: bytes, count: int) -> NDArray[np.int64]:
    """A keyed permutation of range(count)."""

def uniforms(key: bytes, stream: int, count: int) -> NDArray[np.float64]:
    """`count` numbers in [0, 1) of a keyed stream."""

@final
class Encoded:
    """An original and a release of it, as every adversary of the core sees them.

    `original` has shape (records, attributes); `low` and `high`, the first and last code that each released cell
    covers, (rows, attributes); `row` is the row of each record, -1 where there is none or it is not known;
    `sensitive` (records, sensitive attributes), `released` (rows, sensitive attributes).
    """

    def __init__(
        self, original: Codes, low: Codes, high: Codes, row: Offsets, sensitive: Codes, released: Codes
    ) -> None: ...

def disclose(
    encoded: Encoded, masks: NDArray[np.uint64], targets: Offsets
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Disclosure (Section 5.1) for each set of known attributes, given as bits and ascending, summed over targets.

    (identity, records whose one match is their own row, attribute with shape (masks, sensitive attributes)).
    """

def find_nearest(
    encoded: Encoded, distances: list[Distance], blocks: tuple[Offsets, Offsets], targets: Offsets, *, among: str
) -> tuple[NDArray[np.float64], Offsets, NDArray[np.bool_], NDArray[np.float64]]:
    """The rows nearest to each target, among those of its block that are `different` from it, or `all`.

    `blocks` numbers what is known beside, of rows and of records. (distance, ties, whether the own row is among
    them, share of them with the own sensitive value of each sensitive attribute); no row: infinite, 0, no, 0.
    """

def conclude(
    seen: list[tuple[Tables, Codes, int, list[list[int]]]],
    sensitive: Codes,
    is_joined: NDArray[np.bool_],
    key: bytes,
    *,
    first_group: int,
    world: str,
    corrupted: int,
    share: float,
) -> tuple[list[NDArray[np.float64]], NDArray[np.float64], tuple[float, int, int]]:
    """The informed adversary (A1) over a batch.

    Each release is its tables, its released codes, its repair and the attributes that share a random number.
    All arrays are in the batch's order, NaN for the `corrupted` members a group that are not asked about, and for
    groups beyond the `share` of them that is drawn:
    [posterior of the own row, largest posterior, 1/ties of a top guess, 1/ties of the nearest row of the group,
    whether a one-to-one assignment is right], the posterior of the own value of each sensitive attribute,
    (Σ squared difference of two chains, records that needed chains, records whose rows the tables do not explain).
    Rows that `is_joined` are known in every release, others in the first alone. `world` is release, raw, shuffled.
    """

def single_value_risks(tables: Tables) -> NDArray[np.float64]:
    """Σ_i P(own row has the own value, i rows have it) / i, shape (records of the batch, attributes)."""

def score_rows(
    scores: NDArray[np.float32],
    codes: Codes,
    own: Offsets,
    rows: Codes,
    sizes: list[int],
    *,
    takes_equal: bool,
) -> NDArray[np.float64]:
    """1/ties of each target whose own row has the largest sum of scores among all rows, else 0.

    `scores` (targets, all codes of the first attribute, then of the second, ...); rows equal to a target's `codes`
    count only if `takes_equal`.
    """

def sum_rows(
    tables: Tables, groups: Offsets, rows: Codes, *, repair: int, blocks: list[list[int]]
) -> NDArray[np.float64]:
    """Of each of the `rows` of a release, Σ P(record becomes it) over the records of some groups of the batch."""

def search_rows(
    tables: Tables,
    groups: Offsets,
    rows: Codes,
    own: Offsets,
    totals: NDArray[np.float64],
    *,
    weight: float,
    repair: int,
    blocks: list[list[int]],
) -> NDArray[np.float64]:
    """1/ties of each record of some groups whose own row is the one in which it has the largest share, else 0.

    All `rows` of the release are candidates; `own` is the row of each record of the batch, `totals` the sums of
    `sum_rows` over all batches; each record of another group that was summed stands for `weight` records.
    """

def scan_csv(
    text: bytes, delimiter: int
) -> tuple[
    list[bytes], int, list[tuple[int, str, int]], int, bytes | None, tuple[bool, list[int], tuple[int, int, int]]
]:
    """Walk over delimited text: (header, rows, faults, where the rows begin, text of the good rows, style).

    Faults are (row from 1, kind, fields); kinds are ragged, after_quote, open_quote, nul, not_utf8 and too_long.
    The text is None where the one given can be parsed as it stands from where the rows begin. The style is (is the
    header quoted, columns whose cells are all quoted, rows that end in LF, CR LF and CR).
    """
