"""Makes model calls for everybody else: asks the ledger first, shares calls in flight, limits, retries, records."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, TypeVar

from karenina_core.errors import InputError, ModelError, ModelErrorCategory
from karenina_core.models.clients import ClientPool, make_client
from karenina_core.models.ports import CallLedger, ChatReply, ChatRequest, Meter, ModelClient, call_key
from karenina_core.models.replies import clean_reply
from karenina_core.models.retry import OnRetry, Sleep, with_retries
from karenina_core.models.slots import process_slots
from karenina_core.models.structured import InvalidOutputError, ask_again, read_whole_reply
from karenina_core.schemas.config import ModelConfig
from karenina_core.schemas.results import CallRecord, Usage

T = TypeVar("T")


@dataclass(frozen=True)
class _Call:
    key: str
    config: ModelConfig
    request: ChatRequest


_Made = list[tuple[_Call, ChatReply]]


@dataclass
class _InFlight:
    task: asyncio.Task[ChatReply]
    waiters: int = 0


class Caller:
    """Makes the model calls of one run. Belongs to one event loop; close it with `aclose` or use it as a context.

    Args:
        ledger: Remembers successful calls. Judge replies that never fitted their schema are not remembered, so that
            running again asks again.
        clients: Makes the client for a model; clients are kept until the caller is closed.
        max_concurrent: Provider calls in flight at once. A call that waits for its next attempt does not count.
            All callers of the process together have the bound `KARENINA_MAX_CONCURRENT`.
        max_attempts: Attempts per provider call when the failure may pass.
        sleep: Waits between attempts; replaceable in tests.
        on_retry: Told the error and the seconds waited before each further attempt.
        meter: Asked before every provider call, and told what each call took.
    """

    def __init__(
        self,
        ledger: CallLedger,
        clients: Callable[[ModelConfig], ModelClient] = make_client,
        max_concurrent: int = 8,
        max_attempts: int = 4,
        *,
        sleep: Sleep = asyncio.sleep,
        on_retry: OnRetry | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._meter = meter
        self._ledger = ledger
        self._pool = ClientPool(clients)
        self._slots = asyncio.Semaphore(max_concurrent)
        self._max_attempts = max_attempts
        self._sleep = sleep
        self._on_retry = on_retry
        self._in_flight: dict[str, _InFlight] = {}
        self._unconfirmed: dict[str, ChatReply] = {}
        self._writes: set[asyncio.Task[None]] = set()

    async def complete(self, config: ModelConfig, request: ChatRequest) -> tuple[ChatReply, CallRecord]:
        """Return the reply to a request, and the call as evidence.

        Raises:
            ModelError: With its category, after the last attempt.
        """
        call = _identify(config, request)
        reply = await self._shared(call, remember=True)
        return reply, _record(call, reply)

    async def complete_json(
        self, config: ModelConfig, request: ChatRequest, validate: Callable[[Any], T]
    ) -> tuple[T, list[CallRecord]]:
        """Return the JSON object a judge replied, as `validate` returns it, and all calls that took.

        A reply that does not fit is sent back with the complaint, up to `config.max_retries` times.

        Args:
            config: The judge.
            request: With its schema.
            validate: Gets decoded JSON; raises `InputError`, or another `ValueError`, with a message for the judge.

        Raises:
            InvalidOutputError: No reply fitted; category `invalid_output`, or `truncated` when the last was cut off.
            ModelError: A call failed.
        """
        calls: _Made = []
        try:
            return await self._ask_until_valid(config, request, validate, calls), _records(calls)
        finally:
            for call, _ in calls:
                self._unconfirmed.pop(call.key, None)

    async def aclose(self) -> None:
        """Cancel what is in flight, finish writing to the ledger, and release the clients."""
        tasks = [shared.task for shared in self._in_flight.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *self._writes, return_exceptions=True)
        await self._pool.aclose()

    async def __aenter__(self) -> Caller:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _ask_until_valid(
        self,
        config: ModelConfig,
        request: ChatRequest,
        validate: Callable[[Any], T],
        calls: _Made,
    ) -> T:
        asked = request
        while True:
            call = _identify(config, asked)
            reply = await self._shared(call, remember=False)
            calls.append((call, reply))
            try:
                value = read_whole_reply(reply, validate)
            except InputError as error:
                if len(calls) > _corrections(config):
                    raise InvalidOutputError(error.what, _records(calls), _category(reply)) from None
                asked = ask_again(request, reply.text, error.what)
            else:
                await self._remember(calls)
                return value

    async def _shared(self, call: _Call, *, remember: bool) -> ChatReply:
        shared = self._in_flight.get(call.key)
        first = shared is None
        if shared is None:
            shared = _InFlight(asyncio.create_task(self._obtain(call, remember)))
            self._in_flight[call.key] = shared
            shared.task.add_done_callback(lambda _: self._landed(call.key, shared))
        shared.waiters += 1
        try:
            # One of several waiters may be cancelled without spoiling the call for the others.
            reply = await asyncio.shield(shared.task)
        finally:
            shared.waiters -= 1
            if not shared.waiters and not shared.task.done():
                self._landed(call.key, shared)
                shared.task.cancel()
        return reply if first else _remembered(reply)

    def _landed(self, key: str, shared: _InFlight) -> None:
        if self._in_flight.get(key) is shared:
            del self._in_flight[key]

    async def _obtain(self, call: _Call, remember: bool) -> ChatReply:
        # Prepared answers are looked up anew, because people change them; the ledger has those of earlier sessions.
        prepared_first = call.config.transport in ("manual", "recorded")
        known = None if prepared_first else await self._recall(call.key)
        if known is not None:
            return _remembered(known)
        try:
            reply = await self._attempts(call)
        except ModelError as error:
            known = await self._recall(call.key) if _without_its_answers(call, error) else None
            if known is None:
                raise
            return _remembered(known)
        if remember:
            await self._remember([(call, reply)])
        else:
            self._unconfirmed[call.key] = reply
        return reply

    async def _recall(self, key: str) -> ChatReply | None:
        return self._unconfirmed.get(key) or await self._ledger.get(key)

    async def _attempts(self, call: _Call) -> ChatReply:
        client = self._pool(call.config)
        if call.config.transport != "litellm":
            return self._received(await client.complete(call.request))

        async def attempt() -> ChatReply:
            async with self._slots, process_slots.one():
                if self._meter is not None:
                    await self._meter.admit()
                return self._received(await client.complete(call.request))

        return await with_retries(attempt, max_attempts=self._max_attempts, sleep=self._sleep, on_retry=self._on_retry)

    def _received(self, reply: ChatReply) -> ChatReply:
        if self._meter is not None:
            self._meter.paid(reply.usage)
        return _fit(reply)

    async def _remember(self, calls: Sequence[tuple[_Call, ChatReply]]) -> None:
        for call, reply in calls:
            if reply.source != "ledger":
                await self._write(self._ledger.put(call.key, call.request, call.config, reply))

    async def _write(self, put: Awaitable[None]) -> None:
        async def finish() -> None:
            await put

        # A paid reply is stored even when the run is stopped at this very moment.
        task = asyncio.create_task(finish())
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        await asyncio.shield(task)


def _fit(reply: ChatReply) -> ChatReply:
    """Return the reply cut and cleaned, whichever client it came from; nothing longer is stored or judged."""
    text, finish_reason = clean_reply(reply.text, reply.finish_reason)
    return reply if text == reply.text else replace(reply, text=text, finish_reason=finish_reason)


def _identify(config: ModelConfig, request: ChatRequest) -> _Call:
    if config.request_timeout is not None:
        request = replace(request, timeout=config.request_timeout)
    return _Call(call_key(config, request), config, request)


def _without_its_answers(call: _Call, error: ModelError) -> bool:
    # A run that is resumed has no prepared answers any more; those it used are in the ledger. Answers that were
    # given, but lack this question, must not be filled up from an earlier run.
    return error.category == "missing_recording" and call.config.manual_traces is None


def _corrections(config: ModelConfig) -> int:
    # Recordings and prepared answers say the same again.
    return config.max_retries if config.transport in ("litellm", "local") else 0


def _category(reply: ChatReply) -> ModelErrorCategory:
    return "truncated" if reply.finish_reason == "length" else "invalid_output"


def _remembered(reply: ChatReply) -> ChatReply:
    """Return the reply as one that cost nothing this time."""
    if reply.source == "ledger":
        return reply
    paid = {"source": reply.source, **reply.usage.model_dump(include={"input_tokens", "output_tokens", "cost"})}
    usage = Usage(input_tokens=0, output_tokens=0, cost=0.0, calls=1, cached_calls=1)
    return replace(
        reply, source="ledger", usage=usage, seconds=0.0, provenance={**reply.provenance, "first_call": paid}
    )


def _records(calls: Sequence[tuple[_Call, ChatReply]]) -> list[CallRecord]:
    return [_record(call, reply) for call, reply in calls]


def _record(call: _Call, reply: ChatReply) -> CallRecord:
    return CallRecord(
        purpose=call.request.purpose,
        part=call.request.subject.part,
        model=call.config.id,
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
