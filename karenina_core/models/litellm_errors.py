"""Puts every failure of a provider call into one of our categories.

litellm's own classes are not enough: it reports a refused connection and a broken body as `InternalServerError`, and
several statuses as a plain `APIError`. Its texts may repeat the key, so they are redacted.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from karenina_core.errors import ModelError, ModelErrorCategory
from karenina_core.redact import redact

LONGEST_REASON = 500  # characters of the provider's own words

BY_CLASS: dict[str, ModelErrorCategory] = {
    "APIConnectionError": "connection",
    "APIResponseValidationError": "server_error",
    "AuthenticationError": "authentication",
    "BadGatewayError": "server_error",
    "BadRequestError": "bad_request",
    "BlockedPiiEntityError": "refused",
    "BudgetExceededError": "authentication",
    "ContentPolicyViolationError": "refused",
    "ContextWindowExceededError": "context_length",
    "GuardrailRaisedException": "refused",
    "InvalidRequestError": "bad_request",
    "ModelNotMappedError": "not_found",
    "NotFoundError": "not_found",
    "PaymentRequiredError": "authentication",
    "PermissionDeniedError": "authentication",
    "RateLimitError": "rate_limit",
    "RejectedRequestError": "refused",
    "ServiceUnavailableError": "server_error",
    "Timeout": "timeout",
    "TimeoutError": "timeout",
}
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
_NO_KEY = re.compile(
    r"missing (?:\w+ )?credentials|(?:missing|no) .{0,40}api.?key|api_key client option", re.IGNORECASE
)
_NO_CREDIT = re.compile(r"insufficient[_ ]quota|exceeded your current quota|credit balance|billing", re.IGNORECASE)
_TOO_LONG = re.compile(r"context.?(?:length|window|size)|maximum context|prompt is too long", re.IGNORECASE)
_FILTERED = re.compile(r"content[_ -](?:policy|filter)|content management policy", re.IGNORECASE)


def failure(category: ModelErrorCategory, model: str, why: str = "", retry_after: float | None = None) -> ModelError:
    """Return the error for a failed call of `model`, in words for people and without secrets."""
    what, next_step = _WHAT.get(category, _WHAT["unexpected"])
    reason = redact(why)[:LONGEST_REASON]
    return ModelError(what.format(model=repr(model)), reason, next_step, category=category, retry_after=retry_after)


def classify(error: Exception, model: str) -> ModelError:
    """Return the error for whatever litellm raised."""
    text = _plain(str(error))
    category = _category(error, text)
    return failure(category, model, text, _retry_after(getattr(error, "litellm_response_headers", None)))


def _category(error: Exception, text: str) -> ModelErrorCategory:
    category = _by_kind(error)
    if category in ("server_error", "connection", "unexpected") and _NO_KEY.search(text):
        return "authentication"  # litellm noticed before anything was sent
    if category == "rate_limit" and _NO_CREDIT.search(text):
        return "authentication"  # waiting does not fill the account
    if category == "bad_request":
        return "context_length" if _TOO_LONG.search(text) else "refused" if _FILTERED.search(text) else category
    if category in ("server_error", "connection") and "No module named" in text:
        return "unexpected"
    if category == "server_error" and "Connection error" in text:
        return "connection"
    return category


def _by_kind(error: Exception) -> ModelErrorCategory:
    for kind in type(error).__mro__:
        if kind.__name__ in BY_CLASS:
            return BY_CLASS[kind.__name__]
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return BY_STATUS.get(status, "server_error" if status >= 500 else "unexpected")
    return "unexpected"


def _plain(text: str) -> str:
    # "litellm.RateLimitError: RateLimitError: OpenAIException - Slow down." -> "Slow down."
    text = text.partition("Traceback (most recent call last)")[0]
    return re.sub(r"^(?:litellm\.)?(?:\w+(?:Error|Exception|Timeout)\w*(?::| -)\s*)+", "", text).strip()


def _retry_after(headers: object) -> float | None:
    if not isinstance(headers, Mapping):
        return None
    named = {str(name).lower(): str(value) for name, value in headers.items()}
    try:
        if "retry-after-ms" in named:
            return max(0.0, float(named["retry-after-ms"]) / 1000)
        return _seconds(named["retry-after"])
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = parsedate_to_datetime(value).timestamp() - time.time()
    if seconds != seconds:
        raise ValueError(value)
    return max(0.0, seconds)
