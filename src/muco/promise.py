"""What a finished run may claim, in words: the certificate's promise, and the limits that stand beside it."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from muco.blocks import is_one_block
from muco.gate import Passage
from muco.microdata import Microdata
from muco.personal import PERSONAL
from muco.policy import Policy
from muco.release import Certificate, Outcome, Summary
from muco.rule_codes import RuleCount
from muco.switches import Principle, Role

_NO_SWITCHES = {"schema_version", "missing", "table", "attributes", "max_risk", "accept_risk", "rules"}
FEWEST_RECORDS, NEARLY_ALL = 100, 0.9  # from which a column of almost unique texts looks like an identifier
FEWEST = 10  # people that may be counted in public: of fewer no number is told
_KEPT = {
    Principle.FREQUENCY: "no value of {names} stands in more than 1/{l} of the records of a group",
    Principle.DISTINCT: "each group holds at least {l} different values of {names}",
    Principle.ENTROPY: "the entropy of {names} in each group is at least that of {l} equally frequent values",
    Principle.RECURSIVE: "each group is recursively ({c}, {l})-diverse in {names}",
    Principle.CLOSENESS: "the values of {names} in each group are within {t} of those of the table (t-closeness)",
    Principle.ANONYMITY: "each group has at least {l} records",
}


def summarize(outcome: Outcome, *, seconds: float) -> Summary:
    """The figures of a run for the terminal."""
    return Summary(
        records=len(outcome.released),
        groups=len(outcome.groups),
        delta=str(outcome.groups.microdata.policy.delta),
        smallest_group=outcome.smallest_group,
        changed_share=outcome.changed_share,
        information_loss=sum(outcome.information_loss.values()),
        seconds=seconds,
        rules=outcome.rules,
    )


def find_cautions(outcome: Outcome) -> list[str]:
    """What a curator should know before the release leaves: columns like names, groups that cover nobody."""
    microdata, policy = outcome.groups.microdata, outcome.groups.microdata.policy
    cautions = []
    if outcome.smallest_group == 1:
        cautions.append("the smallest group has 1 record, which nobody covers: raise diversity")
    if is_one_block(policy):
        cautions.append(
            "one block of all quasi-identifiers publishes their exact combinations, as Anatomy does: part the block"
        )
    distinct = {domain.attribute: len(domain.cells) for domain in microdata.quasi if not domain.is_ordered}
    if policy.asks in microdata.released_names:
        cautions.append(
            f"attribute {policy.asks} is released: it tells of each row how much cover its person asked for. Give "
            "it role identifier, unless that is meant"
        )
    if policy.weight is not None:
        numbers = microdata.frame.column(policy.weight)
        own = int(numbers.is_unique().sum())
        if own >= FEWEST:
            cautions.append(
                f"attribute {policy.weight}: {own} of {len(microdata)} records have a weight of their own, and "
                "weights are released as they are: whoever knows one finds the row. Round them to few values"
            )
    known = {*policy.quasi, *policy.sensitive}  # looked up once: each looks through all attributes
    for name in microdata.released_names:
        if name not in known:
            column = microdata.frame.column(name)
            if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
                distinct[name] = column.n_unique()
    cautions += [
        f"attribute {name} looks like an identifier: it has {values} different values in {len(microdata)} records. "
        "Give it role identifier, or make it coarser"
        for name, values in distinct.items()
        if len(microdata) >= FEWEST_RECORDS and values >= NEARLY_ALL * len(microdata)
    ]
    return cautions


def certify(outcome: Outcome, passage: Passage | None = None) -> Certificate:
    """The public certificate of a run, and of its passage through the gate."""
    microdata, policy = outcome.groups.microdata, outcome.groups.microdata.policy
    named = name_attributes(microdata)
    return Certificate(
        method="MuCo: mutual cover by random output tables",
        settings=_settings(policy),
        attributes=named,
        records=len(outcome.released),
        smallest_group=outcome.smallest_group,
        changed_share=round(outcome.changed_share, 6),
        information_loss={name: round(loss, 6) for name, loss in outcome.information_loss.items()},
        repair={name: _count(getattr(outcome, name)) for name in ("repaired", "unrepairable") if policy.repair},
        promise=(*_linking(policy, outcome), describe_diversity(policy)),
        limits=_limits(policy, named["untouched"]),
        version=version("muco"),
        gate=passage.to_words() if passage else {},
        rules=tuple(_tell_rule(rule) for rule in outcome.rules),
    )


def name_attributes(microdata: Microdata) -> dict[str, tuple[str, ...]]:
    """The attributes by what becomes of them, as a certificate lists them."""
    policy = microdata.policy
    unnamed = tuple(name for name in microdata.frame.names if name not in policy.attributes)
    return {
        "quasi_identifiers": policy.quasi,
        "sensitive": policy.sensitive,
        "untouched": (*policy.named(Role.OTHER), *unnamed),
        "removed": policy.named(Role.IDENTIFIER),
    }


def _count(records: int) -> int | str:
    """A number of records as the public may know it."""
    return records if records == 0 or records >= FEWEST else f"fewer than {FEWEST}"


def _tell_rule(rule: RuleCount) -> dict[str, int | str]:
    counts = {name: _count(getattr(rule, name)) for name in ("original", "drawn", "released")}
    return {"rule": rule.name, **counts}


def _settings(policy: Policy) -> dict[str, Any]:
    words = policy.model_dump(mode="json", exclude={*_NO_SWITCHES, *PERSONAL}, exclude_none=True)
    return {**words, **tell_records(policy)}


def tell_records(policy: Policy) -> dict[str, Any]:
    """The columns that say something of each record, and what is to be kept: every method forms groups by them."""
    columns = {field: getattr(policy, field) for field in PERSONAL}
    keep = {name: each.keep for name, each in policy.attributes.items() if each.keep is not None}
    return {name: value for name, value in {**columns, "keep": keep}.items() if value}


def _linking(policy: Policy, outcome: Outcome) -> tuple[str, ...]:
    if policy.is_provable:
        given = (
            "The groups were formed without looking at sensitive values"
            if policy.principle is Principle.ANONYMITY
            else "The groups are taken as given"
        )
        return (
            "Whoever knows the groups, the random output tables and every quasi-identifier of everybody links a "
            f"released row to its person with probability at most 1/{outcome.smallest_group}. {given}.",
            *promise_persons(policy, outcome.groups.largest_share),
        )
    strength = math.ceil(1 / policy.delta) if isinstance(policy.delta, Fraction) else outcome.smallest_group
    words = [
        f"Each released value of a group may come from at least {strength} of its records (Corollary 1 at delta "
        f"{policy.delta})."
    ]
    words += _living_together(policy, "may be of at least as many others")
    words += _asked(policy, "each released value of that group may come from at least as many (Corollary 1)")
    if policy.repair:
        few = _count(outcome.unrepairable)
        left = f", but for {few} in groups of equal records" if outcome.unrepairable else ""
        words.append(f"No row keeps every quasi-identifier of its record{left}: an exact match is wrong.")
    return tuple(words)


def promise_persons(policy: Policy, largest_share: Fraction) -> tuple[str, ...]:
    """What households and records that ask for more get where all rows of a group are alike."""
    return (
        *_living_together(policy, f"is linked to its household with probability at most {largest_share}"),
        *_asked(policy, "who knows all that links its row with probability at most 1 over that number"),
    )


def _living_together(policy: Policy, kept: str) -> list[str]:
    """What households get."""
    if policy.household is None:
        return []
    return [
        f"All records of one household ({policy.household}) stand in one group, of which they are at most "
        f"1/{policy.diversity}: a released row {kept}."
    ]


def _asked(policy: Policy, kept: str) -> list[str]:
    """What records get that ask for cover of their own; nobody is told how much they ask for."""
    if policy.asks is None:
        return []
    return [f"A record that asks for more ({policy.asks}) stands in a group of as many as it asks for: {kept}."]


def describe_diversity(policy: Policy) -> str:
    """What every group keeps, as a sentence."""
    kept = _KEPT[policy.principle].format(
        names=" and of ".join(policy.sensitive), l=policy.diversity, c=policy.c, t=policy.t
    )
    return f"{kept[0].upper()}{kept[1:]}."


def _limits(policy: Policy, other: tuple[str, ...]) -> tuple[str, ...]:
    limits = []
    if not policy.is_provable:
        limits.append(
            f"Delta {policy.delta} limits an average for one attribute at a time. It is no bound on linking: who "
            "knows groups and tables may link a record with much higher probability, and a near match is not "
            "excluded where an exact one is."
        )
    if is_one_block(policy):
        limits.append(
            "All quasi-identifiers are drawn in one block: the release holds every combination of the original, as "
            "Anatomy's does. Whoever knows all of a person's finds that they are in the table, and their group's "
            "sensitive values; only which of its rows is theirs stays open."
        )
    return (*limits, *describe_limits(policy, other))


def describe_limits(policy: Policy, other: tuple[str, ...]) -> tuple[str, ...]:
    """What no method that forms groups covers, as sentences; `other` are the columns released untouched."""
    limits = []
    if policy.principle is not Principle.ANONYMITY:
        limits.append(
            "Groups are formed by looking at sensitive values. What that choice reveals to one who reruns the "
            "algorithm (minimality attack) is not bounded here."
        )
    if policy.asks is not None:
        limits.append(
            f"Groups are formed by looking at what records ask for ({policy.asks}). Whoever knows what a person "
            "asks for, and that those ask for more who have more to hide, learns from that."
        )
    if other:
        limits.append(
            f"Columns that are released untouched ({', '.join(other)}) are not covered: whoever knows a person's "
            "values there may find the row by them."
        )
    limits.append(
        "A second release of the same records, under another key or policy, is a new decision: joined on untouched "
        "columns, several releases protect less than one."
    )
    limits.append("That a person is in the table is not hidden.")
    return tuple(limits)
