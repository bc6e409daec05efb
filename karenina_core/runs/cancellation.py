"""Cancelling what works in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress


class Cancellation:
    """Whether a piece of work is to end early. Any thread may ask for it, also before the work has begun."""

    def __init__(self) -> None:
        self._wanted = threading.Event()
        self._task: asyncio.Task[object] | None = None

    @property
    def wanted(self) -> bool:
        """Whether somebody asked for it."""
        return self._wanted.is_set()

    def watch(self) -> None:
        """Let the present task be cancelled.

        Raises:
            CancelledError: Somebody asked for it already.
        """
        self._task = asyncio.current_task()
        if self.wanted:
            raise asyncio.CancelledError

    def ask(self) -> None:
        """Cancel the task, now or when it begins."""
        self._wanted.set()
        task = self._task
        if task is not None:
            with suppress(RuntimeError):  # it has just ended by itself
                task.get_loop().call_soon_threadsafe(task.cancel)
