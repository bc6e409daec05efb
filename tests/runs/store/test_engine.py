from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import make_url, text

from karenina_core.errors import StoreError
from karenina_core.runs import Store, wanted
from karenina_core.runs.store import database
from karenina_core.runs.store.database import database_url, open_engine
from tests.runs.fakes import plain_result, small_benchmark, small_config


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
