"""Work that is counted: a busy machine takes longer over it, and counts the same."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(work: Callable[[], object]) -> int:
    """Return how many lines of Python some work runs, here and in threads it begins; every turn of a loop counts."""
    lines = 0

    def see(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        nonlocal lines
        lines += event == "line"
        return see

    before = sys.gettrace(), threading.gettrace()
    threading.settrace(see)
    sys.settrace(see)
    try:
        work()
    finally:
        sys.settrace(before[0])
        threading.settrace(before[1])  # type: ignore[arg-type]  # None is how it began
    return lines


def growth(work: Callable[[int], object], size: int) -> float:
    """Return how much more work twice the size is: 2 where every item costs the same, 4 where it meets all others."""
    work(1)  # what is done once, such as filling caches
    return lines_run(lambda: work(2 * size)) / lines_run(lambda: work(size))
