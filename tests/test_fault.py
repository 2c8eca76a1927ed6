"""Faults in words: the place, what is wrong, what was meant."""

from __future__ import annotations

import pytest

from muco.fault import place_of_toml_error, suggest


@pytest.mark.parametrize(
    ("word", "known", "words"),
    [
        ("Rol", ["role", "kind"], ": did you mean role?"),
        ("AGE", ["Age", "Town"], ": did you mean Age?"),
        ("zzz", ["role", "kind"], ": there are role, kind"),
        ("zzz", [], ""),
        ("zzz", [str(i) for i in range(21)], ""),
    ],
)
def test_the_nearest_word_is_suggested_or_a_short_list(word: str, known: list[str], words: str) -> None:
    assert suggest(word, known) == words


def test_where_a_toml_text_breaks_off_is_told_without_its_words() -> None:
    assert place_of_toml_error("Invalid value 'canary' (at line 3, column 9)") == "see line 3, column 9"
    assert place_of_toml_error("Unclosed array (at end of document)") == "see end of document"
    assert place_of_toml_error("something with canary") == "its form is wrong"
