from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from karenina_core import redact as redaction
from karenina_core.redact import HIDDEN, install_log_redaction, redact


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcDEF1234567890abcd",
        "sk-ant-api03-abcDEF1234567890",
        "ghp_abcdefghijklmnopqrst1234",
        "hf_abcdefghijklmnopqrst1234",
        "AIzaSyA1234567890abcdefghijklmnopqrstu",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl",
    ],
)
def test_keys_are_known_by_their_shape(secret: str) -> None:
    assert redact(f"Incorrect key: {secret}.").count(HIDDEN) == 1
    assert secret not in redact(f"Incorrect key: {secret}.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abc.def", f"Authorization: {HIDDEN}"),
        ("{'x-api-key': 'abcdef'}", f"{{'x-api-key': '{HIDDEN}'}}"),
        ("sent Bearer abcdefgh12345", f"sent Bearer {HIDDEN}"),
        ("GET /v1?api_key=abc&x=1", f"GET /v1?api_key={HIDDEN}&x=1"),
        ("postgresql://me:secret@host/db", f"postgresql://{HIDDEN}@host/db"),
    ],
)
def test_keys_are_known_by_their_place(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    ["max_tokens: 16384", "The risk-benefit-of-this-treatment", "a key finding", "https://host/v1/chat", "token limit"],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


def test_values_of_secret_variables_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_DB_PASSWORD", "correct horse")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "parallel")
    assert redact("It was correct horse, in parallel.") == f"It was {HIDDEN}, in parallel."


@pytest.mark.parametrize("quoted", [quote, quote_plus, lambda text: quote(text, safe="")])
@pytest.mark.parametrize("change", [str, lambda text: re.sub("%..", lambda octet: octet[0].lower(), text), quote])
def test_a_secret_is_hidden_in_addresses_too(
    quoted: Callable[[str], str], change: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_ACCESS_KEY", "abc+DEF/1234==")
    redaction.hide("pässwört/~1")
    for secret in ("abc+DEF/1234==", "pässwört/~1"):
        address = f"https://host/v1/{change(quoted(secret))}/models"
        assert redact(address) == f"https://host/v1/{HIDDEN}/models"


def test_a_secret_that_begins_with_another_is_hidden_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "abcdef")
    monkeypatch.setenv("B_TOKEN", "abcdefghi")
    assert redact("abcdefghi") == HIDDEN


def test_a_value_named_at_run_time_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_session_secrets", set())
    redaction.hide("typed-in-a-form")
    redaction.hide("none")
    assert redact("none of typed-in-a-form") == f"none of {HIDDEN}"


def test_logs_are_redacted_with_their_tracebacks() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logger = logging.getLogger("test_redact")
    logger.addHandler(handler)
    try:
        install_log_redaction("test_redact")
        install_log_redaction("test_redact")
        assert len(handler.filters) == 1
        try:
            raise ValueError("Bearer abcdefgh12345")
        except ValueError:
            logger.exception("Sent %s", "sk-proj-abcDEF1234567890abcd")
    finally:
        logger.removeHandler(handler)
    assert "ValueError" in stream.getvalue()
    assert "abcdefgh12345" not in stream.getvalue() and "abcDEF1234567890" not in stream.getvalue()
