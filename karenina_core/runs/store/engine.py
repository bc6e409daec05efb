"""Opening the database: SQLite in a file by default, PostgreSQL by URL."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from karenina_core.errors import MissingDependencyError, StoreError
from karenina_core.runs.store.clean import to_json
from karenina_core.runs.store.faults import damaged, explained
from karenina_core.runs.store.migrations import check_version, prepare

URL_VARIABLE = "KARENINA_DATABASE_URL"
BUSY_SECONDS = 30
CHECKED_BYTES = 256 * 2**20
"""Files up to this size are read through before use; larger ones would delay every start by seconds."""

_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "wal_autocheckpoint=4000",  # pages; a page that many transactions change is copied into the file once for all
)

# Questions and answers stay out of error messages and logs.
_OPTIONS: dict[str, Any] = {"json_serializer": to_json, "hide_parameters": True}


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
        prepare(engine)
    except (SQLAlchemyError, sqlite3.Error) as error:
        engine.dispose()
        raise explained(error, url) from error
    except StoreError:
        engine.dispose()
        raise
    return engine


def check_file(path: Path) -> None:
    """Read a SQLite file through, without changing it.

    Raises:
        StoreError: It is damaged, not a database, another program's, or of a newer version.
    """
    if not path.exists() or not path.stat().st_size:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return
    whole = path.stat().st_size <= CHECKED_BYTES
    check = "PRAGMA quick_check(1)" if whole else "SELECT 'ok' FROM sqlite_master LIMIT 1"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as file:
            found = file.execute(check).fetchone()
            tables = {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            version = file.execute("SELECT schema_version FROM meta").fetchone() if "meta" in tables else None
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise explained(error, URL.create("sqlite", database=str(path))) from error
    if found is not None and found[0] != "ok":
        raise damaged(str(path), str(found[0]))
    if version is not None:
        check_version(version[0])
    elif tables:
        raise StoreError(
            f"The database file {path} belongs to another program.",
            why="It has tables, and none of them is the workbench's.",
            next="It was left as it is. Choose another file; it is created when it does not exist.",
        )


def _sqlite(url: URL) -> Engine:
    engine = create_engine(url, **_OPTIONS, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _begin)
    return engine


def _set_pragmas(connection: sqlite3.Connection, _: Any) -> None:
    # The driver would begin transactions late and by its own rules; `_begin` says when and how.
    connection.isolation_level = None
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    # A transaction that reads before it writes cannot wait for its turn; one that announces itself can.
    writes = connection.get_execution_options().get("writes", False)
    driver: Any = connection.connection.driver_connection
    driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN").close()


def _postgresql(url: URL) -> Engine:
    try:
        return create_engine(url, **_OPTIONS, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            "PostgreSQL needs a driver that is not installed.", next="pip install 'karenina-workbench[postgres]'"
        ) from error
