"""How values appear in explanations: quoted, and never too long."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from karenina_core.schemas.primitives.base import Explanation, Step

LONGEST_VALUE = 200  # characters of one value
MOST_ITEMS = 5  # items of one list
NOTHING_EXTRACTED = "Nothing was extracted, which never passes."


def quoted(value: Any) -> str:
    """Return `value` as people read it: strings in double quotes, long ones shortened."""
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= LONGEST_VALUE else f'"{_cut(value)}"'
    try:
        text = repr(value)
    except ValueError:  # an int of more digits than Python prints
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= LONGEST_VALUE else _cut(text)


def listed(values: Iterable[Any]) -> str:
    """Return several values in one line, the first few of them."""
    shown = [quoted(value) for value in values]
    more = f" and {len(shown) - MOST_ITEMS} more" if len(shown) > MOST_ITEMS else ""
    return ", ".join(shown[:MOST_ITEMS]) + more


def number(value: float) -> str:
    """Return a number without the noise of binary fractions: `0.05`, not `0.05000000000000004`."""
    if isinstance(value, int) or not math.isfinite(value):
        return quoted(value)
    return f"{value:.10g}"


def within(low: str | None, high: str | None) -> str:
    """Return bounds in words, to follow "is" or "is not"."""
    if low and high:
        return f"between {low} and {high}"
    if low:
        return f"at least {low}"
    return f"at most {high}" if high else "anything, as no bounds are set"


def failed(reason: str, *steps: Step) -> Explanation:
    """Return the explanation of a value that does not pass."""
    return Explanation(False, steps, reason)


def _cut(text: str) -> str:
    return f"{text[:LONGEST_VALUE]}…"
