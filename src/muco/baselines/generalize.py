"""Mondrian generalisation: Algorithm 1's own partition, with ranges released in place of values.

The generalised table of Section 2: all records of a group carry the same text on every quasi-identifier.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from muco._core import shuffled
from muco.arrays import Codes
from muco.baselines.labels import label_groups, spans_of_groups
from muco.gate import Passage, pass_gate, tell_share
from muco.microdata import Groups, Key, Microdata
from muco.policy import Policy
from muco.promise import describe_diversity, describe_limits, name_attributes, promise_persons, tell_records
from muco.release import Certificate, HiddenGroups, Release, Summary
from muco.request import Watch, choose_policy, ignore
from muco.scale import Scale
from muco.steps import divide_table
from muco.switches import Grouping, Method, Principle, Sweep

if TYPE_CHECKING:
    import polars as pl


def generalize(
    frame: Any, policy: Policy, *, key: bytes | str | Key | None = None, watch: Watch | None = None
) -> Release:
    """Release the ranges of Mondrian's leaves: the policy's diversity and principle apply, its other switches not.

    A quasi-identifier whose values all stay keeps its type; any other becomes text, such as `[20, 30]`, the label
    of a hierarchy, `{a, b}` or `*`. Rows are shuffled by the key. Raises what `anonymize` raises: PolicyError,
    TableError, InfeasibleError.

    >>> import polars as pl, muco
    >>> table = pl.DataFrame({"age": [20, 30, 41, 50], "pay": [1, 2, 3, 4]})
    >>> policy = muco.Policy.of(quasi="age", sensitive="pay", diversity=2)
    >>> sorted(generalize(table, policy).data["age"])
    ['[20, 30]', '[20, 30]', '[41, 50]', '[41, 50]']
    """
    return generalize_with_groups(frame, policy, key=key, watch=watch)[0]


def generalize_with_groups(
    frame: Any, policy: Policy, *, key: bytes | str | Key | None = None, watch: Watch | None = None
) -> tuple[Release, HiddenGroups]:
    """The same, and what must stay with the curator: whose each row is, and its group."""
    started, secret, told = time.perf_counter(), Key.of(key), watch or ignore
    table, policy = choose_policy(frame, policy, {})
    told("encode", 0, len(table))
    leaves = policy.model_copy(update={"grouping": Grouping.LEAVES, "sweep": Sweep.LEAF, "exchanges": 0})
    microdata = Microdata.of(table, leaves, key=secret)
    told("divide", 0, len(table))
    groups = divide_table(microdata)
    low, high = spans_of_groups(groups)
    told("release", 0, len(table))
    order = shuffled(secret.bits, len(table))
    rows = groups.order[order]
    data = microdata.released(rows, microdata.codes[rows])
    number = np.repeat(np.arange(len(groups)), groups.sizes)[order]
    texts = {}
    for place in np.flatnonzero((low != high).any(axis=0)).tolist():
        labels = label_groups(groups, place, low[:, place], high[:, place])
        texts[labels.text.name] = labels.text.gather(number)
        low[:, place], high[:, place] = labels.low, labels.high
    data = replace_columns(data, texts)
    certificate = _certify(groups, low, high, _pass(groups))
    release = Release(data, certificate, summarize(groups, certificate, time.perf_counter() - started))
    return release, HiddenGroups(Method.MONDRIAN, policy, rows, number)


def replace_columns(data: Any, columns: Mapping[str, pl.Series]) -> Any:
    """A native frame with some columns replaced by, or gaining, text or integers, in its own kind of frame."""
    import polars as pl

    whole = nw.from_native(data, eager_only=True)
    made = [
        nw.new_series(
            name,
            column.to_list(),
            nw.String if column.dtype == pl.String else nw.Int64,
            backend=whole.implementation,
        )
        for name, column in columns.items()
    ]
    return whole.with_columns(*made).to_native() if made else data


def summarize(groups: Groups, certificate: Certificate, seconds: float) -> Summary:
    """The figures of a run for the terminal; delta has no meaning without random output tables."""
    return Summary(
        records=certificate.records,
        groups=len(groups),
        delta="-",
        smallest_group=certificate.smallest_group,
        changed_share=certificate.changed_share,
        information_loss=sum(certificate.information_loss.values()),
        seconds=seconds,
    )


def tell_ignored(policy: Policy) -> tuple[str, ...]:
    """That edit rules are for values that are drawn."""
    return ("The policy's edit rules are neither kept nor counted: no value is drawn.",) if policy.rules else ()


def _pass(groups: Groups) -> Passage | None:
    """The policy's gate: all rows of a group look alike, so that who knows the groups links with 1/m."""
    policy = groups.microdata.policy
    remedy = f"Raise diversity to {math.ceil(1 / policy.max_risk)}" if policy.max_risk else ""
    return pass_gate(policy, float(groups.largest_share), tell_share(policy), remedy=remedy)


def _certify(groups: Groups, low: Codes, high: Codes, passage: Passage | None) -> Certificate:
    microdata, policy, sizes = groups.microdata, groups.microdata.policy, groups.sizes
    named = name_attributes(microdata)
    loss = {
        domain.attribute: float(Scale.of(domain, codes).width(first, last) @ sizes)
        for domain, codes, first, last in zip(microdata.quasi, microdata.codes.T, low.T, high.T)
    }
    settings: dict[str, Any] = {"method": "mondrian", "diversity": policy.diversity, "principle": policy.principle}
    settings |= {name: value for name, value in (("c", policy.c), ("t", policy.t)) if value is not None}
    smallest = int(sizes.min())
    given = (
        "The groups were formed without looking at sensitive values"
        if policy.principle is Principle.ANONYMITY
        else "The groups are taken as given"
    )
    return Certificate(
        method="Mondrian: generalisation of the groups of a multidimensional partition, without mutual cover",
        settings={**settings, **tell_records(policy), "information_loss_unit": "width"},
        attributes=named,
        records=len(microdata),
        smallest_group=smallest,
        changed_share=round(float(((low != high).mean(axis=1) @ sizes) / sizes.sum()), 6),
        information_loss={name: round(lost, 6) for name, lost in loss.items()},
        repair={},
        promise=(
            "All records of a group carry the same quasi-identifiers: whoever knows every quasi-identifier of "
            f"everybody links a released row to its person with probability at most 1/{smallest}. {given}.",
            *promise_persons(policy, groups.largest_share),
            describe_diversity(policy),
        ),
        limits=(
            "Where the records of a group differ, ranges, labels and sets stand in place of their values.",
            *tell_ignored(policy),
            *describe_limits(policy, named["untouched"]),
        ),
        version=version("muco"),
        gate=passage.to_words() if passage else {},
    )
