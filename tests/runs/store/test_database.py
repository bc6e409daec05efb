from __future__ import annotations

import pytest
from sqlalchemy import Connection, insert, select
from sqlalchemy.pool import QueuePool

from karenina_core.errors import StoreError
from karenina_core.runs import Store
from karenina_core.runs.store.schema import setting


def note(connection: Connection, key: str) -> None:
    connection.execute(insert(setting).values(key=key, value=1))


def keys(store: Store) -> list[str]:
    with store.reading() as connection:
        return list(connection.execute(select(setting.c.key).order_by(setting.c.key)).scalars())


def in_use(store: Store) -> int:
    assert isinstance(store.engine.pool, QueuePool)
    return store.engine.pool.checkedout()


def test_transactions_follow_each_other_over_one_connection(any_store: Store) -> None:
    transactions = any_store.transactions()
    for key in ("a", "b"):
        with transactions.writing() as connection:
            note(connection, key)
        assert in_use(any_store) == 1
    assert keys(any_store) == ["a", "b"]
    transactions.rest()


def test_a_rest_gives_the_connection_back_and_the_next_transaction_takes_one(any_store: Store) -> None:
    transactions = any_store.transactions()
    for key in ("a", "b"):
        with transactions.writing() as connection:
            note(connection, key)
        transactions.rest()
        assert in_use(any_store) == 0
    assert keys(any_store) == ["a", "b"]


def test_between_two_transactions_others_can_write(any_store: Store) -> None:
    transactions = any_store.transactions()
    with transactions.writing() as connection:
        note(connection, "a")
    with any_store.writing() as connection:
        note(connection, "b")
    with transactions.writing() as connection:
        assert connection.execute(select(setting.c.key)).scalars().all() == ["a", "b"]
    transactions.rest()


def test_what_was_refused_is_undone_and_the_next_transaction_works(any_store: Store) -> None:
    transactions = any_store.transactions()
    with pytest.raises(StoreError), transactions.writing() as connection:
        note(connection, "a")
        note(connection, "a")
    assert in_use(any_store) == 0
    with transactions.writing() as connection:
        note(connection, "b")
    assert keys(any_store) == ["b"]
    transactions.rest()


def test_an_interruption_undoes_the_transaction(any_store: Store) -> None:
    transactions = any_store.transactions()
    with pytest.raises(KeyboardInterrupt), transactions.writing() as connection:
        note(connection, "a")
        raise KeyboardInterrupt
    assert (keys(any_store), in_use(any_store)) == ([], 0)


def test_a_connection_that_the_server_ended_meanwhile_is_replaced(postgres_url: str) -> None:
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
    with Store.open(postgres_url) as store:
        transactions = store.transactions()
        with transactions.writing() as connection:
            note(connection, "a")
        with store.reading() as connection:
            connection.exec_driver_sql(f"{others}pg_backend_pid()")
        with transactions.writing() as connection:
            note(connection, "b")
        assert keys(store) == ["a", "b"]
        transactions.rest()
