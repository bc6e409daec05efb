"""Driven through litellm for real, against a provider on the loopback interface."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from karenina_core.errors import ConfigError, ModelError
from karenina_core.models import Caller, NullLedger, using_keys
from karenina_core.models.litellm_client import LitellmClient, is_strict
from karenina_core.models.ports import ChatReply, ChatRequest
from karenina_core.models.replies import MAX_REPLY
from karenina_core.schemas.config import ModelConfig
from tests.faults import openai_server as provider
from tests.faults.openai_server import OpenAIServer, Reply, cut_off, failing, rate_limited
from tests.models.fakes import SCHEMA, ask, count_of, judge

KEY = "sk-test-4f9d1c7b2a6e8053"
EIGHT = '{"count": 8}'


def model(server: OpenAIServer, **settings: Any) -> ModelConfig:
    return ModelConfig(
        **{"interface": "openai_endpoint", "model_name": "gpt-test", "endpoint_base_url": server.url} | settings
    )


def complete(server: OpenAIServer, request: ChatRequest | None = None, **settings: Any) -> ChatReply:
    async def once() -> ChatReply:
        client = LitellmClient(model(server, **settings))
        try:
            return await client.complete(request or ask())
        finally:
            await client.aclose()

    return asyncio.run(once())


def refusal(server: OpenAIServer, request: ChatRequest | None = None, **settings: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        complete(server, request, **settings)
    return caught.value


def test_a_request_is_sent_as_it_is(openai_server: OpenAIServer) -> None:
    openai_server.script = [Reply("Eight.")]
    reply = complete(openai_server, temperature=0.3, max_tokens=99, extra_kwargs={"top_p": 0.9, "num_retries": 3})
    assert (reply.text, reply.finish_reason, reply.source) == ("Eight.", "stop", "provider")
    sent = openai_server.requests[0]
    assert sent["messages"] == [{"role": "user", "content": "How many legs has a spider?"}]
    assert (sent["model"], sent["temperature"], sent["max_tokens"], sent["top_p"]) == ("gpt-test", 0.3, 99, 0.9)


def test_tokens_are_counted_and_an_unknown_price_is_unknown(openai_server: OpenAIServer) -> None:
    usage = complete(openai_server).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost, usage.calls) == (11, 7, None, 1)


def test_a_known_price_is_charged(openai_server: OpenAIServer) -> None:
    cost = complete(openai_server, model_name="gpt-4o-mini").usage.cost
    assert cost is not None and 0 < cost < 0.01


@pytest.mark.parametrize(
    ("reply", "category"),
    [
        (rate_limited(), "rate_limit"),
        (failing(429, "You exceeded your current quota.", code="insufficient_quota"), "authentication"),
        (failing(500), "server_error"),
        (failing(502), "server_error"),
        (failing(503), "server_error"),
        (failing(529), "server_error"),
        (failing(408), "timeout"),
        (provider.DROPPED, "connection"),
        (provider.TRUNCATED_BODY, "connection"),
        (provider.MALFORMED, "server_error"),
        (provider.HTML, "server_error"),
        (provider.NO_CHOICES, "server_error"),
        (provider.REFUSED, "refused"),
        (provider.FILTERED, "refused"),
        (provider.NO_CONTENT, "refused"),
        (Reply(""), "refused"),
        (failing(401), "authentication"),
        (failing(402), "authentication"),
        (failing(403), "authentication"),
        (failing(404), "not_found"),
        (failing(400), "bad_request"),
        (failing(422), "bad_request"),
        (failing(400, "maximum context length is 10 tokens", code="context_length_exceeded"), "context_length"),
        (failing(413), "context_length"),
        (failing(400, "Blocked by our content policy."), "refused"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.fault or value.status}",
)
def test_every_fault_has_its_category_and_is_sent_once(
    openai_server: OpenAIServer, reply: Reply, category: str
) -> None:
    openai_server.script = [reply]
    assert refusal(openai_server).category == category
    assert len(openai_server.requests) == 1


def test_a_hanging_provider_is_left_at_the_time_limit(openai_server: OpenAIServer) -> None:
    openai_server.script = [provider.HANGING]
    assert refusal(openai_server, ask(timeout=0.3)).category == "timeout"


def test_an_unreachable_provider_is_a_connection_problem(openai_server: OpenAIServer) -> None:
    error = refusal(openai_server, endpoint_base_url="http://127.0.0.1:9/v1")
    assert error.category == "connection"
    assert "could not be reached" in str(error)


def test_retry_after_is_read(openai_server: OpenAIServer) -> None:
    openai_server.script = [rate_limited(7)]
    assert refusal(openai_server).retry_after == 7
    openai_server.script = [rate_limited()]
    assert refusal(openai_server).retry_after is None


def test_a_refusal_keeps_the_models_words(openai_server: OpenAIServer) -> None:
    openai_server.script = [provider.REFUSED]
    assert "I cannot help with that." in str(refusal(openai_server))


def test_a_reply_at_its_token_limit_is_flagged(openai_server: OpenAIServer) -> None:
    openai_server.script = [cut_off("It has ei")]
    assert complete(openai_server).finish_reason == "length"


def test_an_overlong_reply_is_cut_and_flagged(openai_server: OpenAIServer) -> None:
    openai_server.script = [Reply("x" * (MAX_REPLY + 1))]
    reply = complete(openai_server)
    assert (len(reply.text), reply.finish_reason) == (MAX_REPLY, "length")


def test_characters_no_database_takes_are_replaced_in_both_directions(openai_server: OpenAIServer) -> None:
    openai_server.script = [Reply("a\0b\ud800c")]
    assert complete(openai_server, ask("x\udfffy?")).text == "a\ufffdb\ufffdc"
    assert openai_server.requests[0]["messages"][0]["content"] == "x\ufffdy?"


def test_the_provider_must_be_named(openai_server: OpenAIServer) -> None:
    error = refusal(openai_server, interface="litellm", model_name="no-such-thing", endpoint_base_url=None)
    assert error.category == "bad_request"
    assert not openai_server.requests


# Keys


def test_the_key_comes_from_the_environment_at_call_time(
    openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_API_KEY", KEY)
    complete(openai_server, api_key_env="TEAM_API_KEY")
    assert openai_server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_a_session_key_comes_first(openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_API_KEY", KEY)
    with using_keys({"TEAM_API_KEY": "session-key"}.get):
        complete(openai_server, api_key_env="TEAM_API_KEY")
    assert openai_server.headers[0]["Authorization"] == "Bearer session-key"


def test_no_providers_key_goes_to_an_address_of_ones_own(
    openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    complete(openai_server)
    assert openai_server.headers[0]["Authorization"] == "Bearer none"


def test_a_missing_key_stops_before_anything_is_sent(openai_server: OpenAIServer) -> None:
    error = refusal(openai_server, api_key_env="TEAM_API_KEY")
    assert error.category == "authentication"
    assert "TEAM_API_KEY" in str(error)
    assert not openai_server.requests


def test_other_secrets_cannot_be_sent_as_keys(openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    with pytest.raises(ConfigError, match="may not be used"):
        complete(openai_server, api_key_env="AWS_SECRET_ACCESS_KEY")
    assert not openai_server.requests


def test_an_operator_lists_the_variables_that_may_be_keys(
    openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARENINA_KEY_VARIABLES", "OUR_MODEL_ACCESS, OTHER")
    monkeypatch.setenv("OUR_MODEL_ACCESS", KEY)
    complete(openai_server, api_key_env="OUR_MODEL_ACCESS")
    with pytest.raises(ConfigError, match="not on the administrator's list"):
        complete(openai_server, api_key_env="TEAM_API_KEY")
    assert len(openai_server.requests) == 1


def test_a_wrong_key_is_tried_once_and_shown_nowhere(
    openai_server: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("TEAM_API_KEY", KEY)
    openai_server.script = [failing(401, f"Incorrect API key provided: {KEY}.")]

    async def call() -> None:
        async with Caller(NullLedger(), max_attempts=5) as caller:
            await caller.complete(model(openai_server, api_key_env="TEAM_API_KEY"), ask())

    with pytest.raises(ModelError) as caught:
        asyncio.run(call())
    logging.getLogger("test").error("It failed.", exc_info=caught.value)
    written = "".join(capfd.readouterr())
    assert len(openai_server.requests) == 1
    assert caught.value.category == "authentication"
    assert "Incorrect API key provided: [hidden]" in str(caught.value)
    assert KEY not in f"{caught.getrepr(style='long')}{caplog.text}{written}"
    assert caught.value.__cause__ is None and caught.value.__context__ is None


# Structured output


def only(*accepted: str) -> Callable[[dict[str, Any]], Reply]:
    """Script a provider that knows some of the ways to ask for JSON."""

    def script(sent: dict[str, Any]) -> Reply:
        way = "schema" if "response_format" in sent else "tool" if "tools" in sent else "instruction"
        if way not in accepted:
            return failing(400, f"This model does not support {way}.")
        return Reply(tool_arguments=EIGHT, finish_reason="tool_calls") if way == "tool" else Reply(EIGHT)

    return script


def test_a_schema_is_sent_as_response_format(openai_server: OpenAIServer) -> None:
    openai_server.script = only("schema")
    assert complete(openai_server, judge()).text == EIGHT
    wanted = openai_server.requests[0]["response_format"]
    assert wanted == {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True}}


def test_a_model_without_schemas_is_asked_by_a_tool(openai_server: OpenAIServer) -> None:
    openai_server.script = only("tool", "instruction")
    reply = complete(openai_server, judge())
    assert reply.text == EIGHT
    assert openai_server.requests[1]["tools"][0]["function"]["parameters"] == SCHEMA
    assert len(openai_server.requests) == 2


def test_a_model_without_tools_is_asked_in_the_prompt(openai_server: OpenAIServer) -> None:
    openai_server.script = only("instruction")
    assert complete(openai_server, judge()).text == EIGHT
    assert json.dumps(SCHEMA) in openai_server.requests[2]["messages"][-1]["content"]


def test_what_worked_is_remembered(openai_server: OpenAIServer) -> None:
    openai_server.script = only("instruction")

    async def twice() -> None:
        client = LitellmClient(model(openai_server))
        await client.complete(judge())
        await client.complete(judge("Six legs."))
        await client.aclose()

    asyncio.run(twice())
    assert len(openai_server.requests) == 4


def test_a_request_that_is_wrong_in_every_way_is_reported(openai_server: OpenAIServer) -> None:
    openai_server.script = [failing(400, "temperature is out of range")]
    error = refusal(openai_server, judge())
    assert error.category == "bad_request"
    assert "temperature is out of range" in str(error)


def test_a_whole_extraction_works_over_http(openai_server: OpenAIServer) -> None:
    openai_server.script = [rate_limited(0.01), Reply("Eight, I think."), Reply(EIGHT)]

    async def extract() -> Any:
        async with Caller(NullLedger()) as caller:
            return await caller.complete_json(model(openai_server), judge(), count_of)

    value, records = asyncio.run(extract())
    assert value == 8
    assert len(records) == 2
    assert len(openai_server.requests) == 3


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (SCHEMA, True),
        ({"type": "object", "additionalProperties": {"type": "string"}}, False),
        ({"type": "object", "properties": {"a": {}}, "required": [], "additionalProperties": False}, False),
        ({**SCHEMA, "$defs": {"Inner": {"type": "object", "properties": {}}}}, False),
    ],
)
def test_strict_mode_is_asked_for_when_the_schema_allows_it(schema: dict[str, Any], strict: bool) -> None:
    assert is_strict(schema) is strict


def test_a_bad_address_is_refused_when_the_client_is_made() -> None:
    with pytest.raises(ConfigError, match="user name"):
        LitellmClient(ModelConfig(model_name="openai/x", endpoint_base_url="https://a:b@host/v1"))
