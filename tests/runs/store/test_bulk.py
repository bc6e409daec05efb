from __future__ import annotations

import sqlite3

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, Text, create_engine, insert, select, update

from karenina_core.runs import Store
from karenina_core.runs.store.bulk import Bulk, Ready
from karenina_core.runs.store.tables import setting

TABLE = Table("number", MetaData(), Column("id", Integer, primary_key=True), Column("text", Text, nullable=False))


def rows(count: int) -> list[dict[str, object]]:
    return [{"text": str(number), "id": number} for number in range(count)]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 63, 64, 65, 203])
def test_every_row_is_stored_once_whatever_their_number(count: int) -> None:
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        TABLE.create(connection)
        Bulk(insert(TABLE), engine.dialect)(connection, rows(count))
        stored = connection.execute(select(TABLE).order_by(TABLE.c.id)).all()
    engine.dispose()
    assert [tuple(row) for row in stored] == [(number, str(number)) for number in range(count)]


def test_a_refused_row_undoes_the_transaction(store: Store) -> None:
    add = Bulk(insert(setting), store.engine.dialect)
    with pytest.raises(Exception, match="UNIQUE"), store.writing() as connection:
        add(connection, [{"key": "a", "value": "1"}, {"key": "a", "value": "2"}])
    with store.reading() as connection:
        assert connection.execute(select(setting)).all() == []


def test_a_ready_statement_says_how_many_rows_it_changed(any_store: Store) -> None:
    change = Ready(update(setting).where(setting.c.key == "missing").values(key="other"), any_store.engine.dialect)
    with any_store.writing() as connection:
        assert change(connection, {"key_1": "missing", "key": "other"}).rowcount == 0


def test_the_driver_is_asked_directly_on_sqlite(store: Store) -> None:
    with store.writing() as connection:
        found = Ready(select(setting.c.key), store.engine.dialect)(connection, {})
        assert isinstance(found, sqlite3.Cursor)
        assert found.fetchone() is None
