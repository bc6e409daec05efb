"""Group commit: many callers, one thread, one transaction for all that arrived meanwhile."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from typing import Any, Generic, NamedTuple, TypeVar

from karenina_core.errors import StoreError
from karenina_core.runs.store import Store
from karenina_core.runs.store.database import DatabaseUnavailableError
from karenina_core.runs.store.results import ResultRows
from karenina_core.schemas import Usage, total_usage

log = logging.getLogger(__name__)
Told = Callable[[bool], None]
Item = TypeVar("Item")
Reply = TypeVar("Reply")
GROUP = 256
"""At most this many items share a transaction."""

GATHERING_SECONDS = 0.004
"""At most this long an item waits for others of a loop that is at work; the cost of a transaction is shared by all."""

_LEFT_SECONDS = 1.0  # after which items are done without a word from their loop
_QUIET_TURNS = 3  # of a loop, without a further item: those that are at work there wait for a model


class GroupThread(Generic[Item, Reply]):
    """One thread that does the work of many coroutines together.

    A group is what a loop hands in until it has nothing else to do. So a lone item is done at once, and when many
    replies come together the thread does not compete with those who are still dealing with them.

    Args:
        work: Takes the items that are waiting and returns one reply each, in their order.
        name: Of the thread.
        rest: Called in the thread when there has been nothing to do for a while, and at its end.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Reply]],
        name: str,
        rest: Callable[[], None] = lambda: None,
    ) -> None:
        self._work = work
        self._rest = rest
        self._items: queue.SimpleQueue[_Waiting[Item, Reply]] = queue.SimpleQueue()
        self._due: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._gathering: dict[asyncio.AbstractEventLoop, _Gathering] = {}
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
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Reply] = loop.create_future()
        self._put(_Waiting(item, loop, future, told))
        return await future

    def hand_in(self, item: Item) -> None:
        """Hand in an item that nobody waits for."""
        self._put(_Waiting(item, asyncio.get_running_loop()))

    def _put(self, waiting: _Waiting[Item, Reply]) -> None:
        self._items.put(waiting)
        gathering = self._gathering.get(waiting.loop)
        if gathering is None:
            for loop in [loop for loop in list(self._gathering) if loop.is_closed()]:
                self._gathering.pop(loop, None)
            self._gathering[waiting.loop] = gathering = _Gathering(waiting.loop, self._gathered)
        gathering.items += 1

    def _gathered(self, loop: asyncio.AbstractEventLoop) -> None:
        del self._gathering[loop]
        self._due.put(True)

    def close(self) -> None:
        """Finish what was handed in, then end the thread."""
        self._due.put(False)
        self._thread.join()

    def _run(self) -> None:
        going_on = True
        while going_on:
            try:
                going_on = self._due.get(timeout=_LEFT_SECONDS)
            except queue.Empty:  # a loop that has ended, or is held up, says no more that it has gathered
                self._rest()
            full = True
            while full and (group := self._next_group()):
                self._do(group)
                full = len(group) == GROUP  # those of others, who are still gathering, wait for their turn
        self._rest()

    def _next_group(self) -> list[_Waiting[Item, Reply]]:
        group: list[_Waiting[Item, Reply]] = []
        with suppress(queue.Empty):
            while len(group) < GROUP:
                group.append(self._items.get_nowait())
        return group

    def _do(self, group: list[_Waiting[Item, Reply]]) -> None:
        try:
            replies = self._work([waiting.item for waiting in group])
        except Exception as error:
            if len(group) == 1 or isinstance(error, DatabaseUnavailableError):
                _settle([(waiting, None, error) for waiting in group])
                return
            # One item that the database refuses must not take the others down.
            for waiting in group:
                self._do([waiting])
        else:
            _settle([(waiting, reply, None) for waiting, reply in zip(group, replies, strict=True)])


class _Gathering:
    """Watches a loop until it has handed in all it can for now.

    Attributes:
        items: How many it has handed in.
    """

    __slots__ = ("_ended", "_latest", "_loop", "_quiet", "_seen", "items")

    def __init__(self, loop: asyncio.AbstractEventLoop, ended: Callable[[asyncio.AbstractEventLoop], None]) -> None:
        self.items = self._seen = self._quiet = 0
        self._loop = loop
        self._ended = ended
        self._latest = loop.time() + GATHERING_SECONDS
        loop.call_soon(self._look)

    def _look(self) -> None:
        self._quiet = self._quiet + 1 if self.items == self._seen else 0
        self._seen = self.items
        if self._quiet < _QUIET_TURNS and self.items < GROUP and self._loop.time() < self._latest:
            self._loop.call_soon(self._look)
        else:
            self._ended(self._loop)


class _Waiting(NamedTuple, Generic[Item, Reply]):
    """An item, and who is to hear what became of it: somebody who waits, somebody who is told, both or nobody."""

    item: Item
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Reply] | None = None
    told: Told | None = None


def _settle(outcomes: list[tuple[_Waiting[Any, Any], Any, Exception | None]]) -> None:
    """Hand the outcomes to the loops that wait for them, with one wake-up for each loop."""
    for loop in {waiting.loop for waiting, _, _ in outcomes}:
        own = [outcome for outcome in outcomes if outcome[0].loop is loop]
        # A loop that has ended has nobody waiting any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_resolve, own)


def _resolve(outcomes: list[tuple[_Waiting[Any, Any], Any, Exception | None]]) -> None:
    for (_, _, future, told), reply, error in outcomes:
        if told is not None:
            try:
                told(error is None)
            except Exception:  # who is told is not to keep the others waiting
                log.exception("What became of an item could not be told")
        if future is None or future.done():  # nobody waits, or no more
            continue
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(reply)


class CallWrite(NamedTuple):
    """A model call to store, as columns of the call table.

    Attributes:
        row: The columns.
        run_id: Whose account `spent` belongs to.
        spent: What that run spent since the last entry in its account.
    """

    row: dict[str, Any]
    run_id: str | None = None
    spent: Usage | None = None


class ResultWrite(NamedTuple):
    """A result to store, with what the run spent since the last one.

    Attributes:
        rows: The result.
        spent: What the run spent since the last entry in its account.
        owner: Who must still have the run at that moment; nobody in particular when not given.
        calls: Calls that led to it and are stored with it.
    """

    rows: ResultRows
    spent: Usage
    owner: str | None = None
    calls: Sequence[CallWrite] = ()

    @property
    def run_id(self) -> str:
        """The run it belongs to."""
        return self.rows.run_id


class Writer:
    """Writes results and calls to a store; every `put` returns after the commit that holds it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._transactions = store.transactions()
        self._thread: GroupThread[ResultWrite | CallWrite | None, None] = GroupThread(
            self._commit, "karenina-writer", self._transactions.rest
        )

    def put(self, item: ResultWrite | CallWrite, told: Told | None = None) -> Coroutine[Any, Any, None]:
        """Return what stores an item durably; it stays handed in when the caller is cancelled.

        Args:
            item: What to store.
            told: Called on this loop with whether it is stored, also when nobody waits any more.

        Raises:
            StoreError: It is not stored.
            LeaseLostError: It is not stored, because the run has another owner.
        """
        return self._thread.ask(item, told)

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
            cost = sum(spent.cost or 0.0 for spent in accounts.values())
            with self._transactions.writing() as connection:
                self._store.calls.insert(connection, calls)
                for run_id, owner in dict.fromkeys((item.run_id, item.owner) for item in results):
                    own = [item.rows for item in results if (item.run_id, item.owner) == (run_id, owner)]
                    self._store.results.insert(connection, run_id, own, accounts.pop(run_id, None), owner)
                for run_id, spent in accounts.items():
                    self._store.runs.add_counts(connection, run_id, {}, spent)
                # Last, for all processes share this account; who has it must not wait for another run's.
                self._store.spending.insert(connection, cost)
        return [None] * len(items)


def _accounts(results: Iterable[ResultWrite], calls: Iterable[CallWrite]) -> dict[str, Usage]:
    """Return what each run spent."""
    entries: dict[str, list[Usage]] = {}
    written: list[ResultWrite | CallWrite] = [*results, *calls]
    for item in written:
        if item.run_id is not None and item.spent is not None:
            entries.setdefault(item.run_id, []).append(item.spent)
    return {run_id: total_usage(spent) for run_id, spent in entries.items()}
