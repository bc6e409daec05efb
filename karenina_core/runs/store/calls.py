"""Stored model calls, by the hash of exactly what was sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, select, text

from karenina_core.runs.store.database import DRIVER_ERRORS, Database, explained
from karenina_core.runs.store.schema import call as table

SAMPLE = 3_000
"""At most this many calls are looked at for what calls usually take."""
_REPLY = f"SELECT {table.c.reply.name} FROM {table.name} WHERE {table.c.key.name} = ?"
_KEYS = 500  # in one query


class CallReader:
    """Looks up replies over a connection of its own, in microseconds: a file needs no thread to wait in.

    Belongs to one thread.
    """

    def __init__(self, database: Database) -> None:
        self._engine = database.engine
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
        except DRIVER_ERRORS as error:
            raise explained(error, self._engine.url) from error
        return None if row is None else str(row[0])

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Calls:
    """The calls of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        query = database.upsert(table)
        newer = {column.name: query.excluded[column.name] for column in table.c if not column.primary_key}
        self._replace = query.on_conflict_do_update(index_elements=["key"], set_=newer)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return everything that is stored about a call: what was sent, what came back, when."""
        with self._database.reading() as connection:
            row = connection.execute(select(table).where(table.c.key == key)).mappings().first()
        return dict(row) if row else None

    def replies(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the stored replies, as JSON text, of those keys that are known."""
        return {row.key: row.reply for row in self._select(keys, table.c.key, table.c.reply)}

    def reader(self) -> CallReader | None:
        """Return a quick way to look up replies; None where the database is on another machine."""
        return CallReader(self._database) if self._database.engine.dialect.name == "sqlite" else None

    def known(self, keys: Iterable[str]) -> dict[str, str]:
        """Return those keys whose calls are stored, and when each was made."""
        return {row.key: row.created for row in self._select(keys, table.c.key, table.c.created)}

    def _select(self, keys: Iterable[str], *columns: Any) -> Iterator[Any]:
        wanted = list(keys)
        with self._database.reading() as connection:
            for start in range(0, len(wanted), _KEYS):
                some = wanted[start : start + _KEYS]
                yield from connection.execute(select(*columns).where(table.c.key.in_(some)))

    def sample(self, models: Sequence[str]) -> list[dict[str, Any]]:
        """Return calls of those models, as `purpose`, `model`, tokens and `reply`.

        SQLite knows its newest rows at once. Elsewhere the first keys are taken: keys are hashes, so they are a random
        sample. Both are quick however many calls there are.
        """
        columns = (table.c.purpose, table.c.model, table.c.input_tokens, table.c.output_tokens, table.c.reply)
        newest = text("rowid DESC") if self._database.engine.dialect.name == "sqlite" else table.c.key
        drawn = select(*columns).order_by(newest).limit(SAMPLE).subquery()
        with self._database.reading() as connection:
            query = select(drawn).where(drawn.c.model.in_(list(models)))
            return [dict(row) for row in connection.execute(query).mappings()]

    def insert(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
        """Store calls in a transaction that is under way; a later reply to the same call replaces the earlier."""
        # In one order everywhere, so that two processes never wait for each other crosswise.
        latest = sorted({row["key"]: row for row in rows}.values(), key=lambda row: str(row["key"]))
        if latest:
            connection.execute(self._replace, latest)
