from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent

import pytest
from sqlalchemy import event

from karenina_core.errors import StoreError
from karenina_core.runs import Store, wanted
from karenina_core.runs.engine.writer import CallWrite, GroupThread, ResultWrite, Writer
from karenina_core.runs.store.database import DatabaseUnavailableError
from karenina_core.runs.store.results import rows_of
from karenina_core.schemas import Usage
from tests.runs.fakes import PATIENCE, plain_result, small_benchmark, small_config

ROOT = Path(__file__).parents[3]


@pytest.fixture
def writer(store: Store) -> Iterator[Writer]:
    opened = Writer(store)
    yield opened
    opened.close()


class Counting:
    """Doubles numbers, waits for a sign before each group, and remembers the groups."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun = threading.Event()
        self.groups: list[list[int]] = []

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.begun.set()
        assert self.go.wait(PATIENCE)
        self.groups.append(list(items))
        if 13 in items:
            raise StoreError("Unlucky.")
        return [2 * item for item in items]


def ask_all(work: Counting, first: int, later: list[int]) -> list[int | BaseException]:
    """Ask for one item, and for the others while that one is being worked on."""

    async def everything() -> list[int | BaseException]:
        thread: GroupThread[int, int] = GroupThread(work, "test")
        try:
            asks = [asyncio.create_task(thread.ask(first))]
            assert await asyncio.to_thread(work.begun.wait, PATIENCE)
            asks += [asyncio.create_task(thread.ask(item)) for item in later]
            await asyncio.sleep(0)
            work.go.set()
            return await asyncio.gather(*asks, return_exceptions=True)
        finally:
            thread.close()

    return asyncio.run(everything())


def test_what_arrives_meanwhile_goes_together() -> None:
    work = Counting()
    assert ask_all(work, 1, [2, 3, 4]) == [2, 4, 6, 8]
    assert work.groups == [[1], [2, 3, 4]]


def test_a_loop_that_is_at_work_hands_in_one_group() -> None:
    work = Counting()
    work.go.set()

    async def one_after_the_other() -> None:
        thread: GroupThread[int, int] = GroupThread(work, "test")
        asks = []
        for item in range(10):
            asks.append(asyncio.create_task(thread.ask(item)))
            await asyncio.sleep(0)
        await asyncio.gather(*asks)
        thread.close()

    asyncio.run(one_after_the_other())
    assert work.groups == [list(range(10))]


def hand_in_and_end(thread: GroupThread[int, int], item: int) -> None:
    """Hand in an item from a loop that ends at once."""

    async def hand_in() -> None:
        thread.hand_in(item)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(hand_in())
    loop.close()


def test_what_a_loop_handed_in_before_it_ended_is_done_at_the_end() -> None:
    work = Counting()
    work.go.set()
    thread: GroupThread[int, int] = GroupThread(work, "test")
    hand_in_and_end(thread, 1)
    thread.close()
    assert work.groups == [[1]]


def test_what_an_ended_loop_left_behind_is_done_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karenina_core.runs.engine.writer._LEFT_SECONDS", 0.05)
    work = Counting()
    work.go.set()
    thread: GroupThread[int, int] = GroupThread(work, "test")
    hand_in_and_end(thread, 1)
    assert work.begun.wait(PATIENCE)
    thread.close()
    assert work.groups == [[1]]


def test_who_fails_when_told_keeps_nobody_waiting(caplog: pytest.LogCaptureFixture) -> None:
    work = Counting()
    work.go.set()

    def fail(_: bool) -> None:
        raise RuntimeError("Not now.")

    async def ask_two() -> list[int]:
        thread: GroupThread[int, int] = GroupThread(work, "test")
        try:
            return await asyncio.gather(thread.ask(1, fail), thread.ask(2))
        finally:
            thread.close()

    assert asyncio.run(ask_two()) == [2, 4]
    assert "could not be told" in caplog.text


def test_one_refused_item_does_not_take_the_others_down() -> None:
    work = Counting()
    replies = ask_all(work, 1, [2, 13, 4])
    assert (replies[0], replies[1], replies[3]) == (2, 4, 8)
    assert isinstance(replies[2], StoreError)


def test_who_stopped_waiting_is_no_trouble() -> None:
    work = Counting()

    async def give_up() -> int:
        thread: GroupThread[int, int] = GroupThread(work, "test")
        impatient = asyncio.create_task(thread.ask(1))
        assert await asyncio.to_thread(work.begun.wait, PATIENCE)
        impatient.cancel()
        work.go.set()
        reply = await thread.ask(2)
        thread.close()
        return reply

    assert asyncio.run(give_up()) == 4


def test_what_became_of_an_item_is_told_also_when_nobody_waits() -> None:
    told: list[tuple[int, bool]] = []
    work = Counting()

    async def give_up() -> None:
        thread: GroupThread[int, int] = GroupThread(work, "test")
        asks = [
            asyncio.create_task(thread.ask(item, lambda well, item=item: told.append((item, well)))) for item in (1, 13)
        ]
        assert await asyncio.to_thread(work.begun.wait, PATIENCE)
        for ask in asks:
            ask.cancel()
        work.go.set()
        await thread.ask(2)
        thread.close()

    asyncio.run(give_up())
    assert sorted(told) == [(1, True), (13, False)]


def test_trouble_of_the_whole_store_is_met_once_for_a_group() -> None:
    groups: list[int] = []

    def locked(items: Sequence[int]) -> Sequence[int]:
        groups.append(len(items))
        raise DatabaseUnavailableError("The database is busy.")

    async def ask_many() -> list[object]:
        thread: GroupThread[int, int] = GroupThread(locked, "test")
        await asyncio.gather(thread.ask(0), thread.ask(1), return_exceptions=True)
        groups.clear()
        outcomes = await asyncio.gather(*(thread.ask(item) for item in range(30)), return_exceptions=True)
        thread.close()
        return outcomes

    assert all(isinstance(outcome, DatabaseUnavailableError) for outcome in asyncio.run(ask_many()))
    assert len(groups) <= 2


def test_a_closed_thread_refuses() -> None:
    thread: GroupThread[int, int] = GroupThread(Counting(), "test")
    thread.close()
    with pytest.raises(StoreError, match="closed"):
        asyncio.run(thread.ask(1))


def test_put_returns_after_the_commit(store: Store, writer: Writer) -> None:
    run_id = store.runs.create(wanted(small_benchmark(3), small_config()))

    async def put_and_look() -> int:
        await writer.put(ResultWrite(rows_of(run_id, plain_result("q1")), Usage(calls=2, cost=0.5)))
        return store.runs.get(run_id).done

    assert asyncio.run(put_and_look()) == 1
    run = store.runs.get(run_id)
    assert (run.calls, run.cost) == (2, 0.5)


def test_results_of_several_runs_and_calls_share_a_transaction(store: Store, writer: Writer) -> None:
    runs = [store.runs.create(wanted(small_benchmark(3), small_config())) for _ in range(2)]
    unknown = dict.fromkeys(("input_tokens", "output_tokens", "cost"))
    row = {"key": "k", "purpose": "answer", "model": "m", "question_id": "q1", "request": "{}", "reply": "{}"}

    async def put_all() -> None:
        writes = [
            writer.put(ResultWrite(rows_of(run_id, plain_result(f"q{number}")), Usage()))
            for run_id in runs
            for number in (1, 2, 3)
        ]
        await asyncio.gather(*writes, writer.put(CallWrite({**row, **unknown, "created": "now"})), writer.flush())

    asyncio.run(put_all())
    assert [store.runs.get(run_id).done for run_id in runs] == [3, 3]
    assert store.calls.get("k") is not None


def test_the_account_that_all_processes_share_is_entered_last(postgres_url: str) -> None:
    """Who waits for it holds runs; who has it must not wait for one of them."""
    tables: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        tables.append(statement.split()[1 if statement.startswith("UPDATE") else 2])

    with Store.open(postgres_url) as store:
        runs = [store.runs.create(wanted(small_benchmark(3), small_config())) for _ in range(2)]
        writer = Writer(store)
        event.listen(store.engine, "before_cursor_execute", note)

        async def put_all() -> None:
            spent = Usage(calls=1, cost=0.5)
            await asyncio.gather(
                *(writer.put(ResultWrite(rows_of(run_id, plain_result("q1")), spent)) for run_id in runs)
            )

        asyncio.run(put_all())
        writer.close()
        assert store.spending.today() == 1.0
    written = [table for table in tables if table in ("run", "setting")]
    assert written == ["run", "run", "setting"]


def test_it_rests_when_nothing_comes_for_a_while_and_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karenina_core.runs.engine.writer._LEFT_SECONDS", 0.01)
    rested = threading.Event()
    thread: GroupThread[int, int] = GroupThread(list, "test", rested.set)
    assert rested.wait(PATIENCE)
    rested.clear()
    thread.close()
    assert rested.is_set()


def test_what_was_put_survives_a_kill(tmp_path: Path) -> None:
    child = dedent(
        """
        import asyncio, os, signal, sys
        from karenina_core.runs.plans.plan import wanted
        from karenina_core.runs.store import Store
        from karenina_core.runs.store.results import rows_of
        from karenina_core.runs.engine.writer import ResultWrite, Writer
        from karenina_core.schemas.results import Usage
        from tests.runs.fakes import plain_result, small_benchmark, small_config

        store = Store.open(sys.argv[1])
        run_id = store.runs.create(wanted(small_benchmark(5), small_config()))
        writer = Writer(store)

        async def put(number):
            await writer.put(ResultWrite(rows_of(run_id, plain_result(f"q{number}")), Usage()))
            print(f"q{number}", flush=True)

        async def main():
            await asyncio.gather(*(put(number) for number in range(1, 6)))

        asyncio.run(main())
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    path = tmp_path / "killed.db"
    ended = subprocess.run([sys.executable, "-c", child, str(path)], capture_output=True, text=True, cwd=ROOT)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    reported = ended.stdout.split()
    assert sorted(reported) == ["q1", "q2", "q3", "q4", "q5"]
    with Store.open(path) as store:
        (run,) = store.runs.all()
        assert [row["question_id"] for row in store.results.rows(run.id)] == sorted(reported)
        assert run.done == 5
