"""Opening the database: SQLite in a file by default, PostgreSQL by URL."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, make_url, select, text, update
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from karenina_core.errors import MissingDependencyError, StoreError
from karenina_core.runs.store.clean import to_json
from karenina_core.runs.store.faults import damaged, explained
from karenina_core.runs.store.tables import SCHEMA_VERSION, meta, metadata

URL_VARIABLE = "KARENINA_DATABASE_URL"
BUSY_SECONDS = 30
CHECKED_BYTES = 256 * 2**20
"""Files up to this size are read through before use; larger ones would delay every start by seconds."""

# Questions and answers stay out of error messages and logs.
_OPTIONS: dict[str, Any] = {"json_serializer": to_json, "hide_parameters": True}

MIGRATIONS: dict[int, Callable[[Connection], None]] = {}
"""By schema version: how to bring a database of that version to the next."""


def database_url(given: str | Path | None = None) -> URL:
    """Return where the database is.

    Args:
        given: A URL or the path of a SQLite file. When not given, the variable `KARENINA_DATABASE_URL` counts, then
            the user's own data folder.

    Raises:
        StoreError: Not a URL of SQLite or PostgreSQL.
    """
    from platformdirs import user_data_dir

    place = str(given or os.environ.get(URL_VARIABLE) or Path(user_data_dir("karenina")) / "karenina.db")
    try:
        url = make_url(place) if "://" in place else URL.create("sqlite", database=place)
    except ArgumentError as error:
        raise StoreError(f"{place!r} is not a database URL.", next="Use sqlite:///FILE or postgresql://…") from error
    backend = {"postgres": "postgresql"}.get(url.get_backend_name(), url.get_backend_name())
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and url.database not in (None, "", ":memory:"):
        return url
    raise StoreError(
        f"{url.render_as_string()!r} cannot hold the results.",
        next="Use a SQLite file (sqlite:///FILE) or PostgreSQL (postgresql://USER@HOST/NAME).",
    )


def open_engine(url: URL) -> Engine:
    """Open, check and prepare the database.

    Raises:
        StoreError: It is damaged, of a newer version, or cannot be reached.
        MissingDependencyError: The PostgreSQL driver is not installed.
    """
    if url.get_backend_name() == "sqlite":
        check_file(Path(url.database or ""))
    engine = _sqlite(url) if url.get_backend_name() == "sqlite" else _postgresql(url)
    try:
        _prepare(engine)
    except SQLAlchemyError as error:
        engine.dispose()
        raise explained(error, url) from error
    except StoreError:
        engine.dispose()
        raise
    return engine


def check_file(path: Path) -> None:
    """Read a SQLite file through, without changing it.

    Raises:
        StoreError: It is damaged, or not a database.
    """
    if not path.exists() or not path.stat().st_size:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return
    whole = path.stat().st_size <= CHECKED_BYTES
    check = "PRAGMA quick_check(1)" if whole else "SELECT 'ok' FROM sqlite_master LIMIT 1"
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
        try:
            found = connection.execute(check).fetchone()
        finally:
            connection.close()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise explained(error, URL.create("sqlite", database=str(path))) from error
    if found is not None and found[0] != "ok":
        raise damaged(str(path), str(found[0]))


def _sqlite(url: URL) -> Engine:
    engine = create_engine(url, **_OPTIONS, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _begin)
    return engine


def _set_pragmas(connection: sqlite3.Connection, _: Any) -> None:
    # The driver would begin transactions late and by its own rules; `_begin` says when and how.
    connection.isolation_level = None
    for pragma in (f"busy_timeout={BUSY_SECONDS * 1000}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    # A transaction that reads before it writes cannot wait for its turn; one that announces itself can.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgresql(url: URL) -> Engine:
    try:
        return create_engine(url, **_OPTIONS, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            "PostgreSQL needs a driver that is not installed.", next="pip install 'karenina-workbench[postgres]'"
        ) from error


def _prepare(engine: Engine) -> None:
    """Create the tables in a new database, or bring an older one up to date."""
    with engine.execution_options(writes=True).begin() as connection:
        if engine.dialect.name == "postgresql":
            # Two processes that start together must not both create the tables.
            connection.execute(text("SELECT pg_advisory_xact_lock(7020615)"))
        if not inspect(connection).has_table(meta.name):
            metadata.create_all(connection)
            connection.execute(insert(meta).values(schema_version=SCHEMA_VERSION))
            return
        _migrate(connection, connection.execute(select(meta.c.schema_version)).scalar_one())


def _migrate(connection: Connection, version: int) -> None:
    if version > SCHEMA_VERSION:
        raise StoreError(
            "The database was written by a newer version of the workbench.",
            why=f"Its layout is version {version}; this program knows version {SCHEMA_VERSION}.",
            next="Update the workbench, or choose another database.",
        )
    for step in range(version, SCHEMA_VERSION):
        MIGRATIONS[step](connection)
    if version < SCHEMA_VERSION:
        connection.execute(update(meta).values(schema_version=SCHEMA_VERSION))
