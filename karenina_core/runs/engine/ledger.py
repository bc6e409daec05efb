"""The call ledger in the store."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any

from pydantic import TypeAdapter

from karenina_core.models import ChatReply, ChatRequest, SharedCalls
from karenina_core.runs.engine.writer import CallWrite, GroupThread, Told, Writer
from karenina_core.runs.store import Store
from karenina_core.runs.store.database import clean, clean_json, clean_text
from karenina_core.schemas import ModelConfig
from karenina_core.schemas.entities.question import now

_REPLY = TypeAdapter(ChatReply)
_REQUEST = TypeAdapter(ChatRequest)
_CONFIG = TypeAdapter(ModelConfig)
_KEPT_CONFIGS = 64


class StoreLedger:
    """Remembers model calls in a store. Look-ups and writes of many callers share transactions.

    Attributes:
        sharing: The calls that its runs are about to make.
    """

    def __init__(self, store: Store, writer: Writer) -> None:
        self.sharing = SharedCalls()
        self._writer = writer
        self._quick = store.calls.reader()
        self._reader = None if self._quick else GroupThread[str, str | None](_look_up(store), "karenina-ledger")
        self._configs: dict[int, tuple[ModelConfig, str]] = {}

    async def get(self, key: str) -> ChatReply | None:
        """Return the reply to this very call, if it was made before."""
        text = self._quick(key) if self._quick else await self._asked(key)
        return None if text is None else read_reply(text)

    async def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> None:
        """Remember the reply; returns when it is safely stored."""
        await self.store(self.write_of(key, request, config, reply))

    def write_of(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> CallWrite:
        """Return a call as it is written."""
        return CallWrite(call_row(key, request, config, reply, self._text_of(config)))

    def store(self, call: CallWrite, told: Told | None = None) -> Coroutine[Any, Any, None]:
        """Return what stores a call, and with it what a run spent; it is over when they are safely stored."""
        return self._writer.put(call, told)

    def hand_in(self, call: CallWrite) -> None:
        """Have a call stored that nobody waits for."""
        self._writer.hand_in(call)

    def close(self) -> None:
        """End the look-ups; the writer stays open."""
        if self._quick:
            self._quick.close()
        if self._reader:
            self._reader.close()

    async def _asked(self, key: str) -> str | None:
        return await self._reader.ask(key) if self._reader else None

    def _text_of(self, config: ModelConfig) -> str:
        """Return a configuration as JSON; a run has few of them and thousands of calls."""
        kept = self._configs.get(id(config))
        if kept is None or kept[0] is not config:
            if len(self._configs) >= _KEPT_CONFIGS:
                self._configs.clear()
            kept = self._configs[id(config)] = (config, clean_json(_CONFIG, config))
        return kept[1]


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


def _look_up(store: Store) -> Any:
    def work(keys: Sequence[str]) -> list[str | None]:
        known = store.calls.replies(keys)
        return [known.get(key) for key in keys]

    return work
