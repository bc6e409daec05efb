"""Group commit: many callers, one thread, one transaction for all that arrived meanwhile."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from karenina_core.errors import StoreError
from karenina_core.runs.store import Store
from karenina_core.runs.store.faults import TroubleError
from karenina_core.schemas.results import Usage, VerificationResult

Told = Callable[[bool], None]
Item = TypeVar("Item")
Reply = TypeVar("Reply")
GROUP = 256
"""At most this many items share a transaction."""

GATHERING_SECONDS = 0.003
"""How long a transaction waits for more items while several callers are at work; its cost is shared by its items."""


class GroupThread(Generic[Item, Reply]):
    """One thread that does the work of many coroutines together.

    Args:
        work: Takes the items that are waiting and returns one reply each, in their order.
        name: Of the thread.
        gathering: Seconds that a group waits for more items, when the one before had several.
    """

    def __init__(self, work: Callable[[Sequence[Item]], Sequence[Reply]], name: str, *, gathering: float = 0.0) -> None:
        self._work = work
        self._queue: queue.SimpleQueue[_Waiting[Item, Reply] | None] = queue.SimpleQueue()
        self._gathering = gathering
        self._several = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def ask(self, item: Item, told: Told | None = None) -> Reply:
        """Hand in an item; returns when its group is done.

        Args:
            item: It is dealt with also when the caller is cancelled meanwhile.
            told: Called on this loop with whether that went well, before the caller goes on, or without it.

        Raises:
            StoreError: The item could not be dealt with, or the thread has ended.
        """
        if not self._thread.is_alive():
            if told is not None:
                told(False)
            raise StoreError("The store is closed.")
        return await asyncio.shield(self._handed_in(item, told))

    def hand_in(self, item: Item) -> None:
        """Hand in an item that nobody waits for."""
        self._handed_in(item, None)

    def _handed_in(self, item: Item, told: Told | None) -> asyncio.Future[Reply]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Reply] = loop.create_future()
        future.add_done_callback(lambda done: _tell(done, told))
        self._queue.put(_Waiting(item, loop, future))
        return future

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
        waiting = self._queue.get()
        if waiting is None:
            return [], True
        if self._several:
            time.sleep(self._gathering)
        group = [waiting]
        while len(group) < GROUP:
            try:
                waiting = self._queue.get_nowait()
            except queue.Empty:
                break
            if waiting is None:
                return group, True
            group.append(waiting)
        self._several = len(group) > 1
        return group, False

    def _do(self, group: list[_Waiting[Item, Reply]]) -> None:
        try:
            replies = self._work([waiting.item for waiting in group])
        except Exception as error:
            if len(group) == 1 or isinstance(error, TroubleError):
                _settle([(waiting, None, error) for waiting in group])
                return
            # One item that the database refuses must not take the others down.
            for waiting in group:
                self._do([waiting])
        else:
            _settle([(waiting, reply, None) for waiting, reply in zip(group, replies, strict=True)])


class _Waiting(NamedTuple, Generic[Item, Reply]):
    item: Item
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Reply]


def _tell(future: asyncio.Future[Any], told: Told | None) -> None:
    well = not future.cancelled() and future.exception() is None
    if told is not None:
        told(well)


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
class CallWrite:
    """A model call to store, as columns of the call table.

    Attributes:
        run_id: Whose account `spent` belongs to.
        spent: What that run spent since the last entry in its account.
    """

    row: dict[str, Any]
    run_id: str | None = None
    spent: Usage | None = None


@dataclass(frozen=True)
class ResultWrite:
    """A result to store, with what the run spent since the last one.

    Attributes:
        owner: Who must still have the run at that moment; nobody in particular when not given.
        calls: Calls that led to it and are stored with it.
    """

    run_id: str
    result: VerificationResult
    spent: Usage
    owner: str | None = None
    calls: Sequence[CallWrite] = ()


class Writer:
    """Writes results and calls to a store; every `put` returns after the commit that holds it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread: GroupThread[ResultWrite | CallWrite | None, None] = GroupThread(
            self._commit, "karenina-writer", gathering=GATHERING_SECONDS
        )

    async def put(self, item: ResultWrite | CallWrite, told: Told | None = None) -> None:
        """Store an item durably; it stays handed in when the caller is cancelled.

        Args:
            item: What to store.
            told: Called on this loop with whether it is stored, also when nobody waits any more.

        Raises:
            StoreError: It is not stored.
            LeaseLostError: It is not stored, because the run has another owner.
        """
        await self._thread.ask(item, told)

    def hand_in(self, call: CallWrite) -> None:
        """Have a call stored that nobody waits for; `flush` does."""
        self._thread.hand_in(call)

    async def flush(self) -> None:
        """Return when everything handed in before is stored or refused."""
        await self._thread.ask(None)

    def close(self) -> None:
        """Write what was handed in, then end."""
        self._thread.close()

    def _commit(self, items: Sequence[ResultWrite | CallWrite | None]) -> list[None]:
        results = [item for item in items if isinstance(item, ResultWrite)]
        alone = [item for item in items if isinstance(item, CallWrite)]
        calls = [call.row for call in (*alone, *(call for item in results for call in item.calls))]
        if results or calls:
            accounts = _accounts(results, alone)
            with self._store.writing() as connection:
                self._store.insert_calls(connection, calls)
                for run_id in dict.fromkeys(item.run_id for item in results):
                    own = [item for item in results if item.run_id == run_id]
                    for owner in {item.owner for item in own} - {None}:
                        self._store.check_owner(connection, run_id, str(owner))
                    spent = accounts.pop(run_id)
                    self._store.insert_results(connection, run_id, [item.result for item in own], spent)
                for run_id, spent in accounts.items():
                    self._store.add_account(connection, run_id, spent)
        return [None] * len(items)


def _accounts(results: Iterable[ResultWrite], calls: Iterable[CallWrite]) -> dict[str, Usage]:
    """Return what each run spent."""
    accounts: dict[str, Usage] = {}
    entries = [(item.run_id, item.spent) for item in results]
    for run_id, spent in (*entries, *((call.run_id, call.spent) for call in calls)):
        if run_id is not None and spent is not None:
            accounts[run_id] = accounts.get(run_id, Usage()) + spent
    return accounts
