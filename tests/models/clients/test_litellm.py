"""What only calls through litellm do; the rest is in `test_provider_clients.py`."""

from __future__ import annotations

import inspect
import time
from email.utils import formatdate
from typing import Any

import pytest

from karenina_core.models.clients.litellm import BY_CLASS, classify
from karenina_core.models.failures import failure
from tests.models.conftest import Way

# Signals between parts of litellm's proxy, which a library call never raises, and the base of all.
INTERNAL = {"ModifyResponseException", "SensitiveDataRouteException", "OpenAIError"}


def test_every_error_of_litellm_has_a_category() -> None:
    from litellm import exceptions

    own = [
        kind
        for name, kind in inspect.getmembers(exceptions, inspect.isclass)
        if issubclass(kind, Exception) and kind.__module__ == exceptions.__name__ and name not in INTERNAL
    ]
    assert len(own) > 20
    for kind in own:
        bases = [base for base in kind.__mro__ if base.__module__ == exceptions.__name__]
        has_status = any("status_code" in inspect.getsource(base) for base in bases)
        assert has_status or {base.__name__ for base in kind.__mro__} & {*BY_CLASS}, kind


def rate_limit(headers: Any) -> Exception:
    class RateLimitError(Exception):
        litellm_response_headers = headers

    return RateLimitError("litellm.RateLimitError: RateLimitError: OpenAIException - Slow down.")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_how_long_to_wait_is_read_in_every_spelling(headers: Any, seconds: float | None) -> None:
    assert classify(rate_limit(headers), "m").retry_after == seconds


def test_a_date_to_wait_for_becomes_seconds() -> None:
    seconds = classify(rate_limit({"retry-after": formatdate(time.time() + 30, usegmt=True)}), "m").retry_after
    assert seconds is not None and 25 < seconds <= 31


def test_the_providers_own_words_are_kept_without_class_names() -> None:
    error = classify(rate_limit({}), "openai/gpt")
    assert str(error).startswith("'openai/gpt' asks for a slower pace. Slow down.")


def test_an_unknown_error_is_not_retried() -> None:
    assert classify(ZeroDivisionError("oops"), "m").category == "unexpected"


def test_long_reasons_are_cut_and_secrets_hidden() -> None:
    error = failure("server_error", "m", "Bearer abcdefghijklmnop " + "x" * 10_000)
    assert "abcdefghijklmnop" not in str(error)
    assert len(error.why) <= 500


def test_the_provider_must_be_named(direct: Way) -> None:
    error = direct.refusal(interface="litellm", model_name="no-such-thing", endpoint_base_url=None)
    assert error.category == "bad_request"
    assert not direct.server.requests
