"""Python's search for garbage in cycles, less often while runs are carried out.

What an evaluation leaves is freed at once, without a search. The usual settings search all that lives, a large
benchmark and its templates among it, several times a second: a tenth of the work of a run.
"""

from __future__ import annotations

import gc
import threading

_LESS_OFTEN = (20_000, 20, 20)
"""New objects before a search among the youngest, and searches before one among older ones."""


class _Quiet:
    """Counts who wants quiet; the usual settings return with the last one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._usual = gc.get_threshold()

    def begin(self) -> None:
        """Search less often, and not among what lives already."""
        with self._lock:
            self._holders += 1
            if self._holders == 1:
                self._usual = gc.get_threshold()
                gc.freeze()
                if 0 < self._usual[0] < _LESS_OFTEN[0]:
                    gc.set_threshold(*_LESS_OFTEN)

    def end(self) -> None:
        """Return to the usual settings when nobody else wants quiet."""
        with self._lock:
            self._holders -= 1
            if not self._holders:
                gc.set_threshold(*self._usual)
                gc.unfreeze()


quiet = _Quiet()
"""Of this process."""
