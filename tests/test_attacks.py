"""The attacks that can be run: what a guessable key costs (A9), and that a key of chance costs nothing."""

from __future__ import annotations

import hashlib
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import muco
from muco.example import generate
from muco.microdata import Key
from muco.policy import Policy
from shell import muco as run_muco

ATTACK = runpy.run_path(str(Path(__file__).parents[1] / "attacks" / "guess_key.py"), run_name="attack")
TABLE = generate(300).drop("person_id")
QUASI = ("gender", "age", "education")


def policy(**switches: Any) -> Policy:
    given: dict[str, Any] = {"diversity": 4, **switches}
    rest = {name: {"role": "other"} for name in TABLE.columns if name not in (*QUASI, "salary")}
    return Policy.of(quasi=QUASI, sensitive="salary", attributes=rest, **given)


@pytest.mark.parametrize("switches", [{}, {"delta": "1/3"}], ids=["provable", "paper"])
def test_a_guessed_key_links_every_row_and_a_key_of_chance_none(switches: dict[str, Any]) -> None:
    keys = [number.to_bytes(32, "big") for number in range(10)]
    release, hidden = muco.anonymize_with_hidden(TABLE, policy(**switches), key=keys[7])
    found = ATTACK["guess_key"](TABLE, release.data, policy(**switches), keys)
    assert found.tried == 8
    assert np.array_equal(found.record, hidden.rows)
    own = muco.anonymize(TABLE, policy(**switches)).data
    assert ATTACK["guess_key"](TABLE, own, policy(**switches), keys) == ATTACK["Guess"](10, None)


def test_every_key_that_the_attack_tries_is_warned_of() -> None:
    assert all(Key(key).is_guessable for key in ATTACK["small_keys"](10_000))


@pytest.mark.parametrize("bits", [bytes(range(32)), b"correct horse battery staple 123", b"\x01\x02\x03\x04" * 8])
def test_even_steps_text_and_few_bytes_look_made_up(bits: bytes) -> None:
    assert Key(bits).is_guessable


def test_keys_of_chance_do_not() -> None:
    # Of random keys one in 10^14 looks made up.
    assert not any(Key(hashlib.sha256(bytes([number])).digest()).is_guessable for number in range(250))


def test_the_command_warns_of_a_guessable_key_and_never_shows_it(tmp_path: Path) -> None:
    TABLE.write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.toml").write_text(policy().to_toml())
    for name, key in (("weak", "07" * 32), ("strong", hashlib.sha256(b"7").hexdigest())):
        (tmp_path / "key").write_text(key)
        words = (
            "-c",
            tmp_path / "policy.toml",
            "-o",
            tmp_path / f"{name}.csv",
            "--key-file",
            tmp_path / "key",
            "-q",
        )
        ran = run_muco("anonymize", tmp_path / "in.csv", *words)
        assert ran.code == 0
        assert ("the key looks made up" in ran.err) is (name == "weak")
        assert key not in ran.out + ran.err + (tmp_path / f"{name}.certificate.json").read_text()
