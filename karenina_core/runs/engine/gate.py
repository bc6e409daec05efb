"""The gate of a run: open while it may go on, shut during a pause, and the patience with a store in trouble."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from karenina_core.errors import StoreError

T = TypeVar("T")
PATIENCE_SECONDS = 60.0
"""How long somebody who left a run goes on trying to store what was paid for."""

_AGAIN_SECONDS = 1.0


class Gate:
    """Everything a run does passes here.

    Args:
        pause: Pauses the run because of trouble with the store; shuts this gate.

    Attributes:
        waiting: How many wait here.
        ended: Whether everybody is sent away.
        turned_away: Whether everybody is who comes to begin something.
    """

    def __init__(self, pause: Callable[[StoreError], Awaitable[None]]) -> None:
        self._pause = pause
        self._open = asyncio.Event()
        self._openings = 0
        self._left: float | None = None
        self.waiting = 0
        self.ended = False
        self.turned_away = False

    @property
    def is_open(self) -> bool:
        """Whether the run may go on."""
        return self._open.is_set()

    @property
    def lets_begin(self) -> bool:
        """Whether something new may begin at this moment, so that nobody needs to `wait`."""
        return self._open.is_set() and not self.ended and not self.turned_away

    def open(self) -> None:
        """Let the run go on."""
        self._openings += 1
        self._open.set()

    def shut(self) -> None:
        """Let nothing more through."""
        if not self.ended:
            self._open.clear()

    def end(self) -> None:
        """Send away everybody who waits, and everybody who comes."""
        self.ended = True
        self._open.set()

    def turn_away(self) -> None:
        """Send away everybody who comes to begin something; what is under way is finished and stored."""
        self.turned_away = True

    def leave(self) -> None:
        """Begin nothing new, and pause no more: what is under way has a while left to be stored."""
        self.turn_away()
        self._left = time.monotonic()
        self.open()

    async def wait(self) -> None:
        """Return when something new may begin.

        Raises:
            asyncio.CancelledError: The run is to end.
        """
        await self._opened()
        if self.turned_away:
            raise asyncio.CancelledError

    async def _opened(self) -> None:
        self.waiting += 1
        try:
            await self._open.wait()
        finally:
            self.waiting -= 1
        if self.ended:
            raise asyncio.CancelledError

    async def patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do work that the store may refuse, again each time the run goes on.

        What was paid for is not given up because the disk is full.

        Raises:
            asyncio.CancelledError: The run is to end.
        """
        while True:
            openings = self._openings
            try:
                return await work()
            except StoreError as error:
                if self._left is not None:
                    if time.monotonic() - self._left > PATIENCE_SECONDS:
                        raise asyncio.CancelledError from error
                    await asyncio.sleep(_AGAIN_SECONDS)
                    continue
                # Trouble from before the last opening may be over; it deserves another attempt, not another pause.
                if self.is_open and not self.ended and openings == self._openings:
                    await self._pause(error)
            await self._opened()
