"""One bound on provider calls in flight for the whole process, whatever runs and event loops there are."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque

from karenina_core.errors import ConfigError

VARIABLE = "KARENINA_MAX_CONCURRENT"
USUAL = 256

_Ticket = tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]


def max_concurrent() -> int:
    """Return how many provider calls this process may have in flight, by `KARENINA_MAX_CONCURRENT`.

    Raises:
        ConfigError: It is no whole number above zero.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return USUAL
    if not text.isascii() or not text.isdigit() or not int(text):
        raise ConfigError(f"{VARIABLE} cannot be used.", f"It is {text!r}.", "Give a whole number, such as 32.")
    return int(text)


class ProcessSlots:
    """Slots that coroutines of several event loops share; who waits longest is served first.

    Attributes:
        most: Slots there are.
    """

    def __init__(self, most: int = USUAL) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._waiting: deque[_Ticket] = deque()
        self._taken = 0

    def try_take(self) -> bool:
        """Take a slot, if one is free at this moment."""
        with self._lock:
            if self._taken < self.most:
                self._taken += 1
                return True
        return False

    async def take(self) -> None:
        """Take a slot, as soon as one is free; it has to be given back."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._taken < self.most:
                self._taken += 1
                return
            ticket: _Ticket = (loop, loop.create_future())
            self._waiting.append(ticket)
        try:
            await ticket[1]
        except asyncio.CancelledError:
            with self._lock:
                served = ticket not in self._waiting
                if not served:
                    self._waiting.remove(ticket)
            if served:
                self.give_back()
            raise

    def give_back(self) -> None:
        """Give a slot to who waits longest, or leave it free."""
        with self._lock:
            while self._waiting:
                loop, future = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(_wake, future)
                except RuntimeError:  # that loop has ended, and its waiters with it
                    continue
                return
            self._taken -= 1


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


process_slots = ProcessSlots()
