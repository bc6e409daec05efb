"""The call ledger in the store, and how one run uses it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from pydantic import TypeAdapter

from karenina_core.models import ByIdentity, ChatReply, ChatRequest
from karenina_core.models import clean as clean_text
from karenina_core.runs.engine.pause import PauseControl
from karenina_core.runs.engine.spending import SpendMeter
from karenina_core.runs.engine.writer import BatchWriter, CallWrite
from karenina_core.runs.store import Store
from karenina_core.runs.store.database import clean, clean_json
from karenina_core.schemas import ModelConfig, Usage
from karenina_core.schemas.entities.question import now

_REPLY = TypeAdapter(ChatReply)
_REQUEST = TypeAdapter(ChatRequest)
_CONFIG = TypeAdapter(ModelConfig)


class StoreLedger:
    """Remembers model calls in a store. Belongs to one event loop.

    Args:
        store: Holds the calls.
        writer: Writes them.
    """

    def __init__(self, store: Store, writer: BatchWriter) -> None:
        self._store = store
        self._writer = writer
        self._read = store.calls.reader()
        self._uncommitted: dict[str, ChatReply] = {}
        self._text_of = ByIdentity[ModelConfig, str](partial(clean_json, _CONFIG))  # few of them, thousands of calls

    async def get(self, key: str) -> ChatReply | None:
        """Return the reply to this very call, if it was made before.

        Raises:
            StoreError: The database refuses.
        """
        if (reply := self._uncommitted.get(key)) is not None:
            return reply
        if self._read is not None:
            text = self._read(key)
        else:
            text = (await asyncio.to_thread(self._store.calls.replies, [key])).get(key)
        return None if text is None else read_reply(text)

    def put(
        self,
        key: str,
        request: ChatRequest,
        config: ModelConfig,
        reply: ChatReply,
        spend: SpendMeter | None = None,
        run_id: str | None = None,
    ) -> asyncio.Future[None]:
        """Remember the reply, so that `get` finds it from now on, and enter in a run's account what was spent.

        Done when it is safely stored.
        """
        self._uncommitted[key] = reply
        spent = spend.take() if spend else Usage()

        def settled(error: Exception | None) -> None:
            if self._uncommitted.get(key) is reply:
                del self._uncommitted[key]
            if spend is not None:
                spend.settle(spent, error)

        row = call_row(key, request, config, reply, self._text_of(config))
        return self._writer.enqueue(CallWrite(row, spent, run_id), settled)

    def close(self) -> None:
        """End the look-ups; the writer stays open."""
        if self._read is not None:
            self._read.close()


class RunLedger:
    """The ledger as one run sees it: what the run spends reaches its account with the reply that it paid for.

    Args:
        ledger: Remembers the calls.
        spend: What the run spends.
        run_id: Whose account it is; only that of the day when not given.
        pause: Pauses the run while the database cannot be read; errors are raised when not given.
    """

    def __init__(
        self, ledger: StoreLedger, spend: SpendMeter, run_id: str | None = None, pause: PauseControl | None = None
    ) -> None:
        self._ledger = ledger
        self._spend = spend
        self._run_id = run_id
        self._pause = pause

    async def get(self, key: str) -> ChatReply | None:
        """Return the reply to this very call, if it was made before.

        Raises:
            StoreError: The database refuses, and nothing pauses the run.
        """
        if self._pause is None:
            return await self._ledger.get(key)
        return await self._pause.retry_while_store_fails(lambda: self._ledger.get(key))

    def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> asyncio.Future[None]:
        """Remember the reply: `get` finds it from now on. What is returned is done when it is safely stored."""
        return self._ledger.put(key, request, config, reply, self._spend, self._run_id)


def read_reply(text: str) -> ChatReply:
    """Return a reply from the JSON text it is stored as."""
    return _REPLY.validate_json(text)


def call_row(key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply, config_text: str) -> dict[str, Any]:
    """Return a call as columns of the call table; the configuration comes as JSON text too."""
    return {
        "key": key,
        "purpose": request.purpose,
        "model": clean_text(config.id),
        "question_id": clean_text(request.subject.question_id),
        "request": f'{{"config":{config_text},"request":{clean_json(_REQUEST, request)}}}',
        "reply": clean_json(_REPLY, reply),
        "input_tokens": reply.usage.input_tokens,
        "output_tokens": reply.usage.output_tokens,
        "cost": clean(reply.usage.cost),
        "created": now(),
    }
