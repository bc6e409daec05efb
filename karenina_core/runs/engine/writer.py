"""Group commit: many callers, one thread, one transaction for all that arrived meanwhile."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import compress
from typing import Any, NamedTuple

from karenina_core.errors import StoreError
from karenina_core.runs.store import Store
from karenina_core.runs.store.database import DatabaseUnavailableError
from karenina_core.runs.store.results import ResultRows
from karenina_core.schemas import Usage, total_usage

log = logging.getLogger(__name__)
GROUP = 256  # writes that share a transaction, at most
QUIET_TURNS = 2  # of a loop without a further write: whoever is at work there waits for a model
LONGEST_GATHERING = 0.02  # seconds; a write waits for others to share its transaction, but not for longer
RETRY_SECONDS = 1.0  # until what the database refused is tried again

OnCommit = Callable[[Exception | None], None]


class CallWrite(NamedTuple):
    """A model call to store.

    Attributes:
        row: The columns of the call table.
        spent: What was spent since the last entry in the account.
        run_id: Whose account that is, besides that of the day.
    """

    row: dict[str, Any]
    spent: Usage = Usage()
    run_id: str | None = None

    @property
    def stamp(self) -> tuple[str, str]:
        """What tells this very write from another of the same call."""
        return self.row["key"], self.row["created"]


class ResultWrite(NamedTuple):
    """A result to store.

    Attributes:
        rows: The result.
        spent: What its run spent since the last entry in the account.
        owner: Who must still have the run at that moment; nobody in particular when not given.
    """

    rows: ResultRows
    spent: Usage = Usage()
    owner: str | None = None

    @property
    def run_id(self) -> str:
        """The run it belongs to."""
        return self.rows.run_id

    @property
    def stamp(self) -> tuple[str, str]:
        """What tells this very write from another of the same result."""
        return self.rows.result_id, self.rows.columns["timestamp"]


class BatchWriter:
    """Writes results and calls to a store, in the order in which they come.

    Args:
        store: Gets them; stays open.
        on_trouble: Called in the writer's thread when the database refuses a group, with the runs that are concerned,
            the reason, and when the attempt began (monotonic clock). The group is tried again until it is stored.
            Without it what was refused is not stored, and `failure` says why.

    Attributes:
        failure: Why something is not stored, for good.
    """

    def __init__(
        self, store: Store, on_trouble: Callable[[set[str | None], StoreError, float], None] | None = None
    ) -> None:
        self.failure: Exception | None = None
        self._store = store
        self._on_trouble = on_trouble
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._closing = False
        self._retry = threading.Event()
        self._thread = threading.Thread(target=self._run, name="karenina-writer", daemon=True)
        self._thread.start()

    def enqueue(self, item: CallWrite | ResultWrite | None, on_commit: OnCommit | None = None) -> asyncio.Future[None]:
        """Have an item stored, whether somebody waits for it or not.

        Args:
            item: What to store; None stands for everything before it.
            on_commit: Called on this loop when it is stored, or with the reason why it is not.

        Returns:
            Done when the transaction that holds the item is committed. Raises `StoreError` when it is not stored,
            `LeaseLostError` when its run has another owner.
        """
        entry = _Entry(item, asyncio.get_running_loop().create_future(), on_commit)
        if self._thread.is_alive():
            self._queue.put(entry)
        else:
            _resolve([entry], StoreError("The store is closed."))
        return entry.future

    async def flush(self) -> None:
        """Return when everything before is stored.

        Raises:
            StoreError: The database refuses at the moment.
        """
        await self.enqueue(None)

    def retry_now(self) -> None:
        """Try at once what was refused."""
        self._retry.set()

    def close(self) -> None:
        """Store what was handed over, as far as the database lets it, then end."""
        self._closing = True
        self._retry.set()
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        refused: list[_Entry] = []
        while refused or not self._closing or not self._queue.empty():
            refused = self._not_there(refused)
            group = refused + self._next_group(wait=not refused)
            refused = self._stored(group, time.monotonic())
            if refused and self._closing:
                self._settle(refused, self.failure)
                refused = []
            elif refused:
                self._retry.wait(RETRY_SECONDS)
                self._retry.clear()

    def _next_group(self, *, wait: bool) -> list[_Entry]:
        entries = [self._queue.get()] if wait else []
        if entries and entries[0] is not None:
            self._gather(entries[0].future.get_loop())
        with suppress(queue.Empty):
            while len(entries) < GROUP:
                entries.append(self._queue.get_nowait())
        return [entry for entry in entries if entry is not None]

    def _gather(self, loop: asyncio.AbstractEventLoop) -> None:
        """Return when the loop has handed over what it can for now."""
        end, quiet = time.monotonic() + LONGEST_GATHERING, 0
        while quiet < QUIET_TURNS and not self._closing and time.monotonic() < end:
            size, turned = self._queue.qsize(), threading.Event()
            try:
                loop.call_soon_threadsafe(turned.set)
            except RuntimeError:  # it has ended
                return
            turned.wait(LONGEST_GATHERING)
            quiet = 0 if self._queue.qsize() > size else quiet + 1

    def _stored(self, entries: list[_Entry], began: float) -> list[_Entry]:
        """Store entries in one transaction, and return those that are to be tried again."""
        try:
            self._commit([entry.item for entry in entries if entry.item is not None])
        except Exception as error:
            if len(entries) > 1 and not isinstance(error, DatabaseUnavailableError):
                # One item that the database refuses must not take the others down.
                return [entry for alone in entries for entry in self._stored([alone], began)]
            if not isinstance(error, StoreError) or self._on_trouble is None:
                self.failure = self.failure or error
                self._settle(entries, error)
                return []
            self.failure = error
            self._on_trouble({entry.item.run_id for entry in entries if entry.item is not None}, error, began)
            self._settle([entry for entry in entries if entry.item is None], error)
            return [entry for entry in entries if entry.item is not None]
        self._settle(entries, None)
        return []

    def _not_there(self, entries: list[_Entry]) -> list[_Entry]:
        """Return the entries that are not stored; a server may commit a group and be gone before it says so."""
        items = [entry.item for entry in entries if entry.item is not None]
        stored: set[tuple[str, str]] = set()
        with suppress(StoreError):
            stored.update(self._store.calls.known([i.row["key"] for i in items if isinstance(i, CallWrite)]).items())
            for item in items:
                if isinstance(item, ResultWrite):
                    same = self._store.results.rows(item.run_id, result_id=item.rows.result_id)
                    stored.update((row["result_id"], row["timestamp"]) for row in same)
        there = [entry.item is not None and entry.item.stamp in stored for entry in entries]
        self._settle(list(compress(entries, there)), None)
        return [entry for entry, known in zip(entries, there, strict=True) if not known]

    def _commit(self, items: Sequence[CallWrite | ResultWrite]) -> None:
        if not items:
            return
        results = [item for item in items if isinstance(item, ResultWrite)]
        spent: dict[str | None, list[Usage]] = {}
        for item in items:
            spent.setdefault(item.run_id, []).append(item.spent)
        accounts = {run_id: total_usage(usages) for run_id, usages in spent.items()}
        cost = sum(usage.cost or 0.0 for usage in accounts.values())
        with self._store.writing() as connection:
            self._store.calls.insert(connection, [item.row for item in items if isinstance(item, CallWrite)])
            for run_id, owner in dict.fromkeys((item.run_id, item.owner) for item in results):
                own = [item.rows for item in results if (item.run_id, item.owner) == (run_id, owner)]
                self._store.results.insert(connection, run_id, own, accounts.pop(run_id, None), owner)
            for account, usage in accounts.items():
                if account is not None:
                    self._store.runs.add_counts(connection, account, {}, usage)
            # Last, for all processes share this account; who has it must not wait for another run's.
            self._store.spending.insert(connection, cost)

    def _settle(self, entries: list[_Entry], error: Exception | None) -> None:
        """Hand the outcome to the loops that wait for it, with one wake-up for each loop."""
        for loop in {entry.future.get_loop() for entry in entries}:
            # A loop that has ended has nobody waiting any more.
            with suppress(RuntimeError):
                own = [entry for entry in entries if entry.future.get_loop() is loop]
                loop.call_soon_threadsafe(_resolve, own, error)


class _Entry(NamedTuple):
    """An item, and who is to hear what became of it."""

    item: CallWrite | ResultWrite | None
    future: asyncio.Future[None]
    on_commit: OnCommit | None


def _resolve(entries: list[_Entry], error: Exception | None) -> None:
    for _, future, on_commit in entries:
        if on_commit is not None:
            try:
                on_commit(error)
            except Exception:  # one of them is not to keep the others waiting
                log.exception("A write was settled, and whoever was to hear of it failed")
        if future.done():  # who waited was cancelled
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
            future.exception()  # perhaps nobody waits
