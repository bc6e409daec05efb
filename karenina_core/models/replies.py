"""What is done to every text that comes from, or goes to, a model."""

from __future__ import annotations

from typing import Any

from karenina_core.redact import HIDDEN, SHORTEST

MAX_REPLY = 200_000  # characters kept of one reply
MAX_DEPTH = 50  # levels of JSON in a judge's reply
_UNSTORABLE = dict.fromkeys([0, *range(0xD800, 0xE000)], "\ufffd")


def clean(text: str) -> str:
    """Replace NUL and lone surrogates, which neither databases nor HTTP can carry, by U+FFFD."""
    if text.isascii():
        return text.replace("\0", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_UNSTORABLE)
    return text.replace("\0", "\ufffd")


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


def without_key(key: str | None, text: str) -> str:
    """Return a provider's text without the key, should it repeat it; it would be stored, shown and exported."""
    return text.replace(key, HIDDEN) if key and len(key) >= SHORTEST else text
