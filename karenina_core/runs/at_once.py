"""Calls beside runs, made while somebody waits, within the budget of the day."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TypeVar

from karenina_core.models import KeySource, ModelCaller, NullLedger, using_keys
from karenina_core.pipeline import run_in_thread
from karenina_core.runs.engine.budget import Budget
from karenina_core.runs.engine.ledger import StoreLedger
from karenina_core.runs.engine.purse import Purse
from karenina_core.runs.engine.writer import Writer
from karenina_core.runs.plans.quotes import client_at
from karenina_core.runs.store import Store

T = TypeVar("T")


@contextmanager
def open_ledger(store: Store) -> Iterator[StoreLedger]:
    """Lend a ledger that remembers calls in a store; at the end, all that it was told is stored.

    Raises:
        StoreError: The database refuses.
    """
    writer = Writer(store)
    ledger = StoreLedger(store, writer)
    try:
        yield ledger
    finally:
        ledger.close()
        writer.close()


def ask_at_once(
    store: Store,
    work: Callable[[ModelCaller], Awaitable[T]],
    *,
    of: str,
    keys: KeySource | None,
    max_attempts: int,
    remembered: bool = True,
) -> T:
    """Return what some model calls come to.

    Args:
        store: Its account counts the calls towards the daily budget.
        work: Makes the calls.
        of: What the money is spent on, for messages.
        keys: Asked for keys before the environment.
        max_attempts: How often a call is tried.
        remembered: Whether the store's ledger answers calls, and remembers them.

    Raises:
        StoreError: The database refuses.
    """
    made: list[T] = []
    purse = Purse(Budget(None, 0.0, store.spending.today, of=of))
    try:
        with open_ledger(store) if remembered else nullcontext(NullLedger()) as ledger:

            async def carry_out() -> None:
                caller = ModelCaller(ledger, client_at(store.settings.prices()), max_attempts=max_attempts, meter=purse)
                async with caller:
                    with using_keys(keys):
                        made.append(await work(caller))

            run_in_thread(carry_out)
    finally:
        store.spending.add(purse.take())
    return made[0]
