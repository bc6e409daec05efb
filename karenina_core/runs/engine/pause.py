"""Whether a run may go on: paused and resumed by people or by trouble with the store, and brought to its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from karenina_core.errors import StoreError
from karenina_core.models import Evaluation

T = TypeVar("T")
OnTrouble = Callable[[StoreError, float], None]
"""Gets the error, and when the attempt that failed began, in seconds of the monotonic clock."""


class PauseControl:
    """Holds back what a run would begin. What waits here ends with `CancelledError` when the run is to end.

    Args:
        on_trouble: Called when the store refuses something; pauses the run by `pause`.

    Attributes:
        waiting: How many evaluations wait here.
        accepting: Whether anything new may begin, after a pause at the latest.
        ended: Whether everybody is sent away.
        resumed: When the run last went on, in seconds of the monotonic clock.
    """

    def __init__(self, on_trouble: OnTrouble) -> None:
        self._on_trouble = on_trouble
        self._open = asyncio.Event()
        self._begun: set[Evaluation] = set()
        self.waiting = 0
        self.accepting = True
        self.ended = False
        self.resumed = 0.0

    @property
    def running(self) -> bool:
        """Whether something new may begin at this moment."""
        return self._open.is_set() and self.accepting

    def resume(self) -> None:
        """Let the run go on."""
        self.resumed = time.monotonic()
        self._open.set()

    def pause(self) -> None:
        """Hold back everything new; what has begun is finished."""
        if not self.ended:
            self._open.clear()

    def stop_accepting(self) -> None:
        """Send away who comes to begin something; what has begun is finished and stored."""
        self.accepting = False

    def abandon(self) -> None:
        """Do the same, also to those that wait during a pause."""
        self.stop_accepting()
        self.resume()

    def end(self) -> None:
        """Send away everybody who waits, and everybody who comes."""
        self.ended = True
        self.abandon()

    def allows(self, evaluation: Evaluation) -> bool:
        """Say whether an evaluation may make a call now."""
        return self.running or evaluation in self._begun

    def begin(self, evaluation: Evaluation) -> bool:
        """Say the same, and note that the call is made."""
        allowed = self.allows(evaluation)
        if allowed:
            self._begun.add(evaluation)
        return allowed

    def finish(self, evaluation: Evaluation) -> None:
        """Note that the answer, or the judgement, is complete; what follows waits while the run is paused."""
        self._begun.discard(evaluation)

    async def wait(self) -> None:
        """Return when something new may begin.

        Raises:
            asyncio.CancelledError: Nothing may; the run is to end.
        """
        self.waiting += 1
        try:
            await self._open.wait()
        finally:
            self.waiting -= 1
        if not self.accepting:
            raise asyncio.CancelledError

    async def retry_while_store_fails(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do work that the store may refuse, again each time the run goes on.

        Raises:
            asyncio.CancelledError: The run is to end.
        """
        while True:
            began = time.monotonic()
            try:
                return await work()
            except StoreError as error:
                if not self.accepting:
                    raise asyncio.CancelledError from error
                self._on_trouble(error, began)
            await self.wait()
