"""Stored model calls, by the hash of exactly what was sent."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import SQLAlchemyError

from karenina_core.runs.store.bulk import Bulk
from karenina_core.runs.store.database import Database
from karenina_core.runs.store.faults import explained
from karenina_core.runs.store.tables import call as table

_REPLY = f"SELECT {table.c.reply.name} FROM {table.name} WHERE {table.c.key.name} = ?"


class CallReader:
    """Looks up replies over a connection of its own, in microseconds: a file needs no thread to wait in.

    Belongs to one thread.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Any = None

    def __call__(self, key: str) -> str | None:
        """Return the stored reply as JSON text, if the call is known.

        Raises:
            StoreError: The database refused.
        """
        try:
            if self._connection is None:
                self._connection = self._engine.raw_connection()
            row = self._connection.cursor().execute(_REPLY, (key,)).fetchone()
        except (sqlite3.Error, SQLAlchemyError, UnicodeDecodeError) as error:
            raise explained(error, self._engine.url) from error
        return None if row is None else str(row[0])

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Calls(Database):
    """The calls of the store."""

    def call_replies(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the stored replies, as JSON text, of those keys that are known."""
        query = select(table.c.key, table.c.reply).where(table.c.key.in_(keys))
        with self.reading() as connection:
            return {row.key: row.reply for row in connection.execute(query)}

    def call_reader(self) -> CallReader | None:
        """Return a quick way to look up replies; None where the database is on another machine."""
        return CallReader(self.engine) if self.engine.dialect.name == "sqlite" else None

    def call(self, key: str) -> dict[str, Any] | None:
        """Return everything that is stored about a call: what was sent, what came back, when."""
        with self.reading() as connection:
            row = connection.execute(select(table).where(table.c.key == key)).mappings().first()
        return dict(row) if row else None

    def insert_calls(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
        """Store calls in a transaction that is under way; a later reply to the same call replaces the earlier."""
        if not rows:
            return
        # In one order everywhere, so that two processes never wait for each other crosswise.
        ordered = sorted({row["key"]: row for row in rows}.values(), key=lambda row: str(row["key"]))
        self._replace_call(connection, ordered)

    @cached_property
    def _replace_call(self) -> Bulk:
        query = self.upsert(table)
        newer = {column.name: query.excluded[column.name] for column in table.c if not column.primary_key}
        return Bulk(query.on_conflict_do_update(index_elements=["key"], set_=newer), self.engine.dialect)
