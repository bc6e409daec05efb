"""Makes model calls for everybody else: asks the ledger first, shares calls in flight, limits, retries, records."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

from karenina_core.errors import InputError, ModelError, ModelErrorCategory
from karenina_core.models.calls import Call, Flight, Made, Target, as_remembered, fit, record_of, records_of
from karenina_core.models.clients import ClientPool, make_client
from karenina_core.models.pace.lanes import Way
from karenina_core.models.pace.retry import OnRetry, Sleep, seconds_to_wait, worth_another
from karenina_core.models.pace.slots import max_concurrent as most_of_process
from karenina_core.models.pace.slots import process_slots
from karenina_core.models.pace.traffic import Traffic
from karenina_core.models.ports import CallLedger, ChatReply, ChatRequest, Door, Meter, ModelClient
from karenina_core.models.shared_calls import SharedCall, SharedCalls
from karenina_core.models.structured import InvalidOutputError, ask_for_correction, read_whole_reply
from karenina_core.schemas import CallRecord, ModelConfig, Usage

T = TypeVar("T")


class ModelCaller:
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
        traffic: Holds the calls to their limits, instead of `max_concurrent`, and shows them.
        door: Keeps calls back while the run rests, also those that stand in a line.
        sharing: The calls of other callers of the same event loop, whose replies are taken.
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
        traffic: Traffic | None = None,
        door: Door | None = None,
        sharing: SharedCalls | None = None,
    ) -> None:
        process_slots.most = most_of_process()
        self._meter = meter
        self._door = door
        self._sharing = SharedCalls() if sharing is None else sharing
        self._ledger = ledger
        self._pool = ClientPool(clients)
        self._traffic = Traffic(max_concurrent, attempts=max_attempts) if traffic is None else traffic
        self._max_attempts = max_attempts
        self._sleep = sleep
        self._on_retry = on_retry
        self._models: dict[int, Target] = {}
        self._in_flight: dict[str, Flight] = {}
        self._unconfirmed: dict[str, ChatReply] = {}
        self._writes: set[asyncio.Task[None]] = set()

    async def complete(self, config: ModelConfig, request: ChatRequest) -> tuple[ChatReply, CallRecord]:
        """Return the reply to a request, and the call as evidence.

        Raises:
            ModelError: With its category, after the last attempt.
        """
        call = self._identify(config, request)
        reply = await self._shared(call, remember=True)
        return reply, record_of(call, reply)

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
        calls: Made = []
        try:
            return await self._ask_until_valid(config, request, validate, calls), records_of(calls)
        finally:
            for call, _ in calls:
                self._unconfirmed.pop(call.key, None)

    async def aclose(self) -> None:
        """Cancel what is in flight, finish writing to the ledger, and release the clients."""
        flights = list(self._in_flight.values())
        landings = [flight.follow() for flight in flights]
        for flight in flights:
            if flight.task is not None:
                flight.task.cancel()
        await asyncio.gather(*landings, return_exceptions=True)
        await asyncio.gather(*self._writes, return_exceptions=True)
        self._traffic.release()
        await self._pool.aclose()

    async def __aenter__(self) -> ModelCaller:
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
        calls: Made,
    ) -> T:
        asked = request
        while True:
            call = self._identify(config, asked)
            reply = await self._shared(call, remember=False)
            calls.append((call, reply))
            try:
                value = read_whole_reply(reply, validate)
            except InputError as error:
                if len(calls) > _corrections(config):
                    raise InvalidOutputError(error.what, records_of(calls), _category(reply)) from None
                asked = ask_for_correction(request, reply.text, error.what)
            else:
                await self._remember(calls)
                return value

    def _identify(self, config: ModelConfig, request: ChatRequest) -> Call:
        model = self._models.get(id(config))
        if model is None:
            # The configuration is kept alive, so that its identity stays its own.
            model = self._models[id(config)] = Target(config)
        if config.request_timeout is not None:
            request = replace(request, timeout=config.request_timeout)
        return Call(model.namer.key(request), model, request)

    async def _shared(self, call: Call, *, remember: bool) -> ChatReply:
        while (flight := self._in_flight.get(call.key)) is not None:
            reply = await flight.follow()
            if reply is not None:
                return as_remembered(reply)
            # Whoever made the call was cancelled; one of those who waited makes it now.
        flight = self._in_flight[call.key] = Flight()
        outcome: ChatReply | BaseException | None = None
        try:
            outcome = await self._obtain(call, remember)
            return outcome
        except BaseException as error:
            outcome = error
            raise
        finally:
            del self._in_flight[call.key]
            if flight.followers and outcome is not None:
                flight.land(outcome)

    async def _obtain(self, call: Call, remember: bool) -> ChatReply:
        shared = self._sharing.join(call.key)
        try:
            return await self._known_or_made(call, shared, remember)
        finally:
            self._sharing.leave(call.key)

    async def _known_or_made(self, call: Call, shared: SharedCall, remember: bool) -> ChatReply:
        # Prepared answers are looked up anew, because people change them; the ledger has those of earlier sessions.
        known = None if call.model.prepared else await self._recall(call.key)
        if known is not None:
            return as_remembered(known)
        try:
            reply = await self._attempts(call, shared)
        except ModelError as error:
            known = await self._recall(call.key) if call.lost_its_answers(error) else None
            if known is None:
                raise
            return as_remembered(known)
        if remember:
            await self._remember([(call, reply)])
        else:
            self._unconfirmed[call.key] = reply
        return reply

    async def _recall(self, key: str) -> ChatReply | None:
        return self._unconfirmed.get(key) or await self._ledger.get(key)

    async def _attempts(self, call: Call, shared: SharedCall) -> ChatReply:
        model = call.model
        if model.client is None:
            model.client = self._pool(model.config)
        if not model.is_provider:
            return self._received(await model.client.complete(call.request))
        if model.way is None:
            model.way = self._traffic.way(model.config)
        line = model.way.line
        number = 1
        while True:
            try:
                return await self._attempt(call, model.client, model.way, shared)
            except ModelError as error:
                if number >= self._max_attempts or not worth_another(error):
                    raise
                wait = seconds_to_wait(error, number)
                line.resting[call.key] = error.category, line.clock() + wait
                if self._on_retry is not None:
                    self._on_retry(error, wait)
            try:
                await self._traffic.rest(self._sleep, wait)
            finally:
                del line.resting[call.key]
            number += 1

    async def _attempt(self, call: Call, client: ModelClient, way: Way, shared: SharedCall) -> ChatReply:
        (lane, line), door = way, self._door
        tokens = lane.allowance.estimate(call.length) if lane.allowance.counts_tokens else 0
        while True:
            if door is not None and not door.lets_through:
                await door.wait()
            if shared.taken and (reply := await shared.follow()) is not None:
                return self._received(as_remembered(reply))
            seat = lane.enter(line, tokens) or await lane.wait(line, tokens)
            if seat is None:
                continue
            outcome: ModelError | Usage | None = None
            try:
                if not process_slots.try_take():
                    await process_slots.take()
                try:
                    if self._meter is not None:
                        await self._meter.admit()
                    if shared.taken:
                        continue  # another run makes this call, or has made it by now
                    if door is not None:
                        if not door.lets_through:
                            continue  # its turn came while the run rests; others get the place meanwhile
                        door.passed()
                    reply = await shared.make(client.complete(call.request))
                finally:
                    process_slots.give_back()
                outcome = reply.usage
            except ModelError as error:
                outcome = error
                raise
            finally:
                lane.leave(line, seat, outcome)
            return self._received(reply)

    def _received(self, reply: ChatReply) -> ChatReply:
        if self._meter is not None:
            self._meter.paid(reply.usage)
        return fit(reply)

    async def _remember(self, calls: Sequence[tuple[Call, ChatReply]]) -> None:
        for call, reply in calls:
            if reply.source != "ledger":
                await self._write(partial(self._ledger.put, call.key, call.request, call.model.config, reply))

    async def _write(self, put: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await put()
        except asyncio.CancelledError:
            # A paid reply is stored even when the run is stopped at this very moment; twice does no harm.
            task = asyncio.create_task(put())
            self._writes.add(task)
            task.add_done_callback(self._writes.discard)
            raise


def _corrections(config: ModelConfig) -> int:
    # Recordings and prepared answers say the same again.
    return 0 if config.transport in ("manual", "recorded") else config.max_retries


def _category(reply: ChatReply) -> ModelErrorCategory:
    return "truncated" if reply.finish_reason == "length" else "invalid_output"
