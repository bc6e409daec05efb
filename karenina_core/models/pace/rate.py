"""How many things happen per minute."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

WINDOW = 60.0  # seconds
FEWEST = 10  # things that are looked at, also when they took longer than the window
MOST = 2000
SOONEST = 1.0  # seconds of watching, and
ENOUGH = 2  # things seen, before anything is said


class Rate:
    """Counts what happens, and says how often: over the last minute, or over the last ten things when they took longer.

    It also goes down while nothing happens.

    Args:
        clock: Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._moments: deque[float] = deque(maxlen=MOST)
        self._since = clock()

    def add(self) -> None:
        """Note that it happened."""
        self._moments.append(self._clock())

    def restart(self) -> None:
        """Measure anew from this moment, such as after a pause."""
        self._moments.clear()
        self._since = self._clock()

    @property
    def per_minute(self) -> float | None:
        """Things per minute, None while too little was seen."""
        now, moments = self._clock(), self._moments
        if len(moments) < ENOUGH or now - self._since < SOONEST:
            return None
        begin = now - WINDOW
        if len(moments) == MOST:
            begin = max(begin, moments[0])
        begin = min(begin, moments[-FEWEST]) if len(moments) >= FEWEST else self._since
        if begin <= self._since:
            return 60.0 * len(moments) / (now - self._since)
        return 60.0 * sum(1 for moment in moments if moment > begin) / (now - begin)
