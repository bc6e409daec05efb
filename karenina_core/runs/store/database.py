"""What every part of the store builds on: transactions, and errors for people."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import Connection, Engine, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from karenina_core.runs.store.faults import explained


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
        except (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError) as error:
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
        except (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError) as error:
            raise explained(error, self.engine.url) from error

    def transactions(self) -> Transactions:
        """Return what opens one transaction after another."""
        return Transactions(self._writing)

    def upsert(self, table: Table) -> Any:
        """Return an INSERT of this dialect, which knows `on_conflict_do_update` and `on_conflict_do_nothing`."""
        return (postgresql if self.engine.dialect.name == "postgresql" else sqlite).insert(table)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


class Transactions:
    """Opens transactions over a connection that is kept in between, for who writes all the time.

    Belongs to one thread, which is to call `rest` when it has nothing to write for a while.

    Args:
        engine: Whose transactions announce that they write.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction: committed at the end, undone on an error.

        Raises:
            StoreError: The database refused; nothing was written.
        """
        try:
            if self._connection is not None and not self._alive(self._connection):
                self.rest()
            if self._connection is None:
                self._connection = self._engine.connect()
            with self._connection.begin():
                yield self._connection
        except BaseException as error:
            # The connection may be what failed; the next transaction gets a new one.
            self.rest()
            if isinstance(error, (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError)):
                raise explained(error, self._engine.url) from error
            raise

    def _alive(self, connection: Connection) -> bool:
        """Say whether a connection can still be used; a file has no server that could have ended it."""
        dialect = self._engine.dialect
        if dialect.name == "sqlite":
            return True
        try:
            alive = dialect.do_ping(connection.connection.dbapi_connection)  # type: ignore[arg-type]
        except Exception:  # the driver has errors of its own
            alive = False
        if not alive:
            connection.invalidate()
        return alive

    def rest(self) -> None:
        """Give the connection back; the next transaction takes one again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError, sqlite3.Error):
                connection.close()
