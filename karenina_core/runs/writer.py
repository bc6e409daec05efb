"""Group commit: many callers, one thread, one transaction for all that arrived meanwhile."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from karenina_core.errors import StoreError
from karenina_core.runs.store import Store
from karenina_core.schemas.results import Usage, VerificationResult

Item = TypeVar("Item")
Reply = TypeVar("Reply")
GROUP = 256
"""At most this many items share a transaction."""


class GroupThread(Generic[Item, Reply]):
    """One thread that does the work of many coroutines together.

    Args:
        work: Takes the items that are waiting and returns one reply each, in their order.
        name: Of the thread.
    """

    def __init__(self, work: Callable[[Sequence[Item]], Sequence[Reply]], name: str) -> None:
        self._work = work
        self._queue: queue.SimpleQueue[_Waiting[Item, Reply] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def ask(self, item: Item) -> Reply:
        """Hand in an item; returns when its group is done.

        Raises:
            StoreError: The item could not be dealt with, or the thread has ended.
        """
        if not self._thread.is_alive():
            raise StoreError("The store is closed.")
        loop = asyncio.get_running_loop()
        waiting = _Waiting(item, loop, loop.create_future())
        self._queue.put(waiting)
        reply: Reply = await waiting.future
        return reply

    def close(self) -> None:
        """Finish what was handed in, then end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            group, ended = self._next_group()
            if group:
                self._do(group)
            if ended:
                return

    def _next_group(self) -> tuple[list[_Waiting[Item, Reply]], bool]:
        group: list[_Waiting[Item, Reply]] = []
        while len(group) < GROUP:
            try:
                waiting = self._queue.get(block=not group)
            except queue.Empty:
                break
            if waiting is None:
                return group, True
            group.append(waiting)
        return group, False

    def _do(self, group: list[_Waiting[Item, Reply]]) -> None:
        try:
            replies = self._work([waiting.item for waiting in group])
        except Exception as error:
            if len(group) == 1:
                _settle([(group[0], None, error)])
                return
            # One item that the database refuses must not take the others down.
            for waiting in group:
                self._do([waiting])
        else:
            _settle([(waiting, reply, None) for waiting, reply in zip(group, replies, strict=True)])


@dataclass(frozen=True)
class _Waiting(Generic[Item, Reply]):
    item: Item
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Reply]


def _settle(outcomes: list[tuple[_Waiting[Any, Any], Any, Exception | None]]) -> None:
    """Hand the outcomes to the loops that wait for them, with one wake-up for each loop."""
    for loop in {waiting.loop for waiting, _, _ in outcomes}:
        own = [outcome for outcome in outcomes if outcome[0].loop is loop]
        # A loop that has ended has nobody waiting any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_resolve, own)


def _resolve(outcomes: list[tuple[_Waiting[Any, Any], Any, Exception | None]]) -> None:
    for waiting, reply, error in outcomes:
        if waiting.future.done():
            continue
        if error is not None:
            waiting.future.set_exception(error)
        else:
            waiting.future.set_result(reply)


@dataclass(frozen=True)
class ResultWrite:
    """A result to store, with what the run spent since the last one.

    Attributes:
        owner: Who must still have the run at that moment; nobody in particular when not given.
    """

    run_id: str
    result: VerificationResult
    spent: Usage
    owner: str | None = None


@dataclass(frozen=True)
class CallWrite:
    """A model call to store, as columns of the call table."""

    row: dict[str, Any]


class Writer:
    """Writes results and calls to a store; every `put` returns after the commit that holds it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread: GroupThread[ResultWrite | CallWrite | None, None] = GroupThread(self._commit, "karenina-writer")

    async def put(self, item: ResultWrite | CallWrite) -> None:
        """Store an item durably.

        Raises:
            StoreError: It is not stored.
            LeaseLostError: It is not stored, because the run has another owner.
        """
        await self._thread.ask(item)

    async def flush(self) -> None:
        """Return when everything handed in before is stored or refused."""
        await self._thread.ask(None)

    def close(self) -> None:
        """Write what was handed in, then end."""
        self._thread.close()

    def _commit(self, items: Sequence[ResultWrite | CallWrite | None]) -> list[None]:
        results = [item for item in items if isinstance(item, ResultWrite)]
        calls = [item.row for item in items if isinstance(item, CallWrite)]
        if results or calls:
            with self._store.writing() as connection:
                self._store.insert_calls(connection, calls)
                for run_id in dict.fromkeys(item.run_id for item in results):
                    own = [item for item in results if item.run_id == run_id]
                    for owner in {item.owner for item in own} - {None}:
                        self._store.check_owner(connection, run_id, str(owner))
                    spent = sum((item.spent for item in own), Usage())
                    self._store.insert_results(connection, run_id, [item.result for item in own], spent)
        return [None] * len(items)
