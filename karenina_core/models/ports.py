"""What the rest of the workbench knows of a model: a request goes in, a reply or a `ModelError` comes out."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import Field

from karenina_core.schemas import ModelConfig, Usage

K = TypeVar("K")
V = TypeVar("V")
_MOST_KNOWN = 256
_IF_ANY = Field(exclude_if=lambda value: not value)  # stored only where there is something

Purpose = Literal[
    "answer", "parse", "investigate", "tool", "rubric", "metric", "abstention", "sufficiency", "generate_template"
]
Source = Literal["provider", "ledger", "recording", "manual", "local", "tool"]
Evaluation = tuple[str, str, int]
"""Question, answering model, replicate."""


class ToolCall(NamedTuple):
    """A model's wish that a tool be used.

    Attributes:
        id: The model's name for this call; the result refers to it.
        name: The tool.
        arguments: What the model says to it: JSON, as the model wrote it.
    """

    id: str
    name: str
    arguments: str


class ToolSpec(NamedTuple):
    """A tool as a model is told of it.

    Attributes:
        name: Letters, digits, `_` and `-`.
        description: What it does.
        parameters: JSON schema of its arguments.
    """

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Message:
    """One chat message.

    Attributes:
        role: Who speaks; `tool` for the result of a tool.
        content: The text.
        tool_calls: Tools that the assistant wants to be used.
        tool_call_id: Which of these calls a result belongs to.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: Annotated[tuple[ToolCall, ...], _IF_ANY] = ()
    tool_call_id: Annotated[str, _IF_ANY] = ""

    def as_data(self) -> dict[str, Any]:
        """Return the message as evidence: role and content, and what it says of tools, if anything."""
        calls = {"tool_calls": [call._asdict() for call in self.tool_calls]} if self.tool_calls else {}
        result = {"tool_call_id": self.tool_call_id} if self.tool_call_id else {}
        return {"role": self.role, "content": self.content, **calls, **result}


@dataclass(frozen=True)
class Subject:
    """What a call is about. Never sent to a model; recordings and prepared answers are found by it.

    Attributes:
        question_id: The question.
        question: Its text.
        answering_model: Label of the model under test.
        replicate: Repetition, counted from 1.
        part: Trait name for calls about one trait, otherwise empty.
        response: The response that is judged; empty for answers.
    """

    question_id: str
    question: str
    answering_model: str
    replicate: int = 1
    part: str = ""
    response: str = field(default="", repr=False)

    @property
    def evaluation(self) -> Evaluation:
        """What identifies the answer that is given or judged; all calls about it share it."""
        return self.question_id, self.answering_model, self.replicate


@dataclass(frozen=True)
class ChatRequest:
    """One call.

    Attributes:
        purpose: What the reply is for.
        messages: Exactly what is sent.
        subject: What the call is about.
        schema: JSON schema the reply must follow, or None for free text. Not changed afterwards.
        timeout: Seconds for one attempt.
        tools: What the model may use; not together with a schema.
    """

    purpose: Purpose
    messages: tuple[Message, ...]
    subject: Subject
    schema: dict[str, Any] | None = None
    timeout: float = 120.0
    tools: Annotated[tuple[ToolSpec, ...], _IF_ANY] = ()


@dataclass(frozen=True)
class ChatReply:
    """What came back.

    Attributes:
        text: The reply.
        finish_reason: `stop`, `length` and so on, as the provider says.
        usage: Tokens and money.
        source: Who gave the reply.
        seconds: Wall time of the successful attempt.
        provenance: Facts worth keeping, such as the hash of a model file.
        tool_calls: Tools the model wants to be used before it goes on; their results are expected next.
    """

    text: str
    finish_reason: str | None = "stop"
    usage: Usage = field(default_factory=Usage)
    source: Source = "provider"
    seconds: float = 0.0
    provenance: dict[str, Any] = field(default_factory=dict)
    tool_calls: Annotated[tuple[ToolCall, ...], _IF_ANY] = ()


class ModelClient(Protocol):
    """A way to reach one model."""

    config: ModelConfig

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one attempt.

        Raises:
            ModelError: With its category; the caller decides about another attempt.
        """

    async def aclose(self) -> None:
        """Release what the client holds."""


class CallLedger(Protocol):
    """Remembers model calls by a hash of exactly what was sent. A failed call is never remembered."""

    async def get(self, key: str) -> ChatReply | None:
        """Return the reply to this very call, if it was made before."""

    def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> Awaitable[None]:
        """Remember the reply: `get` finds it from now on. What is returned is done when it is safely stored."""


class ByIdentity(Generic[K, V]):
    """What was made of objects that come again and again, such as a schema; looked up by their identity.

    The objects are kept alive, so that their identity stays their own.

    Args:
        make: Makes it of one of them.
    """

    def __init__(self, make: Callable[[K], V]) -> None:
        self._make = make
        self._known: dict[int, tuple[K, V]] = {}

    def __call__(self, item: K) -> V:
        """Return what was made of an object, or make it."""
        known = self._known.get(id(item))
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[id(item)] = item, self._make(item)
        return known[1]


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

    def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> Awaitable[None]:
        """Remember the reply."""
        self._replies[key] = reply
        return _done()


class NullLedger:
    """Remembers nothing: every call is made."""

    async def get(self, key: str) -> ChatReply | None:
        """Return None."""
        return None

    def put(self, key: str, request: ChatRequest, config: ModelConfig, reply: ChatReply) -> Awaitable[None]:
        """Forget the reply."""
        return _done()


def _done() -> asyncio.Future[None]:
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done


def call_key(config: ModelConfig, request: ChatRequest) -> str:
    """Return the identity of a call: SHA-256 over the canonical JSON of what is sent, and the replicate.

    Whatever can change a reply is part of it; labels, keys, time limits and retry counts are not.
    """
    return CallNamer(config).key(request)


class CallNamer:
    """Returns the identities of many calls of one model; see `call_key`. What they share is written once.

    Args:
        config: The model; not changed afterwards.
    """

    def __init__(self, config: ModelConfig) -> None:
        # The name under which calls of providers have always been remembered, however they are made.
        transport = "litellm" if config.is_provider else config.transport
        self._head = (
            f'{{"base_url":{_canonical(config.endpoint_base_url)},"extra":{_canonical(config.extra_kwargs)},'
            f'"max_tokens":{_canonical(config.max_tokens)},"messages":['
        )
        self._middle = f'],"model":{_canonical(config.provider_model)},"replicate":'
        self._tail = f',"temperature":{_canonical(config.temperature)},"transport":{_canonical(transport)}}}'
        # Found by subject rather than by prompt, so the subject is what identifies them.
        self._by_subject = config.transport in ("manual", "recorded")
        self._answers = [config.answers_digest] if config.answers_digest else []

    def key(self, request: ChatRequest) -> str:
        """Return the identity of a call."""
        messages = ",".join([f'["{message.role}",{_quoted(message.content)}]' for message in request.messages])
        if request.tools:
            messages = _canonical([[*message.as_data().values()] for message in request.messages])[1:-1]
            messages += f",{_canonical(request.tools)}"
        schema = "null" if request.schema is None else _schema_json(request.schema)
        text = f'{self._head}{messages}{self._middle}{request.subject.replicate},"schema":{schema}'
        if self._by_subject:
            subject = request.subject
            about = [request.purpose, subject.question_id, subject.answering_model, subject.part, *self._answers]
            text += f',"subject":{_canonical(about)}'
        return hashlib.sha256(f"{text}{self._tail}".encode("ascii")).hexdigest()


_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode
_quoted = json.encoder.encode_basestring_ascii
_schema_json = ByIdentity[dict[str, Any], str](_canonical)  # a template hands out the same schema for every call
