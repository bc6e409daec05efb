"""Stores of earlier versions, written out as SQL, are opened by this one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect

from karenina_core.errors import StoreError
from karenina_core.runs import Store
from karenina_core.runs.store import schema
from karenina_core.runs.store.schema import SCHEMA_VERSION, metadata
from tests.runs.fakes import stored_fields

HERE = Path(__file__).parent
Make = Callable[[], str]


def sqlite_of_version_1(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((HERE / "version_1_sqlite.sql").read_text(encoding="utf-8"))
    return f"sqlite:///{path}"


def postgresql_of_version_1(url: str) -> str:
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute((HERE / "version_1_postgresql.sql").read_text(encoding="utf-8"))
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def version_1(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a store as the first release wrote it."""
    if request.param == "sqlite":
        yield sqlite_of_version_1(tmp_path / "old.db")
    else:
        yield postgresql_of_version_1(request.getfixturevalue("postgres_url"))


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A program of the version after this one, with a step that adds a column; returns the statements of the step."""
    statements = ["ALTER TABLE run ADD COLUMN mood TEXT", "UPDATE run SET mood = 'calm'"]

    def step(connection: Connection) -> None:
        for statement in statements:
            connection.exec_driver_sql(statement)

    monkeypatch.setattr(schema, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    monkeypatch.setattr(schema, "MIGRATIONS", {**schema.MIGRATIONS, SCHEMA_VERSION: step})
    return statements


def layout(store: Store) -> dict[str, Any]:
    """Return tables, columns, keys and indexes, independent of how they came about."""
    seen = inspect(store.engine)
    return {
        table: {
            "columns": {c["name"]: (str(c["type"]), c["nullable"]) for c in seen.get_columns(table)},
            "key": seen.get_pk_constraint(table)["constrained_columns"],
            "unique": sorted(sorted(u["column_names"]) for u in seen.get_unique_constraints(table)),
            "indexes": sorted(i["column_names"] for i in seen.get_indexes(table)),
            "options": seen.get_table_options(table) if store.engine.dialect.name == "sqlite" else {},
            "foreign": sorted((f["constrained_columns"], f["referred_table"]) for f in seen.get_foreign_keys(table)),
        }
        for table in seen.get_table_names()
    }


def moods(store: Store) -> list[str]:
    with store.reading() as connection:
        return list(connection.exec_driver_sql("SELECT mood FROM run").scalars())


def test_there_is_a_step_from_every_released_version() -> None:
    assert sorted(schema.MIGRATIONS) == list(range(1, SCHEMA_VERSION))


def test_an_old_store_opens_with_everything_it_holds(version_1: str) -> None:
    with Store.open(version_1) as store:
        (run,) = store.runs.all()
        first, second = store.results.all(run.id)
        assert (run.name, run.status, run.done, run.errors) == ("First", "completed", 2, 1)
        assert first.raw_llm_response == "It is 42."
        assert second.failure is not None and second.failure.category == "timeout"
        assert len(store.benchmarks.load(store.benchmarks.all()[0].id)) == 2
        assert len(store.runs.plan(run.id).question_ids) == 2
        assert store.settings.all("preset/") == {"preset/quick": {"replicate_count": 2}}
        assert {row["name"] for row in stored_fields(store, run.id)} == {"value", "unit"}


FLAGGED = """
    UPDATE payload SET json = replace(json, '"truncated":false', '"truncated":false,"addresses_judge":true')
"""
QUOTING = """
    UPDATE payload SET json = replace(json, '"text":"It is 42."', '"text":"It says \\"addresses_judge\\":true."')
"""


@pytest.mark.parametrize(("changed", "expected"), [(FLAGGED, [True, False]), (QUOTING, [False, False])])
def test_answers_that_address_their_judge_are_found_in_old_stores(
    changed: str, expected: list[bool], tmp_path: Path
) -> None:
    url = sqlite_of_version_1(tmp_path / "old.db")
    with closing(sqlite3.connect(tmp_path / "old.db")) as connection, connection:
        connection.execute(changed)
    with Store.open(url) as store:
        assert [row["flagged"] for row in store.results.rows(store.runs.all()[0].id)] == expected


UNGUARDED = """
    UPDATE payload SET json = replace(json, '"abstention":null', '"abstention":{"performed":false,"detected":null}')
    WHERE id = 1
"""


def test_rows_without_their_guard_are_found_in_old_stores(tmp_path: Path) -> None:
    url = sqlite_of_version_1(tmp_path / "old.db")
    with closing(sqlite3.connect(tmp_path / "old.db")) as connection, connection:
        connection.execute(UNGUARDED)
    with Store.open(url) as store:
        run_id = store.runs.all()[0].id
        assert store.results.unguarded(run_id) == [store.results.all(run_id)[0].key]


def test_an_old_store_becomes_exactly_what_a_new_one_is(version_1: str) -> None:
    with Store.open(version_1) as old:
        upgraded = layout(old)
        with old.engine.begin() as connection:
            metadata.drop_all(connection)
    with Store.open(version_1) as new:
        assert upgraded == layout(new)


def test_steps_are_carried_out_once(version_1: str, next_version: list[str]) -> None:
    for _ in range(2):
        with Store.open(version_1) as store:
            assert moods(store) == ["calm"]


def test_a_step_that_fails_undoes_all_steps(version_1: str, next_version: list[str]) -> None:
    good = list(next_version)
    next_version.append("DROP TABLE no_such_table")
    with pytest.raises(StoreError):
        Store.open(version_1)
    next_version[:] = good
    with Store.open(version_1) as store:
        assert moods(store) == ["calm"]


def test_a_copy_of_the_file_is_made_first(tmp_path: Path, next_version: list[str]) -> None:
    url = sqlite_of_version_1(tmp_path / "old.db")
    Store.open(url).close()
    (copy,) = tmp_path.glob("old.db.version-1.*.bak")
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT schema_version FROM meta").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM result").fetchone() == (2,)
        assert "mood" not in {row[1] for row in connection.execute("PRAGMA table_info(run)")}


def test_nothing_is_copied_when_nothing_changes(tmp_path: Path) -> None:
    for _ in range(2):
        Store.open(tmp_path / "new.db").close()
    assert list(tmp_path.glob("*.bak*")) == []


def test_without_a_copy_nothing_is_changed(
    tmp_path: Path, next_version: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = sqlite_of_version_1(tmp_path / "old.db")

    def no_space(source: object, target: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("karenina_core.runs.store.schema.os.replace", no_space)
    with pytest.raises(StoreError, match=r"no copy of it could be made.*No space left"):
        Store.open(url)
    assert list(tmp_path.glob("*.bak*")) == []
    with closing(sqlite3.connect(tmp_path / "old.db")) as connection:
        assert connection.execute("SELECT schema_version FROM meta").fetchone() == (1,)
        assert "mood" not in {row[1] for row in connection.execute("PRAGMA table_info(run)")}


def test_a_newer_sqlite_store_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    sqlite_of_version_1(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE meta SET schema_version = 99")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer version") as refused:
        Store.open(path)
    assert "version 99" in refused.value.why
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["new.db"]


def test_a_newer_postgresql_store_is_refused_and_not_touched(postgres_url: str) -> None:
    Store.open(postgres_url).close()
    import psycopg

    with psycopg.connect(postgres_url) as connection:
        connection.execute("UPDATE meta SET schema_version = 99")
    with pytest.raises(StoreError, match="newer version"):
        Store.open(postgres_url)
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT schema_version FROM meta").fetchall() == [(99,)]


def test_the_file_of_another_program_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmark (url TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="belongs to another program"):
        Store.open(path)
    assert path.read_bytes() == before
