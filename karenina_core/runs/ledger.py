"""The call ledger in the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from karenina_core.models.ports import ChatReply, ChatRequest
from karenina_core.runs.store import Store
from karenina_core.runs.store.clean import clean, clean_json
from karenina_core.runs.writer import CallWrite, GroupThread, Writer
from karenina_core.schemas.config import ModelConfig
from karenina_core.schemas.entities.question import now

_REPLY = TypeAdapter(ChatReply)
_REQUEST = TypeAdapter(ChatRequest)
_CONFIG = TypeAdapter(ModelConfig)


class StoreLedger:
    """Remembers model calls in a store. Look-ups and writes of many callers share transactions."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._writer = writer
        self._reader: GroupThread[str, str | None] = GroupThread(_look_up(store), "karenina-ledger")

    async def get(self, key: str) -> ChatReply | None:
        """Return the reply to this very call, if it was made before."""
        text = await self._reader.ask(key)
        return None if text is None else _REPLY.validate_json(text)

    async def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> None:
        """Remember the reply; returns when it is safely stored."""
        await self._writer.put(CallWrite(call_row(key, request, config, reply)))

    def close(self) -> None:
        """End the look-ups; the writer stays open."""
        self._reader.close()


def call_row(key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> dict[str, Any]:
    """Return a call as columns of the call table."""
    return {
        "key": key,
        "purpose": request.purpose,
        "model": clean(config.id),
        "question_id": clean(request.subject.question_id),
        "request": f'{{"config":{clean_json(_CONFIG, config)},"request":{clean_json(_REQUEST, request)}}}',
        "reply": clean_json(_REPLY, reply),
        "input_tokens": reply.usage.input_tokens,
        "output_tokens": reply.usage.output_tokens,
        "cost": clean(reply.usage.cost),
        "created": now(),
    }


def _look_up(store: Store) -> Any:
    def work(keys: Sequence[str]) -> list[str | None]:
        known = store.call_replies(keys)
        return [known.get(key) for key in keys]

    return work
