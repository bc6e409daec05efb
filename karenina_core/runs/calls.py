"""Model calls beside runs, made while somebody waits, within the budget of the day."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from karenina_core.errors import InputError, KareninaError
from karenina_core.models import (
    CallServices,
    ChatRequest,
    KeySource,
    Message,
    ModelCaller,
    NullLedger,
    RunLimiter,
    Subject,
    check_model,
    using_keys,
)
from karenina_core.pipeline import run_in_thread
from karenina_core.redact import redact
from karenina_core.runs.engine.ledger import RunLedger, StoreLedger
from karenina_core.runs.engine.spending import SpendMeter
from karenina_core.runs.engine.writer import BatchWriter
from karenina_core.runs.prices import client_at
from karenina_core.runs.store import Store
from karenina_core.schemas import ModelConfig

T = TypeVar("T")
_READY = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
_LONGEST = 30.0  # seconds; a person waits for it


@contextmanager
def store_calls(
    store: Store,
    *,
    of: str,
    max_cost: float | None = None,
    max_concurrent: int = 8,
    max_attempts: int = 4,
) -> Iterator[CallServices]:
    """Lend what calls depend on; at the end all of them are stored and accounted for.

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


def call_now(
    store: Store,
    work: Callable[[ModelCaller], Awaitable[T]],
    *,
    of: str,
    keys: KeySource | None,
    max_attempts: int,
    remembered: bool = True,
) -> T:
    """Return what some model calls come to, while somebody waits.

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
    with store_calls(store, of=of, max_attempts=max_attempts) as stored:
        services = stored if remembered else replace(stored, ledger=NullLedger())

        async def carry_out() -> None:
            with using_keys(keys):
                async with ModelCaller(services, client_at(store.settings.prices())) as caller:
                    outcome.append(await work(caller))

        run_in_thread(carry_out)
    return outcome[0]


@dataclass(frozen=True)
class ConnectionCheck:
    """What became of a test of a model.

    Attributes:
        works: Whether the model replied, a judge as JSON.
        message: The same in words, with the reason where it did not.
    """

    works: bool
    message: str


def try_connection(
    store: Store, model: ModelConfig, *, as_judge: bool, keys: KeySource | None = None
) -> ConnectionCheck:
    """Ask a model one short question, within the budget of the day, and return what became of it.

    It is asked every time: a reply that is remembered proves nothing about now, and this one is not remembered.

    Args:
        store: Its account counts the call.
        model: Of a provider.
        as_judge: Whether it has to reply as JSON.
        keys: Asked for keys before the environment.

    Raises:
        StoreError: The database refuses.
    """
    subject = Subject("", "", model.id, 1)
    timeout = min(_LONGEST, model.request_timeout or _LONGEST)

    async def ask(caller: ModelCaller) -> None:
        if as_judge:
            question = (Message("user", 'Reply with this JSON object: {"ready": true}'),)
            await caller.complete_json(model, ChatRequest("parse", question, subject, _READY, timeout), _check_ready)
        else:
            question = (Message("user", "Reply with one word: ready"),)
            await caller.complete(model, ChatRequest("answer", question, subject, None, timeout))

    began = time.monotonic()
    try:
        check_model(model)
        call_now(store, ask, of="the test", keys=keys, max_attempts=1, remembered=False)
    except KareninaError as error:
        return ConnectionCheck(False, redact(str(error)))
    as_what = "replied as JSON" if as_judge else "replied"
    return ConnectionCheck(True, f"{as_what} after {time.monotonic() - began:.1f} s")


def _check_ready(reply: Any) -> None:
    if not isinstance(reply, dict) or not isinstance(reply.get("ready"), bool):
        raise InputError('The reply must be {"ready": true} or {"ready": false}.')
