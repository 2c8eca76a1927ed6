"""No cell shows in what is said of a release, whichever command says it and whatever a policy asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from muco.policy import Policy
from shell import KEY
from test_canary import found, run

PEOPLE = range(60)
COLUMNS: dict[str, list[str]] = {
    "name": [f"canaryname{i}" for i in PEOPLE],
    "number": [f"77{i:07}77" for i in PEOPLE],
    "town": [f"canarytown{i}" for i in PEOPLE],
    "rank": [f"canaryrank{i}" for i in PEOPLE],
    "place": [f"canaryplace{i % 20}" for i in PEOPLE],
    "home": [f"canaryhome{i // 2}" for i in PEOPLE],
    "cover": ["canarynothing", "4", "9"] * 20,
    "share": [f"77{i:07}77" for i in range(100, 160)],
    "illness": [f"canaryillness{i % 12}" for i in PEOPLE],
}
RULES = [
    {"name": "told", "forbid": {"number": "> 77000003077", "place": ["canaryplace1", "canaryplace2"]}},
    {"forbid": {"rank": "< canaryrank9", "town": ["canarytown30"]}},
]
POLICY: dict[str, Any] = {
    "diversity": 4,
    "weight": "share",
    "rules": RULES,
    "blocks": [["town", "rank"]],
    "missing": ["canarynowhere"],
    "attributes": {
        "name": {"role": "identifier"},
        "number": {"role": "quasi", "kind": "continuous", "keep": 2},
        "town": {"role": "quasi", "hierarchy": {"tree": {f"canarynode{i}": [f"canarytown{i}"] for i in PEOPLE}}},
        "rank": {"role": "quasi", "order": [f"canaryrank{i}" for i in PEOPLE]},
        "place": {"role": "quasi"},
        "home": {"role": "identifier"},
        "cover": {"role": "identifier", "missing": ["canarynothing"]},
        "illness": {"role": "sensitive"},
    },
}
ASKED: list[dict[str, Any]] = [
    {"asks": "cover", "household": "home"},
    {"grouping": "sampled", "temperature": 0.5},
]


def arranged(folder: Path, **switches: Any) -> None:
    """The table, other people like those in it, and the policy."""
    pl.DataFrame(COLUMNS).write_csv(folder / "in.csv")
    others = {"name": [f"canaryother{i}" for i in PEOPLE]}
    pl.DataFrame({**COLUMNS, **others}).write_csv(folder / "others.csv")
    (folder / "policy.toml").write_text(Policy.parse({**POLICY, **switches}).to_toml())
    (folder / "key").write_text(KEY)


def tell(folder: Path, *words: object, code: int = 0, writes: tuple[str, ...] = ()) -> None:
    """Run a command with what it writes; neither its streams nor its files hold a cell."""
    ran = run(folder, *words)
    assert ran.returncode == code, ran.stderr
    assert found(ran.stdout, ran.stderr, *((folder / name).read_bytes() for name in writes)) == set()
    assert KEY.encode() not in ran.stdout + ran.stderr


RUN = ("in.csv", "-c", "policy.toml")
MADE = ("in.csv", "out.csv", "-c", "policy.toml", "--hidden", "h.zip")


@pytest.mark.parametrize("switches", ASKED, ids=lambda asked: next(iter(asked)))
def test_a_release_is_made_judged_and_reported_without_a_cell(tmp_path: Path, switches: dict[str, Any]) -> None:
    arranged(tmp_path, **switches)
    kept = ("--key-file", "key", "--hidden", "h.zip", "-v")
    tell(tmp_path, "anonymize", *RUN, "-o", "out.csv", *kept, writes=("out.certificate.json",))
    tell(tmp_path, "assess", *MADE, "--holdout", "others.csv", "--json")
    tell(tmp_path, "report", *MADE, "--kind", "internal", "-o", "page.html", writes=("page.html",))
    tell(tmp_path, "verify", "out.csv", "out.certificate.json")


def test_a_table_is_checked_without_a_cell(tmp_path: Path) -> None:
    # Two people break a rule, and untouched columns single people out: 2 is the exit code of warnings.
    arranged(tmp_path, **ASKED[0])
    tell(tmp_path, "check", *RUN, code=2)
    tell(tmp_path, "risk", *RUN)


def test_settings_are_compared_and_tuned_without_a_cell(tmp_path: Path) -> None:
    arranged(tmp_path)
    tell(tmp_path, "compare", *RUN, "--runs", "1", "--report", "page.html", "--json", writes=("page.html",))
    tell(tmp_path, "tune", *RUN, "--max-risk", "0.4", "--budget", "5s", "-o", "best.toml", "--json")
