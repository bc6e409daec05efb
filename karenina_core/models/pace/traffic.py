"""What one run has in flight: its bound, its models, what they are doing, and the end of it all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from karenina_core.errors import ModelError
from karenina_core.models.keys import NO_KEY, find_key
from karenina_core.models.pace.lanes import Lane, State, Way
from karenina_core.models.pace.limits import ModelLimits
from karenina_core.models.pace.lines import Bound, LaneName, Line
from karenina_core.schemas import ModelConfig

_lanes: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[LaneName, Lane]] = WeakKeyDictionary()


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


class Traffic:
    """The provider calls of one run. Belongs to the event loop of its first call.

    Args:
        ceiling: Calls in flight at once, over all models; at least 1.
        adaptive: Whether the limits of models follow what their providers accept.
        attempts: Attempts per call; a model that does not answer is given as many chances.
    """

    def __init__(self, ceiling: int, *, adaptive: bool = True, attempts: int = 4) -> None:
        self._bound = Bound(ceiling)
        self._adaptive = adaptive
        self._attempts = attempts
        self._ways: dict[tuple[LaneName, int | None], Way] = {}
        self._resting: set[asyncio.Future[None]] = set()

    @property
    def ceiling(self) -> int:
        """Calls that may be in flight at once."""
        return self._bound.ceiling

    def pace(self, ceiling: int) -> None:
        """Set another ceiling, at least 1; calls in flight are not disturbed."""
        self._bound.ceiling = max(1, ceiling)
        for lane, _ in self._ways.values():
            lane.adjust()

    def way(self, config: ModelConfig) -> Way:
        """Return the way to a model; the same for all configurations that reach it with the same key."""
        name, key = lane_name(config), _key_mark(config)
        way = self._ways.get((name, key))
        if way is None:
            lane = _lanes.setdefault(asyncio.get_running_loop(), {}).setdefault(name, Lane(name))
            way = self._ways[name, key] = Way(lane, Line(name, self._bound, key))
            lane.attach(way.line, self._limits(config))
        if config.id not in way.line.names:
            way.line.names.append(config.id)
        return way

    async def rest(self, sleep: Callable[[float], Awaitable[None]], seconds: float) -> None:
        """Wait between two attempts, until `close` at the latest.

        Raises:
            asyncio.CancelledError: There will be no further attempt.
        """
        if self._bound.closed:
            raise asyncio.CancelledError
        resting: asyncio.Future[None] = asyncio.ensure_future(sleep(seconds))
        self._resting.add(resting)
        try:
            await resting
        finally:
            self._resting.discard(resting)

    def recall(self) -> None:
        """Let the calls that wait for a place look again whether they may be made, such as at a pause."""
        for lane, line in self._ways.values():
            lane.recall(line)

    def close(self) -> None:
        """Send away the calls that wait, and those that come; those in flight go on."""
        self._bound.closed = True
        for lane, line in self._ways.values():
            lane.dismiss(line, None)
        for resting in list(self._resting):
            resting.cancel()

    def release(self) -> None:
        """Leave the lanes to other runs, at the very end."""
        self.close()
        for lane, line in self._ways.values():
            lane.detach(line)

    def restart(self) -> None:
        """Measure the rates anew, after a pause."""
        for _, line in self._ways.values():
            line.rate.restart()

    def models(self) -> tuple[ModelTraffic, ...]:
        """Return how the models are doing."""
        return tuple(_seen(lane, line) for lane, line in self._ways.values())

    def retries(self) -> tuple[Retry, ...]:
        """Return the calls that wait for their next attempt."""
        return tuple(
            Retry(line.label, category, max(0.0, when - line.clock()))
            for _, line in self._ways.values()
            for category, when in line.resting.values()
        )

    def _limits(self, config: ModelConfig) -> ModelLimits:
        return ModelLimits(
            config.max_concurrent_requests,
            config.requests_per_minute,
            config.tokens_per_minute,
            self._adaptive,
            self._attempts,
        )


def lane_name(config: ModelConfig) -> LaneName:
    """Return what identifies a model whoever calls it: its address or provider, and its name there."""
    return (config.endpoint_base_url or "").rstrip("/"), config.provider_model


def _key_mark(config: ModelConfig) -> int | None:
    """Return what tells keys apart without being one; None where no key is used."""
    try:
        key = find_key(config)
    except ModelError:
        return 0  # the client says what is wrong with it
    return None if key == NO_KEY else hash(key)


def _seen(lane: Lane, line: Line) -> ModelTraffic:
    return ModelTraffic(
        model=line.label,
        limit=lane.concurrency.limit,
        in_flight=line.in_flight,
        waiting=line.waiting,
        throttled=line.throttled,
        requests=line.requests,
        per_minute=line.rate.per_minute,
        cost=line.cost,
        state=lane.state(line),
        seconds=lane.patience.wait(),
        reason=str(line.stopped) if line.stopped else "",
    )
