"""PostgreSQL and SQLite: real servers and files, in and out, in one transaction."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi as driver
import polars as pl
import pytest

from muco.atomic import Existing
from muco.errors import MucoError, OutputError, PolicyError, TableError
from muco.files import Limits, place_of, read_table
from muco.files.database import check_database, filled
from test_files_command import ROLES, muco

PEOPLE = pl.DataFrame(
    {
        "age": [20 + at % 5 for at in range(12)],
        "town": [f"{at % 3:02d}" for at in range(12)],
        "ill": [None if at % 4 == 0 else f"v{at % 3}" for at in range(12)],
    }
)


def _server_folder() -> Path:
    found = shutil.which("initdb")
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *([Path(found).resolve().parent] if found else [])]
    whole = [folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()]
    if not whole:
        pytest.skip("no PostgreSQL server is installed: apt-get install postgresql")
    return whole[0]


def _as_other(folder: Path) -> list[str]:
    """PostgreSQL refuses to run as root: give the folder to another user, and what starts a program as that one."""
    if os.getuid():
        return []
    name = next((name for name in ("postgres", "nobody") if f"\n{name}:" in Path("/etc/passwd").read_text()), None)
    setpriv = shutil.which("setpriv")
    if name is None or setpriv is None:
        pytest.skip("PostgreSQL does not run as root, and there is no other user or no setpriv")
    shutil.chown(folder, name)
    return [setpriv, f"--reuid={name}", f"--regid={folder.stat().st_gid}", "--clear-groups"]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A PostgreSQL of its own on loopback, as the beginning of a URL."""
    programs = _server_folder()
    with tempfile.TemporaryDirectory(prefix="muco-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        start = _as_other(folder)
        data = folder / "data"
        words = ["-D", str(data), "-U", "muco", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
        subprocess.run([*start, programs / "initdb", *words], check=True, capture_output=True, cwd=folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = ["-D", str(data), "-p", str(port), "-h", "127.0.0.1", "-k", str(folder), "-F"]
        with (folder / "log").open("wb") as log:
            running = subprocess.Popen([*start, programs / "postgres", *words], stderr=log, cwd=folder)
            try:
                _await(programs, port)
                yield f"postgresql://muco:verysecret@127.0.0.1:{port}/postgres"
            finally:
                running.terminate()
                running.wait(20)


def _await(programs: Path, port: int) -> None:
    for _ in range(200):
        ready = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
        if subprocess.run(ready, check=False).returncode == 0:
            return
        time.sleep(0.1)
    pytest.fail("the server did not start within 20 s")


def execute(server: str, *statements: str) -> list[Any]:
    with closing(driver.connect(server)) as connection, closing(connection.cursor()) as cursor:
        for statement in statements:
            cursor.execute(statement)
        found = cursor.fetchall() if cursor.description else []
        connection.commit()
    return found


def fill(url: str, table: pl.DataFrame, existing: Existing = Existing.REPLACE) -> None:
    with filled(url, table, existing=existing):
        pass


@pytest.fixture(params=["postgres", "sqlite"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/p e.db"
    server: str = request.getfixturevalue("server")
    execute(server, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return server


def test_a_table_goes_in_and_comes_back_equal(database: str) -> None:
    fill(f"{database}?table=people", PEOPLE)
    assert read_table(f"{database}?table=people").table.equals(PEOPLE)
    odd = PEOPLE.rename({"age": 'a "b"', "town": "ünder; DROP TABLE people"})
    fill(f"{database}?table=x", odd)
    assert read_table(f"{database}?table=x").table.equals(odd)


def test_a_query_is_read(database: str) -> None:
    fill(f"{database}?table=people", PEOPLE)
    query = "SELECT age, town FROM people WHERE age > 22 ORDER BY age, town"
    read = read_table(f"{database}?query={query.replace(' ', '%20')}").table
    assert read.equals(PEOPLE.filter(pl.col("age") > 22).select("age", "town").sort("age", "town"))


def test_postgres_types_keep_their_values(server: str) -> None:
    execute(
        server,
        "DROP TABLE IF EXISTS kinds, again",
        "CREATE TABLE kinds (n numeric(10,2), m numeric, i bigint, d date, at timestamptz, b boolean, u uuid)",
        "INSERT INTO kinds VALUES (1.50, 12.5, 9007199254740993, '1600-02-29', '2020-01-02 03:04:05+00', true, "
        "'00000000-0000-0000-0000-00000000002a'), (null, 0.125, null, null, null, null, null)",
    )
    read = read_table(f"{server}?table=kinds").table
    assert read.row(0) == (
        Decimal("1.50"),
        Decimal("12.5"),
        2**53 + 1,
        date(1600, 2, 29),
        datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC),
        True,
        "00000000-0000-0000-0000-00000000002a",
    )
    fill(f"{server}?table=public.again", read)
    assert read_table(f"{server}?table=again").table.equals(read)
    kinds = "SELECT numeric_precision, numeric_scale FROM information_schema.columns WHERE table_name = 'again'"
    assert execute(server, kinds + " AND column_name = 'n'") == [(10, 2)]


def test_the_whole_run_goes_from_table_to_table(database: str, tmp_path: Path) -> None:
    fill(f"{database}?table=people", PEOPLE)
    words = ["-o", f"{database}?table=release", "--certificate", tmp_path / "c.json"]
    ran = muco("anonymize", f"{database}?table=people", *ROLES, *words)
    assert ran.returncode == 0, ran.stderr
    release = read_table(f"{database}?table=release").table
    assert release["ill"].sort().equals(PEOPLE["ill"].sort())
    told = ran.stderr + ran.stdout + (tmp_path / "c.json").read_bytes()
    assert b"verysecret" not in told
    again = muco("anonymize", f"{database}?table=people", *ROLES, "-o", f"{database}?table=release")
    assert again.returncode == 2
    assert b"?table=release exists: name another table, or replace it with --force" in again.stderr


def test_the_input_is_never_overwritten(database: str) -> None:
    fill(f"{database}?table=people", PEOPLE)
    for source in (f"{database}?table=people", f"{database}?query=SELECT%20*%20FROM%20people"):
        with pytest.raises(PolicyError, match="may be the input, which is never overwritten"):
            check_database(f"{database}?table=people", (source,), existing=Existing.REPLACE)
    if database.startswith("postgres"):
        same = database.replace("127.0.0.1", "localhost") + "?table=public.people"
        with pytest.raises(PolicyError, match="may be the input"):
            check_database(same, (f"{database}?table=people",), existing=Existing.REPLACE)


def test_a_failure_leaves_the_old_table(database: str) -> None:
    fill(f"{database}?table=people", PEOPLE)
    with (
        pytest.raises(RuntimeError, match="stop"),
        filled(f"{database}?table=people", PEOPLE.head(1), existing=Existing.REPLACE),
    ):
        raise RuntimeError("stop")
    assert len(read_table(f"{database}?table=people").table) == 12
    with pytest.raises(OutputError, match="there is such a table already"):
        fill(f"{database}?table=people", PEOPLE, Existing.REFUSE)


def test_a_new_file_of_sqlite_does_not_stay_after_a_failure(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/new.db?table=t"
    with pytest.raises(RuntimeError, match="stop"), filled(url, PEOPLE, existing=Existing.REFUSE):
        raise RuntimeError("stop")
    assert list(tmp_path.iterdir()) == []


def test_limits_hold(database: str) -> None:
    fill(f"{database}?table=people", PEOPLE)
    with pytest.raises(TableError, match=r"12 rows, more than 11 \(MUCO_MAX_ROWS\)"):
        read_table(f"{database}?table=people", limits=Limits(rows=11))


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("?table=nowhere", "there is no such table"),
        ("?query=SELECT%20%27topsecret%27::int", "SQLSTATE 22P02"),
        ("?query=SELEC%201", "the query is not SQL"),
        ("?query=SELECT%20nope%20FROM%20pg_class", "names a column that is not there"),
    ],
)
def test_what_postgres_refuses_is_told_without_cells_or_passwords(server: str, query: str, reason: str) -> None:
    with pytest.raises(TableError, match=reason) as caught:
        read_table(server + query)
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(TableError, match=r"^postgresql://127.0.0.1:1/x\?table=t: the server cannot be reached$"):
        read_table("postgresql://me:verysecret@127.0.0.1:1/x?table=t")


def test_what_sqlite_refuses_is_told_without_cells(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    with pytest.raises(TableError, match="there is no such file"):
        read_table(f"sqlite:///{path}?table=t")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?)", [(1,)] * 2000 + [("topsecret",)])
        connection.commit()
    with pytest.raises(MucoError, match="where a column of SQLite mixes kinds") as caught:
        read_table(f"sqlite:///{path}?table=t")
    assert "secret" not in str(caught.value)
    path.write_bytes(b"topsecret" * 1000)
    with pytest.raises(TableError, match="the file is no database"):
        read_table(f"sqlite:///{path}?table=t")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://a:verysecret@h/d", "needs either .table= or .query="),
        ("postgresql://a:verysecret@h/d?table=t&query=q", "and not both"),
        ("sqlite://people.db?table=t", "three slashes"),
    ],
)
def test_an_address_that_is_not_whole_is_refused(url: str, message: str) -> None:
    with pytest.raises(PolicyError, match=message) as caught:
        place_of(url)
    assert "secret" not in str(caught.value)
