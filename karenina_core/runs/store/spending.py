"""What all runs together spent, day by day."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from karenina_core.runs.store.database import Database
from karenina_core.runs.store.tables import setting as table
from karenina_core.schemas.entities.question import now

_PREFIX = "spent/"


class Spending(Database):
    """The account of each day, in UTC, kept over all processes that share the store."""

    def spent_today(self) -> float:
        """Return the US dollars that were spent today."""
        with self.reading() as connection:
            return float(connection.execute(select(table.c.value).where(table.c.key == _today())).scalar() or 0.0)

    def note_spending(self, cost: float | None) -> None:
        """Add a cost, in US dollars, to today's account; for what belongs to no run."""
        if cost:
            with self.writing() as connection:
                self.add_spending(connection, cost)

    def add_spending(self, connection: Connection, cost: float | None) -> None:
        """Add a cost to today's account, in a transaction that is under way."""
        if not cost:
            return
        key = _today()
        new = self.upsert(table).values(key=key, value=0.0)
        connection.execute(new.on_conflict_do_nothing(index_elements=["key"]))
        # Locked on PostgreSQL, so that no process overwrites what another one added; SQLite has one writer anyway.
        before = connection.execute(select(table.c.value).where(table.c.key == key).with_for_update()).scalar_one()
        connection.execute(update(table).where(table.c.key == key).values(value=float(before) + cost))


def _today() -> str:
    return f"{_PREFIX}{now()[:10]}"
