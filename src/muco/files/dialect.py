"""How a delimited text is written, found from the text itself: encoding, delimiter, numerals."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from muco.errors import TableError
from muco.numerals import PLAIN, Numerals

if TYPE_CHECKING:
    import polars as pl

DELIMITERS = ",;\t|"
_MARKS: tuple[tuple[bytes, str], ...] = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
)
_MARKS += ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
# What one byte a letter means above 127 in Western Europe: letters, and the signs that people type. Rare signs
# are left out, so that text in another encoding is asked about and not read as nonsense.
_WESTERN = frozenset(
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýŒœŠšŽžŸ€£§°²³µ·«»¡¿ºª½¼–—‘’‚“”„…•\u00a0".encode(
        "cp1252"
    )
)
_SAMPLE = 2000
_THOUSANDS = ("", ".", ",", "'", "’", "\u00a0", "\u202f", " ")
_MARKED = r"^[+-]?[0-9]+[.,'’ \u00a0\u202f][0-9]"


def sniff_encoding(content: bytes, name: str) -> str:
    """The encoding of a text: by its mark, as UTF-8, or as cp1252 where all its bytes make sense there.

    Text that is UTF-8 but for some bytes is called so: its bad rows are found later. Raises TableError.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    if content[:64].count(0) * 4 > len(content[:64]):
        raise TableError(
            f"{name} seems to be UTF-16 without its mark: name the encoding, as utf-16-le or utf-16-be"
        )
    try:
        content.decode()
    except UnicodeDecodeError:
        pass
    else:
        return "utf-8"
    high = frozenset(re.sub(rb"[\x00-\x7f]+", b"", content))
    many = re.search(rb"[\xc3-\xf4][\x80-\xbf]", content)
    return "utf-8" if many or not high <= _WESTERN else "cp1252"


def decode(content: bytes, encoding: str, name: str) -> bytes:
    """The text in UTF-8. Raises TableError, with the line, for bytes that are not of the encoding."""
    if encoding in {"utf-8", "utf-8-sig"}:
        return content
    try:
        return content.decode(encoding).encode()
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        line = len(re.findall(rb"\r\n?|\n", content[:start])) + 1
    raise TableError(f"{name}: line {line} is not in {encoding}. Name another encoding, or mend the file")


def sniff_delimiter(text: bytes) -> str:
    """The one of , ; tab and | that stands most often in the first line, outside quotes; a comma if none does."""
    head = text[: 1 << 20].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    line = re.split(r"[\r\n]", re.sub(r'"[^"]*("|$)', "", head), maxsplit=1)[0]
    return max(DELIMITERS, key=line.count)


def sniff_numerals(table: pl.DataFrame, delimiter: str) -> tuple[Numerals, bool]:
    """How numbers are written in a table of text, and whether some of its columns leave or cast doubt on that.

    A column of numbers speaks for a way when all of its first cells fit it and the other decimal mark does not fit.
    1,234 alone fits both: it is a decimal comma unless commas part the fields.
    """
    votes: Counter[Numerals] = Counter()
    unsure: Counter[Numerals] = Counter()
    wanted = "." if delimiter == "," else ","
    for column in table.head(_SAMPLE).iter_columns():
        cells = column.str.strip_chars().unique()
        if not cells.str.contains(_MARKED).any():
            continue
        cells = cells.filter(cells.str.contains("[0-9]"))
        fits = [way for way in map(partial(_fitting, cells), ".,") if way is not None]
        if len(fits) == 1:
            votes[fits[0]] += 1
        elif len(fits) == 2 and cells.str.contains("[,'’]").any():
            unsure[fits[0] if wanted == "." or fits[0].thousands not in {"", ","} else fits[1]] += 1
    if not votes:
        return (unsure.most_common(1)[0][0], True) if unsure else (PLAIN, False)
    decimals = {way.decimal for way in votes}
    decimal = wanted if len(decimals) == 2 else decimals.pop()
    marks = Counter(
        {way.thousands: count for way, count in votes.items() if way.decimal == decimal and way.thousands}
    )
    marks.update(
        {way.thousands: count for way, count in unsure.items() if way.decimal == decimal and way.thousands}
    )
    thousands = marks.most_common(1)[0][0] if marks else ""
    return Numerals(decimal, thousands), len({way.decimal for way in votes}) == 2


def _fitting(cells: pl.Series, decimal: str) -> Numerals | None:
    """The way with this decimal mark that all cells are numbers of, with the fewest marks; or none."""
    for mark in _THOUSANDS:
        if mark != decimal and cells.str.contains(Numerals(decimal, mark).pattern).all():
            return Numerals(decimal, mark)
    return None
