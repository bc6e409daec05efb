"""A full disk, a locked database, a server that is gone: the run waits with the reason, and nothing paid is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from karenina_core.errors import StoreError
from karenina_core.runs import Engine, Store
from tests.faults.openai_server import OpenAIServer, Reply
from tests.faults.road import Call, Road, call_of, honest, verdicts, wait_until
from tests.runs.fakes import fill_disk, free_disk

QUESTIONS = 40


def repeated(road: Road) -> list[Call]:
    """Return what was asked more than once."""
    return [call for call in set(road.calls) if road.calls.count(call) > 1]


def test_a_full_disk_pauses_the_run_and_every_paid_call_is_used_when_there_is_space_again(road: Road) -> None:
    run_id = road.create(QUESTIONS)
    fill_disk(road.store)
    road.runner.start(run_id)
    seen = road.wait_for(run_id, "paused")
    assert "disk is full" in seen.message
    assert "Free some space and resume" in seen.message
    stored = road.store.results.rows(run_id)
    assert len(stored) == seen.done < QUESTIONS
    free_disk(road.store)
    assert verdicts(road.resume(run_id)) == ["pass"] * QUESTIONS
    assert repeated(road) == []
    assert {row["result_id"]: row["timestamp"] for row in stored}.items() <= {
        row["result_id"]: row["timestamp"] for row in road.store.results.rows(run_id)
    }.items()


def test_a_disk_that_is_still_full_pauses_again(road: Road) -> None:
    run_id = road.create(QUESTIONS)
    fill_disk(road.store)
    for _ in range(2):
        road.runner.start(run_id)
        road.wait_for(run_id, "paused")
    free_disk(road.store)
    assert verdicts(road.resume(run_id)) == ["pass"] * QUESTIONS


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of three megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root can mount a file system")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_on_a_disk_that_is_really_full_nothing_committed_is_lost(small_disk: Path, server: OpenAIServer) -> None:
    def talkative(request: dict[str, object]) -> Reply:
        reply = honest(request)
        return reply if request["model"] == "judge" else Reply(f"{reply.text} {'so it is ' * 1_000}")

    server.script = talkative
    with Store.open(small_disk / "karenina.db") as store, Engine(store) as runner:
        road = Road(store, runner, server)
        run_id = road.begin(300)
        seen = road.wait_for(run_id, "paused")
        assert "disk is full" in seen.message
        # What was under way when the disk was full may be small enough to be stored after that.
        wait_until(lambda: len(store.results.rows(run_id)) == runner.progress(run_id).done)
        kept = {row["result_id"]: row["timestamp"] for row in store.results.rows(run_id)}
        assert 0 < len(kept) < 300
        with closing(sqlite3.connect(small_disk / "karenina.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
        assert verdicts(road.resume(run_id)) == ["pass"] * 300
        now = {row["result_id"]: row["timestamp"] for row in store.results.rows(run_id)}
        assert kept.items() <= now.items()
        assert repeated(road) == []


@pytest.fixture
def locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Another program that can take the database for itself; the store loses patience after a moment."""
    monkeypatch.setattr("karenina_core.runs.store.database.BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None, timeout=20, check_same_thread=False)) as connection:
        yield connection


def test_a_locked_database_pauses_the_run_and_readers_still_read(
    path: Path, locked: sqlite3.Connection, server: OpenAIServer
) -> None:
    with Store.open(path) as store, Engine(store) as runner:
        road = Road(store, runner, server)
        run_id = road.create(QUESTIONS)

        def take_it_at_the_tenth(request: dict[str, object]) -> Reply:
            if call_of(request) == ("answerer", 10) and not locked.in_transaction:
                locked.execute("BEGIN IMMEDIATE")
            return honest(request)

        server.script = take_it_at_the_tenth
        runner.start(run_id)
        seen = road.wait_for(run_id, "paused")
        assert "The database is busy" in seen.message
        assert len(store.results.rows(run_id)) == seen.done
        server.script = honest
        locked.execute("ROLLBACK")
        assert verdicts(road.resume(run_id)) == ["pass"] * QUESTIONS
        assert repeated(road) == []


def test_a_lock_that_is_given_back_in_time_is_not_noticed(path: Path, server: OpenAIServer) -> None:
    with (
        Store.open(path) as store,
        Engine(store) as runner,
        closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other,
    ):
        road = Road(store, runner, server)

        def hold_for_a_moment(request: dict[str, object]) -> Reply:
            if call_of(request) == ("judge", 2):
                other.execute("BEGIN IMMEDIATE")
                other.execute("COMMIT")
            return honest(request)

        server.script = hold_for_a_moment
        assert verdicts(road.run(5)) == ["pass"] * 5


def test_nothing_starts_on_a_locked_database_and_the_reason_is_told(
    path: Path, locked: sqlite3.Connection, server: OpenAIServer
) -> None:
    with Store.open(path) as store, Engine(store) as runner:
        run_id = Road(store, runner, server).create(2)
        locked.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="The database is busy"):
            runner.start(run_id)
        locked.execute("ROLLBACK")
        runner.start(run_id)
        assert runner.wait(run_id, 20).status == "completed"


def test_a_database_server_that_ends_all_connections_pauses_the_run(postgres_url: str, server: OpenAIServer) -> None:
    import psycopg

    def end_connections(request: dict[str, object]) -> Reply:
        if call_of(request) in (("answerer", 10), ("judge", 30)):
            with psycopg.connect(postgres_url, autocommit=True) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
        return honest(request)

    server.script = end_connections
    with Store.open(postgres_url) as store, Engine(store) as runner:
        road = Road(store, runner, server)
        run_id = road.begin(QUESTIONS)

        def resumed_to_its_end() -> bool:
            seen = runner.wait(run_id, 0.05)
            if seen.status == "paused":
                assert "The database server cannot be reached" in seen.message
                runner.resume(run_id)
            return not seen.active

        wait_until(resumed_to_its_end)
        assert runner.progress(run_id).passed == QUESTIONS
        assert repeated(road) == []
