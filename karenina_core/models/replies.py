"""What is done to every text that comes from, or goes to, a model."""

from __future__ import annotations

from typing import Any

MAX_REPLY = 200_000  # characters kept of one reply
MAX_DEPTH = 50  # levels of JSON in a judge's reply
_UNSTORABLE = dict.fromkeys([0, *range(0xD800, 0xE000)], "\ufffd")


def clean(text: str) -> str:
    """Replace NUL and lone surrogates, which neither databases nor HTTP can carry, by U+FFFD."""
    return text.translate(_UNSTORABLE)


def clean_data(value: Any, depth: int = MAX_DEPTH) -> Any:
    r"""Do the same in decoded JSON, in keys too, where an escape such as `\ud800` can hide them.

    Raises:
        ValueError: It is nested deeper than anything a schema asks for.
    """
    if isinstance(value, str):
        return clean(value)
    if not isinstance(value, dict | list):
        return value
    if not depth:
        raise ValueError("The reply is nested too deeply.")
    if isinstance(value, dict):
        return {clean(key): clean_data(item, depth - 1) for key, item in value.items()}
    return [clean_data(item, depth - 1) for item in value]


def clean_reply(text: str, finish_reason: str | None) -> tuple[str, str | None]:
    """Return a reply fit to be stored, and its finish reason, which is `length` when the text had to be cut."""
    if len(text) > MAX_REPLY:
        text, finish_reason = text[:MAX_REPLY], "length"
    return clean(text), finish_reason
