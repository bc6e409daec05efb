"""Requests and a client for tests of the models room."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from karenina_core.errors import InputError, ModelError
from karenina_core.models import ChatReply, ChatRequest, Message, Purpose, Subject
from karenina_core.schemas import ModelConfig

MODEL = ModelConfig(model_name="fake/model")
SCHEMA = {
    "type": "object",
    "properties": {"count": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "How many"}},
    "required": ["count"],
    "additionalProperties": False,
}


class Clock:
    """Goes on only when a test moves it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def ask(text: str = "How many legs has a spider?", *, purpose: Purpose = "answer", **changes: Any) -> ChatRequest:
    """Return a request; `changes` are fields of the subject or of the request."""
    about = {"question_id": "q1", "question": text, "answering_model": "demo/careful"}
    about |= {name: changes.pop(name) for name in list(changes) if name in Subject.__dataclass_fields__}
    return ChatRequest(purpose, (Message("user", text),), Subject(**about), **changes)


def judge(response: str = "Eight legs.", **changes: Any) -> ChatRequest:
    """Return a request for an extraction."""
    return ask(purpose="parse", response=response, schema=SCHEMA, **changes)


def count_of(data: Any) -> int:
    """Validate `{"count": ...}` as a template would."""
    if not isinstance(data.get("count"), int):
        raise InputError("count must be a whole number")
    return int(data["count"])


Step = str | ChatReply | ModelError


class FakeClient:
    """Plays a script, the last step for ever, and counts."""

    def __init__(self, script: Sequence[Step] = ("fine",), *, config: ModelConfig = MODEL, pause: float = 0.0) -> None:
        self.config = config
        self.requests: list[ChatRequest] = []
        self.most_in_flight = 0
        self.closed = False
        self._script = script
        self._pause = pause
        self._in_flight = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        step = self._script[min(len(self.requests), len(self._script) - 1)]
        self.requests.append(request)
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            await asyncio.sleep(self._pause)
        finally:
            self._in_flight -= 1
        if isinstance(step, ModelError):
            raise step
        return ChatReply(step) if isinstance(step, str) else step

    async def aclose(self) -> None:
        self.closed = True


def serve(client: FakeClient) -> Callable[[ModelConfig], FakeClient]:
    """Return a factory that always gives this client."""
    return lambda config: client
