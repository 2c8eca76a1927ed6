"""PostgreSQL and SQLite by ADBC: a table or a query in, a new table out in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from muco.atomic import Existing
from muco.errors import MucoError, OutputError, PolicyError, TableError
from muco.files.extras import need
from muco.files.source import Source
from muco.formats import Format
from muco.layout import Layout

if TYPE_CHECKING:
    import polars as pl

    from muco.files.limits import Limits

_UNREADABLE = "it cannot be read so: where a column of SQLite mixes kinds, CAST it in a ?query="
_REASONS = {
    "28": "the server refuses this user or password",
    "3D000": "there is no such database",
    "3F000": "there is no such schema",
    "42P01": "there is no such table",
    "42P07": "there is such a table already",
    "42601": "the query is not SQL",
    "42501": "permission is denied",
    "42703": "the query names a column that is not there",
    "53": "the server is short of room",
    "57014": "the server stopped it",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a table of a database is: `url` for the driver, `shown` without a password or a query's text."""

    url: str
    shown: str
    table: tuple[str, ...]  # (schema, name) or (name,); empty for a query
    query: str
    is_postgres: bool

    def __repr__(self) -> str:
        return f"Address({self.shown})"

    @staticmethod
    def of(text: str) -> Address:
        """Take `postgresql://...?table=` or `?query=`, or `sqlite:///file?table=`, apart. Raises PolicyError."""
        try:
            parts = urlsplit(text)
            words = dict(parse_qsl(parts.query, keep_blank_values=True))
            host = parts.netloc.rpartition("@")[2]
        except ValueError:
            raise PolicyError(
                "the URL of the database is not one: postgresql://user@host/name?table=people"
            ) from None
        table, query = words.pop("table", ""), words.pop("query", "")
        what = f"table={table}" if table else "query=..."
        shown = f"{parts.scheme}://{host}{parts.path}?{what}"
        if bool(table) == bool(query):
            raise PolicyError(f"{parts.scheme}://{host}{parts.path} needs either ?table= or ?query=, and not both")
        names = tuple(table.split(".", 1)) if table and parts.scheme != "sqlite" else (table,) * bool(table)
        if parts.scheme == "sqlite":
            if host or not parts.path.strip("/"):
                raise PolicyError(f"{shown} names no file: sqlite:///people.db?table=people has three slashes")
            return Address(unquote(parts.path[1:]), shown, names, query, is_postgres=False)
        url = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(words, quote_via=quote), ""))
        return Address(url, shown, names, query, is_postgres=True)

    @property
    def quoted(self) -> str:
        """The table as SQL names it."""
        return ".".join('"' + name.replace('"', '""') + '"' for name in self.table)

    @property
    def select(self) -> str:
        """The query that reads it."""
        return self.query or f"SELECT * FROM {self.quoted}"  # noqa: S608 - the name is quoted


def read_database(text: str, limits: Limits) -> Source:
    """A table from a database, read once. Raises TableError without a cell, a password or a query's text."""
    address = Address.of(text)
    if not address.is_postgres and not Path(address.url).is_file():
        raise TableError(f"{address.shown}: there is no such file")
    with (
        _reported(address, TableError),
        _connected(address, can_write=False) as connection,
        closing(connection.cursor()) as cursor,
    ):
        table = _read(cursor, address, limits)
    if not len(table):
        raise TableError(f"{address.shown} has columns and no rows")
    return Source(table, Layout(format=Format.DATABASE))


def _read(cursor: Any, address: Address, limits: Limits) -> pl.DataFrame:
    import polars as pl

    select = address.select
    decimals: dict[str, tuple[int, int] | None] = {}
    if address.is_postgres:
        select, decimals = _spelled(cursor, address.select.strip().rstrip(";"))
    cursor.execute(select)
    parts, rows, size = [], 0, 0
    for batch in cursor.fetch_record_batch():
        rows, size = rows + batch.num_rows, size + batch.nbytes
        limits.check_rows(rows, address.shown)
        limits.check_content(size, address.shown)
        parts.append(pl.DataFrame(batch))
    if not parts:
        raise TableError(f"{address.shown} has no rows")
    table = pl.concat(parts)
    return table.with_columns(_as_decimals(table[name], size) for name, size in decimals.items())


def _spelled(cursor: Any, select: str) -> tuple[str, dict[str, tuple[int, int] | None]]:
    """The query with types that Arrow lacks as text, and its decimals with their digits where declared."""
    import pyarrow as pa

    cursor.execute(f"SELECT * FROM ({select}) AS q LIMIT 0")  # noqa: S608 - the curator's own query
    columns: list[str] = []
    decimals: dict[str, tuple[int, int] | None] = {}
    for field in cursor.fetch_record_batch().schema:
        name = '"' + field.name.replace('"', '""') + '"'
        is_known = not isinstance(field.type, pa.BaseExtensionType)
        columns.append(name if is_known else f"CAST({name} AS text) AS {name}")
        words = field.metadata or {}
        if words.get(b"POSTGRESQL:type") == b"numeric":
            mode = int(words.get(b"POSTGRESQL:typmod", b"-1")) - 4
            decimals[field.name] = (mode >> 16, mode & 0x7FF) if mode >= 0 else None
    return f"SELECT {', '.join(columns)} FROM ({select}) AS q", decimals  # noqa: S608


def _as_decimals(text: pl.Series, digits: tuple[int, int] | None) -> pl.Series:
    """A column of numerals as decimals; as text where one is NaN, infinite or too long."""
    import polars as pl

    places = text.str.extract(r"\.([0-9]+)$", 1).str.len_chars().max()
    precision, scale = digits or (38, places if isinstance(places, int) else 0)
    if precision > 38 or scale > precision:
        return text
    numbers = text.cast(pl.Decimal(precision, scale), strict=False)
    return numbers if numbers.null_count() == text.null_count() else text


def check_database(text: str, tables: tuple[str, ...], *, existing: Existing) -> None:
    """Raise PolicyError or OutputError unless a release may become this table; `tables` are what is read.

    A table that is read is never replaced, and with a query, which may read any table of its database, none is.
    """
    address = Address.of(text)
    if not address.table:
        raise PolicyError(f"{address.shown}: a release goes into a table: name it with ?table=")
    with _reported(address, OutputError):
        found = _identity(address)
        if not found[-1]:
            return
        for table in tables:
            source = Address.of(table) if table.startswith(("postgres", "sqlite:")) else None
            if source is None or source.is_postgres is not address.is_postgres:
                continue
            place = _identity(source)
            if place == found or (source.query and place[:-1] == found[:-1]):
                raise PolicyError(
                    f"{address.shown} may be the input, which is never overwritten: name another table"
                )
    if existing is Existing.REFUSE:
        raise PolicyError(f"{address.shown} exists: name another table, or replace it with --force")


def _identity(address: Address) -> tuple[str, ...]:
    """The server and database an address means, and the table there, empty where there is none."""
    if not address.is_postgres:
        path = Path(address.url)
        if not path.exists():
            return str(path.resolve()), ""
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            query = "SELECT lower(name) FROM sqlite_master WHERE lower(name) = lower(?)"
            found = connection.execute(query, [*address.table, ""][:1]).fetchone()
        state = path.stat()
        return f"{state.st_dev}:{state.st_ino}", found[0] if found else ""
    with _connected(address, can_write=False) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(
            "SELECT pg_postmaster_start_time()::text || current_database(), "
            "coalesce(to_regclass($1)::oid::text, '')",
            parameters=(address.quoted or '""',) if address.table else ("pg_no_such_table",),
        )
        server, table = cursor.fetchone()
        return str(server), str(table)


@contextmanager
def filled(text: str, table: pl.DataFrame, *, existing: Existing) -> Iterator[None]:
    """A new table with the release, which stays if the block ends well: all of it is one transaction.

    Raises OutputError; what the server says may quote cells and is not repeated.
    """
    address = Address.of(text)
    is_new = not address.is_postgres and not Path(address.url).exists()
    try:
        with _reported(address, OutputError), _connected(address, can_write=True) as connection:
            with closing(connection.cursor()) as cursor:
                if existing is Existing.REPLACE:
                    cursor.execute(f"DROP TABLE IF EXISTS {address.quoted}")
                _ingest(cursor, address, table)
            yield
            connection.commit()
    except BaseException:
        if is_new:
            with suppress(OSError):
                Path(address.url).unlink()
        raise


def _ingest(cursor: Any, address: Address, table: pl.DataFrame) -> None:
    import polars as pl
    import polars.selectors as cs

    texts = cs.categorical() | cs.enum() | (cs.decimal() if not address.is_postgres else cs.enum())
    wide = [name for name, dtype in table.schema.items() if dtype in {pl.Int128, pl.UInt64}]
    plain = table.with_columns(texts.cast(pl.String), pl.col(wide).cast(pl.String))
    schema = {"db_schema_name": address.table[0]} if len(address.table) > 1 else {}
    cursor.adbc_ingest(address.table[-1], plain.to_arrow(compat_level=pl.CompatLevel.oldest()), "create", **schema)
    if not address.is_postgres:
        return
    for name, dtype in plain.schema.items():
        if isinstance(dtype, pl.Decimal):
            column = name.replace('"', '""')
            kind = f"numeric({dtype.precision}, {dtype.scale})"
            cursor.execute(f'ALTER TABLE {address.quoted} ALTER COLUMN "{column}" TYPE {kind}')


@contextmanager
def _connected(address: Address, *, can_write: bool) -> Iterator[Any]:
    if address.is_postgres:
        driver = need("adbc_driver_postgresql.dbapi", "db", "to read and write PostgreSQL")
        url = address.url
    else:
        driver = need("adbc_driver_sqlite.dbapi", "db", "to read and write SQLite")
        url = f"{Path(address.url).resolve().as_uri()}?mode={'rwc' if can_write else 'ro'}"
    need("pyarrow", "db", "to read and write databases")
    with closing(driver.connect(url)) as connection:
        yield connection


@contextmanager
def _reported(address: Address, kind: type[MucoError]) -> Iterator[None]:
    """Rewrite what a driver raises: its words may quote cells, the query and the password."""
    try:
        yield
        return
    except (MucoError, MemoryError):
        raise
    except OSError as error:
        reason = error.strerror or _UNREADABLE
    except Exception as error:
        state = getattr(error, "sqlstate", None) or ""
        if not state and not type(error).__module__.startswith(("adbc", "sqlite3", "polars", "pyarrow")):
            raise
        said = next((words for code, words in _REASONS.items() if state.startswith(code)), None)
        reason = said or (f"the database says SQLSTATE {state}" if state else _plain_reason(error))
    raise kind(f"{address.shown}: {reason}") from None


def _plain_reason(error: Exception) -> str:
    """Why SQLite or a connection failed, by the few words that hold no cell."""
    words = str(error)
    known = {
        "connect": "the server cannot be reached",
        "no such table": "there is no such table",
        "already exists": "there is such a table already",
        "readonly": "the database is read-only",
        "locked": "the database is locked by another program",
        "not a database": "the file is no database",
        "full": "the disk is full",
        "unable to open": "the file cannot be opened",
    }
    return next((reason for mark, reason in known.items() if mark in words), _UNREADABLE)
