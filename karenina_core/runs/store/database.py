"""Opening the database, transactions over it, what its errors mean, and text that every database accepts."""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError
from pydantic_core import to_json as dump_json
from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from karenina_core.errors import MissingDependencyError, StoreError
from karenina_core.models import clean as clean_text
from karenina_core.runs.store.schema import check_version, prepare

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
_NUL = "\\u0000"
_LOST = "\ufffd" * 3  # what pydantic writes for half a surrogate pair in a key


def clean(value: Any) -> Any:
    """Return JSON-like data with everything replaced that a database would refuse.

    NUL characters and lone surrogates become U+FFFD, NaN and the infinities become None. PostgreSQL refuses the
    former in text; one of the latter makes every JSON query over its column fail.
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    return value


def to_json(value: Any) -> str:
    """Return clean data as JSON text."""
    return json.dumps(clean(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def clean_json(adapter: TypeAdapter[Any], value: Any) -> str:
    """Return a typed value as clean JSON text."""
    try:
        text = adapter.dump_json(value).decode()
    except PydanticSerializationError:
        text = _NUL
    # pydantic keeps NUL characters, garbles lone surrogates in keys and refuses them in values; all are rare.
    return dump_json(clean(adapter.dump_python(value))).decode() if _NUL in text or _LOST in text else text


class DatabaseUnavailableError(StoreError):
    """The database as a whole is in trouble and refuses every request at this moment."""


# Words in the driver's message, what happened, what to do. The first that fits counts.
_TROUBLE: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("disk is full", "no space left", "disk full"),
        "The database cannot grow: the disk is full.",
        "Free some space and resume; nothing that was stored is lost.",
    ),
    (
        ("is locked", "lock timeout", "deadlock"),
        "The database is busy.",
        "Close other programs that use it, or try again in a moment.",
    ),
    (
        ("readonly", "read-only", "permission denied", "unable to open"),
        "The database cannot be opened for writing.",
        "Check that the folder exists and that you may write in it.",
    ),
    (
        ("connection", "could not connect", "timeout expired", "terminating", "starting up"),
        "The database server cannot be reached.",
        "Check that it runs and that the address, user and password are right.",
    ),
)
_DAMAGED = ("malformed", "not a database", "could not decode", "codec can't decode", "disk i/o error")
DRIVER_ERRORS = (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError)


def explained(error: Exception, url: URL) -> StoreError:
    """Turn a driver's error into one for people; passwords in addresses stay hidden."""
    reason = str(getattr(error, "orig", None) or error).strip()[:300]
    lowered = reason.lower()
    if any(word in lowered for word in _DAMAGED):
        return _damaged(url.database or "", reason)
    for words, what, next_ in _TROUBLE:
        if any(word in lowered for word in words):
            return DatabaseUnavailableError(what, f"{url.render_as_string()}: {reason}", next_)
    return StoreError("The database refused the request.", f"{url.render_as_string()}: {reason}")


def _damaged(path: str, reason: str) -> StoreError:
    return StoreError(
        f"The database file {path} is damaged or not a database.",
        why=reason,
        next=f"It was left as it is. Restore it from a backup, save what can be read with `sqlite3 {path} .recover`, "
        "or choose another file.",
    )


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
    backend = url.get_backend_name()
    if backend in ("postgresql", "postgres"):
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
    options: dict[str, Any] = {
        "json_serializer": to_json,
        "hide_parameters": True,  # questions and answers stay out of error messages and logs
    }
    if url.get_backend_name() == "sqlite":
        _check_file(Path(url.database or ""))
        engine = create_engine(url, **options, connect_args={"timeout": BUSY_SECONDS})
        event.listen(engine, "connect", _set_pragmas)
        event.listen(engine, "begin", _begin)
    else:
        try:
            engine = create_engine(url, **options, pool_pre_ping=True)
        except ModuleNotFoundError as error:
            raise MissingDependencyError(
                "PostgreSQL needs a driver that is not installed.", next="pip install 'karenina-workbench[postgres]'"
            ) from error
    try:
        prepare(engine)
    except DRIVER_ERRORS as error:
        engine.dispose()
        raise explained(error, url) from error
    except StoreError:
        engine.dispose()
        raise
    return engine


def _check_file(path: Path) -> None:
    """Read a SQLite file through, without changing it; refuse a damaged, foreign or newer one."""
    if not path.exists() or not path.stat().st_size:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return
    whole = path.stat().st_size <= CHECKED_BYTES
    check = "PRAGMA quick_check(1)" if whole else "SELECT 'ok' FROM sqlite_master LIMIT 1"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as file:
            state = file.execute(check).fetchone()
            tables = {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            version = file.execute("SELECT schema_version FROM meta").fetchone() if "meta" in tables else None
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise explained(error, URL.create("sqlite", database=str(path))) from error
    if state is not None and state[0] != "ok":
        raise _damaged(str(path), str(state[0]))
    if version is not None:
        check_version(version[0])
    elif tables:
        raise StoreError(
            f"The database file {path} belongs to another program.",
            why="It has tables, and none of them is the workbench's.",
            next="It was left as it is. Choose another file; it is created when it does not exist.",
        )


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


class Database:
    """An open database. May be used from any thread."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writing = engine.execution_options(writes=True)

    @property
    def url(self) -> str:
        """The address, with the password hidden."""
        return self.engine.url.render_as_string()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a connection that sees one consistent state.

        Raises:
            StoreError: The database refused.
        """
        try:
            with self.engine.connect() as connection:
                yield connection
        except DRIVER_ERRORS as error:
            raise explained(error, self.engine.url) from error

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction: committed at the end, undone on an error.

        Raises:
            StoreError: The database refused; nothing was written.
        """
        try:
            with self._writing.begin() as connection:
                yield connection
        except DRIVER_ERRORS as error:
            raise explained(error, self.engine.url) from error

    def upsert(self, table: Table) -> Any:
        """Return an INSERT of this dialect, which knows `on_conflict_do_update` and `on_conflict_do_nothing`."""
        return (postgresql if self.engine.dialect.name == "postgresql" else sqlite).insert(table)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()
