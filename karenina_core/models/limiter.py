"""Who may call a model now.

    RunLimiter ── RunQueue ──┐
    RunLimiter ── RunQueue ── ModelLimiter ── process permits ── client

A `ModelLimiter` holds the limits of one model, shared by all runs of an event loop. A `RunQueue` holds the calls that
one run makes of that model with one key. A call gets a `Permit` when its run, its model and its key allow it, and waits
in its queue otherwise, holding nothing.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import Literal
from weakref import WeakKeyDictionary

from karenina_core.errors import ConfigError, ModelError
from karenina_core.models.keys import NO_KEY, find_key
from karenina_core.models.limits import (
    LONGEST_RETRY_AFTER,
    CircuitBreaker,
    Clock,
    ConcurrencyLimit,
    Rate,
    RateBudget,
)
from karenina_core.schemas import ModelConfig, Usage

ModelName = tuple[str, str]
"""Address or provider, and the model's name there."""
State = Literal["open", "trying", "waiting", "suspended", "stopped"]

AUTH_PROBE_SECONDS = 5.0  # a wrong key is refused sooner; who waits longer is waiting for an answer
MAX_CONCURRENT_VARIABLE = "KARENINA_MAX_CONCURRENT"
USUAL_MAX_CONCURRENT = 256

_arrivals = count()
_limiters: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[ModelName, ModelLimiter]] = WeakKeyDictionary()
_accepted_keys: set[tuple[ModelName, int]] = set()  # models that answered in this process, with a hash of the key


@dataclass(frozen=True)
class ModelTraffic:
    """How one model of a run is doing at one moment.

    Attributes:
        model: Its label, or several where they stand for the same model.
        limit: Calls that may be in flight now; shared with other runs.
        in_flight: Calls of this run that are being answered.
        waiting: Calls of this run that wait for a free place.
        throttled: How often its provider asked for a slower pace.
        requests: Requests sent in this run, failed ones among them.
        per_minute: Requests per minute, None while it is unknown.
        cost: US dollars since the run was started or resumed, None when no price is known.
        state: `open`; `trying` until the key is known to be right; `waiting` as its provider asked; `suspended` after
            failures in a row; `stopped` for the rest of the run.
        seconds: Until the next call, when it waits or is suspended.
        reason: Why it was stopped.
    """

    model: str
    limit: int
    in_flight: int
    waiting: int
    throttled: int
    requests: int
    per_minute: float | None
    cost: float | None
    state: State
    seconds: float = 0.0
    reason: str = ""


@dataclass(frozen=True)
class Retry:
    """A call that waits for its next attempt.

    Attributes:
        model: Label of the model.
        category: Why the last attempt failed.
        seconds: Until the next.
    """

    model: str
    category: str
    seconds: float


class StoppedError(ModelError):
    """A call that was not made, because the model has been given up for the rest of the run.

    Args:
        names: Labels of the model.
        cause: The failure that ended it; its category and its words are kept.
    """

    def __init__(self, names: str, cause: ModelError) -> None:
        why = " ".join(part for part in (cause.what, cause.why) if part)
        super().__init__(f"{names} was not asked again.", why, cause.next, category=cause.category)

    @property
    def retryable(self) -> bool:
        """False: the model is asked again when the run is resumed."""
        return False


class RunLimiter:
    """Holds the calls of one run to its limits. Belongs to the event loop of its first call.

    Args:
        ceiling: Calls in flight at once, over all models; at least 1.
        adaptive: Whether the limits of models follow what their providers accept.
        attempts: Attempts per call; a model that does not answer is given as many chances.

    Attributes:
        ceiling: As given; change it by `set_ceiling`.
        closed: Whether nothing more is to begin.
        in_flight: Calls that have a permit.
    """

    def __init__(self, ceiling: int = 8, *, adaptive: bool = True, attempts: int = 4) -> None:
        self.ceiling = ceiling
        self.adaptive = adaptive
        self.attempts = attempts
        self.closed = False
        self.in_flight = 0
        self.queues: dict[tuple[ModelName, int | None], RunQueue] = {}
        self._retries: dict[asyncio.Future[None], tuple[RunQueue, str, float]] = {}

    def set_ceiling(self, ceiling: int) -> None:
        """Set another ceiling, at least 1; calls in flight are not disturbed."""
        self.ceiling = max(1, ceiling)
        for queue in self.queues.values():
            queue.model.adjust()

    def queue(self, config: ModelConfig) -> RunQueue:
        """Return the queue of a model; the same for all configurations that reach it with the same key."""
        name = model_name(config)
        key = _key_hash(config)
        queue = self.queues.get((name, key))
        if queue is None:
            limiters = _limiters.setdefault(asyncio.get_running_loop(), {})
            model = limiters.setdefault(name, ModelLimiter(name))
            queue = self.queues[name, key] = RunQueue(self, model, config, key)
            model.attach(queue)
        if config.id not in queue.labels:
            queue.labels.append(config.id)
        return queue

    async def back_off(
        self, queue: RunQueue, category: str, seconds: float, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        """Wait between two attempts, until `close` at the latest.

        Raises:
            asyncio.CancelledError: There will be no further attempt.
        """
        if self.closed:
            raise asyncio.CancelledError
        sleeping: asyncio.Future[None] = asyncio.ensure_future(sleep(seconds))
        self._retries[sleeping] = queue, category, time.monotonic() + seconds
        try:
            await sleeping
        finally:
            del self._retries[sleeping]

    def recall(self) -> None:
        """Let the calls that wait for a permit look again whether they may be made, such as at a pause."""
        for queue in self.queues.values():
            queue.dismiss(lambda waiting: waiting.set_result(None))

    def close(self) -> None:
        """Send away the calls that wait, and those that come; those in flight go on."""
        self.closed = True
        for queue in self.queues.values():
            queue.dismiss(lambda waiting: waiting.cancel())
        for sleeping in list(self._retries):
            sleeping.cancel()

    def release(self) -> None:
        """Leave the models to other runs, at the very end."""
        self.close()
        for queue in self.queues.values():
            queue.model.detach(queue)

    def restart_rates(self) -> None:
        """Measure the requests per minute anew, after a pause."""
        for queue in self.queues.values():
            queue.rate.restart()

    def models(self) -> tuple[ModelTraffic, ...]:
        """Return how the models are doing."""
        return tuple(queue.traffic() for queue in self.queues.values())

    def retries(self) -> tuple[Retry, ...]:
        """Return the calls that wait for their next attempt."""
        now = time.monotonic()
        return tuple(
            Retry(queue.label, category, max(0.0, until - now)) for queue, category, until in self._retries.values()
        )


class _Waiting:
    """A call that waits for its turn; it is called back when it gets no permit then."""

    def __init__(self, tokens: int) -> None:
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.permit: Permit | None = None
        self.tokens = tokens
        self.arrival = next(_arrivals)


class RunQueue:
    """The calls that one run makes of one model with one key.

    Attributes:
        labels: Names under which the run knows the model.
        stopped: The failure after which it is not called any more, if there was one.
        key_accepted: Whether the model accepted the key, or does not need one.
    """

    def __init__(self, run: RunLimiter, model: ModelLimiter, config: ModelConfig, key: int | None) -> None:
        self.run = run
        self.model = model
        self.config = config
        self.labels: list[str] = []
        self.stopped: ModelError | None = None
        self.waiting: deque[_Waiting] = deque()
        self.rate = Rate()
        self._in_flight = self._throttled = self._requests = 0
        self._cost: float | None = None
        self._answered = False
        self._auth_probe: asyncio.TimerHandle | None = None
        self._key = None if key is None else (model.name, key)
        self.key_accepted = self._key is None or self._key in _accepted_keys

    @property
    def label(self) -> str:
        """Its labels, in one."""
        return " / ".join(self.labels)

    @property
    def may_begin(self) -> bool:
        """Whether run, key and model allow another call."""
        if self.run.in_flight >= self.run.ceiling or not (self.key_accepted or self._auth_probe is None):
            return False
        return self.model.has_room()

    async def acquire(self, characters: int) -> Permit | None:
        """Return a permit as soon as it is this call's turn, or None when it is called back before.

        A permit counts from the moment it is granted; a call that is cancelled gives it back.

        Args:
            characters: Of the prompt.

        Raises:
            StoppedError: The model is not called any more.
            asyncio.CancelledError: The run ends.
        """
        if self.stopped is not None:
            raise StoppedError(self.label, self.stopped)
        if self.run.closed:
            raise asyncio.CancelledError
        tokens = self.model.rates.estimate(characters)
        if not self.waiting and self.may_begin:
            return self.begin(tokens)
        waiting = _Waiting(tokens)
        self.waiting.append(waiting)
        try:
            await waiting.turn
        except asyncio.CancelledError:
            if waiting.permit is not None:
                self.end(waiting.permit, None)
            elif waiting in self.waiting:
                self.waiting.remove(waiting)
            raise
        return waiting.permit

    def begin(self, tokens: int) -> Permit:
        """Count a call that begins, and return its permit."""
        model = self.model
        self._in_flight += 1
        self.run.in_flight += 1
        model.in_flight += 1
        model.concurrency.began(model.in_flight)
        model.rates.take(tokens)
        permit = Permit(self, model.concurrency.wave, model.breaker.suspended, not self.key_accepted, tokens)
        if permit.probes_model:
            model.probing = True
        if permit.probes_key:
            self._auth_probe = asyncio.get_running_loop().call_later(AUTH_PROBE_SECONDS, self._accept_key, False)
        return permit

    def end(self, permit: Permit, outcome: ModelError | Usage | None) -> None:
        """Take a permit back.

        Args:
            permit: Of this queue.
            outcome: What an answer took, the failure, or None when the call was given up by ourselves.
        """
        model = self.model
        self._in_flight -= 1
        self.run.in_flight -= 1
        model.in_flight -= 1
        if permit.probes_key and self._auth_probe is not None:
            self._auth_probe.cancel()
            self._auth_probe = None
        if permit.probes_model:
            model.probing = False
        if outcome is not None:
            self._requests += 1
            self.rate.add()
            if isinstance(outcome, ModelError):
                model.rates.settle(permit.tokens, None)
                self._failed(permit, outcome)
            else:
                model.rates.settle(permit.tokens, outcome)
                model.concurrency.answered()
                model.breaker.answered()
                self._answered = True
                self._accept_key()
                if outcome.cost is not None:
                    self._cost = outcome.cost + (self._cost or 0.0)
        grant({*model.queues, *self.run.queues.values()})

    def stop(self, error: ModelError) -> None:
        """Make no further call; those that wait fail at once, in the same category."""
        self.stopped = self.stopped or error
        if error.category == "authentication" and self._key is not None:
            _accepted_keys.discard(self._key)
        self.dismiss(lambda waiting: waiting.set_exception(StoppedError(self.label, error)))

    def dismiss(self, settle: Callable[[asyncio.Future[None]], object]) -> None:
        """Let all calls that wait leave the queue without a permit."""
        while self.waiting:
            turn = self.waiting.popleft().turn
            if not turn.done():
                settle(turn)

    def traffic(self) -> ModelTraffic:
        """Return how the model is doing."""
        model, seconds = self.model, self.model.breaker.wait()
        state: State = "open" if self.key_accepted else "trying"
        if self.stopped is not None:
            state = "stopped"
        elif model.breaker.suspended:
            state = "suspended"
        elif seconds:
            state = "waiting"
        return ModelTraffic(
            model=self.label,
            limit=model.concurrency.limit,
            in_flight=self._in_flight,
            waiting=len(self.waiting),
            throttled=self._throttled,
            requests=self._requests,
            per_minute=self.rate.per_minute,
            cost=self._cost,
            state=state,
            seconds=seconds,
            reason=str(self.stopped) if self.stopped else "",
        )

    def _failed(self, permit: Permit, error: ModelError) -> None:
        model = self.model
        match error.category:
            case "authentication":
                self.stop(error)
            case "not_found" if not self._answered:
                self.stop(error)
            case "rate_limit":
                self._accept_key()
                self._throttled += 1
                if (error.retry_after or 0.0) > LONGEST_RETRY_AFTER:
                    self.stop(error)
                elif model.concurrency.refused(permit.wave, model.in_flight) and model.breaker.refused(
                    error.retry_after
                ):
                    model.give_up(error)
            case "connection" | "timeout" | "server_error":
                self._accept_key(False)
                model.concurrency.failed()
                if model.breaker.failed(permit.probes_model):
                    model.give_up(error)
            case _:
                model.breaker.answered()
                self._accept_key()

    def _accept_key(self, for_all: bool = True) -> None:
        """Note that the key was accepted, for all further runs of this process or only for this queue."""
        if not self.key_accepted:
            self.key_accepted = True
            if for_all and self._key is not None:
                _accepted_keys.add(self._key)
            grant([self])


@dataclass(slots=True, eq=False)
class Permit:
    """Leave to make one call; as a context it is given back at the end, with what became of the call.

    Attributes:
        queue: Where it is given back.
        wave: How often the limit had been cut when it began.
        probes_model: The call finds out whether a suspended model is back.
        probes_key: The call finds out whether the key is right; others wait for it.
        tokens: Its estimate.
        usage: What the call took; set it when there was an answer.
    """

    queue: RunQueue
    wave: int
    probes_model: bool
    probes_key: bool
    tokens: int
    usage: Usage | None = None

    async def __aenter__(self) -> Permit:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.queue.end(self, error if isinstance(error, ModelError) else self.usage)


class ModelLimiter:
    """The limits of one model, for all runs of one event loop; where runs differ, the narrower setting holds for all.

    Attributes:
        concurrency: The limit for calls in flight, and how it is found.
        breaker: What happens while the model does not answer.
        rates: Requests and tokens per minute.
        in_flight: Calls that have a permit.
        probing: Whether a call is finding out if the model is back.
    """

    def __init__(self, name: ModelName, clock: Clock = time.monotonic) -> None:
        self.name = name
        self.concurrency = ConcurrencyLimit(1, clock=clock)
        self.breaker = CircuitBreaker(clock)
        self.rates = RateBudget(clock)
        self.in_flight = 0
        self.probing = False
        self.queues: list[RunQueue] = []
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None

    def attach(self, queue: RunQueue) -> None:
        """Let a run use the model."""
        if not self.queues:
            self.concurrency = ConcurrencyLimit(1, clock=self._clock)
        self.queues.append(queue)
        self.adjust()

    def detach(self, queue: RunQueue) -> None:
        """Note that a run has ended."""
        if queue in self.queues:
            self.queues.remove(queue)
            self.adjust()

    def adjust(self) -> None:
        """Take over changed ceilings and settings of the runs."""
        if not self.queues:
            return
        configs = [queue.config for queue in self.queues]
        runs = {queue.run for queue in self.queues}
        ceilings = [config.max_concurrent_requests for config in configs if config.max_concurrent_requests]
        ceiling = min([sum(run.ceiling for run in runs), *ceilings])
        self.concurrency.set_ceiling(ceiling, all(run.adaptive for run in runs))
        self.breaker.attempts = max(run.attempts for run in runs)
        self.rates.set_limits(
            [config.requests_per_minute for config in configs], [config.tokens_per_minute for config in configs]
        )
        grant(self.queues)

    def has_room(self) -> bool:
        """Say whether another call may go now; where only time has to pass, waiting calls are looked at again then."""
        if self.in_flight >= self.concurrency.limit or (self.probing and self.breaker.suspended):
            return False
        if self.breaker.calm and not self.rates.limited:
            return True
        delay = max(self.breaker.wait(), self.rates.wait())
        if delay:
            self._look_again(delay)
        return not delay

    def give_up(self, error: ModelError) -> None:
        """Call the model no more in any of the present runs."""
        for queue in self.queues:
            queue.stop(error)
        self.breaker.answered()

    def _look_again(self, delay: float) -> None:
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            if self._timer.when() <= loop.time() + delay:
                return
            self._timer.cancel()
        self._timer = loop.call_later(delay, self._time_passed)

    def _time_passed(self) -> None:
        self._timer = None
        grant(self.queues)


def grant(queues: Iterable[RunQueue]) -> None:
    """Let waiting calls begin.

    The model with the fewest calls in flight comes first, so that a slow one, which keeps what it gets, does not take
    all places of a run; among equals the call that waits longest.
    """
    while ready := [queue for queue in queues if queue.waiting and queue.may_begin]:
        queue = min(ready, key=lambda queue: (queue.model.in_flight, queue.waiting[0].arrival))
        waiting = queue.waiting.popleft()
        if not waiting.turn.done():
            waiting.permit = queue.begin(waiting.tokens)
            waiting.turn.set_result(None)


def model_name(config: ModelConfig) -> ModelName:
    """Return what identifies a model whoever calls it: its address or provider, and its name there."""
    return (config.endpoint_base_url or "").rstrip("/"), config.provider_model


def _key_hash(config: ModelConfig) -> int | None:
    """Return what tells keys apart without being one; None where no key is used."""
    try:
        key = find_key(config)
    except ModelError:
        return 0  # the client says what is wrong with it
    return None if key == NO_KEY else hash(key)


def max_concurrent() -> int:
    """Return how many provider calls this process may have in flight, by `KARENINA_MAX_CONCURRENT`.

    Raises:
        ConfigError: It is no whole number above zero.
    """
    text = os.environ.get(MAX_CONCURRENT_VARIABLE, "").strip()
    if not text:
        return USUAL_MAX_CONCURRENT
    if not text.isascii() or not text.isdigit() or not int(text):
        raise ConfigError(
            f"{MAX_CONCURRENT_VARIABLE} cannot be used.", f"It is {text!r}.", "Give a whole number, such as 32."
        )
    return int(text)


class ProcessPermits:
    """A semaphore that coroutines of several event loops share; who waits longest is served first.

    Attributes:
        most: Permits there are.
    """

    def __init__(self, most: int = USUAL_MAX_CONCURRENT) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._in_use = 0

    async def __aenter__(self) -> None:
        with self._lock:
            if self._in_use < self.most:
                self._in_use += 1
                return
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            with self._lock:
                still_waiting = turn in self._waiting
                if still_waiting:
                    self._waiting.remove(turn)
            if not still_waiting:
                self._give_back()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._give_back()

    def _give_back(self) -> None:
        with self._lock:
            while self._waiting:
                turn = self._waiting.popleft()
                try:
                    turn.get_loop().call_soon_threadsafe(_resolve, turn)
                except RuntimeError:  # that loop has ended, and its waiters with it
                    continue
                return
            self._in_use -= 1


def _resolve(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


process_permits = ProcessPermits()
