"""What is done to every text that comes from, or goes to, a model."""

from __future__ import annotations

MAX_REPLY = 200_000  # characters kept of one reply
_UNSTORABLE = dict.fromkeys([0, *range(0xD800, 0xE000)], "\ufffd")


def clean(text: str) -> str:
    """Replace NUL and lone surrogates, which neither databases nor HTTP can carry, by U+FFFD."""
    return text.translate(_UNSTORABLE)


def clean_reply(text: str, finish_reason: str | None) -> tuple[str, str | None]:
    """Return a reply fit to be stored, and its finish reason, which is `length` when the text had to be cut."""
    if len(text) > MAX_REPLY:
        text, finish_reason = text[:MAX_REPLY], "length"
    return clean(text), finish_reason
