"""Stored model calls, by the hash of exactly what was sent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, select

from karenina_core.runs.store.database import Database
from karenina_core.runs.store.tables import call as table


class Calls(Database):
    """The calls of the store."""

    def call_replies(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the stored replies, as JSON text, of those keys that are known."""
        query = select(table.c.key, table.c.reply).where(table.c.key.in_(keys))
        with self.reading() as connection:
            return {row.key: row.reply for row in connection.execute(query)}

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
        connection.execute(self._replace_call, ordered)

    @cached_property
    def _replace_call(self) -> Any:
        query = self.upsert(table)
        newer = {column.name: query.excluded[column.name] for column in table.c if not column.primary_key}
        return query.on_conflict_do_update(index_elements=["key"], set_=newer)
