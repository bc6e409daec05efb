"""What every call of a provider does, directly or through litellm, against a provider on the loopback interface."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from karenina_core.errors import ConfigError, ModelError
from karenina_core.models import (
    MAX_REPLY,
    CallServices,
    ChatRequest,
    ModelCaller,
    NullLedger,
    RunLimiter,
    make_client,
    price_of,
    using_keys,
)
from karenina_core.schemas import ModelConfig
from tests.faults import openai_server as provider
from tests.faults.openai_server import Reply, failing, rate_limited
from tests.models.conftest import KEY, Way
from tests.models.fakes import SCHEMA, ask, count_of, judge

EIGHT = '{"count": 8}'


def answering(text: str, **usage: Any) -> Reply:
    """Return a completion with these counts of tokens."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "gpt", "choices": [choice], "usage": usage}
    return Reply(body=json.dumps(body).encode())


def with_error(**error: Any) -> Reply:
    """Return an error with the status of a success, as some gateways send it."""
    return Reply(body=json.dumps({"error": error}).encode())


def test_a_request_is_sent_as_it_is(way: Way) -> None:
    way.server.script = [Reply("Eight.")]
    reply = way.complete(temperature=0.3, max_tokens=99, extra_kwargs={"top_p": 0.9, "num_retries": 3})
    assert (reply.text, reply.finish_reason, reply.source) == ("Eight.", "stop", "provider")
    sent = way.server.requests[0]
    assert sent["messages"] == [{"role": "user", "content": "How many legs has a spider?"}]
    assert (sent["model"], sent["temperature"], sent["max_tokens"], sent["top_p"]) == ("gpt-test", 0.3, 99, 0.9)
    assert "num_retries" not in sent and "stream" not in sent


def test_a_body_of_ones_own_is_added(way: Way) -> None:
    way.complete(extra_kwargs={"extra_body": {"top_k": 3}})
    assert way.server.requests[0]["top_k"] == 3


def test_a_reply_says_who_gave_it_and_which_way_it_came(way: Way) -> None:
    assert way.complete().provenance == {"model": "gpt-test", "through": way.name}


def test_tokens_are_counted_and_an_unknown_price_is_unknown(way: Way) -> None:
    usage = way.complete().usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost, usage.calls) == (11, 7, None, 1)


def test_a_known_price_is_charged(way: Way) -> None:
    price = price_of(ModelConfig(model_name="gpt-4o-mini"))
    assert price is not None
    assert way.complete(model_name="openai/gpt-4o-mini").usage.cost == pytest.approx(price.of(11, 7))


@pytest.mark.parametrize(
    ("reply", "category"),
    [
        (rate_limited(), "rate_limit"),
        (failing(429, "You exceeded your current quota.", code="insufficient_quota"), "authentication"),
        (failing(500), "server_error"),
        (failing(502), "server_error"),
        (Reply(status=502, body=b"<html><body>Bad gateway</body></html>"), "server_error"),
        (failing(503), "server_error"),
        (failing(529), "server_error"),
        (failing(408), "timeout"),
        (provider.DROPPED, "connection"),
        (provider.TRUNCATED_BODY, "connection"),
        (provider.MALFORMED, "server_error"),
        (provider.HTML, "server_error"),
        (Reply(body=b""), "server_error"),
        (Reply(body=b"[1, 2]"), "server_error"),
        (provider.NO_CHOICES, "server_error"),
        (with_error(message="Slow down.", code=429), "rate_limit"),
        (with_error(message="Boom.", code="strange"), "unexpected"),
        (provider.REFUSED, "refused"),
        (provider.FILTERED, "refused"),
        (provider.NO_CONTENT, "empty"),
        (Reply(""), "empty"),
        (failing(401), "authentication"),
        (failing(402), "authentication"),
        (failing(403), "authentication"),
        (failing(404), "not_found"),
        (failing(400), "bad_request"),
        (failing(422), "bad_request"),
        (failing(400, "maximum context length is 10 tokens", code="context_length_exceeded"), "context_length"),
        (failing(413), "context_length"),
        (failing(400, "Blocked by our content policy."), "refused"),
        (failing(418), "unexpected"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.fault or value.status}",
)
def test_every_fault_has_its_category_and_is_sent_once(way: Way, reply: Reply, category: str) -> None:
    way.server.script = [reply]
    assert way.refusal().category == category
    assert len(way.server.requests) == 1


@pytest.mark.parametrize("reply", [provider.HANGING, provider.STALLED], ids=["hanging", "half open"])
def test_a_provider_that_goes_quiet_is_left_at_the_time_limit(way: Way, reply: Reply) -> None:
    way.server.script = [reply]
    assert way.refusal(ask(timeout=0.4)).category == "timeout"


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "https://nowhere.invalid/v1"])
def test_an_unreachable_provider_is_a_connection_problem(way: Way, url: str) -> None:
    error = way.refusal(endpoint_base_url=url)
    assert error.category == "connection"
    assert "could not be reached" in str(error)


@pytest.mark.parametrize(
    ("headers", "seconds"), [({"Retry-After": "7"}, 7), ({"Retry-After-Ms": "1500"}, 1.5), ({}, None)]
)
def test_how_long_to_wait_is_read(way: Way, headers: dict[str, str], seconds: float | None) -> None:
    way.server.script = [Reply("Slow down.", status=429, headers=headers)]
    assert way.refusal().retry_after == seconds


def test_the_providers_own_words_are_kept(way: Way) -> None:
    way.server.script = [failing(400, "top_p must be positive")]
    assert str(way.refusal()) == (
        "'openai/gpt-test' did not accept the request. top_p must be positive Change the setting it names."
    )


def test_a_refusal_keeps_the_models_words(way: Way) -> None:
    way.server.script = [provider.REFUSED]
    assert "I cannot help with that." in str(way.refusal())


@pytest.mark.parametrize("text", ["It has ei", None], ids=["cut off", "all thought"])
def test_a_reply_at_its_token_limit_is_flagged(way: Way, text: str | None) -> None:
    way.server.script = [Reply(text, finish_reason="length")]
    reply = way.complete()
    assert (reply.text, reply.finish_reason) == (text or "", "length")


def test_thoughts_before_an_answer_are_no_part_of_it(way: Way) -> None:
    way.server.script = [Reply("<think>Spiders, hm.</think>Eight")]
    assert way.complete().text == "Eight"


@pytest.mark.parametrize("length", [MAX_REPLY + 1, 10_000_000])
def test_an_overlong_reply_is_cut_and_flagged(way: Way, length: int) -> None:
    way.server.script = [Reply("x" * length)]
    reply = way.complete()
    assert (len(reply.text), reply.finish_reason) == (MAX_REPLY, "length")


def test_characters_no_database_takes_are_replaced_in_both_directions(way: Way) -> None:
    way.server.script = [Reply("a\0b\ud800c\U0001f577")]
    assert way.complete(ask("x\udfffy\0?")).text == "a\ufffdb\ufffdc\U0001f577"
    assert way.server.requests[0]["messages"][0]["content"] == "x\ufffdy\ufffd?"


# Keys


def test_the_key_is_the_sessions_own_or_that_of_the_environment(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_API_KEY", KEY)
    way.complete(api_key_env="TEAM_API_KEY")
    with using_keys({"TEAM_API_KEY": "session-key"}.get):
        way.complete(api_key_env="TEAM_API_KEY")
    sent = [headers["Authorization"] for headers in way.server.headers]
    assert sent == [f"Bearer {KEY}", "Bearer session-key"]


def test_a_missing_key_stops_before_anything_is_sent(way: Way) -> None:
    error = way.refusal(api_key_env="TEAM_API_KEY")
    assert error.category == "authentication"
    assert "TEAM_API_KEY" in str(error)
    assert not way.server.requests


def test_a_provider_without_a_key_is_not_called(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert way.refusal(endpoint_base_url=None).category == "authentication"


def test_other_secrets_cannot_be_sent_as_keys(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    with pytest.raises(ConfigError, match="may not be used"):
        way.complete(api_key_env="AWS_SECRET_ACCESS_KEY")
    assert not way.server.requests


def test_an_operator_lists_the_variables_that_may_be_keys(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARENINA_KEY_VARIABLES", "OUR_MODEL_ACCESS, OTHER")
    monkeypatch.setenv("OUR_MODEL_ACCESS", KEY)
    way.complete(api_key_env="OUR_MODEL_ACCESS")
    with pytest.raises(ConfigError, match="not on the administrator's list"):
        way.complete(api_key_env="TEAM_API_KEY")
    assert len(way.server.requests) == 1


def test_a_wrong_key_is_tried_once_and_shown_nowhere(
    way: Way,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("TEAM_API_KEY", KEY)
    way.server.script = [failing(401, f"Incorrect API key provided: {KEY}.")]

    async def call() -> None:
        async with ModelCaller(CallServices(NullLedger(), RunLimiter(attempts=5))) as caller:
            await caller.complete(way.model(api_key_env="TEAM_API_KEY"), ask())

    with pytest.raises(ModelError) as caught:
        asyncio.run(call())
    logging.getLogger("test").error("It failed.", exc_info=caught.value)
    written = "".join(capfd.readouterr())
    assert len(way.server.requests) == 1
    assert caught.value.category == "authentication"
    assert "Incorrect API key provided: [hidden]" in str(caught.value)
    assert KEY not in f"{caught.getrepr(style='long')}{caplog.text}{written}"
    assert caught.value.__cause__ is None and caught.value.__context__ is None


@pytest.mark.parametrize("wrong", ["sk-with-a-break\n", "sk-mit-\u00fc"])
def test_a_key_that_no_header_can_carry_is_not_shown(way: Way, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_API_KEY", wrong)
    assert wrong.strip() not in str(way.refusal(api_key_env="TEAM_API_KEY"))
    assert not way.server.requests


# Structured output


def only(*accepted: str) -> Callable[[dict[str, Any]], Reply]:
    """Script a provider that knows some of the ways to ask for JSON."""

    def script(sent: dict[str, Any]) -> Reply:
        mode = "schema" if "response_format" in sent else "tool" if "tools" in sent else "instruction"
        if mode not in accepted:
            return failing(400, f"This model does not support {mode}.")
        return Reply(tool_arguments=EIGHT, finish_reason="tool_calls") if mode == "tool" else Reply(EIGHT)

    return script


def test_a_schema_is_sent_as_response_format(way: Way) -> None:
    way.server.script = only("schema")
    assert way.complete(judge()).text == EIGHT
    wanted = way.server.requests[0]["response_format"]
    assert wanted == {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True}}


def test_a_model_that_knows_no_other_way_is_asked_in_the_prompt(way: Way) -> None:
    way.server.script = only("instruction")
    assert [reply.text for reply in way.complete_all([judge(), judge("Six legs.")])] == [EIGHT, EIGHT]
    modes = 2 if way.name == "litellm" else 3
    assert len(way.server.requests) == modes + 1  # what worked is remembered
    assert json.dumps(SCHEMA) in way.server.requests[-1]["messages"][-1]["content"]


def test_a_request_that_is_wrong_in_every_way_is_reported(way: Way) -> None:
    way.server.script = [failing(400, "temperature is out of range")]
    error = way.refusal(judge())
    assert error.category == "bad_request"
    assert "temperature is out of range" in str(error)


def test_a_whole_extraction_works_over_http(way: Way) -> None:
    way.server.script = [rate_limited(0.01), Reply("Eight, I think."), Reply(EIGHT)]

    async def extract() -> Any:
        async with ModelCaller(CallServices(NullLedger())) as caller:
            return await caller.complete_json(way.model(), judge(), count_of)

    value, records = asyncio.run(extract())
    assert value == 8
    assert len(records) == 2
    assert len(way.server.requests) == 3


def test_calls_at_once_are_answered_at_once(way: Way) -> None:
    way.server.delay = 0.1
    way.server.script = lambda sent: Reply(sent["messages"][0]["content"].upper())

    async def many(requests: list[ChatRequest]) -> list[str]:
        client = make_client(way.model())
        replies = await asyncio.gather(*(client.complete(request) for request in requests))
        await client.aclose()
        return [reply.text for reply in replies]

    texts = asyncio.run(many([ask(f"question {number}") for number in range(20)]))
    assert texts == [f"QUESTION {number}" for number in range(20)]
    assert way.server.most_in_flight == 20
    assert len(set(way.server.connections)) == 20
