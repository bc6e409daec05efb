"""What every part of the store builds on: transactions, and errors for people."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
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

    def upsert(self, table: Table) -> Any:
        """Return an INSERT of this dialect, which knows `on_conflict_do_update` and `on_conflict_do_nothing`."""
        return (postgresql if self.engine.dialect.name == "postgresql" else sqlite).insert(table)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()
