"""Makes the model calls of everybody else.

1  key = hash of exactly what is sent
2  in flight in this run? await that reply
3  in the ledger? take it
4  wait until the run is not paused, the model has room, the budget allows it
5  ask the client; a failure that may pass goes back to 4 after a wait
6  hand the reply to the ledger, with what was spent
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, NamedTuple, Protocol, TypeVar

from karenina_core.errors import InputError, ModelError, ModelErrorCategory
from karenina_core.models.clients import ClientPool, make_client
from karenina_core.models.limiter import RunLimiter, RunQueue, max_concurrent, process_permits
from karenina_core.models.limits import JITTER, LONGEST_RETRY_AFTER
from karenina_core.models.ports import (
    ByIdentity,
    CallLedger,
    CallNamer,
    ChatReply,
    ChatRequest,
    Evaluation,
    ModelClient,
)
from karenina_core.models.replies import clean_reply
from karenina_core.models.structured import InvalidOutputError, ask_for_correction, read_whole_reply
from karenina_core.schemas import CallRecord, ModelConfig, Usage, built

T = TypeVar("T")
FIRST_WAIT = 1.0  # seconds before the second attempt, where the provider does not ask for a time; doubles
LONGEST_WAIT = 60.0


class Budget(Protocol):
    """What calls may cost."""

    async def admit(self) -> None:
        """Return when one more call may be paid for.

        Raises:
            asyncio.CancelledError: The money is spent, and who asks is to stop.
            ModelError: The money is spent; category `cancelled`.
        """

    def add(self, usage: Usage) -> None:
        """Count what a call took, whether its reply is used or not."""


class Pause(Protocol):
    """What holds calls back while their run is paused."""

    def allows(self, evaluation: Evaluation) -> bool:
        """Say whether an evaluation may make a call now: the run goes on, or the evaluation has begun."""

    def begin(self, evaluation: Evaluation) -> bool:
        """Say the same, and note that the call is made, so that the evaluation is finished also during a pause."""

    async def wait(self) -> None:
        """Return when the run goes on.

        Raises:
            asyncio.CancelledError: It is to end.
        """


@dataclass(frozen=True)
class CallServices:
    """What the calls of one run depend on.

    Attributes:
        ledger: Remembers successful calls.
        limiter: How many calls may be in flight, and how often a call is tried.
        budget: What they may cost; no bound when not given.
        pause: Holds calls back while the run is paused; nothing does when not given.
    """

    ledger: CallLedger
    limiter: RunLimiter = field(default_factory=RunLimiter)
    budget: Budget | None = None
    pause: Pause | None = None


class ModelCaller:
    """Makes the model calls of one run. Belongs to one event loop; close it with `aclose` or use it as a context.

    A judge's replies that never fitted their schema are not remembered, so that running again asks again. A provider
    is asked about an evaluation only when the earlier replies about it are stored, so that a process that is killed
    loses one reply of each evaluation at most.

    Args:
        services: What the calls depend on.
        clients: Makes the client for a model; clients are kept until the caller is closed.
        sleep: Waits between attempts; replaceable in tests.
    """

    def __init__(
        self,
        services: CallServices,
        clients: Callable[[ModelConfig], ModelClient] = make_client,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        process_permits.most = max_concurrent()
        self.services = services
        self._clients = ClientPool(clients)
        self._sleep = sleep
        self._model = ByIdentity[ModelConfig, _Model](lambda config: _Model(config, self._clients))
        self._in_flight: dict[str, tuple[asyncio.Future[ChatReply], asyncio.Task[Any] | None]] = {}
        self._writes: dict[Evaluation, asyncio.Future[None]] = {}

    async def complete(self, config: ModelConfig, request: ChatRequest) -> tuple[ChatReply, CallRecord]:
        """Return the reply to a request, and the call as evidence.

        Raises:
            ModelError: With its category, after the last attempt.
        """
        call = self._identify(config, request)
        reply = await self._reply(call)
        self._remember(call, reply)
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
        calls: list[tuple[_Call, ChatReply]] = []
        asked = request
        # Recordings and prepared answers say the same again.
        corrections = 0 if config.transport in ("manual", "recorded") else config.max_retries
        while True:
            call = self._identify(config, asked)
            reply = await self._reply(call)
            calls.append((call, reply))
            try:
                value = read_whole_reply(reply, validate)
            except InputError as error:
                if len(calls) > corrections:
                    category: ModelErrorCategory = "truncated" if reply.finish_reason == "length" else "invalid_output"
                    raise InvalidOutputError(error.what, _records(calls), category) from None
                asked = ask_for_correction(request, reply.text, error.what)
            else:
                for made in calls:
                    self._remember(*made)
                return value, _records(calls)

    async def tool_result(
        self, config: ModelConfig, request: ChatRequest, use: Callable[[], Awaitable[str]], *, again: bool
    ) -> str:
        """Return what a tool said at this place of a conversation when it was first used; otherwise use it now.

        Args:
            config: The model that wants it.
            request: The conversation so far, with purpose `tool`.
            use: Uses the tool.
            again: Whether it is used again where its result is known, because it changes a workspace.
        """
        key = self._identify(config, request).key
        known = await self.services.ledger.get(key)
        if known is not None and not again:
            return known.text
        result, _ = clean_reply(await use(), None)
        if known is not None:
            return known.text
        await self.services.ledger.put(key, request, config, ChatReply(result, "stop", Usage(), "tool"))
        return result

    async def aclose(self) -> None:
        """Cancel what is in flight, and release the clients."""
        in_flight = list(self._in_flight.values())
        for _, task in in_flight:
            if task is not None:
                task.cancel()
        if in_flight:
            await asyncio.wait([reply for reply, _ in in_flight])
        self.services.limiter.release()
        await self._clients.aclose()

    async def __aenter__(self) -> ModelCaller:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _identify(self, config: ModelConfig, request: ChatRequest) -> _Call:
        model = self._model(config)
        if config.request_timeout is not None:
            request = replace(request, timeout=config.request_timeout)
        return _Call(model.namer.key(request), model, request)

    async def _reply(self, call: _Call) -> ChatReply:
        """Return the reply to a call; who wants the same as a call in flight waits for that."""
        while (leading := self._in_flight.get(call.key)) is not None:
            await asyncio.wait([leading[0]])
            # Where whoever made the call was cancelled, one of those who waited makes it now.
            if not leading[0].cancelled():
                return as_remembered(leading[0].result())
        future: asyncio.Future[ChatReply] = asyncio.get_running_loop().create_future()
        self._in_flight[call.key] = future, asyncio.current_task()
        try:
            reply = await self._known_or_new(call)
        except Exception as error:
            future.set_exception(error)
            future.exception()  # nobody may be waiting for it
            raise
        except BaseException:
            future.cancel()
            raise
        else:
            future.set_result(reply)
            return reply
        finally:
            del self._in_flight[call.key]

    async def _known_or_new(self, call: _Call) -> ChatReply:
        ledger = self.services.ledger
        # Prepared answers are looked up anew, because people change them; the ledger has those of earlier sessions.
        known = None if call.model.prepared else await ledger.get(call.key)
        if known is None:
            try:
                return await self._ask(call)
            except ModelError as error:
                # A run that is resumed has no prepared answers any more; those it used are in the ledger. Answers that
                # were given, but lack this question, must not be filled up from an earlier run.
                if error.category != "missing_recording" or call.model.config.manual_traces is not None:
                    raise
                known = await ledger.get(call.key)
                if known is None:
                    raise
        known = as_remembered(known)
        if self.services.budget is not None:
            self.services.budget.add(known.usage)
        return known

    async def _ask(self, call: _Call) -> ChatReply:
        model, limiter = call.model, self.services.limiter
        if not model.is_provider:
            return self._received(await model.client.complete(call.request))
        written = self._writes.get(call.request.subject.evaluation)
        if written is not None and not written.done():
            with suppress(Exception):  # the ledger's owner hears of it
                await written
        if model.queue is None:
            model.queue = limiter.queue(model.config)
        attempt = 1
        while True:
            try:
                return await self._attempt(call, model.queue)
            except ModelError as error:
                if attempt >= limiter.attempts or not may_pass(error):
                    raise
                wait, category = seconds_to_wait(error, attempt), error.category
            await limiter.back_off(model.queue, category, wait, self._sleep)
            attempt += 1

    async def _attempt(self, call: _Call, queue: RunQueue) -> ChatReply:
        budget, pause, evaluation = self.services.budget, self.services.pause, call.request.subject.evaluation
        while True:
            if pause is not None and not pause.allows(evaluation):
                await pause.wait()
            permit = await queue.acquire(call.length)
            if permit is None:
                continue
            async with permit, process_permits:
                if budget is not None:
                    await budget.admit()
                if pause is not None and not pause.begin(evaluation):
                    continue  # its turn came while the run is paused; others get the place meanwhile
                reply = await call.model.client.complete(call.request)
                permit.usage = reply.usage
            return self._received(reply)

    def _received(self, reply: ChatReply) -> ChatReply:
        if self.services.budget is not None:
            self.services.budget.add(reply.usage)
        # Cut and cleaned, whichever client it came from; nothing longer is stored or judged.
        text, finish_reason = clean_reply(reply.text, reply.finish_reason)
        return reply if text == reply.text else replace(reply, text=text, finish_reason=finish_reason)

    def _remember(self, call: _Call, reply: ChatReply) -> None:
        if reply.source == "ledger":
            return
        evaluation = call.request.subject.evaluation
        written = asyncio.ensure_future(self.services.ledger.put(call.key, call.request, call.model.config, reply))
        if not written.done():
            self._writes[evaluation] = written
            written.add_done_callback(lambda done: self._forget(evaluation, done))

    def _forget(self, evaluation: Evaluation, written: asyncio.Future[None]) -> None:
        if self._writes.get(evaluation) is written:
            del self._writes[evaluation]
        if not written.cancelled():
            written.exception()  # the ledger's owner hears of it


class _Model:
    """What is found out once about a model, and not again for every call."""

    def __init__(self, config: ModelConfig, clients: ClientPool) -> None:
        self.config = config
        self.is_provider = config.is_provider
        self.prepared = config.transport in ("manual", "recorded")
        self.namer = CallNamer(config)
        self.queue: RunQueue | None = None
        self._clients = clients

    @property
    def client(self) -> ModelClient:
        """Made when it is first used."""
        return self._clients(self.config)


class _Call(NamedTuple):
    """A call to be made, and the key that the ledger knows it by."""

    key: str
    model: _Model
    request: ChatRequest

    @property
    def length(self) -> int:
        """Characters of the prompt."""
        return sum(len(message.content) for message in self.request.messages)


def seconds_to_wait(error: ModelError, attempt: int) -> float:
    """Return how long to wait after the attempt with this number, counted from 1.

    A provider's own word counts, plus up to a second so that not all callers return at the same moment; otherwise any
    time between nothing and a bound that doubles with every attempt.
    """
    if error.retry_after is not None:
        return error.retry_after + JITTER.uniform(0, min(1.0, error.retry_after))
    return JITTER.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1)))


def may_pass(error: ModelError) -> bool:
    """Say whether the same request may succeed after a wait that makes sense.

    A wrong key, a missing model, a request that is not accepted, a prompt that is too long and a refusal to answer
    cost one request.
    """
    return error.retryable and (error.retry_after or 0.0) <= LONGEST_RETRY_AFTER


def as_remembered(reply: ChatReply) -> ChatReply:
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
    return built(
        CallRecord,
        purpose=call.request.purpose,
        part=call.request.subject.part,
        model=call.model.config.id,
        key=call.key,
        source=reply.source,
        messages=[message.as_data() for message in call.request.messages],
        schema_sent=call.request.schema,
        reply=reply.text,
        finish_reason=reply.finish_reason,
        usage=reply.usage,
        seconds=reply.seconds,
        provenance=reply.provenance,
    )
