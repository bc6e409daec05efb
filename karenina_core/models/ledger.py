"""Call ledgers without a database; the durable one lives with the store."""

from __future__ import annotations

from karenina_core.models.ports import ChatReply, ChatRequest
from karenina_core.schemas import ModelConfig


class MemoryLedger:
    """Remembers calls as long as it lives."""

    def __init__(self) -> None:
        self._replies: dict[str, ChatReply] = {}

    @property
    def size(self) -> int:
        """Number of calls remembered."""
        return len(self._replies)

    async def get(self, key: str) -> ChatReply | None:
        """Return the reply to this very call, if it was made before."""
        return self._replies.get(key)

    async def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> None:
        """Remember the reply."""
        self._replies[key] = reply


class NullLedger:
    """Remembers nothing: every call is made."""

    async def get(self, key: str) -> ChatReply | None:
        """Return None."""
        return None

    async def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> None:
        """Forget the reply."""
