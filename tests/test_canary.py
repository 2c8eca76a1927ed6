"""No cell of the input shows anywhere but as a legitimate cell of the release: not in logs, errors or metadata.

Every cell of every column holds a text or number of its own that is easily found again.
"""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import muco
import shell
from muco.errors import MucoError
from muco.files import read_table
from muco.policy import Policy
from shell import KEY

CANARY = re.compile(rb"(?i)canary\w*|77\d{7}77")
RECORDS = range(12)
COLUMNS: dict[str, list[str]] = {
    "name": [f"canaryname{i}" for i in RECORDS],
    "number": [f"77{i:07}77" for i in RECORDS],
    "town": [f"canarytown{i}" for i in RECORDS],
    "born": [f"19{10 + i}-01-01" for i in RECORDS],
    "rank": [f"canaryrank{i}" for i in RECORDS],
    "place": [f"canaryplace{i}" for i in RECORDS],
    "illness": [f"canaryillness{i}" for i in RECORDS],
    "note": [f"canarynote{i}" for i in RECORDS],
}
POLICY: dict[str, Any] = {
    "diversity": 4,
    "attributes": {
        "name": {"role": "identifier"},
        "number": {"role": "quasi", "kind": "continuous"},
        "town": {"role": "quasi", "hierarchy": {"tree": {f"canarynode{i}": [f"canarytown{i}"] for i in RECORDS}}},
        "born": {"role": "quasi", "kind": "date"},
        "rank": {"role": "quasi", "order": [f"canaryrank{i}" for i in RECORDS]},
        "place": {"role": "quasi"},
        "illness": {"role": "sensitive"},
        "note": {"role": "other"},
    },
}
LOUD = "import logging; logging.basicConfig(level=logging.DEBUG); from muco.cli import main; main()"


def found(*texts: str | bytes) -> set[str]:
    """The canaries in some texts."""
    whole = (text.encode() if isinstance(text, str) else text for text in texts)
    return {match.decode().lower() for text in whole for match in CANARY.findall(text)}


def run(folder: Path, *words: object) -> subprocess.CompletedProcess[bytes]:
    """`muco WORDS` with everything that can be loud made loud, and a temporary folder of its own."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    loud = {"POLARS_VERBOSE": "1", "RUST_BACKTRACE": "full", "RUST_LOG": "trace"}
    ran = subprocess.run(
        [sys.executable, "-c", LOUD, *map(str, words)],
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, **loud, "TMPDIR": str(temporary)},
    )
    assert list(temporary.iterdir()) == []
    return ran


def arranged(folder: Path, columns: dict[str, list[Any]] = COLUMNS, policy: dict[str, Any] = POLICY) -> None:
    pl.DataFrame(columns).write_csv(folder / "in.csv")
    (folder / "policy.toml").write_text(Policy.parse(policy).to_toml())


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_loud_run_shows_no_cell_and_its_release_no_identifier(tmp_path: Path, form: str) -> None:
    arranged(tmp_path)
    table, out = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    if form == "parquet":
        pl.read_csv(tmp_path / "in.csv").write_parquet(table, metadata={"note": "canarymetadata"})
    if form == "arrow":
        pl.read_csv(tmp_path / "in.csv").write_ipc(table)
    (tmp_path / "key").write_text(KEY)
    ran = run(tmp_path, "anonymize", table, "-c", "policy.toml", "-o", out, "--json", "-v", "--key-file", "key")
    assert ran.returncode == 0, ran.stderr
    certificate = (tmp_path / "out.certificate.json").read_bytes()
    assert found(ran.stdout, ran.stderr, certificate) == set()
    allowed = {cell.lower() for name, cells in COLUMNS.items() if name != "name" for cell in cells}
    for shown in (out.read_bytes(), repr(metadata(out)).encode()):
        # Compressed cells run into each other: there a cell is looked for only by how it begins.
        assert b"canaryname" not in shown
        assert b"canarymetadata" not in shown
    assert found(*map(repr, read_table(out).table.iter_rows())) <= allowed
    assert KEY.encode() not in ran.stdout + ran.stderr + certificate + out.read_bytes()


def metadata(path: Path) -> object:
    """What a file says beside its cells."""
    if path.suffix == ".parquet":
        return pq.read_metadata(path).metadata, pq.read_schema(path).metadata
    if path.suffix == ".arrow":
        with pa.ipc.open_file(path) as file:
            return file.schema.metadata, [field.metadata for field in file.schema]
    return None


def changed(column: str, cell: Any, place: int = 5) -> dict[str, list[Any]]:
    """The table with one cell that does not fit."""
    cells: list[Any] = list(COLUMNS[column])
    cells[place] = cell
    return {**COLUMNS, column: cells}


def attribute(name: str, **words: Any) -> dict[str, Any]:
    """The policy with another word for one attribute."""
    return {**POLICY, "attributes": {**POLICY["attributes"], name: {"role": "quasi", **words}}}


FAULTY: list[tuple[dict[str, list[Any]], dict[str, Any], int]] = [
    (changed("number", "canarynumber"), POLICY, 3),
    (changed("number", "1e400"), POLICY, 3),
    (changed("town", "canarystray"), POLICY, 3),
    (changed("born", "canaryborn"), POLICY, 3),
    (changed("born", "1999-13-77"), POLICY, 3),
    (changed("rank", "canarystray"), POLICY, 3),
    (changed("place", "canary" * 99), POLICY, 3),
    (COLUMNS, attribute("place", kind="boolean"), 3),
    (COLUMNS, attribute("place", kind="continuous"), 3),
    (COLUMNS, attribute("place", hierarchy={"intervals": {"widths": [10]}}), 3),
    (COLUMNS, attribute("place", distances={"values": ["canarya", "b"], "matrix": [[0, 1], [1, 0]]}), 3),
    (COLUMNS, attribute("plaice"), 3),
    ({**COLUMNS, "illness": ["canaryillness"] * 12}, POLICY, 4),
    (COLUMNS, {**POLICY, "diversity": 13}, 4),
]


@pytest.mark.parametrize("at", [0, 2, 6])
def test_a_loud_program_that_fails_shows_no_cell(tmp_path: Path, at: int) -> None:
    columns, policy, code = FAULTY[at]
    arranged(tmp_path, columns, policy)
    ran = run(tmp_path, "anonymize", "in.csv", "-c", "policy.toml", "-o", "out.csv", "--json")
    assert (ran.returncode, b"error: " in ran.stderr) == (code, True), ran.stderr
    assert found(ran.stdout, ran.stderr) == set()


@pytest.mark.parametrize(("columns", "policy", "code"), FAULTY)
def test_a_forced_error_shows_no_cell(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    columns: dict[str, list[Any]],
    policy: dict[str, Any],
    code: int,
) -> None:
    arranged(tmp_path, columns, policy)
    caplog.set_level(logging.DEBUG)
    out = tmp_path / "out.csv"
    ran = shell.muco("anonymize", tmp_path / "in.csv", "-c", tmp_path / "policy.toml", "-o", out, "--json")
    assert (ran.code, "error: " in ran.err) == (code, True), ran.err
    assert found(ran.out, ran.err, caplog.text, *capfd.readouterr()) == set()
    assert {path.name for path in tmp_path.iterdir()} == {"in.csv", "policy.toml"}


BROKEN: list[tuple[str, bytes]] = [
    ("in.csv", b"name,town\ncanary1,canary2\ncanary3\n"),
    ("in.csv", b'name,town\n"canary1"canary2,x\n'),
    ("in.csv", b'name,town\n"canary1,canary2\n'),
    ("in.csv", b"name,town\ncanary1,canary\x002\n"),
    ("in.csv", b"name,town\ncanary\xff,x\n"),
    ("in.parquet", b"PAR1canary1canary2PAR1"),
    ("in.arrow", b"ARROW1\x00\x00canary1canary2ARROW1"),
    ("policy.toml", b'[attributes.a]\nrole = "quasi"\norder = ["canary1", canary2]\n'),
    ("policy.toml", b'[attributes.a]\nrole = "quasi"\norder = ["canary1", "canary1"]\n'),
    ("policy.toml", b'[attributes.a]\nrole = "quasi"\norder = "canary1"\n'),
    ("policy.toml", b'delta = "canary1"\n[attributes.town]\nrole = "canary2"\nkind = "canary3"\n'),
    ("policy.toml", b'[attributes.a]\nrole = "quasi"\nhierarchy.tree = {canary1 = ["canary2", "canary2"]}\n'),
    ("tree.csv", b'canary1;canary2;*\n"canary3;*\n'),
    ("tree.csv", b"canary1;canary2;*\ncanary1;canary3;*\n"),
    ("tree.csv", b"canary1;canary2;*\ncanary3;*\n"),
    ("tree.csv", b"canary1;canary\xff;*\n"),
    ("key", b"canary1"),
    ("key", b"canary\xff"),
]


@pytest.mark.parametrize(("name", "content"), BROKEN)
def test_a_broken_file_shows_no_cell(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, content: bytes
) -> None:
    arranged(tmp_path)
    (tmp_path / "key").write_text(KEY)
    if name == "tree.csv":
        (tmp_path / "policy.toml").write_text('[attributes.town]\nrole = "quasi"\nhierarchy.file = "tree.csv"\n')
    (tmp_path / name).write_bytes(content)
    table = name if name.startswith("in.") else "in.csv"
    files = ("-c", tmp_path / "policy.toml", "--key-file", tmp_path / "key")
    ran = shell.muco("anonymize", tmp_path / table, *files, "--diversity", "4", "--dry-run")
    assert ran.code in {2, 3}, ran.err
    assert found(ran.out, ran.err, *capfd.readouterr()) == set()


def chain(error: BaseException) -> list[BaseException]:
    """An error and all that it was raised from or beside, displayed or not."""
    below = [other for other in (error.__cause__, error.__context__) if other is not None]
    return [error, *(found for other in below for found in chain(other))]


KINDS: list[Any] = [pd.DataFrame, pl.DataFrame, pa.table]


def given(columns: dict[str, list[Any]], policy: dict[str, Any], kind: Any = pd.DataFrame) -> object:
    return muco.anonymize(kind(columns), Policy.parse(policy))


MIXED = [1, "canarymixed", None, 2.5] * 3
LIBRARY: list[tuple[str, Callable[[], object]]] = [
    ("mixed", partial(given, {**COLUMNS, "place": MIXED}, POLICY)),
    ("object", partial(given, {**COLUMNS, "place": [{"canary": 1}] * 12}, POLICY)),
    ("frame", lambda: muco.anonymize({"canary": 1})),
    ("lists", partial(given, {**COLUMNS, "note": [["canary"]] * 12}, POLICY, pl.DataFrame)),
    *((f"faulty{at}", partial(given, *FAULTY[at][:2], KINDS[at % 3])) for at in range(len(FAULTY))),
    ("key", lambda: muco.anonymize(pl.DataFrame(COLUMNS), Policy.parse(POLICY), key="canarykey")),
    ("policy", lambda: Policy.of(quasi="a", missing="canary1")),
    ("tree", lambda: Policy.of(attributes={"a": {"role": "quasi", "hierarchy": {"tree": {"canary": "canary"}}}})),
    ("missing file", lambda: read_table("canary-not-there/in.csv")),
]


@pytest.mark.parametrize("fail", [fail for _, fail in LIBRARY], ids=[name for name, _ in LIBRARY])
def test_a_library_error_has_no_cell_in_its_words_or_in_what_it_was_raised_beside(
    fail: Callable[[], object], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(MucoError) as caught:
        fail()
    for error in chain(caught.value):
        held = [*map(repr, error.args), *map(repr, vars(error).values()), repr(error), str(error)]
        assert found(*held) == set()
    told = "".join(line for line in traceback.format_exception(caught.value) if not line.startswith("  File"))
    shown = "\n".join(line for line in told.splitlines() if not line.startswith("    "))  # without source lines
    assert found(shown, caplog.text) == set()


def test_a_broken_table_file_has_no_cell_beside_its_error(tmp_path: Path) -> None:
    for name, content in BROKEN:
        (tmp_path / name).write_bytes(content)
        if not name.startswith("in."):
            continue
        with pytest.raises(MucoError, match=r"in\.") as caught:
            read_table(tmp_path / name)
        assert found(*(repr(error) for error in chain(caught.value))) == set()


def test_no_repr_shows_a_cell_and_no_public_name_of_a_release_an_identifier() -> None:
    release, hidden = muco.anonymize_with_hidden(pl.DataFrame(COLUMNS), Policy.parse(POLICY), key=KEY)
    groups = hidden.outcome.groups
    table = muco.calculate_table(groups[0], "town")
    nouns = [groups, groups[0], groups.microdata, hidden, hidden.key, hidden.outcome, hidden.tables, table]
    nouns += [next(groups.batches()), groups.microdata.frame, *groups.microdata.quasi, release]
    assert found(*map(repr, nouns)) == set()
    assert KEY not in repr(hidden) + repr(hidden.key)
    assert found(json.dumps(release.data.to_dict(as_series=False))).isdisjoint(COLUMNS["name"])
