"""How numbers are written in text: 1234.50, 1,234.50 or 1.234,50."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_DIGITS = 38  # that a decimal of Polars may have


@dataclass(frozen=True, slots=True)
class Numerals:
    """The mark before decimals and the one between thousands, if there is one."""

    decimal: str = "."
    thousands: str = ""

    @property
    def number(self) -> str:
        """A regular expression for one number inside a text; it captures nothing."""
        point = re.escape(self.decimal)
        whole = "[0-9]+"
        if self.thousands:
            whole = rf"(?:[1-9][0-9]{{0,2}}(?:{re.escape(self.thousands)}[0-9]{{3}})+|[0-9]+)"
        return rf"[+-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"

    @property
    def pattern(self) -> str:
        """A regular expression for a text that is one number."""
        return rf"^{self.number}$"

    def plain(self, text: pl.Series) -> pl.Series:
        """The numbers of `text` as 1234.5; null where a cell is none."""
        import polars as pl

        is_number = text.str.contains(self.pattern)
        if self.thousands:
            text = text.str.replace_all(self.thousands, "", literal=True)
        if self.decimal != ".":
            text = text.str.replace(self.decimal, ".", literal=True)
        cells = pl.DataFrame({"text": text.str.strip_prefix("+"), "is_number": is_number})
        return cells.select(pl.when("is_number").then("text")).to_series()

    def rewrite(self, column: pl.Series) -> pl.Series:
        """A column whose texts that are numbers are written as 1234.5; other cells as they are."""
        import polars as pl

        if column.dtype != pl.String or self == PLAIN:
            return column
        return self.plain(column.str.strip_chars()).fill_null(column).alias(column.name)

    def plain_number(self, text: str) -> str:
        """One number as 1234.5; what is none as it stands."""
        if not re.fullmatch(self.number, text.strip()):
            return text
        return text.strip().replace(self.thousands, "").replace(self.decimal, ".")

    def read(self, text: pl.Series) -> pl.Series:
        """The numbers of `text`: whole ones as integers, decimals exactly while they fit, else as doubles."""
        import polars as pl

        plain = self.plain(text)
        known = plain.drop_nulls()
        if known.str.contains(r"^[+-]?[0-9]+$").all():
            return plain.cast(pl.Int128, strict=False)
        if not known.str.contains("[eE]").any():
            whole = known.str.extract(r"^[+-]?([0-9]*)", 1).str.len_chars().max()
            places = known.str.extract(r"\.([0-9]*)$", 1).str.len_chars().max()
            if isinstance(whole, int) and isinstance(places, int) and whole + places <= _DIGITS:
                return plain.cast(pl.Decimal(_DIGITS, places), strict=False)
        return plain.cast(pl.Float64, strict=False)


PLAIN = Numerals()
