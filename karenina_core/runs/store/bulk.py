"""Many rows at once: an INSERT that is put into words once, and then goes straight to the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Dialect


class Bulk:
    """A statement that is carried out with many rows.

    Building a statement anew for every group of rows costs more than storing them. Values go to the driver as they
    are, so that columns of JSON need their text.

    Args:
        statement: An INSERT with a value for every column.
        dialect: Of the database.
    """

    def __init__(self, statement: Any, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self._text = str(compiled)
        self._order: list[str] | None = compiled.positiontup if compiled.positional else None

    def __call__(self, connection: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Store the rows; nothing happens when there are none.

        Raises:
            SQLAlchemyError: The database refused.
        """
        order = self._order
        gathered = [row if order is None else tuple(row[name] for name in order) for row in rows]
        if gathered:
            connection.exec_driver_sql(self._text, gathered)
