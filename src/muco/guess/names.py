"""Column names taken apart: hours_per_week, HoursPerWeek and `Hours per week` are three words each."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from muco.guess.words import LEXICON, Entry

_FOLDED = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l"})


@lru_cache(maxsize=20_000)
def split_name(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters and without accents; capitals, blanks and signs part them.

    >>> split_name("HoursPerWeek"), split_name("fecha_nac"), split_name("wt82_71")
    (('hours', 'per', 'week'), ('fecha', 'nac'), ('wt82', '71'))
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name.translate(_FOLDED))
    plain = unicodedata.normalize("NFKD", parted).encode("ascii", "ignore").decode().lower()
    return tuple(re.findall(r"[a-z0-9]+", plain))


def entries_of(name: str) -> Iterator[Entry]:
    """The topics that a name touches, the most telling first: each word, each pair of words, each stem."""
    words = split_name(name)
    bare = [word.rstrip("0123456789") for word in words]
    pairs = ["".join(pair) for pair in pairwise(words)]
    whole = "".join(words)
    known = {*words, *bare, *pairs, whole} - {""}
    several = {*pairs, whole} if pairs else set()  # estado civil is no estado
    for entry in sorted(LEXICON, key=lambda entry: several.isdisjoint(entry.words)):
        if known & entry.words or any(stem in whole for stem in entry.stems):
            yield entry
