"""Statements of every group of results: put into words once, and then handed straight to the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Dialect

_SIZES = (64, 32, *range(16, 0, -1))
"""Rows of one statement of SQLite: few statements for any number of rows, and few sizes, for the driver keeps a hundred
statements prepared."""


class Bulk:
    """A statement that is carried out with many rows.

    Building a statement anew for every group of rows costs more than storing them. Values go to the driver as they
    are, so that columns of JSON need their text. SQLite is given many rows with one statement: after each its driver
    hands the interpreter to another thread, and waits to get it back.

    Args:
        statement: An INSERT with a value for every column.
        dialect: Of the database.
    """

    def __init__(self, statement: Any, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self._text = str(compiled)
        self._order: list[str] | None = compiled.positiontup if compiled.positional else None
        self._texts = self._of_sizes() if dialect.name == "sqlite" else {}

    def __call__(self, connection: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Store the rows; nothing happens when there are none.

        Raises:
            SQLAlchemyError: The database refused.
            sqlite3.Error: SQLite refused.
        """
        order = self._order
        gathered: list[Any] = [row if order is None else tuple([row[name] for name in order]) for row in rows]
        if not self._texts:
            if gathered:
                connection.exec_driver_sql(self._text, gathered)
            return
        driver: Any = connection.connection.driver_connection
        start = 0
        for size, text in self._texts.items():
            while len(gathered) - start >= size:
                values = tuple(chain.from_iterable(gathered[start : start + size]))
                driver.execute(text, values).close()
                start += size

    def _of_sizes(self) -> dict[int, str]:
        assert self._order is not None
        row = f"({', '.join('?' * len(self._order))})"
        before, values, after = self._text.partition(row)
        assert values
        return {size: f"{before}{', '.join([row] * size)}{after}" for size in _SIZES}


class Ready:
    """A statement for one row that is carried out with every group of results.

    Args:
        statement: With named parameters and nothing else that changes.
        dialect: Of the database.
    """

    def __init__(self, statement: Any, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self._statement = statement
        self._text = str(compiled)
        self._order: list[str] = compiled.positiontup or []
        self._straight = dialect.name == "sqlite"

    def __call__(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """Carry it out, and return its cursor.

        Raises:
            SQLAlchemyError: The database refused.
            sqlite3.Error: SQLite refused.
        """
        if not self._straight:
            return connection.execute(self._statement, values)
        driver: Any = connection.connection.driver_connection
        return driver.execute(self._text, [values[name] for name in self._order])
