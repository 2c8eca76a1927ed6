"""The words and tables of a page: what each figure is called, and how exactly its readers may see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from muco.assess.contest import P_MATCH, WIDTH, Entry
from muco.assess.figures import Aspect, Figure
from muco.assess.verdict import THRESHOLDS, coarse, fewest_share, percent
from muco.promise import FEWEST
from muco.report.contents import Audience, Contents
from muco.switches import Method

# Figures of single people, or of the few at the end of a distribution: not for a page that anybody may read.
_INTERNAL = {"informed-p99", "informed-half", "single-value", "presence", "recursive"}
_NAMES = {
    "proven": "groups and tables known: bound",
    "informed": "knows groups and tables",
    "informed-top": "the same, takes the likeliest row",
    "informed-p99": "the same, the 1 % most exposed",
    "informed-half": "the same, more likely than not",
    "informed-sure": "the same, at 90 % or more",
    "group-nearest": "knows the groups, nearest row",
    "nearest": "nearest row",
    "nearest-different": "nearest row, equal ones left out",
    "sensitive-known": "knows the sensitive value too",
    "untouched-known": "knows every untouched column too",
    "singling": "singled out: one equal row, theirs",
}
_WITHOUT_TABLES = {"proven": "groups known: bound", "informed": "knows the groups"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the page; the first cell of each row names it."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """How exactly the readers of a page may see a share of the people: in public no count of fewer than ten."""

    audience: Audience
    people: int

    @property
    def is_public(self) -> bool:
        """Whether anybody may read the page."""
        return self.audience is Audience.PUBLIC

    def share(self, value: float | None) -> str:
        """A share of people in words.

        >>> Reader(Audience.PUBLIC, 2_000).share(0.001), Reader(Audience.INTERNAL, 2_000).share(0.001)
        ('less than 0.5 %', '0.1 %')
        """
        if value is None:
            return "–"
        return coarse(value, self.people) if self.is_public else percent(value)

    def count(self, rows: int) -> str:
        """A number of rows; in public none from one to nine."""
        return f"fewer than {FEWEST}" if self.is_public and 0 < rows < FEWEST else f"{rows:,}"

    def blur(self, value: float) -> float:
        """The same share as a place on a chart."""
        few = fewest_share(self.people) if self.is_public else 0.0
        if 0 < value < few:
            return few
        return 1 - few if 1 - few < value < 1 else value

    def may_see(self, figure: Figure) -> bool:
        """Whether a figure may stand on the page."""
        return not self.is_public or figure.name.partition(":")[0] not in _INTERNAL


def risk_figures(contents: Contents, reader: Reader) -> list[Figure]:
    """The risks that one adversary each stands for; disclosure at P_match has a chart of its own."""
    figures = contents.assessment.figures
    return [f for f in figures if f.aspect is Aspect.RISK and "@" not in f.name and reader.may_see(f)]


def name_figure(figure: Figure, method: Method | None = None) -> str:
    """A short name for a chart; a baseline has no tables that could be known."""
    if method in {Method.MONDRIAN, Method.ANATOMY} and figure.name in _WITHOUT_TABLES:
        return _WITHOUT_TABLES[figure.name]
    name, _, attribute = figure.name.partition(":")
    if name == "corruption":
        return f"groups and tables, and {attribute} rows told"
    if name in {"inference", "informed-inference"}:
        return f"{'informed ' if '-' in name else ''}guess of {attribute}"
    if name == "single-value":
        return f"one value known: {attribute}"
    return _NAMES.get(figure.name, figure.name)


def tell_risks(contents: Contents, reader: Reader) -> Table:
    """Every adversary with interval and controls."""
    rows = []
    for figure in risk_figures(contents, reader):
        ends = figure.low, figure.high
        interval = "–" if figure.low is None else " to ".join(reader.share(end) for end in ends)
        rows.append(
            (
                name_figure(figure, contents.assessment.method),
                reader.share(figure.value),
                interval,
                reader.share(figure.raw),
                reader.share(figure.chance),
                figure.words + _note(figure, reader),
            )
        )
    heads = ("who", "finds", "95 % interval", "in the raw table", "by chance", "what is meant")
    return Table(
        "Risk by adversary, beside what the same attack finds in the raw table and by chance", heads, tuple(rows)
    )


def _note(figure: Figure, reader: Reader) -> str:
    """What else is known of a figure; in public nothing that counts groups."""
    is_told = figure.note and not (reader.is_public and figure.name.startswith(("informed", "group")))
    return f" ({figure.note})" if is_told else ""


def tell_findings(contents: Contents) -> Table:
    """WP216's three questions against the thresholds that regulators use."""
    rows = tuple(
        (
            finding.term,
            "not measured" if finding.value is None else percent(finding.meets[-1]) if finding.meets else "none",
            finding.words,
        )
        for finding in contents.assessment.verdict.findings
    )
    bounds = ", ".join(percent(bound) for bound in THRESHOLDS)
    return Table(
        f"In the regulator's words (WP216), against the thresholds {bounds}",
        ("question", "stays within", "found"),
        rows,
    )


def tell_roles(contents: Contents) -> str:
    """What the verdict's words mean for this table."""
    policy = contents.assessment.policy
    words = f"Quasi-identifiers are what others may know of a person; here {', '.join(policy.quasi)}."
    if not policy.sensitive:
        return f"{words} The policy names no sensitive attribute."
    return f"{words} Sensitive is what they should not learn; here {', '.join(policy.sensitive)}."


def tell_entries(entries: Sequence[Entry], reader: Reader) -> Table:
    """Several methods side by side: risks, then worth."""
    heads = (
        "method",
        "groups (and tables) known",
        "nearest row",
        f"equal values, P {P_MATCH}",
        "loss, moves",
        "loss, widths",
        f"query error, {WIDTH} predicates",
        "the same, 100 records or more",
        "change of association",
    )
    return Table(
        "Risks, then worth; less is better in every column",
        heads,
        tuple(_entry(entry, reader) for entry in entries),
    )


def _entry(entry: Entry, reader: Reader) -> tuple[str, ...]:
    known = reader.share(entry.known)
    if entry.proven is not None:
        known = f"{percent(entry.proven)} at most, proven"
    return (
        entry.method,
        known,
        reader.share(entry.nearest),
        reader.share(entry.identity),
        "–" if entry.move is None else f"{abs(entry.move):,.0f}",
        f"{entry.width:,.0f}",
        "–" if entry.median is None else f"{entry.median:.2f}",
        "–" if entry.supported is None else f"{entry.supported:.2f}",
        f"{entry.association:.4f}",
    )


def tell_settings(contents: Contents, reader: Reader) -> Iterator[Table]:
    """What was done: switches and roles. Never the key, nor a value of a tree or of an order."""
    policy, method = contents.assessment.policy, contents.assessment.method
    left = {"attributes", "missing", "schema_version", "table", "rules"}
    words = policy.model_dump(mode="json", exclude_none=True, exclude=left)
    if method in {Method.MONDRIAN, Method.ANATOMY}:
        kept = {"diversity", "principle", "c", "t", "max_risk", "accept_risk"}
        words = {"method": method.value, **{name: value for name, value in words.items() if name in kept}}
    yield Table("Switches", ("switch", "value"), tuple((name, _setting(value)) for name, value in words.items()))
    attributes = policy.attributes.items()
    rows = tuple((name, each.role.value, each.kind.value if each.kind else "as found") for name, each in attributes)
    yield Table("Attributes that the policy names", ("attribute", "role", "kind"), rows)
    if contents.rules:
        told = tuple(
            (rule.name, reader.count(rule.original), reader.count(rule.released)) for rule in contents.rules
        )
        yield Table("Rows that break an edit rule", ("rule", "in the original", "in the release"), told)


def _setting(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(", ".join(part) if isinstance(part, list) else str(part) for part in value) or "none"
    return str(value)
