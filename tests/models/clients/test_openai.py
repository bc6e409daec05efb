"""What only direct calls do; what they share with litellm is in `test_provider_clients.py`."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import aiohttp
import pytest

from karenina_core.errors import ConfigError, ModelError
from karenina_core.models import PROVIDERS, call_key, check_access, make_client
from karenina_core.models.clients.connections import MAX_BODY, connection_failure
from karenina_core.models.clients.litellm import LitellmClient
from karenina_core.models.clients.openai import OpenAIClient, Settings, is_strict, route_of, settings_of
from karenina_core.models.clients.openai_reply import RejectedError
from karenina_core.models.failures import failure
from karenina_core.schemas import ModelConfig
from tests.faults.openai_server import DROPPED, Reply, failing
from tests.models.conftest import KEY, Way
from tests.models.fakes import SCHEMA, ask, judge

EIGHT = '{"count": 8}'
LOCAL = "http://127.0.0.1:11434/v1"


# Where to


@pytest.mark.parametrize(
    ("settings", "route"),
    [
        ({"model_name": "openai/gpt-4.1"}, ("https://api.openai.com/v1", "gpt-4.1", "openai")),
        ({"model_name": "gpt-4.1-mini"}, ("https://api.openai.com/v1", "gpt-4.1-mini", "openai")),
        ({"model_provider": "openai", "model_name": "o3"}, ("https://api.openai.com/v1", "o3", "openai")),
        ({"model_name": "openai/ft:gpt-4.1:us"}, ("https://api.openai.com/v1", "ft:gpt-4.1:us", "openai")),
        (
            {"interface": "langchain", "model_provider": "openai", "model_name": "gpt-4.1-mini"},
            ("https://api.openai.com/v1", "gpt-4.1-mini", "openai"),
        ),
        (
            {"interface": "openrouter", "model_name": "openai/gpt-4o"},
            ("https://openrouter.ai/api/v1", "openai/gpt-4o", "openrouter"),
        ),
        ({"model_name": "groq/llama-3.1-8b"}, ("https://api.groq.com/openai/v1", "llama-3.1-8b", "groq")),
        (
            {"interface": "openai_endpoint", "model_name": "meta-llama/Llama-3.1-8B", "endpoint_base_url": LOCAL},
            (LOCAL, "meta-llama/Llama-3.1-8B", "openai"),
        ),
        ({"model_name": "llama3.2", "endpoint_base_url": f"{LOCAL}/"}, (LOCAL, "llama3.2", "")),
        ({"model_name": "hosted_vllm/qwen", "endpoint_base_url": LOCAL}, (LOCAL, "qwen", "hosted_vllm")),
        (
            {"interface": "litellm", "model_name": "openai/gpt-test", "endpoint_base_url": LOCAL},
            (LOCAL, "gpt-test", "openai"),
        ),
    ],
)
def test_models_that_speak_the_protocol_are_called_directly(settings: dict[str, Any], route: tuple[str, ...]) -> None:
    assert route_of(ModelConfig(**settings)) == route
    assert isinstance(make_client(ModelConfig(**settings)), OpenAIClient)


@pytest.mark.parametrize(
    "settings",
    [
        {"interface": "litellm", "model_name": "openai/gpt-4.1"},
        {"model_name": "anthropic/claude-sonnet-4-5"},
        {"model_name": "claude-sonnet-4-5"},
        {"model_name": "mistral/mistral-large-latest"},
        {"model_name": "azure/gpt-4.1"},
        {"model_name": "openai/o1-pro"},
        {"model_name": "text-completion-openai/davinci"},
        {"model_name": "ollama/llama3.2", "endpoint_base_url": "http://127.0.0.1:11434"},
    ],
)
def test_all_others_go_through_litellm(settings: dict[str, Any]) -> None:
    assert isinstance(make_client(ModelConfig(**settings)), LitellmClient)
    with pytest.raises(ConfigError, match="not known to speak"):
        OpenAIClient(ModelConfig(**settings))


def test_litellm_is_chosen_by_name_on_the_command_line() -> None:
    chosen = ModelConfig.parse("litellm:openai/gpt-4.1", temperature=0)
    assert (chosen.interface, chosen.id, chosen.transport) == ("litellm", "openai/gpt-4.1", "provider")


def test_calls_are_remembered_alike_whichever_way_they_went() -> None:
    settings = {"temperature": 0.3, "max_tokens": 99, "extra_kwargs": {"top_p": 0.9}}
    keys = {
        call_key(ModelConfig.parse(text, **settings), judge())
        for text in ("openai/gpt-4.1-mini", "litellm:openai/gpt-4.1-mini")
    }
    # The identity the first release gave this call.
    assert keys == {"2b6a7c51ca41cdd237c52f41843dbbf7d80cdcbbbc5063e468c3bb1109b5a421"}


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "OPENAI_API_BASE", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_where_the_environment_leads_elsewhere_litellm_follows_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert route_of(ModelConfig(model_name="openai/gpt-4.1")) is None
    assert route_of(ModelConfig(model_name="llama3.2", endpoint_base_url=LOCAL)) is not None
    monkeypatch.setenv("NO_PROXY", "api.openai.com")
    assert (route_of(ModelConfig(model_name="openai/gpt-4.1")) is None) == name.startswith("OPENAI")


@pytest.mark.parametrize("provider", [item for item in PROVIDERS if item.base_url], ids=lambda item: item.title)
def test_every_known_endpoint_may_get_its_providers_key(provider: Any) -> None:
    name, variable = f"{provider.prefixes[0]}/x", provider.variables[0]
    check_access(ModelConfig(model_name=name, endpoint_base_url=provider.base_url, api_key_env=variable))


# What is sent


def settings(**given: Any) -> Settings:
    config = ModelConfig(**{"model_name": "openai/gpt", "max_tokens": 9} | given)
    route = route_of(config)
    assert route is not None
    return settings_of(config, route)


def test_the_length_of_a_reply_is_named_as_the_endpoint_knows_it_or_as_it_was_given() -> None:
    assert settings().values == {"model": "gpt", "temperature": 0.1, "max_completion_tokens": 9}
    assert settings(endpoint_base_url=LOCAL).values["max_tokens"] == 9
    values = settings(endpoint_base_url=LOCAL, extra_kwargs={"max_completion_tokens": 5}).values
    assert values == {"model": "gpt", "temperature": 0.1, "max_completion_tokens": 5}


def test_openrouter_is_asked_what_a_call_costs() -> None:
    assert settings(interface="openrouter", model_name="x/y").values["usage"] == {"include": True}


@pytest.mark.parametrize("name", ["drop_params", "num_retries", "timeout", "caching", "stream"])
def test_options_of_litellm_and_streaming_are_not_sent(name: str) -> None:
    assert name not in settings(extra_kwargs={name: True}).values


def test_a_body_of_ones_own_replaces_neither_model_nor_messages() -> None:
    body = {"model": "dearer", "messages": [], "top_k": 1}
    values = settings(extra_kwargs={"extra_body": body}).values
    assert values["model"] == "gpt" and "messages" not in values and values["top_k"] == 1


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (SCHEMA, True),
        ({"type": "object", "additionalProperties": {"type": "string"}}, False),
        ({"type": "object", "properties": {"a": {}}, "required": [], "additionalProperties": False}, False),
        ({**SCHEMA, "$defs": {"Inner": {"type": "object", "properties": {}}}}, False),
    ],
)
def test_strict_mode_is_asked_for_when_the_schema_allows_it(direct: Way, schema: dict[str, Any], strict: bool) -> None:
    assert is_strict(schema) is strict
    direct.complete(ask(schema=schema))
    assert direct.server.requests[0]["response_format"]["json_schema"]["strict"] is strict


def test_a_model_without_schemas_is_asked_by_a_tool(direct: Way) -> None:
    direct.server.script = lambda sent: (
        Reply(tool_arguments=EIGHT, finish_reason="tool_calls") if "tools" in sent else failing(400, "No schemas.")
    )
    assert direct.complete(judge()).text == EIGHT
    assert direct.server.requests[1]["tools"][0]["function"]["parameters"] == SCHEMA


def refusing(*names: str) -> Callable[[dict[str, Any]], Reply]:
    """Script a model that does not know some settings, in the words of OpenAI."""

    def script(sent: dict[str, Any]) -> Reply:
        for name in names:
            if name in sent:
                text = f"Unsupported parameter: '{name}' is not supported with this model."
                return failing(400, text, code="unsupported_parameter", param=name)
        return Reply(EIGHT)

    return script


def test_the_length_of_replies_is_sent_under_the_name_the_model_knows(direct: Way) -> None:
    direct.server.script = refusing("max_tokens")
    replies = direct.complete_all([ask(), ask("Again?")], max_tokens=99)
    assert "not_accepted" not in replies[0].provenance
    assert [sent.get("max_completion_tokens") for sent in direct.server.requests] == [None, 99, 99]


def test_what_the_model_does_not_accept_is_left_out_and_reported(direct: Way) -> None:
    direct.server.script = refusing("max_tokens", "max_completion_tokens", "temperature")
    first, second = direct.complete_all([judge(), ask()], max_tokens=99, temperature=0.3)
    assert first.text == second.text == EIGHT
    assert first.provenance["not_accepted"] == second.provenance["not_accepted"] == "max_tokens 99, temperature 0.3"
    assert len(direct.server.requests) == 5
    assert "response_format" in direct.server.requests[3]


def test_a_setting_is_recognised_in_the_providers_words_alone(direct: Way) -> None:
    text = "'temperature' does not support 0.1 with this model. Only the default (1) value is supported."
    direct.server.script = lambda sent: failing(400, text) if "temperature" in sent else Reply("ok")
    assert direct.complete().provenance["not_accepted"] == "temperature 0.1"


def test_what_was_asked_for_by_name_is_never_left_out(direct: Way) -> None:
    direct.server.script = refusing("top_p")
    error = direct.refusal(extra_kwargs={"top_p": 0.5})
    assert error.category == "bad_request"
    assert "top_p" in str(error)
    assert len(direct.server.requests) == 1


@pytest.mark.parametrize(
    ("text", "param"),
    [
        ("temperature is out of range", "temperature"),
        ("Unsupported parameter", "top_p"),
        ("Unsupported parameter: 'logit_bias'", ""),
        ("Unsupported parameter", "max_tokens"),
    ],
)
def test_a_refusal_of_something_else_changes_nothing(text: str, param: str) -> None:
    assert settings().without(RejectedError(failure("bad_request", "m", text), "", param)) is None


def test_what_one_call_found_out_is_not_forgotten_by_another(direct: Way) -> None:
    direct.server.script = lambda sent: (
        failing(400, "No response_format here.") if "response_format" in sent else Reply(EIGHT)
    )

    async def call() -> None:
        client = make_client(direct.model())
        slow = asyncio.create_task(client.complete(ask()))
        await asyncio.sleep(0)
        await client.complete(judge())
        await slow
        await client.complete(judge("Six legs."))
        await client.aclose()

    asyncio.run(call())
    assert len([sent for sent in direct.server.requests if "response_format" in sent]) == 1


def test_the_account_at_openai_is_named_there_only(direct: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORGANIZATION", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    at_openai = OpenAIClient(ModelConfig(model_name="openai/gpt-4.1"))
    assert at_openai._headers(KEY) == {
        "Authorization": f"Bearer {KEY}",
        "OpenAI-Organization": "org-1",
        "OpenAI-Project": "proj-1",
    }
    assert set(at_openai._headers("a-key-that-was-typed")) == {"Authorization"}
    direct.complete()
    assert not [name for name in direct.server.headers[0] if name.startswith("OpenAI")]


def test_a_key_that_is_not_there_was_not_refused(monkeypatch: pytest.MonkeyPatch, direct: Way) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    error = direct.refusal(endpoint_base_url=None)
    assert error.category == "authentication"
    assert error.what == "The environment variable 'OPENAI_API_KEY' is not set."


# Connections


def test_connections_are_kept_and_used_again(direct: Way) -> None:
    direct.complete_all([ask(str(number)) for number in range(5)])
    assert len(set(direct.server.connections)) == 1


def test_a_client_works_in_one_event_loop_after_another(direct: Way) -> None:
    client = make_client(direct.model())

    async def call() -> str:
        reply = await client.complete(ask())
        await client.aclose()
        return reply.text

    assert [asyncio.run(call()), asyncio.run(call())] == ["ok", "ok"]


def test_nothing_is_left_open(direct: Way, recwarn: pytest.WarningsRecorder) -> None:
    direct.server.script = [Reply("ok"), DROPPED, failing(500), Reply("ok")]
    gc.collect()
    recwarn.clear()  # what other tests left

    async def call() -> None:
        client = make_client(direct.model())
        for _ in range(4):
            with suppress(ModelError):
                await client.complete(ask())
        await client.aclose()
        await asyncio.sleep(0.01)

    asyncio.run(call())
    gc.collect()
    assert not [warning for warning in recwarn if issubclass(warning.category, ResourceWarning)]


def test_a_cancelled_call_is_given_up_at_once(direct: Way) -> None:
    direct.server.delay = 60

    async def call() -> None:
        client = make_client(direct.model())
        task = asyncio.create_task(client.complete(ask()))
        while not direct.server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 10)
        await client.aclose()

    asyncio.run(call())


def test_long_prompts_are_sent_whole(direct: Way) -> None:
    direct.complete(ask("x" * 3_000_000))
    assert len(direct.server.requests[0]["messages"][0]["content"]) == 3_000_000


@pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "identity"}], ids=["of known length", "in pieces"])
def test_no_more_than_a_bound_is_read_of_a_reply(direct: Way, headers: dict[str, str]) -> None:
    thoughts = json.dumps({"reasoning": "x" * (MAX_BODY + 1), "choices": []}).encode()
    direct.server.script = [Reply(body=thoughts, headers=headers)]
    error = direct.refusal()
    assert error.category == "server_error"
    assert "longer than what is read" in str(error)


def test_certificates_that_cannot_be_read_are_an_error_for_people(direct: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    assert "/no/such/file.pem" in str(direct.refusal(endpoint_base_url="https://localhost:9/v1"))


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
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value,
)
def test_what_happens_on_the_way_has_a_category(error: Exception, category: str) -> None:
    assert connection_failure(error, "m").category == category


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:9/v1", "127.0.0.1:9: Connection refused."),
        ("http://nowhere.invalid:81/v1", "nowhere.invalid:81: "),
    ],
)
def test_who_cannot_be_reached_is_reported_in_the_systems_words(direct: Way, url: str, words: str) -> None:
    text = str(direct.refusal(endpoint_base_url=url))
    assert words in text
    assert "ssl:" not in text and "Errno" not in text


def refusal_of(words: bytes, scheme: str, direct: Way) -> ModelError:
    """Return the error of a call of a server that says these words to whoever connects."""

    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if scheme == "http":
            await reader.readuntil(b"\r\n\r\n")
        writer.write(words)
        await writer.drain()
        writer.close()

    async def call() -> ModelError:
        async with await asyncio.start_server(babble, "127.0.0.1", 0) as server:
            url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            refusal: Awaitable[ModelError] = asyncio.to_thread(direct.refusal, endpoint_base_url=url)
            return await refusal

    return asyncio.run(call())


def test_what_is_not_http_is_the_endpoints_fault(direct: Way) -> None:
    assert refusal_of(b"220 mail.example ready\r\n\r\n", "http", direct).category == "server_error"


def test_a_place_that_speaks_no_tls_is_named(direct: Way) -> None:
    error = refusal_of(b"no tls here\r\n", "https", direct)
    assert error.category == "connection"
    assert "127.0.0.1:" in error.why and "SSL" in error.why
