"""Seats of a lane, and the queue of the calls that wait for one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from karenina_core.errors import ModelError
from karenina_core.models.pace.lines import Line, StoppedError


class Seat(NamedTuple):
    """What a call in flight needs to remember.

    Attributes:
        wave: How often the limit had been cut when it began.
        probe: It finds out whether a suspended model is back.
        scout: It finds out whether the key is right; others wait for it.
        tokens: Its estimate.
    """

    wave: int
    probe: bool = False
    scout: bool = False
    tokens: int = 0


@dataclass(eq=False, slots=True)
class Waiter:
    """A call that waits.

    Attributes:
        line: Whose call it is.
        seat: Gets its seat, why there will be none, or None when it is called back.
        tokens: Its estimate.
    """

    line: Line
    seat: asyncio.Future[Seat | None]
    tokens: int

    @property
    def given(self) -> Seat | None:
        """The seat it was given, None if there is none."""
        settled = self.seat.done() and not self.seat.cancelled() and self.seat.exception() is None
        return self.seat.result() if settled else None


class Queue:
    """The calls that wait in a lane; who waits longest comes first. Every line is told how many of its calls wait.

    Attributes:
        waiters: Those that wait, in their order; for looking only.
    """

    def __init__(self) -> None:
        self.waiters: deque[Waiter] = deque()

    def join(self, line: Line, tokens: int) -> Waiter:
        """Put a call at the end."""
        waiter = Waiter(line, asyncio.get_running_loop().create_future(), tokens)
        self.waiters.append(waiter)
        line.waiting += 1
        return waiter

    def next(self, may: Callable[[Line], bool]) -> Waiter | None:
        """Take out the first call whose line may go on, None if none may."""
        for waiter in self.waiters:
            if may(waiter.line):
                self.waiters.remove(waiter)
                waiter.line.waiting -= 1
                return waiter
        return None

    def drop(self, waiter: Waiter) -> bool:
        """Take out a call that was given up, and say whether it was still waiting."""
        if waiter not in self.waiters:
            return False
        self.waiters.remove(waiter)
        waiter.line.waiting -= 1
        return True

    def recall(self, line: Line) -> None:
        """Let all calls of a line leave the queue without a seat, to see whether they still want one."""
        for waiter in [waiter for waiter in self.waiters if waiter.line is line]:
            self.waiters.remove(waiter)
            line.waiting -= 1
            if not waiter.seat.done():
                waiter.seat.set_result(None)

    def dismiss(self, line: Line, error: ModelError | None) -> None:
        """Let all calls of a line end: as not made because of an error, or cancelled."""
        for waiter in [waiter for waiter in self.waiters if waiter.line is line]:
            self.waiters.remove(waiter)
            line.waiting -= 1
            if waiter.seat.done():
                continue
            if error is None:
                waiter.seat.cancel()
            else:
                waiter.seat.set_exception(StoppedError(line.label, error))
