"""A call on its way: whom it asks, who waits for it, what is kept of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from karenina_core.errors import ModelError
from karenina_core.models.pace.lanes import Way
from karenina_core.models.ports import CallNamer, ChatReply, ChatRequest, ModelClient
from karenina_core.models.replies import clean_reply
from karenina_core.schemas import CallRecord, ModelConfig, Usage, built


class Target:
    """What is found out once about a model, and not again for every call."""

    __slots__ = ("client", "config", "is_provider", "label", "namer", "prepared", "way")

    def __init__(self, config: ModelConfig) -> None:
        self.config = config
        self.label = config.id
        self.is_provider = config.is_provider
        self.prepared = config.transport in ("manual", "recorded")
        self.namer = CallNamer(config)
        self.client: ModelClient | None = None
        self.way: Way | None = None


class Call(NamedTuple):
    """A call to be made.

    Attributes:
        key: What the ledger knows it by.
        model: Who is asked.
        request: What is sent.
    """

    key: str
    model: Target
    request: ChatRequest

    @property
    def length(self) -> int:
        """Characters of the prompt."""
        return sum(len(message.content) for message in self.request.messages)

    def lost_its_answers(self, error: ModelError) -> bool:
        """Say whether an error means that prepared answers were not given again.

        A run that is resumed has no prepared answers any more; those it used are in the ledger. Answers that were
        given, but lack this question, must not be filled up from an earlier run.
        """
        return error.category == "missing_recording" and self.model.config.manual_traces is None


Made = list[tuple[Call, ChatReply]]
"""Calls with their replies, in their order."""


class Flight:
    """A call in flight, and who else waits for it."""

    __slots__ = ("followers", "task")

    def __init__(self) -> None:
        self.task = asyncio.current_task()
        self.followers: list[asyncio.Future[ChatReply | None]] = []

    def follow(self) -> asyncio.Future[ChatReply | None]:
        """Return the reply to come; None when whoever made the call was cancelled."""
        follower: asyncio.Future[ChatReply | None] = asyncio.get_running_loop().create_future()
        self.followers.append(follower)
        return follower

    def land(self, outcome: ChatReply | BaseException) -> None:
        """Tell the others."""
        for follower in self.followers:
            if follower.done():
                continue
            if isinstance(outcome, Exception):
                follower.set_exception(outcome)
            else:
                follower.set_result(outcome if isinstance(outcome, ChatReply) else None)


def fit(reply: ChatReply) -> ChatReply:
    """Return the reply cut and cleaned, whichever client it came from; nothing longer is stored or judged."""
    text, finish_reason = clean_reply(reply.text, reply.finish_reason)
    return reply if text == reply.text else replace(reply, text=text, finish_reason=finish_reason)


def as_remembered(reply: ChatReply) -> ChatReply:
    """Return the reply as one that cost nothing this time."""
    if reply.source == "ledger":
        return reply
    paid = {"source": reply.source, **reply.usage.model_dump(include={"input_tokens", "output_tokens", "cost"})}
    usage = Usage(input_tokens=0, output_tokens=0, cost=0.0, calls=1, cached_calls=1)
    return replace(
        reply, source="ledger", usage=usage, seconds=0.0, provenance={**reply.provenance, "first_call": paid}
    )


def records_of(calls: Sequence[tuple[Call, ChatReply]]) -> list[CallRecord]:
    """Return calls as evidence."""
    return [record_of(call, reply) for call, reply in calls]


def record_of(call: Call, reply: ChatReply) -> CallRecord:
    """Return a call as evidence."""
    return built(
        CallRecord,
        purpose=call.request.purpose,
        part=call.request.subject.part,
        model=call.model.label,
        key=call.key,
        source=reply.source,
        messages=[{"role": message.role, "content": message.content} for message in call.request.messages],
        schema_sent=call.request.schema,
        reply=reply.text,
        finish_reason=reply.finish_reason,
        usage=reply.usage,
        seconds=reply.seconds,
        provenance=reply.provenance,
    )
