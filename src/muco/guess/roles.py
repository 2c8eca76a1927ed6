"""What each column is to an adversary, guessed, with the reason: shapes first, then names, then values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from muco.domain import LONGEST_TEXT
from muco.guess.names import entries_of, split_name
from muco.guess.shapes import are_diagnosis_codes, find_shape
from muco.guess.traits import Traits
from muco.guess.vocabulary import topic_of_values
from muco.guess.words import LEXICON, Topic
from muco.switches import Role

_ROLES = {entry.topic: entry.role for entry in LEXICON}
_WORDS = 4  # a longer name is a question of a survey, which may mention a school without asking for one
_WEAK = frozenset({Topic.AGE, Topic.EDUCATION, Topic.PLACE, Topic.WORK, Topic.BODY, Topic.FAMILY, Topic.RELATION})
_NAMED = frozenset({Topic.PLACE, Topic.WORK, Topic.ORIGIN})  # the name of a county names nobody
_WORDY = 40  # characters: longer texts that hardly repeat are sentences


@dataclass(frozen=True, slots=True)
class Guess:
    """The role of one column, why, and what is doubtful about it."""

    role: Role
    reason: str
    topic: Topic | None = None
    doubt: str | None = None


def guess_role(traits: Traits) -> Guess:
    """The role of one column: the first rule that applies, from the surest to the least sure."""
    for rule in (_nothing, _shape, _free_text, _name, _values, _uniqueness):
        if (guess := rule(traits)) is not None:
            return guess
    return Guess(Role.OTHER, "neither its name nor its values tell")


def _nothing(traits: Traits) -> Guess | None:
    if len(traits.text) > 1:
        return None
    return Guess(Role.OTHER, "it has no value" if not len(traits.text) else "it has one value only")


def _shape(traits: Traits) -> Guess | None:
    if shape := find_shape(traits):
        return Guess(Role.IDENTIFIER, f"its values look like {shape}")
    if are_diagnosis_codes(traits):
        return Guess(Role.SENSITIVE, "its values look like diagnosis codes (ICD-10)", Topic.HEALTH)
    return None


def _free_text(traits: Traits) -> Guess | None:
    longest = traits.lengths[1]
    if traits.forms or traits.numbers is not None or longest <= _WORDY:
        return None
    if longest > LONGEST_TEXT or (traits.is_near_unique and float(np.mean(traits.counts)) < 2):
        return Guess(Role.IDENTIFIER, f"free text of up to {longest} characters, which may name anybody")
    return None


def _name(traits: Traits) -> Guess | None:
    """The first topic of the name that the values do not contradict."""
    entries = list(entries_of(traits.name))
    for entry in entries:
        if entry.topic in _WEAK and _is_question(traits.name, entry.topic):
            continue
        if entry.topic is Topic.PERSON and any(other.topic in _NAMED for other in entries):
            continue
        if _agrees(traits, entry.topic):
            return _by_topic(traits, entry.topic)
    return None


def _is_question(name: str, topic: Topic) -> bool:
    """Whether a name is a survey's question that mentions the topic by the way."""
    words = split_name(name)
    if len(words) <= _WORDS:
        return False
    asks_age = topic is Topic.AGE and words[0] == "age" and words[1] in {"in", "at", "years", "yrs", "months"}
    counts_people = topic is Topic.FAMILY and words[-1] in {"household", "family", "hh"}
    return not (asks_age or counts_people)


def _by_topic(traits: Traits, topic: Topic) -> Guess:
    role, doubt = _ROLES[topic], None
    reason = f"its name says {topic}"
    if topic is Topic.NUMBER and not traits.is_near_unique:
        reason += ", and it repeats: several rows a person?"
        doubt = "an identifier that repeats: if each person has several rows, make them one first"
    elif topic is Topic.PERSON and len(traits.text) < 10:
        doubt = "few different names: whose are they?"
    elif topic in {Topic.BODY, Topic.RELIGION, Topic.YEAR}:
        doubt = f"{topic} may be known to others, or be what is to be protected: quasi or sensitive?"
    elif role is Role.QUASI and traits.is_near_unique and traits.known >= 100 and traits.numbers is None:
        doubt = "hardly any two records share a value: an identifier?"
    return Guess(role, reason, topic, doubt)


def _agrees(traits: Traits, topic: Topic) -> bool:
    check = _CHECKS.get(topic)
    return check is None or check(traits)


def _is_text(traits: Traits) -> bool:
    return traits.numbers is None and not traits.forms and not traits.are_truths


def _is_name(traits: Traits) -> bool:
    return _is_text(traits) and len(traits.text) > 2 and traits.share(r"\d") < 0.5


def _is_number_of_somebody(traits: Traits) -> bool:
    """Many values: a column called key or nr with five of them is no key."""
    whole = traits.numbers is None or traits.is_whole
    return whole and not traits.forms and (traits.uniqueness > 0.2 or (len(traits.text) > 50 and traits.is_whole))


def _is_age(traits: Traits) -> bool:
    if traits.numbers is None:
        return not traits.forms and (traits.share(r"\d") > 0.5 or len(traits.text) <= 20)
    return float(traits.numbers.min()) >= -10 and float(traits.numbers.max()) <= 1500


def _is_birth(traits: Traits) -> bool:
    """Dates, years, months and days; a birth weight is none."""
    if traits.forms or traits.numbers is None:
        return True
    low, high = float(traits.numbers.min()), float(traits.numbers.max())
    return traits.is_whole and (1850 <= low <= high <= 2100 or 1 <= low <= high <= 31 or low >= 18_500_101)


def _is_sex(traits: Traits) -> bool:
    return len(traits.text) <= 12


def _is_date(traits: Traits) -> bool:
    return bool(traits.forms)


def _is_year(traits: Traits) -> bool:
    numbers = traits.numbers
    return numbers is not None and traits.is_whole and bool(numbers.min() >= 1850 and numbers.max() <= 2100)


def _is_category(traits: Traits) -> bool:
    """Something that repeats, and no date."""
    return not traits.forms and not (traits.numbers is not None and not traits.is_whole and traits.is_near_unique)


_CHECKS: dict[Topic, Callable[[Traits], bool]] = {
    Topic.EMAIL: _is_name,
    Topic.PHONE: lambda traits: traits.uniqueness > 0.5 and not traits.forms,
    Topic.PERSON: _is_name,
    Topic.ADDRESS: lambda traits: _is_text(traits) and (traits.uniqueness > 0.2 or len(traits.text) > 20),
    Topic.DOCUMENT: lambda traits: traits.uniqueness > 0.5 and not traits.forms,
    Topic.NUMBER: _is_number_of_somebody,
    Topic.AGE: _is_age,
    Topic.BIRTH: _is_birth,
    Topic.SEX: _is_sex,
    Topic.HEALTH: lambda traits: not traits.forms,
    Topic.MONEY: lambda traits: not traits.forms,
    Topic.SCORE: lambda traits: not traits.forms,
    Topic.CRIME: lambda traits: not traits.forms,
    Topic.POLITICS: lambda traits: not traits.forms,
    Topic.DATE: _is_date,
    Topic.YEAR: _is_year,
    Topic.ORIGIN: _is_category,
    Topic.MARITAL: _is_category,
    Topic.EDUCATION: _is_category,
    Topic.WORK: lambda traits: not traits.forms,
}


def _values(traits: Traits) -> Guess | None:
    """Values that tell what their name does not."""
    if traits.forms:
        return Guess(Role.QUASI, "its values are dates", Topic.DATE)
    if topic := topic_of_values(traits):
        doubt = "only its values tell" if len(traits.text) <= 3 and topic is not Topic.SEX else None
        return Guess(_ROLES[topic], f"its values speak of {topic}", topic, doubt)
    return None


def _uniqueness(traits: Traits) -> Guess | None:
    if traits.is_serial:
        return Guess(Role.IDENTIFIER, "its numbers are consecutive: a record number")
    if not traits.is_near_unique or traits.known < 20:
        return None
    if _is_text(traits):
        return Guess(Role.IDENTIFIER, "hardly any two records share a text")
    low, high = traits.lengths
    if traits.is_whole and low == high >= 6:
        return Guess(
            Role.IDENTIFIER,
            "hardly any two records share a number, and all have the same length",
            doubt="a number of something, or an amount?",
        )
    return None
