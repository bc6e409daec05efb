"""Group commit: what is stored together, what becomes of what the database refuses, and what a kill leaves."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from sqlalchemy import event

from karenina_core.errors import StoreError
from karenina_core.runs import Store, wanted
from karenina_core.runs.engine.writer import GROUP, BatchWriter, CallWrite, ResultWrite
from karenina_core.runs.store.database import DatabaseUnavailableError
from karenina_core.runs.store.results import rows_of
from karenina_core.schemas import Usage
from tests.runs.fakes import PATIENCE, on_a_loop, plain_result, small_benchmark, small_config

ROOT = Path(__file__).parents[3]
UNKNOWN = dict.fromkeys(("input_tokens", "output_tokens", "cost"))


def call(key: str, cost: float | None = None) -> CallWrite:
    row = {"key": key, "purpose": "answer", "model": "m", "question_id": "q1", "request": "{}", "reply": "{}"}
    return CallWrite({**row, **UNKNOWN, "created": "now"}, Usage(calls=1, cost=cost))


def new_run(store: Store, questions: int = 3) -> str:
    return store.runs.create(wanted(small_benchmark(questions), small_config()))


class Trouble:
    """Hears of what the database refuses."""

    def __init__(self) -> None:
        self.heard = threading.Event()
        self.reasons: list[str] = []

    def __call__(self, run_ids: set[str | None], error: StoreError, began: float) -> None:
        self.reasons.append(error.what)
        self.heard.set()


class Refusing(BatchWriter):
    """Refuses some groups as a whole, and some items for themselves; remembers the groups."""

    def __init__(self, store: Store, trouble: Trouble | None = None) -> None:
        self.go = threading.Event()
        self.unavailable = 0
        self.unlucky: set[str] = set()
        self.groups: list[list[str]] = []
        super().__init__(store, trouble)

    def _commit(self, items: Sequence[Any]) -> None:
        assert self.go.wait(PATIENCE)
        keys = [item.row["key"] for item in items]
        if self.unavailable:
            self.unavailable -= 1
            raise DatabaseUnavailableError("The disk is full.")
        if self.unlucky & set(keys):
            raise StoreError("Unlucky.")
        self.groups.append(keys)
        super()._commit(items)


@pytest.fixture
def trouble() -> Trouble:
    return Trouble()


@pytest.fixture
def retrying(store: Store, trouble: Trouble, monkeypatch: pytest.MonkeyPatch) -> Iterator[Refusing]:
    monkeypatch.setattr("karenina_core.runs.engine.writer.RETRY_SECONDS", 0.01)
    writer = Refusing(store, trouble)
    yield writer
    writer.go.set()
    writer.close()


@pytest.fixture
def failing(store: Store) -> Iterator[Refusing]:
    writer = Refusing(store)
    writer.go.set()
    yield writer
    writer.close()


async def enqueue_all(writer: BatchWriter, *keys: str) -> list[Any]:
    return await asyncio.gather(*(writer.enqueue(call(key)) for key in keys), return_exceptions=True)


def test_what_arrives_while_a_group_is_stored_goes_together(retrying: Refusing) -> None:
    async def scene() -> None:
        first = retrying.enqueue(call("1"))
        await asyncio.sleep(0.05)
        others = [retrying.enqueue(call(key)) for key in "234"]
        retrying.go.set()
        await asyncio.gather(first, *others)

    asyncio.run(scene())
    assert retrying.groups == [["1"], ["2", "3", "4"]]


def test_more_than_a_group_takes_is_stored_in_order(store: Store, failing: Refusing) -> None:
    keys = [str(number) for number in range(2 * GROUP + 1)]
    assert asyncio.run(enqueue_all(failing, *keys)) == [None] * len(keys)
    assert [key for group in failing.groups for key in group] == keys
    assert set(store.calls.known(keys)) == set(keys)


def test_one_refused_item_does_not_take_the_others_down(failing: Refusing) -> None:
    failing.unlucky = {"3"}
    outcomes = asyncio.run(enqueue_all(failing, "1", "2", "3", "4"))
    assert [isinstance(outcome, StoreError) for outcome in outcomes] == [False, False, True, False]
    assert isinstance(failing.failure, StoreError)


def test_what_a_database_in_trouble_refuses_is_stored_when_it_is_over(retrying: Refusing, trouble: Trouble) -> None:
    retrying.go.set()
    retrying.unavailable = 3
    assert asyncio.run(enqueue_all(retrying, "1", "2")) == [None, None]
    assert retrying.groups == [["1", "2"]]
    assert trouble.reasons == ["The disk is full."] * 3


def test_an_item_that_is_refused_for_itself_holds_up_no_other(retrying: Refusing) -> None:
    retrying.go.set()
    retrying.unlucky = {"2"}

    async def scene() -> bool:
        refused = retrying.enqueue(call("2"))
        await asyncio.gather(retrying.enqueue(call("1")), retrying.enqueue(call("3")))
        still_waiting = not refused.done()
        retrying.unlucky = set()
        await refused
        return still_waiting

    assert asyncio.run(scene())


def test_who_flushes_hears_of_the_trouble_and_waits_no_longer(retrying: Refusing) -> None:
    retrying.go.set()
    retrying.unavailable = 1
    with pytest.raises(StoreError, match="disk is full"):
        on_a_loop(retrying.flush)


def test_what_cannot_be_stored_at_the_end_is_given_up(store: Store, trouble: Trouble) -> None:
    writer = Refusing(store, trouble)
    writer.go.set()
    writer.unavailable = 1_000_000

    async def scene() -> BaseException | None:
        written = writer.enqueue(call("1"))
        assert await asyncio.to_thread(trouble.heard.wait, PATIENCE)
        await asyncio.to_thread(writer.close)
        await asyncio.wait([written])
        return written.exception()

    assert isinstance(asyncio.run(scene()), StoreError)


def test_who_fails_when_an_item_is_settled_keeps_nobody_waiting(
    failing: Refusing, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: Exception | None) -> None:
        raise RuntimeError("Not now.")

    async def scene() -> None:
        await asyncio.gather(failing.enqueue(call("1"), fail), failing.enqueue(call("2")))

    asyncio.run(scene())
    assert "whoever was to hear of it failed" in caplog.text


def test_what_a_loop_handed_over_before_it_ended_is_stored(store: Store, failing: Refusing) -> None:
    async def hand_over() -> None:
        failing.enqueue(call("1"))

    asyncio.run(hand_over())
    failing.close()
    assert set(store.calls.known(["1"])) == {"1"}


def test_a_closed_writer_refuses(failing: Refusing) -> None:
    failing.close()
    with pytest.raises(StoreError, match="closed"):
        on_a_loop(lambda: failing.enqueue(call("1")))


@pytest.mark.parametrize("seed", range(4))
def test_of_many_loops_every_item_is_stored_once_and_settled_once(store: Store, seed: int) -> None:
    """Some are cancelled while they wait, some groups are refused altogether, some items for themselves."""
    writer = Refusing(store)
    writer.go.set()
    writer.unlucky = {f"{loop}/{number}" for loop in range(3) for number in range(0, 300, 97)}
    heard: dict[str, list[Exception | None]] = {}

    def live(loop: int) -> None:
        chance = random.Random(seed * 3 + loop)

        async def one(key: str) -> None:
            await asyncio.sleep(chance.random() * 0.01)
            heard[key] = []
            await writer.enqueue(call(key), heard[key].append)

        async def scene() -> None:
            tasks = [asyncio.create_task(one(f"{loop}/{number}")) for number in range(300)]
            await asyncio.sleep(0)
            for task in chance.sample(tasks, 75):
                asyncio.get_running_loop().call_later(chance.random() * 0.01, task.cancel)
            writer.unavailable += 1
            _, waiting = await asyncio.wait(tasks, timeout=30)
            assert not waiting, f"{len(waiting)} wait for ever"
            await asyncio.wait([writer.enqueue(call(f"{loop}/last"))])

        asyncio.run(scene())

    threads = [threading.Thread(target=live, args=(loop,)) for loop in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    stored = [key for group in writer.groups for key in group]
    assert len(stored) == len(set(stored))
    assert {key: len(outcomes) for key, outcomes in heard.items()} == dict.fromkeys(heard, 1)
    assert {key for key, (error,) in heard.items() if error is None} == set(stored) & set(heard)
    assert set(store.calls.known(stored)) == set(stored)


def test_what_was_enqueued_is_done_after_the_commit(store: Store) -> None:
    run_id, writer = new_run(store), BatchWriter(store)

    async def scene() -> int:
        await writer.enqueue(ResultWrite(rows_of(run_id, plain_result("q1")), Usage(calls=2, cost=0.5)))
        return store.runs.get(run_id).done

    assert asyncio.run(scene()) == 1
    writer.close()
    run = store.runs.get(run_id)
    assert (run.calls, run.cost) == (2, 0.5)


def test_results_of_several_runs_and_calls_share_a_transaction(store: Store) -> None:
    runs, writer = [new_run(store) for _ in range(2)], BatchWriter(store)

    async def scene() -> None:
        for run_id in runs:
            for number in (1, 2, 3):
                writer.enqueue(ResultWrite(rows_of(run_id, plain_result(f"q{number}"))))
        writer.enqueue(call("k", 0.25))
        await writer.flush()

    asyncio.run(scene())
    writer.close()
    assert [store.runs.get(run_id).done for run_id in runs] == [3, 3]
    assert (set(store.calls.known(["k"])), store.spending.today()) == ({"k"}, 0.25)


def test_the_account_that_all_processes_share_is_entered_last(postgres_url: str) -> None:
    """Who waits for it holds runs; who has it must not wait for one of them."""
    tables: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        tables.append(statement.split()[1 if statement.startswith("UPDATE") else 2])

    with Store.open(postgres_url) as store:
        runs, writer = [new_run(store) for _ in range(2)], BatchWriter(store)
        event.listen(store.engine, "before_cursor_execute", note)

        async def scene() -> None:
            spent = Usage(calls=1, cost=0.5)
            writes = [ResultWrite(rows_of(run_id, plain_result("q1")), spent) for run_id in runs]
            await asyncio.gather(*map(writer.enqueue, writes))

        asyncio.run(scene())
        writer.close()
        assert store.spending.today() == 1.0
    assert [table for table in tables if table in ("run", "setting")] == ["run", "run", "setting"]


def test_what_was_stored_survives_a_kill(tmp_path: Path) -> None:
    child = dedent(
        """
        import asyncio, os, signal, sys
        from karenina_core.runs import Store, wanted
        from karenina_core.runs.store.results import rows_of
        from karenina_core.runs.engine.writer import BatchWriter, ResultWrite
        from tests.runs.fakes import plain_result, small_benchmark, small_config

        store = Store.open(sys.argv[1])
        run_id = store.runs.create(wanted(small_benchmark(5), small_config()))
        writer = BatchWriter(store)

        async def save(number):
            await writer.enqueue(ResultWrite(rows_of(run_id, plain_result(f"q{number}"))))
            print(f"q{number}", flush=True)

        async def main():
            await asyncio.gather(*(save(number) for number in range(1, 6)))

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
