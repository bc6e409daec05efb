"""Puts every failure of a provider call into one of our categories.

litellm's own classes are not enough: it reports a refused connection and a broken body as `InternalServerError`, and
several statuses as a plain `APIError`. Its texts may repeat the key, so they are redacted.
"""

from __future__ import annotations

import re

from karenina_core.errors import ModelError, ModelErrorCategory
from karenina_core.models.failures import category_of_status, failure, refined, retry_after
from karenina_core.models.openai.errors import RefusedAddressError

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
_NO_KEY = re.compile(
    r"missing (?:\w+ )?credentials|(?:missing|no) .{0,40}api.?key|api_key client option", re.IGNORECASE
)


def classify(error: Exception, model: str) -> ModelError:
    """Return the error for whatever litellm raised."""
    refused = _refusal(error)
    if refused is not None:
        return failure("bad_request", model, str(refused))
    text = _plain(str(error))
    category = _category(error, text)
    return failure(category, model, text, retry_after(getattr(error, "litellm_response_headers", None)))


def _refusal(error: BaseException | None) -> RefusedAddressError | None:
    """Return the refusal of an address that led to an error, some layers further down."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        found = getattr(error, "os_error", error)
        if isinstance(found, RefusedAddressError):
            return found
        error = error.__cause__ or error.__context__
    return None


def _category(error: Exception, text: str) -> ModelErrorCategory:
    category = _by_kind(error)
    if category in ("server_error", "connection", "unexpected") and _NO_KEY.search(text):
        return "authentication"  # litellm noticed before anything was sent
    if category in ("server_error", "connection") and "No module named" in text:
        return "unexpected"
    if category == "server_error" and "Connection error" in text:
        return "connection"
    return refined(category, text)


def _by_kind(error: Exception) -> ModelErrorCategory:
    for kind in type(error).__mro__:
        if kind.__name__ in BY_CLASS:
            return BY_CLASS[kind.__name__]
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return category_of_status(status)
    return "unexpected"


def _plain(text: str) -> str:
    # "litellm.RateLimitError: RateLimitError: OpenAIException - Slow down." -> "Slow down."
    text = text.partition("Traceback (most recent call last)")[0]
    return re.sub(r"^(?:litellm\.)?(?:\w+(?:Error|Exception|Timeout)\w*(?::| -)\s*)+", "", text).strip()
