"""Opening a database, transactions over it, its errors in words, and text that every database accepts."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from sqlalchemy import Connection, insert, make_url, select, text

from karenina_core.errors import StoreError
from karenina_core.runs import Store, wanted
from karenina_core.runs.store import database
from karenina_core.runs.store.database import (
    clean,
    clean_json,
    clean_text,
    database_url,
    explained,
    open_engine,
    to_json,
)
from karenina_core.runs.store.schema import setting
from tests.runs.fakes import plain_result, small_benchmark, small_config

any_text = st.text(st.characters(exclude_categories=()))
json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


def note(connection: Connection, key: str) -> None:
    connection.execute(insert(setting).values(key=key, value=1))


def keys(store: Store) -> list[str]:
    with store.reading() as connection:
        return list(connection.execute(select(setting.c.key).order_by(setting.c.key)).scalars())


@pytest.mark.parametrize("error", [StoreError, KeyboardInterrupt])
def test_what_was_refused_or_interrupted_is_undone_and_the_next_transaction_works(
    any_store: Store, error: type[BaseException]
) -> None:
    with pytest.raises(error), any_store.writing() as connection:
        note(connection, "a")
        if error is KeyboardInterrupt:
            raise KeyboardInterrupt
        note(connection, "a")
    with any_store.writing() as connection:
        note(connection, "b")
    assert keys(any_store) == ["b"]


def test_a_connection_that_the_server_ended_meanwhile_is_replaced(postgres_url: str) -> None:
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
    with Store.open(postgres_url) as store:
        with store.writing() as connection:
            note(connection, "a")
        with Store.open(postgres_url) as other, other.reading() as connection:
            connection.exec_driver_sql(f"{others}pg_backend_pid()")
        with store.writing() as connection:
            note(connection, "b")
        assert keys(store) == ["a", "b"]


def pragma(store: Store, name: str) -> object:
    with store.reading() as connection:
        return connection.execute(text(f"PRAGMA {name}")).scalar()


@pytest.mark.parametrize(
    ("name", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("busy_timeout", 30_000), ("foreign_keys", 1)]
)
def test_sqlite_is_opened_for_durability(store: Store, name: str, value: object) -> None:
    assert pragma(store, name) == value


def test_the_environment_says_where_the_store_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KARENINA_DATABASE_URL", f"sqlite:///{tmp_path}/here.db")
    assert database_url().database == f"{tmp_path}/here.db"


def test_without_a_word_the_store_is_in_the_users_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KARENINA_DATABASE_URL")
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name: str(tmp_path / name))
    with Store.open() as store:
        assert store.url == f"sqlite:///{tmp_path}/karenina/karenina.db"
    assert (tmp_path / "karenina" / "karenina.db").exists()


def test_postgresql_addresses_get_their_driver() -> None:
    assert database_url("postgres://me@host/results").drivername == "postgresql+psycopg"
    assert database_url("postgresql://me@host/results").drivername == "postgresql+psycopg"


@pytest.mark.parametrize("url", ["mysql://host/name", "sqlite://", "sqlite:///:memory:", "://"])
def test_other_addresses_are_refused_in_words(url: str) -> None:
    with pytest.raises(StoreError) as refused:
        database_url(url)
    assert "sqlite:///FILE" in refused.value.next


def test_passwords_never_show(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError) as refused:
        open_engine(make_url("postgresql+psycopg://me:s3cret@127.0.0.1:1/none?connect_timeout=1"))
    assert "cannot be reached" in refused.value.what
    assert "s3cret" not in str(refused.value)


def filled(path: Path) -> bytes:
    """Store some results and return the bytes of the file."""
    with Store.open(path) as store:
        run_id = store.runs.create(wanted(small_benchmark(50), small_config()))
        store.results.save(run_id, [plain_result(f"q{number}") for number in range(1, 51)])
        with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


@pytest.mark.parametrize("damage", ["not a database", "header", "pages", "cut"])
def test_a_damaged_file_is_named_and_left_as_it_is(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "karenina.db"
    content = bytearray(filled(path))
    if damage == "not a database":
        content = bytearray(b"these are my notes, not a database\n" * 100)
    elif damage == "header":
        content[:64] = b"\xff" * 64
    elif damage == "pages":
        content[4096:] = b"\xa5" * (len(content) - 4096)
    else:
        del content[len(content) // 2 :]
    path.write_bytes(content)
    with pytest.raises(StoreError) as refused:
        Store.open(path)
    assert str(path) in refused.value.what
    assert "damaged" in refused.value.what
    assert path.read_bytes() == bytes(content)


def test_a_large_file_is_not_read_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "karenina.db"
    filled(path)
    monkeypatch.setattr(database, "CHECKED_BYTES", 1)
    with Store.open(path) as store:
        assert len(store.runs.all()) == 1


def test_an_intact_file_opens_again_with_what_it_held(tmp_path: Path) -> None:
    filled(tmp_path / "karenina.db")
    with Store.open(f"sqlite:///{tmp_path / 'karenina.db'}") as store:
        assert store.runs.all()[0].done == 50


def test_two_openings_share_one_database(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as first, Store.open(tmp_path / "a.db") as second:
        first.settings.set("colour", "blue")
        assert second.settings.get("colour") == "blue"


# Errors in words


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ("database or disk is full", "the disk is full"),
        ("database is locked", "busy"),
        ("attempt to write a readonly database", "cannot be opened for writing"),
        ("unable to open database file", "cannot be opened for writing"),
        ("database disk image is malformed", "damaged"),
        ("file is not a database", "damaged"),
        ("Could not decode to UTF-8 column 'x'", "damaged"),
        ("connection failed: Connection refused", "cannot be reached"),
        ("something new", "refused the request"),
    ],
)
def test_driver_messages_become_words(message: str, what: str) -> None:
    error = explained(RuntimeError(message), make_url("sqlite:///results.db"))
    assert what in error.what
    assert message in error.why


def test_every_known_fault_says_what_to_do() -> None:
    assert explained(RuntimeError("database or disk is full"), make_url("sqlite:///results.db")).next


# Text that every database accepts


def test_nul_and_lone_surrogates_become_replacement_characters() -> None:
    assert clean_text("a\0b\ud800c😀") == "a\ufffdb\ufffdc😀"


def test_nan_and_infinities_become_null() -> None:
    assert clean({"a": math.nan, "b": [math.inf, -math.inf, 1.5]}) == {"a": None, "b": [None, None, 1.5]}


def test_keys_are_cleaned_too() -> None:
    assert clean({"a\0": (1, 2)}) == {"a\ufffd": [1, 2]}


@given(json_like)
def test_everything_clean_is_strict_json_in_utf8(value: Any) -> None:
    text = to_json(value)
    assert "\0" not in text
    assert json.loads(text.encode("utf-8")) == clean(value)


@given(json_like)
def test_cleaning_twice_changes_nothing(value: Any) -> None:
    assert clean(clean(value)) == clean(value)


@given(st.dictionaries(any_text, any_text, max_size=4))
def test_typed_data_is_cleaned_alike_in_keys_and_values(value: dict[str, str]) -> None:
    assert json.loads(clean_json(TypeAdapter(dict[str, str]), value)) == clean(value)
