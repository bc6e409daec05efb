"""Which models are being loaded into this process at this moment, for whoever waits for them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

_names: Counter[str] = Counter()
_lock = threading.Lock()


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Name a model as being loaded, for as long as that takes.

    Args:
        name: As a person knows it, such as `all-MiniLM-L6-v2` or the name of a file.
    """
    with _lock:
        _names[name] += 1
    try:
        yield
    finally:
        with _lock:
            _names[name] -= 1


def being_loaded() -> list[str]:
    """Return the names of the models that are being loaded now, in alphabetical order."""
    with _lock:
        return sorted(name for name, times in _names.items() if times)
