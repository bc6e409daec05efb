from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from karenina_core.errors import ModelError
from karenina_core.models import make_client
from karenina_core.models.openai.errors import RejectedError, answered, on_the_way, within
from karenina_core.schemas import ModelConfig
from tests.models.fakes import ask


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"error": {"message": "Slow down."}}, "Slow down."),
        ({"error": "Slow down."}, "Slow down."),
        ({"message": "Slow down."}, "Slow down."),
        ({"detail": [{"loc": ["body"], "msg": "Slow down."}]}, "Slow down."),
        ({"error": {"message": {"detail": "Slow down."}}}, "Slow down."),
        ("<html><h1>Slow\n down.</h1></html>", "Slow down."),
        ({}, "It answered with status 429."),
        (None, "It answered with status 429."),
    ],
)
def test_the_endpoints_words_are_found_in_every_shape(body: Any, text: str) -> None:
    error = answered(429, {"retry-after": "3"}, body, "m")
    assert text in error.why
    assert (error.category, error.retry_after) == ("rate_limit", 3.0)


def test_a_rejection_names_the_setting() -> None:
    body = {"error": {"message": "No.", "code": "unsupported_parameter", "param": "temperature"}}
    error = answered(400, {}, body, "m")
    assert isinstance(error, RejectedError)
    assert (error.code, error.param) == ("unsupported_parameter", "temperature")


def test_the_kind_of_an_error_tells_more_than_its_status() -> None:
    assert answered(400, {}, {"error": {"message": "No.", "code": "context_length_exceeded"}}, "m").category == (
        "context_length"
    )
    assert answered(429, {}, {"error": {"message": "No.", "type": "insufficient_quota"}}, "m").category == (
        "authentication"
    )


@pytest.mark.parametrize(("code", "category"), [(429, "rate_limit"), ("503", "server_error"), ("odd", "unexpected")])
def test_an_error_inside_of_a_success_has_a_category(code: Any, category: str) -> None:
    assert within({"message": "No.", "code": code}, "m").category == category


@pytest.mark.parametrize(
    ("error", "category"),
    [
        (aiohttp.ServerDisconnectedError(), "connection"),
        (aiohttp.ClientPayloadError("half"), "connection"),
        (aiohttp.ClientOSError(104, "reset"), "connection"),
        (ConnectionResetError(), "connection"),
        (aiohttp.ServerTimeoutError(), "timeout"),
        (TimeoutError(), "timeout"),
        (RuntimeError("Session is closed"), "unexpected"),
        (ZeroDivisionError("oops"), "unexpected"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value,
)
def test_what_happens_on_the_way_has_a_category(error: Exception, category: str) -> None:
    assert on_the_way(error, "m").category == category


def test_what_is_not_http_is_the_endpoints_fault() -> None:
    async def call() -> str:
        async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"220 mail.example ready\r\n\r\n")
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(babble, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            client = make_client(ModelConfig(model_name="openai/m", endpoint_base_url=url))
            with pytest.raises(ModelError) as caught:
                await client.complete(ask())
            await client.aclose()
        return caught.value.category

    assert asyncio.run(call()) == "server_error"


def test_secrets_are_hidden_in_what_the_endpoint_says() -> None:
    assert "abcdefghijklmnop" not in str(answered(401, {}, "Bearer abcdefghijklmnop", "m"))


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:9/v1", "127.0.0.1:9: Connection refused."),
        ("http://nowhere.invalid:81/v1", "nowhere.invalid:81: "),
    ],
)
def test_who_cannot_be_reached_is_told_in_the_systems_words(url: str, words: str) -> None:
    async def call() -> str:
        client = make_client(ModelConfig(model_name="openai/m", endpoint_base_url=url))
        with pytest.raises(ModelError) as caught:
            await client.complete(ask())
        await client.aclose()
        return str(caught.value)

    said = asyncio.run(call())
    assert words in said
    assert "ssl:" not in said and "Errno" not in said


def test_a_place_that_speaks_no_tls_is_named() -> None:
    async def call() -> str:
        async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"no tls here\r\n")
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(babble, "127.0.0.1", 0) as server:
            place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
            client = make_client(ModelConfig(model_name="openai/m", endpoint_base_url=f"https://{place}/v1"))
            with pytest.raises(ModelError) as caught:
                await client.complete(ask())
            await client.aclose()
        assert caught.value.category == "connection"
        return str(caught.value).partition(place)[2]

    assert "SSL" in asyncio.run(call())


def test_a_key_that_is_not_there_was_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    async def call() -> str:
        client = make_client(ModelConfig(model_name="openai/m"))
        with pytest.raises(ModelError) as caught:
            await client.complete(ask())
        await client.aclose()
        assert caught.value.category == "authentication"
        return caught.value.what

    assert asyncio.run(call()) == "The environment variable 'OPENAI_API_KEY' is not set."
