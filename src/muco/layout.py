"""How a table is written outside: found when it is read, kept in the policy, followed by its release."""

from __future__ import annotations

import codecs
import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

import tomli_w
from pydantic import AfterValidator, Field, ValidationError

from muco.clause import Clause, Texts
from muco.errors import PolicyError
from muco.fault import describe_fault, place_of_toml_error
from muco.formats import Format
from muco.hierarchy_files import read_file
from muco.numerals import Numerals


def _known(encoding: str) -> str:
    try:
        codec = codecs.lookup(encoding)
        "a".encode(encoding)
    except (LookupError, TypeError):
        raise ValueError("is no encoding of text: such as utf-8, utf-16, cp1252 or iso-8859-2") from None
    return codec.name


def _apart(delimiter: str) -> str:
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise ValueError("must be one ASCII character that is neither a quote nor the end of a line")
    return delimiter


class Layout(Clause):
    """The `[table]` of a policy: what is stated here is not guessed from the file.

    >>> Layout(delimiter=";", decimal=",").numerals
    Numerals(decimal=',', thousands='')
    """

    format: Format | None = Field(None, description="The form, where no suffix tells it.")
    encoding: Annotated[str, AfterValidator(_known)] | None = Field(
        None, description="The encoding of text: utf-8, utf-8-sig (with its mark), utf-16, cp1252, ..."
    )
    delimiter: Annotated[str, AfterValidator(_apart)] | None = Field(
        None, description="What stands between fields."
    )
    decimal: Literal[".", ","] | None = Field(None, description="What stands before decimals.")
    thousands: Literal["", ".", ",", " ", "'", "’", "\u00a0", "\u202f"] | None = Field(
        None, description="What stands between thousands; empty for nothing."
    )
    quoted: Literal["all"] | Texts | None = Field(
        None, description="The columns whose cells all stand in quotes, or all; others only where they must."
    )
    header_quoted: Annotated[bool, Field(strict=True)] | None = Field(
        None, description="Whether the names of the columns stand in quotes."
    )
    line_end: Literal["lf", "crlf", "cr"] | None = Field(None, description="What a row ends in.")
    sheet: str | None = Field(None, description="The sheet of a workbook; the first when absent.")

    @classmethod
    def read(cls, path: Path) -> Self:
        """The `[table]` of a policy file, and nothing else of it. Raises PolicyError."""
        try:
            words = tomllib.loads(read_file(path)).get("table", {})
        except (ValueError, RecursionError) as error:  # beside its own: numbers too long, and lists too deep
            raise PolicyError(f"{path} is not TOML: {place_of_toml_error(str(error))}") from None
        return cls.of(**words) if isinstance(words, dict) else cls()

    @classmethod
    def of(cls, **words: object) -> Self:
        """A layout from its words; every fault is named at once, by PolicyError."""
        try:
            return cls.model_validate(_Section.model_validate({"table": words}).table.model_dump())
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False)
            raise PolicyError("\n".join(describe_fault(fault, _Section) for fault in faults)) from None

    @property
    def numerals(self) -> Numerals:
        """How numbers are written in text."""
        return Numerals(self.decimal or ".", self.thousands or "")

    def to_toml(self) -> str:
        """The `[table]` of a policy, with a comment; nothing where there is no more to state than the form."""
        words = self.model_dump(mode="json", exclude_none=True)
        if words.keys() <= {"format"}:
            return ""
        comment = "# How the table is written, as it was found: what is stated here is not guessed again."
        return f"\n{comment}\n{tomli_w.dumps({'table': words})}"

    def over(self, found: Layout) -> Layout:
        """This layout, with what it leaves open taken from `found`."""
        return found.model_copy(update=self.model_dump(exclude_none=True))


OPEN = Layout()


class _Section(Clause):
    """The layout where it stands in a policy, so that its faults are named as they are there."""

    table: Layout
