"""Anatomy (Xiao & Tao, VLDB 2006): quasi-identifiers as they are, parted from the sensitive values by groups.

The records are bucketed by sensitive value; a group takes one record from each of the l fullest buckets until fewer
than l are left, and the residue joins the last group, whose values it does not repeat. Records of a bucket, and
buckets of one size, are taken in an order that the key decides.
"""

from __future__ import annotations

import time
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from muco._core import shuffled, uniforms
from muco.arrays import Offsets
from muco.baselines.generalize import replace_columns, summarize, tell_ignored
from muco.errors import PolicyError, TableError
from muco.frame import Frame
from muco.gate import Passage, pass_gate
from muco.microdata import Groups, Key, Microdata
from muco.policy import Policy
from muco.promise import describe_diversity, describe_limits, name_attributes, tell_records
from muco.release import Anatomy, Certificate, HiddenGroups, Parts
from muco.request import Watch, choose_policy, ignore
from muco.scale import Reals
from muco.steps import divide_table
from muco.switches import Grouping, Method, Principle, Sweep

if TYPE_CHECKING:
    import polars as pl

# Groups whose values all differ keep each of these, and the fullest buckets need no more than the first.
_KEPT = {Principle.FREQUENCY, Principle.DISTINCT, Principle.ENTROPY}


def anatomize(
    frame: Any, policy: Policy, *, key: bytes | str | Key | None = None, watch: Watch | None = None
) -> Anatomy:
    """Anatomy's two tables, for one sensitive attribute and the policy's diversity l.

    Every group holds at least l records with different sensitive values. Row order and group numbers are random
    under the key. Raises PolicyError for a policy that Anatomy cannot keep, TableError, InfeasibleError.

    >>> import polars as pl, muco
    >>> table = pl.DataFrame({"age": [20, 30, 41, 50], "pay": [1, 1, 3, 3]})
    >>> anatomy = anatomize(table, muco.Policy.of(quasi="age", sensitive="pay", diversity=2))
    >>> sorted(anatomy.sensitive.rows())
    [(1, 1, 1), (1, 3, 1), (2, 1, 1), (2, 3, 1)]
    """
    return anatomize_with_groups(frame, policy, key=key, watch=watch)[0]


def anatomize_with_groups(
    frame: Any, policy: Policy, *, key: bytes | str | Key | None = None, watch: Watch | None = None
) -> tuple[Anatomy, HiddenGroups]:
    """The same, and what must stay with the curator: whose each row is. Its group is published."""
    started, secret, told = time.perf_counter(), Key.of(key), watch or ignore
    table, policy = choose_policy(frame, policy, {})
    _check(policy)
    told("encode", 0, len(table))
    switches = {"grouping": Grouping.BUCKETS, "sweep": Sweep.LEAF, "exchanges": 0, "principle": Principle.FREQUENCY}
    microdata = Microdata.of(table, policy.model_copy(update=switches), key=secret)
    told("divide", 0, len(table))
    groups = _bucketize(microdata, secret)
    told("release", 0, len(table))
    order = shuffled(secret.bits, len(table))
    names = np.empty(len(groups), dtype=np.int64)
    names[np.argsort(uniforms(secret.bits, 0, len(groups)), kind="stable")] = np.arange(1, len(groups) + 1)
    group_of = np.repeat(names, groups.sizes)
    group, count = _free_name("group", table), _free_name("count", table)
    certificate = _certify(groups, group, _pass(groups))
    anatomy = Anatomy(
        _part_quasi(groups, order, group_of, group),
        _part_sensitive(groups, group_of, group, count),
        group,
        count,
        certificate,
        summarize(groups, certificate, time.perf_counter() - started),
    )
    return anatomy, HiddenGroups(Method.ANATOMY, policy, groups.order[order], group_of[order])


def join_tables(anatomy: Anatomy | Parts, *, key: bytes = bytes(32)) -> tuple[pl.DataFrame, Reals]:
    """What an analyst can make of both tables: `data` with sensitive values, and each row's group average.

    The values of a group are dealt to its rows at random under `key`, which nothing that is published
    contradicts. The averages, shape (rows,), are what Anatomy's authors answer queries with; they are empty
    where the sensitive attribute is no number. Raises TableError where the tables do not belong together.
    """
    import polars as pl

    data, sensitive = _as_polars(anatomy.data), _as_polars(anatomy.sensitive)
    (name,) = (column for column in sensitive.columns if column not in {anatomy.group, anatomy.count})
    group, owner, counts = _number_groups(data, sensitive, anatomy)
    place = np.repeat(np.arange(len(sensitive)), counts)
    values = sensitive[place].with_columns(pl.Series(anatomy.group, owner[place]))
    dealt = values[np.lexsort((uniforms(key, 0, len(values)), owner[place]))]
    rows = np.argsort(group, kind="stable")
    back = np.empty(len(rows), dtype=np.int64)
    back[rows] = np.arange(len(rows))
    numbers = values.select(anatomy.group, pl.col(name).cast(pl.Float64, strict=False))
    averages = np.empty(0)
    if not (numbers[name].is_null() & values[name].is_not_null()).any():
        means = numbers.group_by(anatomy.group).agg(pl.col(name).mean())
        found = pl.DataFrame({anatomy.group: group}).join(
            means, on=anatomy.group, how="left", maintain_order="left"
        )
        averages = found[name].fill_null(0).to_numpy()
    return data.drop(anatomy.group).with_columns(dealt[name].gather(back)), averages


def _number_groups(data: pl.DataFrame, sensitive: pl.DataFrame, parts: Anatomy | Parts) -> tuple[Any, Any, Any]:
    """The group (from 0) of each row of both tables, and the counts; each group has as many values as rows."""
    import polars as pl

    both = pl.concat([table[parts.group].cast(pl.String).rename("group") for table in (data, sensitive)])
    counts = sensitive[parts.count].cast(pl.String).str.strip_chars().cast(pl.Int64, strict=False)
    if both.null_count() or counts.null_count() or (counts < 1).any():
        raise TableError(f"columns {parts.group} and {parts.count} must give each row a group and a count from 1")
    numbers = both.str.strip_chars().cast(pl.Int64, strict=False)
    ranks = (both if numbers.null_count() else numbers).rank("dense").to_numpy().astype(np.int64) - 1
    here, there = ranks[: len(data)], ranks[len(data) :]
    most = int(ranks.max(initial=-1)) + 1
    off = np.bincount(here, minlength=most) - np.bincount(there, counts.to_numpy(), minlength=most)
    if wrong := int((off != 0).sum()):
        raise TableError(
            f"Anatomy's two tables do not belong together: {wrong} groups have another number of rows than of "
            "sensitive values"
        )
    return here, there, counts.to_numpy()


def _check(policy: Policy) -> None:
    if len(policy.sensitive) != 1:
        raise PolicyError(
            f"anatomy parts one sensitive attribute from the rest, and the policy names {len(policy.sensitive)}: "
            "name one, or take method mondrian"
        )
    if policy.household is not None:
        raise PolicyError("anatomy deals records out one by one and would part households: take method mondrian")
    if policy.principle not in _KEPT:
        raise PolicyError(
            f"anatomy keeps frequency, distinct or entropy diversity, and not {policy.principle}: "
            "set one of them, or take method mondrian"
        )


def _bucketize(microdata: Microdata, key: Key) -> Groups:
    """The core's buckets over the whole table: on one attribute with one value no cut is possible."""
    # Buckets of one size are taken in the order of their codes: in that of the domain, groups would hold salaries
    # near each other (standard deviation 14,000 instead of 50,000 on the paper's table), which tells them.
    names = np.argsort(uniforms(key.bits, 1, len(microdata.sensitive[0].cells)), kind="stable").astype(np.int32)
    alike = replace(
        microdata,
        quasi=microdata.quasi[:1],
        codes=np.zeros((len(microdata), 1), dtype=np.int32),
        sensitive_codes=names[microdata.sensitive_codes],
    )
    groups = divide_table(alike)
    return Groups(microdata, groups.order, groups.starts, groups.leaves)


def _pass(groups: Groups) -> Passage | None:
    """The policy's gate: the rows of a group whose quasi-identifiers are equal too are all that look alike."""
    import polars as pl

    codes, numbers = groups.microdata.codes[groups.order], np.repeat(np.arange(len(groups)), groups.sizes)
    # Of n rows that look alike each is found with 1/n: together they weigh 1.
    found = pl.DataFrame(np.column_stack((numbers, codes))).n_unique() / len(codes)
    how = "mean over people, whose quasi-identifiers are published as they are, the groups known"
    remedy = "Take method mondrian or muco"
    return pass_gate(groups.microdata.policy, found, how, remedy=remedy)


def _part_quasi(groups: Groups, order: Offsets, group_of: Offsets, name: str) -> Any:
    import polars as pl

    microdata = groups.microdata
    rows = groups.order[order]
    data = microdata.released(rows, microdata.codes[rows], microdata.policy.sensitive)
    return replace_columns(data, {name: pl.Series(group_of[order])})


def _part_sensitive(groups: Groups, group_of: Offsets, name: str, count: str) -> Any:
    import polars as pl

    microdata, domain = groups.microdata, groups.microdata.sensitive[0]
    pairs = group_of * len(domain.cells) + microdata.sensitive_codes[groups.order, 0]
    found, counts = np.unique(pairs, return_counts=True)
    group, code = np.divmod(found, len(domain.cells))
    hidden = frozenset(other for other in microdata.frame.names if other != domain.attribute)
    values = microdata.frame.released(domain.records[code], {}, hidden)
    whole = replace_columns(values, {name: pl.Series(group), count: pl.Series(counts)})
    return nw.from_native(whole, eager_only=True).select(name, domain.attribute, count).to_native()


def _free_name(name: str, table: Frame) -> str:
    while name in table.names:
        name += "_"
    return name


def _as_polars(frame: Any) -> pl.DataFrame:
    table: pl.DataFrame = nw.from_native(frame, eager_only=True).to_polars()
    return table


def _certify(groups: Groups, group: str, passage: Passage | None) -> Certificate:
    microdata, policy = groups.microdata, groups.microdata.policy
    named = name_attributes(microdata)
    smallest = int(groups.sizes.min())
    return Certificate(
        method="Anatomy: quasi-identifiers and sensitive values in two tables joined by group; no mutual cover",
        settings={
            "method": "anatomy",
            "diversity": policy.diversity,
            "principle": policy.principle,
            **tell_records(policy),
        },
        attributes=named,
        records=len(microdata),
        smallest_group=smallest,
        changed_share=0.0,
        information_loss=dict.fromkeys(policy.quasi, 0.0),
        repair={},
        promise=(
            f"Whoever finds a person's row learns a group of at least {smallest} records with different values of "
            f"{policy.sensitive[0]}, each of them the person's with probability at most 1/{policy.diversity}. The "
            "groups are taken as given.",
            describe_diversity(policy),
        ),
        limits=(
            "Quasi-identifiers are published as they are: whoever knows a person's finds the row and sees that the "
            f"person is in the table. Column {group} tells which rows belong together.",
            *tell_ignored(policy),
            *describe_limits(policy, named["untouched"]),
        ),
        version=version("muco"),
        gate=passage.to_words() if passage else {},
    )
