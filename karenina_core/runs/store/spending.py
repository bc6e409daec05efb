"""What all runs together spent, day by day."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Float, Text, cast, func, select, type_coerce

from karenina_core.runs.store.bulk import Ready
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
        if cost:
            self._add_cost(connection, {"key": _today(), "value": cost})

    @cached_property
    def _add_cost(self) -> Ready:
        # In the database, so that no process overwrites what another one added.
        query = self.upsert(table)
        before, more = table.c.value, query.excluded.value
        if self.engine.dialect.name == "sqlite":  # where numbers in a column of JSON are numbers
            total: Any = type_coerce(before, Float) + type_coerce(more, Float)
        else:
            total = func.to_json(cast(cast(before, Text), Float) + cast(cast(more, Text), Float))
        return Ready(query.on_conflict_do_update(index_elements=["key"], set_={"value": total}), self.engine.dialect)


def _today() -> str:
    return f"{_PREFIX}{now()[:10]}"
