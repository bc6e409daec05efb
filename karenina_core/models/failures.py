"""What a failed call is called, whichever client made it: one category, one sentence, one next step."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from karenina_core.errors import ModelError, ModelErrorCategory
from karenina_core.redact import redact

_LONGEST_REASON = 500  # characters of the provider's own words

_BY_STATUS: dict[int, ModelErrorCategory] = {
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
_TEXTS: dict[str, tuple[str, str]] = {
    "authentication": ("{model} refused the key.", "Check the key, its rights and the account's credit."),
    "bad_request": ("{model} did not accept the request.", "Change the setting it names."),
    "connection": ("{model} could not be reached.", "Check the connection and the address."),
    "context_length": ("The prompt is too long for {model}.", "Use another model, or a shorter question."),
    "empty": ("{model} returned nothing.", "Resume to ask it again, or use another model."),
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


def failure(category: ModelErrorCategory, model: str, why: str = "", retry_after: float | None = None) -> ModelError:
    """Return the error for a failed call of `model`, in words for people and without secrets."""
    what, next_step = _TEXTS.get(category, _TEXTS["unexpected"])
    reason = redact(why)[:_LONGEST_REASON]
    return ModelError(what.format(model=repr(model)), reason, next_step, category=category, retry_after=retry_after)


def category_of_status(status: int) -> ModelErrorCategory:
    """Return the category of an HTTP status that is no success."""
    return _BY_STATUS.get(status, "server_error" if status >= 500 else "unexpected")


def refined(category: ModelErrorCategory, text: str) -> ModelErrorCategory:
    """Return the category in the light of the provider's own words, which say more than its status."""
    if category == "rate_limit" and _NO_CREDIT.search(text):
        return "authentication"  # waiting does not fill the account
    if category == "bad_request":
        return "context_length" if _TOO_LONG.search(text) else "refused" if _FILTERED.search(text) else category
    return category


def retry_after(headers: object) -> float | None:
    """Return the seconds a provider asks to wait, given as a number or as a date; None when it does not say."""
    if not isinstance(headers, Mapping):
        return None
    values = {str(name).lower(): str(value) for name, value in headers.items()}
    text = values.get("retry-after", "")
    try:
        seconds = float(values["retry-after-ms"]) / 1000 if "retry-after-ms" in values else float(text)
    except ValueError:
        until = _timestamp(text)
        # The date refers to the provider's own clock.
        seconds = float("nan") if until is None else until - (_timestamp(values.get("date", "")) or time.time())
    return max(0.0, seconds) if seconds == seconds else None


def _timestamp(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
