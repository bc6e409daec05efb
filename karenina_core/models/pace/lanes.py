"""Who may call a model now: one lane per provider and model, shared by all runs of an event loop.

    run ──── line ────┐
    run ──── line ──── lane ──── process slots ──── client

A line is what one run asks of one model with one key. A call takes a seat when its run, its lane and its key allow it,
and waits in the lane otherwise, holding nothing; who waits longest goes first.
"""

from __future__ import annotations

import asyncio
import math
import time
from typing import Literal, NamedTuple

from karenina_core.errors import ModelError
from karenina_core.models.pace.allowance import Allowance
from karenina_core.models.pace.limits import Clock, Concurrency, ModelLimits, Patience
from karenina_core.models.pace.lines import LaneName, Line, StoppedError
from karenina_core.models.pace.retry import LONGEST_RETRY_AFTER
from karenina_core.models.pace.seats import Queue, Seat
from karenina_core.schemas import Usage

State = Literal["open", "trying", "waiting", "suspended", "stopped"]

SCOUT_SECONDS = 5.0  # a wrong key is refused sooner; who waits longer is waiting for an answer


class Way(NamedTuple):
    """How one run gets to one model."""

    lane: Lane
    line: Line


class Lane:
    """Decides which call of one model is next, for all runs of one event loop.

    Args:
        name: Address or provider, and the model's name.
        clock: Seconds.

    Attributes:
        concurrency: The limit for calls in flight, and how it is found.
        patience: What happens while the model does not answer.
        allowance: Requests and tokens per minute.
        in_flight: Calls that have a seat.
    """

    def __init__(self, name: LaneName, clock: Clock = time.monotonic) -> None:
        self.name = name
        self.clock = clock
        self.concurrency = Concurrency(1, clock=self.clock)
        self.patience = Patience(clock)
        self.allowance = Allowance(clock)
        self.in_flight = 0
        self._lines: dict[Line, ModelLimits] = {}
        self._queue = Queue()
        self._probing = False
        self._scouts: dict[Line, asyncio.TimerHandle] = {}
        self._timer: asyncio.TimerHandle | None = None

    def attach(self, line: Line, limits: ModelLimits) -> None:
        """Let a run use the lane; where runs differ, the narrower setting holds for both."""
        if not self._lines:
            self.concurrency = Concurrency(1, clock=self.clock)
        self._lines[line] = limits
        self.adjust()

    def detach(self, line: Line) -> None:
        """Note that a run has ended."""
        self._lines.pop(line, None)
        if self._lines:
            self.adjust()

    def adjust(self) -> None:
        """Take over changed ceilings and settings of the runs."""
        lines = self._lines.items()
        ceiling = sum({line.run: line.run.ceiling for line, _ in lines}.values())
        most = [limits.max_concurrent for _, limits in lines if limits.max_concurrent]
        self.concurrency.move_ceiling(min([ceiling, *most]), all(limits.adaptive for _, limits in lines))
        self.patience.attempts = max((limits.attempts for _, limits in lines), default=1)
        self.allowance.follow(self._lines.values())
        self.pump()

    def state(self, line: Line) -> State:
        """Return how it stands with the model."""
        if line.stopped is not None:
            return "stopped"
        if self.patience.suspended:
            return "suspended"
        if self.patience.wait():
            return "waiting"
        return "open" if line.known else "trying"

    def enter(self, line: Line, tokens: int = 0) -> Seat | None:
        """Take a seat, if one is free and nobody waits; otherwise `wait` for one.

        Args:
            line: Whose call it is.
            tokens: Its estimate, where tokens are limited.

        Raises:
            StoppedError: The model is not called any more.
        """
        if line.stopped is not None:
            raise StoppedError(line.label, line.stopped)
        if self._queue.waiters or not line.ready or self._delay():
            return None
        return self._take(line, tokens)

    async def wait(self, line: Line, tokens: int = 0) -> Seat | None:
        """Return a seat as soon as it is this call's turn, or None when it is called back before.

        Raises:
            StoppedError: The model is not called any more.
            asyncio.CancelledError: The run ends.
        """
        if line.run.closed:
            raise asyncio.CancelledError
        waiter = self._queue.join(line, tokens)
        self.pump()
        try:
            return await waiter.seat
        except asyncio.CancelledError:
            if not self._queue.drop(waiter) and (seat := waiter.given) is not None:
                self.leave(line, seat, None)
            raise

    def leave(self, line: Line, seat: Seat, outcome: ModelError | Usage | None) -> None:
        """Give the seat back.

        Args:
            line: Whose call it was.
            seat: Its seat.
            outcome: What an answer took, the failure, or None when the call was given up by ourselves.
        """
        self.in_flight -= 1
        line.in_flight -= 1
        line.run.in_flight -= 1
        if seat.scout:
            line.scouting = False
            self._scouts.pop(line).cancel()
        if seat.probe:
            self._probing = False
        if isinstance(outcome, ModelError):
            self._failed(line, seat, outcome)
        elif outcome is not None:
            self._answered(line, outcome.cost)
            if self.allowance.counts_tokens:
                self.allowance.settle(seat.tokens, outcome)
        if line.run.blocked:
            # The place is the run's. A slow model, which keeps what it gets, is not to take it from quick ones.
            lanes, line.run.blocked = line.run.blocked | {self}, set()
            for lane in sorted(lanes, key=lambda lane: lane.in_flight):
                lane.pump()
        elif self._queue.waiters:
            self.pump()

    def stop(self, line: Line, error: ModelError) -> None:
        """Make no further call; those that wait fail at once, in the same category."""
        line.stop(error)
        self.dismiss(line, error)

    def recall(self, line: Line) -> None:
        """Let all calls of a line that wait look again whether they may be made."""
        self._queue.recall(line)

    def dismiss(self, line: Line, error: ModelError | None) -> None:
        """Let all calls of a line that wait end: as not made because of an error, or cancelled."""
        self._queue.dismiss(line, error)

    def pump(self) -> None:
        """Let in whoever may go on."""
        while self._queue.waiters:
            delay = self._delay()
            if delay:
                if delay < math.inf:
                    self._look_again(delay)
                return
            waiter = self._queue.next(self._may)
            if waiter is None:
                return
            if not waiter.seat.done():
                waiter.seat.set_result(self._take(waiter.line, waiter.tokens))

    def _may(self, line: Line) -> bool:
        if line.ready:
            return True
        if line.run.in_flight >= line.run.ceiling:
            line.run.blocked.add(self)
        return False

    def _delay(self) -> float:
        """Return the seconds until the next call may go, infinity when a call has to end first."""
        if self.in_flight >= self.concurrency.limit or (self._probing and self.patience.suspended):
            return math.inf
        if self.patience.calm and not self.allowance.buckets:
            return 0.0
        return max(self.patience.wait(), self.allowance.wait())

    def _take(self, line: Line, tokens: int) -> Seat:
        self.in_flight += 1
        line.in_flight += 1
        line.run.in_flight += 1
        self.concurrency.began(self.in_flight)
        if self.allowance.buckets:
            self.allowance.take(tokens)
        probe, scout = self.patience.suspended, not line.known
        if probe:
            self._probing = True
        if scout:
            line.scouting = True
            self._scouts[line] = asyncio.get_running_loop().call_later(SCOUT_SECONDS, self._do_not_wait, line)
        return Seat(self.concurrency.wave, probe, scout, tokens)

    def _do_not_wait(self, line: Line) -> None:
        line.prove(for_all=False)
        self.pump()

    def _answered(self, line: Line, cost: float | None) -> None:
        line.requests += 1
        line.rate.add()
        if cost is not None:
            line.cost = cost + (line.cost or 0.0)
        self.concurrency.answered()
        if not self.patience.calm or self.patience.failures:
            self.patience.answered()
        line.answered = True
        if not line.known:
            line.prove()

    def _failed(self, line: Line, seat: Seat, error: ModelError) -> None:
        line.requests += 1
        line.rate.add()
        if self.allowance.counts_tokens:
            self.allowance.give_back(seat.tokens)
        match error.category:
            case "authentication":
                self.stop(line, error)
            case "not_found" if not line.answered:
                self.stop(line, error)
            case "rate_limit":
                line.prove()
                self._refused(line, seat, error)
            case "connection" | "timeout" | "server_error":
                line.prove(for_all=False)
                self.concurrency.troubled()
                if self.patience.failed(seat.probe):
                    self._give_up(error)
            case _:
                self.patience.answered()
                line.prove()

    def _refused(self, line: Line, seat: Seat, error: ModelError) -> None:
        line.throttled += 1
        if (error.retry_after or 0.0) > LONGEST_RETRY_AFTER:
            self.stop(line, error)
        elif self.concurrency.refused(seat.wave, self.in_flight) and self.patience.refused(error.retry_after):
            self._give_up(error)

    def _give_up(self, error: ModelError) -> None:
        for line in list(self._lines):
            self.stop(line, error)
        self.patience.answered()

    def _look_again(self, delay: float) -> None:
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            if self._timer.when() <= loop.time() + delay:
                return
            self._timer.cancel()
        self._timer = loop.call_later(delay, self._time_passed)

    def _time_passed(self) -> None:
        self._timer = None
        self.pump()
