"""One click begins one run: the second click of a double click begins none, which would be paid as well."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

ONE_CLICK_SECONDS = 5.0  # from the begin of a run to the second click


@dataclass
class DuplicateStartGuard:
    """The run that one person began last: what was asked for, its id, and when on the monotonic clock, in seconds.

    Attributes:
        lock: To be held from `repeated` to `began`: the second click may come in a thread of its own.
    """

    asked: tuple[object, ...] = ()
    run_id: str = ""
    when: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def repeated(self, asked: tuple[object, ...], clicked: float) -> str | None:
        """Return the run that was begun a moment ago for the same, so that none is begun for it now.

        Args:
            asked: What is asked for.
            clicked: When, on the monotonic clock; a slow page may take long from there to here.
        """
        same = bool(self.run_id) and self.asked == asked
        return self.run_id if same and clicked - self.when <= ONE_CLICK_SECONDS else None

    def began(self, asked: tuple[object, ...], run_id: str) -> None:
        """Note a run that was begun; the moments after which another click is a wish of its own count from now."""
        self.asked, self.run_id, self.when = asked, run_id, time.monotonic()
