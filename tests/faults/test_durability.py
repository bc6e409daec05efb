"""What `done` means: after the commit, synced to the disk, in a file that is whole."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from karenina_core import files
from karenina_core.models import ChatReply, call_key
from karenina_core.runs import Store, wanted
from karenina_core.runs.engine.ledger import StoreLedger
from karenina_core.runs.engine.writer import BatchWriter, ResultWrite
from karenina_core.runs.store.results import rows_of
from karenina_core.schemas import Usage
from tests.runs.fakes import answer_request, plain_result, small_benchmark, small_config

ROOT = Path(__file__).parents[2]


def pragmas(store: Store) -> dict[str, object]:
    names = ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
    with store.reading() as connection:
        return {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names}


def test_every_connection_is_opened_for_durability(store: Store) -> None:
    durable = {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 30_000, "foreign_keys": 1}
    assert pragmas(store) == durable
    with store.writing() as busy:
        assert busy.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert pragmas(store) == durable


def test_put_returns_after_the_commit(store: Store, path: Path) -> None:
    """What a stranger's connection sees at the moment `put` returns is what a kill would leave."""
    run_id = store.runs.create(wanted(small_benchmark(3), small_config()))
    chosen = small_config().answering_models[0]
    request = answer_request("q1", chosen)
    writer = BatchWriter(store)
    ledger = StoreLedger(store, writer)

    async def put_and_look() -> list[int]:
        seen = []
        with closing(sqlite3.connect(path)) as stranger:
            for number in (1, 2, 3):
                await writer.enqueue(ResultWrite(rows_of(run_id, plain_result(f"q{number}")), Usage()))
                seen.append(stranger.execute("SELECT count(*) FROM payload").fetchone()[0])
            await ledger.put(call_key(chosen, request), request, chosen, ChatReply("42"))
            seen.append(stranger.execute("SELECT count(*) FROM call").fetchone()[0])
        return seen

    try:
        assert asyncio.run(put_and_look()) == [1, 2, 3, 1]
    finally:
        ledger.close()
        writer.close()


def test_many_puts_share_a_commit_and_none_returns_before_it(store: Store, path: Path) -> None:
    run_id = store.runs.create(wanted(small_benchmark(100), small_config()))
    writer = BatchWriter(store)

    async def put(number: int, stranger: sqlite3.Connection) -> bool:
        await writer.enqueue(ResultWrite(rows_of(run_id, plain_result(f"q{number}")), Usage()))
        found = stranger.execute("SELECT count(*) FROM result WHERE question_id = ?", (f"q{number}",))
        return bool(found.fetchone()[0])

    async def put_all() -> list[bool]:
        with closing(sqlite3.connect(path)) as stranger:
            return await asyncio.gather(*(put(number, stranger) for number in range(1, 101)))

    try:
        assert all(asyncio.run(put_all()))
    finally:
        writer.close()


def test_a_file_is_synced_before_it_takes_its_name_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    sync, replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        happened.append("folder synced" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file synced")
        sync(descriptor)

    def renamed(source: str, target: str) -> None:
        happened.append("renamed")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", renamed)
    files.write_atomic(tmp_path / "a.json", b"{}")
    assert happened == ["file synced", "renamed", "folder synced"]


def test_a_file_is_whole_whenever_its_writer_is_killed(tmp_path: Path) -> None:
    path, chance = tmp_path / "a.bin", random.Random(7)
    script = (
        "import sys; from karenina_core.files import write_atomic\n"
        "write_atomic(sys.argv[1], b'0' * 2_000_000); print('ready', flush=True)\n"
        "for n in range(10**9): write_atomic(sys.argv[1], str(n % 10).encode() * 2_000_000)"
    )
    for _ in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, cwd=ROOT, text=True
        ) as child:
            assert child.stdout is not None and child.stdout.readline() == "ready\n"
            time.sleep(chance.random() * 0.1)
            child.send_signal(signal.SIGKILL)
        content = path.read_bytes()
        assert (len(content), len(set(content))) == (2_000_000, 1)
