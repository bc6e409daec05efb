"""What a failed call is called, whichever way it went: one category, one sentence, one next step."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from karenina_core.errors import ModelError, ModelErrorCategory
from karenina_core.redact import redact

LONGEST_REASON = 500  # characters of the provider's own words

BY_STATUS: dict[int, ModelErrorCategory] = {
    400: "bad_request",
    401: "authentication",
    402: "authentication",
    403: "authentication",
    404: "not_found",
    408: "timeout",
    413: "context_length",
    422: "bad_request",
    429: "rate_limit",
}
_WHAT: dict[str, tuple[str, str]] = {
    "authentication": ("{model} refused the key.", "Check the key, its rights and the account's credit."),
    "bad_request": ("{model} did not accept the request.", "Change the setting it names."),
    "connection": ("{model} could not be reached.", "Check the connection and the address."),
    "context_length": ("The prompt is too long for {model}.", "Use another model, or a shorter question."),
    "not_found": ("{model} does not exist there.", "Check the model's name and the address."),
    "rate_limit": ("{model} asks for a slower pace.", "Lower the number of concurrent requests, or try later."),
    "refused": ("{model} refused to answer.", "Look at the question, or use another model."),
    "server_error": ("{model} failed on its side.", "Try again later."),
    "timeout": ("{model} did not answer in time.", "Raise the time limit, or try later."),
    "unexpected": ("The call of {model} failed.", "Read the reason."),
}
_NO_CREDIT = re.compile(r"insufficient[_ ]quota|exceeded your current quota|credit balance|billing", re.IGNORECASE)
_TOO_LONG = re.compile(r"context.?(?:length|window|size)|maximum context|prompt is too long", re.IGNORECASE)
_FILTERED = re.compile(r"content[_ -](?:policy|filter)|content management policy", re.IGNORECASE)


class BrokenReplyError(ModelError):
    """A streamed reply broke off; as an error, since half an answer must not be judged as a whole one.

    Attributes:
        partial: The text that had arrived.
    """

    def __init__(self, error: ModelError, partial: str) -> None:
        begun = f"The reply broke off after {len(partial):,} characters: {partial[:200]!r}."
        why = " ".join(part for part in (error.why, redact(begun)) if part)
        super().__init__(error.what, why, error.next, category=error.category, retry_after=error.retry_after)
        self.partial = partial


def failure(category: ModelErrorCategory, model: str, why: str = "", retry_after: float | None = None) -> ModelError:
    """Return the error for a failed call of `model`, in words for people and without secrets."""
    what, next_step = _WHAT.get(category, _WHAT["unexpected"])
    reason = redact(why)[:LONGEST_REASON]
    return ModelError(what.format(model=repr(model)), reason, next_step, category=category, retry_after=retry_after)


def category_of_status(status: int) -> ModelErrorCategory:
    """Return the category of an HTTP status that is no success."""
    return BY_STATUS.get(status, "server_error" if status >= 500 else "unexpected")


def refined(category: ModelErrorCategory, text: str) -> ModelErrorCategory:
    """Return the category after a look at the provider's own words, which tell more than its status."""
    if category == "rate_limit" and _NO_CREDIT.search(text):
        return "authentication"  # waiting does not fill the account
    if category == "bad_request":
        return "context_length" if _TOO_LONG.search(text) else "refused" if _FILTERED.search(text) else category
    return category


def retry_after(headers: object) -> float | None:
    """Return the seconds a provider asks to wait, whether it gives a number or a date; None when it does not say."""
    if not isinstance(headers, Mapping):
        return None
    named = {str(name).lower(): str(value) for name, value in headers.items()}
    try:
        if "retry-after-ms" in named:
            return _not_negative(float(named["retry-after-ms"]) / 1000)
        return _seconds(named["retry-after"], named.get("date", ""))
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def _seconds(value: str, date: str) -> float:
    try:
        return _not_negative(float(value))
    except ValueError:
        return _not_negative(parsedate_to_datetime(value).timestamp() - _provider_time(date))


def _provider_time(date: str) -> float:
    """Return the time of the provider's own clock, which its words refer to; ours where it does not tell."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return time.time()


def _not_negative(seconds: float) -> float:
    if seconds != seconds:
        raise ValueError("not a number")
    return max(0.0, seconds)
