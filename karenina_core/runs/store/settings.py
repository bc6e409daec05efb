"""Small things to remember, by name."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, select

from karenina_core.runs.store.database import Database
from karenina_core.runs.store.tables import setting as table


class Settings(Database):
    """Named JSON values: presets, drafts, preferences. Never keys or passwords."""

    def setting(self, key: str, default: Any = None) -> Any:
        """Return the value of a setting, or the default."""
        with self.reading() as connection:
            row = connection.execute(select(table.c.value).where(table.c.key == key)).first()
        return default if row is None else row.value

    def settings(self, prefix: str = "") -> dict[str, Any]:
        """Return all settings whose name starts with the prefix."""
        query = select(table).where(table.c.key.startswith(prefix, autoescape=True)).order_by(table.c.key)
        with self.reading() as connection:
            return {row.key: row.value for row in connection.execute(query)}

    def set_setting(self, key: str, value: Any) -> None:
        """Remember a JSON value."""
        query = self.upsert(table).values(key=key, value=value)
        with self.writing() as connection:
            connection.execute(
                query.on_conflict_do_update(index_elements=["key"], set_={"value": query.excluded.value})
            )

    def remove_setting(self, key: str) -> None:
        """Forget a setting."""
        with self.writing() as connection:
            connection.execute(delete(table).where(table.c.key == key))
