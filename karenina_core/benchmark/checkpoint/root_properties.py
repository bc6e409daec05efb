"""The additional properties of a whole file."""

from __future__ import annotations

from typing import Any

from karenina_core.benchmark.checkpoint.properties import UNREADABLE, plain
from karenina_core.benchmark.checkpoint.vocabulary import (
    FORMAT_VERSION_NAME,
    GLOBAL_CARRIERS,
    GLOBAL_RUBRIC_DESCRIPTION,
    GLOBAL_RUBRIC_NAME,
)

_MANAGED = frozenset({FORMAT_VERSION_NAME, GLOBAL_RUBRIC_NAME, GLOBAL_RUBRIC_DESCRIPTION, *GLOBAL_CARRIERS})


def is_custom(name: str) -> bool:
    """Whether the property belongs to the user rather than to the format."""
    return name not in _MANAGED


def decode(name: str, value: Any) -> Any:
    """Return the value as the program uses it, or `UNREADABLE`."""
    if name in GLOBAL_CARRIERS:
        return value if isinstance(plain(value), list) else UNREADABLE
    if name in _MANAGED:
        return value if isinstance(value, str) else UNREADABLE
    return value
