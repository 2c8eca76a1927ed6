"""A policy proposed for a table: a suggestion a column, and a diversity that the sensitive attributes can bear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muco.attribute import Attribute
from muco.domain import LONGEST_TEXT, encode
from muco.errors import MucoError, PolicyError
from muco.frame import Frame
from muco.guess.kinds import Comparison, compare
from muco.guess.roles import Guess, guess_role
from muco.guess.traits import Traits
from muco.guess.words import Topic
from muco.numerals import PLAIN, Numerals
from muco.switches import Kind, Principle, Role
from muco.uniqueness import name_some, unique_share

if TYPE_CHECKING:
    import polars as pl

USUAL = 10  # records of a group, and l where the table can bear it
_SMALLEST = 7  # a smaller l would allow groups too small to hide in
_MOST_SENSITIVE = 3  # each must hold in every group: more would leave few groups
_MANY = 0.05  # of the records: a combination that singles out so many is named
_FEW_VALUES = 5
_ORDERED = frozenset({Kind.CONTINUOUS, Kind.ORDINAL, Kind.DATE})
_STRENGTH = (Topic.HEALTH, Topic.MONEY, Topic.CRIME, Topic.POLITICS, Topic.SCORE)


@dataclass(frozen=True)
class Suggestion:
    """What one column is taken for, why, and what is doubtful."""

    traits: Traits
    guess: Guess
    comparison: Comparison | None = None

    def __repr__(self) -> str:
        return f"Suggestion({self.name}, {self.role})"

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.traits.name

    @property
    def role(self) -> Role:
        """What the column is to an adversary."""
        return self.guess.role

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why, in words without a cell."""
        markers = len(self.traits.markers) if self.role is not Role.IDENTIFIER else 0
        missing = (f"{markers} text{'s' * (markers > 1)} mean{'s' * (markers == 1)} missing",) if markers else ()
        return (self.guess.reason, *(self.comparison.reasons if self.comparison else ()), *missing)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What the curator should decide."""
        own = (self.guess.doubt,) if self.guess.doubt else ()
        numbers = self.comparison and self.traits.numbers is not None and any(map(_is_number, self.traits.markers))
        missing = ("numbers that stand apart were taken for missing: see `missing`",) if numbers else ()
        return (*own, *(self.comparison.doubts if self.comparison else ()), *missing)

    @property
    def words(self) -> dict[str, Any]:
        """The column's part of the policy."""
        words: dict[str, Any] = {"role": self.role.value}
        if self.comparison:
            words["kind"] = self.comparison.kind.value
        if self.traits.markers and self.role is not Role.IDENTIFIER:
            words["missing"] = list(self.traits.markers)
        return words | (self.comparison.words if self.comparison else {})


@dataclass(frozen=True)
class Proposal:
    """Suggestions for every column, the switches that go with them, and what is to be known of the whole table."""

    suggestions: tuple[Suggestion, ...]
    switches: dict[str, Any]
    why: str  # of the switches
    remarks: tuple[str, ...]
    records: int

    def __repr__(self) -> str:
        return f"Proposal({self.records} records, {len(self.suggestions)} columns)"

    @staticmethod
    def of(frame: Any, *, numerals: Numerals = PLAIN) -> Proposal:
        """Look at a pandas, polars or pyarrow table, whose texts write numbers as `numerals` says.

        Raises TableError; PolicyError where nothing can be quasi.
        """
        table = frame if isinstance(frame, Frame) else Frame.of(frame)
        if numerals != PLAIN:
            table = Frame.of(_as_plain(table, numerals))
        traits = [Traits.of(table.column(name)) for name in table.names]
        pairs = [(each, guess_role(each)) for each in traits]
        chosen = [_compared(each, guess) for each, guess in _with_quasi(_with_few_sensitive(pairs))]
        suggestions = tuple(_checked(table, suggestion) for suggestion in chosen)
        switches, why = _bearable(suggestions, len(table))
        if (household := _household(suggestions, len(table) // switches["diversity"])) is not None:
            switches["household"] = household
        return Proposal(suggestions, switches, why, _remarks(table, suggestions, household), len(table))

    def named(self, role: Role) -> list[str]:
        """The columns of one role."""
        return [suggestion.name for suggestion in self.suggestions if suggestion.role is role]

    @property
    def words(self) -> dict[str, Any]:
        """The whole policy."""
        parts = {suggestion.name: suggestion.words for suggestion in self.suggestions}
        return {**self.switches, "attributes": parts}


def _as_plain(table: Frame, numerals: Numerals) -> pl.DataFrame:
    """The table with the numbers of its columns of text written as 1234.5; other cells as they are."""
    import polars as pl

    return pl.DataFrame(numerals.rewrite(table.column(name)) for name in table.names)


def _is_number(marker: str) -> bool:
    return marker.lstrip("-").isdigit()


def _with_few_sensitive(pairs: list[tuple[Traits, Guess]]) -> list[tuple[Traits, Guess]]:
    """At most three sensitive attributes: those that bear most diversity, then the most telling."""
    sensitive = [(traits, guess) for traits, guess in pairs if guess.role is Role.SENSITIVE]
    ranked = sorted(
        sensitive,
        key=lambda pair: (-min(pair[0].records // max(pair[0].commonest, 1), _SMALLEST), _strength(pair[1])),
    )
    spare = {traits.name for traits, _ in ranked[_MOST_SENSITIVE:]}
    doubt = "sensitive too? Each sensitive attribute must hold in every group, so only a few were taken"
    return [
        (traits, replace(guess, role=Role.OTHER, doubt=doubt) if traits.name in spare else guess)
        for traits, guess in pairs
    ]


def _strength(guess: Guess) -> int:
    return _STRENGTH.index(guess.topic) if guess.topic in _STRENGTH else len(_STRENGTH)


def _with_quasi(pairs: list[tuple[Traits, Guess]]) -> list[tuple[Traits, Guess]]:
    """At least one quasi-identifier: where no column tells, those that repeat, all in doubt."""
    if any(guess.role is Role.QUASI for _, guess in pairs):
        return pairs
    doubt = "no column tells what an adversary may know, so each that repeats was taken"
    found = [
        (traits, replace(guess, role=Role.QUASI, doubt=doubt) if _may_be_covered(traits, guess) else guess)
        for traits, guess in pairs
    ]
    if any(guess.role is Role.QUASI for _, guess in found):
        return found
    raise PolicyError(
        "no column can be a quasi-identifier: all look like identifiers, sensitive or free text. "
        "Write the policy by hand (`muco schema` lists what it may hold)"
    )


def _may_be_covered(traits: Traits, guess: Guess) -> bool:
    return guess.role is Role.OTHER and len(traits.text) > 1 and traits.lengths[1] <= LONGEST_TEXT


def _compared(traits: Traits, guess: Guess) -> Suggestion:
    if guess.role in {Role.IDENTIFIER, Role.OTHER}:
        return Suggestion(traits, guess)
    return Suggestion(traits, guess, compare(traits, guess.topic))


def _checked(table: Frame, suggestion: Suggestion) -> Suggestion:
    """The suggestion if the engine reads the column by it, else the same as a plain category, in doubt."""
    if suggestion.comparison is None:
        return suggestion
    try:
        encode(table.column(suggestion.name), Attribute(**suggestion.words))
    except MucoError:
        plain = Comparison(Kind.CATEGORICAL, doubts=("its values do not compare as they seem to: see their form",))
        return replace(suggestion, comparison=plain)
    return suggestion


def _bearable(suggestions: Sequence[Suggestion], records: int) -> tuple[dict[str, Any], str]:
    """The principle and l that every sensitive attribute can bear, and why."""
    usual = max(1, min(USUAL, records // 3))
    sensitive = [suggestion.traits for suggestion in suggestions if suggestion.role is Role.SENSITIVE]
    if not sensitive:
        why = f"no column looks sensitive: every group has at least {usual} records"
        return {"principle": Principle.ANONYMITY.value, "diversity": usual}, why
    tightest = max(sensitive, key=lambda traits: traits.commonest)
    bound = records // max(tightest.commonest, 1)
    counted = f"the commonest value of {tightest.name} stands in {tightest.commonest:,} of {records:,} records"
    if bound >= _SMALLEST:
        level = min(usual, max(_SMALLEST, bound * 4 // 5))
        why = f"{counted}: l can be {bound:,} at most, and {level} leaves room to cut"
        return {"principle": Principle.FREQUENCY.value, "diversity": level}, why
    why = (
        f"{counted}, too many for frequency l-diversity above {bound}: so each group has at least {usual} records "
        "and the sensitive values of about the whole table (t-closeness)"
    )
    width = max(_width(suggestion) for suggestion in suggestions if suggestion.role is Role.SENSITIVE)
    return {"principle": Principle.CLOSENESS.value, "diversity": usual, "t": width}, why


def _width(suggestion: Suggestion) -> float:
    """A t that small groups can meet: the more values without an order, the farther a small group strays."""
    values = len(suggestion.traits.text)
    if values <= _FEW_VALUES or (suggestion.comparison and suggestion.comparison.kind in _ORDERED):
        return 0.2
    return 0.3 if values <= 4 * _FEW_VALUES else 0.4


def _repeated(suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    """Numbers of somebody of whom there are several rows."""
    return [
        each
        for each in suggestions
        if each.role is Role.IDENTIFIER and each.guess.topic is Topic.NUMBER and each.traits.uniqueness < 1
    ]


def _household(suggestions: Sequence[Suggestion], most: int) -> str | None:
    """The column that takes the most rows together, of those that take no more than `most`."""
    found = [each for each in _repeated(suggestions) if int(each.traits.counts.max(initial=0)) <= most]
    return min(found, key=lambda each: each.traits.uniqueness).name if found else None


def _remarks(table: Frame, suggestions: Sequence[Suggestion], household: str | None) -> tuple[str, ...]:
    found = []
    untouched = [
        each.name for each in suggestions if each.role in {Role.SENSITIVE, Role.OTHER} and len(each.traits.text) > 1
    ]
    share = unique_share([table.column(name) for name in untouched])
    if share >= _MANY:
        found.append(
            f"{share:.1%} of the records are unique in the columns that are released untouched "
            f"({name_some(untouched)}): whoever knows these finds the person. Make some quasi, or leave them out"
        )
    found += [
        f"{each.name} repeats: its rows are taken for one household, or one person with several rows"
        if each.name == household
        else f"{each.name} repeats: if a person has several rows, groups of records are not groups of persons"
        for each in _repeated(suggestions)
    ]
    if len(table) < 100:
        found.append(f"{len(table)} records are few: most values will change. Think of not publishing records")
    return tuple(found)
