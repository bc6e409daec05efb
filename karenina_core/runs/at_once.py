"""Calls beside runs, made while somebody waits, within the budget of the day."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from karenina_core.models import CallServices, KeySource, ModelCaller, NullLedger, RunLimiter, using_keys
from karenina_core.pipeline import run_in_thread
from karenina_core.runs.engine.ledger import RunLedger, StoreLedger
from karenina_core.runs.engine.spending import SpendMeter
from karenina_core.runs.engine.writer import BatchWriter
from karenina_core.runs.prices import client_at
from karenina_core.runs.store import Store

T = TypeVar("T")


@contextmanager
def store_services(
    store: Store, *, of: str, max_cost: float | None = None, max_concurrent: int = 8, max_attempts: int = 4
) -> Iterator[CallServices]:
    """Lend what calls depend on that belong to no run; at the end all of them are stored and accounted for.

    Args:
        store: Its ledger answers calls and remembers them, and its account counts them towards the daily budget.
        of: What the money is spent on, for messages.
        max_cost: US dollars that may be spent; None without a bound.
        max_concurrent: Calls in flight at once.
        max_attempts: How often a call is tried.

    Raises:
        StoreError: The database refuses.
    """
    writer = BatchWriter(store)
    ledger = StoreLedger(store, writer)
    spend = SpendMeter(lambda: asyncio.to_thread(store.spending.today), max_cost, of=of)
    try:
        yield CallServices(RunLedger(ledger, spend), RunLimiter(max_concurrent, attempts=max_attempts), spend)
    finally:
        ledger.close()
        writer.close()
        store.spending.add(spend.take().cost)
    if writer.failure is not None:
        raise writer.failure


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
    outcome: list[T] = []
    with store_services(store, of=of, max_attempts=max_attempts) as services:
        if not remembered:
            services = replace(services, ledger=NullLedger())

        async def carry_out() -> None:
            with using_keys(keys):
                async with ModelCaller(services, client_at(store.settings.prices())) as caller:
                    outcome.append(await work(caller))

        run_in_thread(carry_out)
    return outcome[0]
