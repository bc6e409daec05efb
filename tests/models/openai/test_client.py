"""What only direct calls do; what they share with litellm is in `test_provider_clients.py`."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from karenina_core.errors import ConfigError, ModelError
from karenina_core.models import MAX_REPLY, BrokenReplyError, ChatReply, make_client
from karenina_core.models.openai import http as openai_http
from karenina_core.models.openai.client import OpenAIClient
from karenina_core.schemas import ModelConfig
from tests.faults.openai_server import DROPPED, Reply, cut_off, failing
from tests.models.fakes import ask, judge
from tests.models.ways import Way

KEY = "sk-test-4f9d1c7b2a6e8053"
EIGHT = '{"count": 8}'
STREAM = {"stream": True}


def test_a_model_of_another_protocol_is_refused() -> None:
    with pytest.raises(ConfigError, match="not known to speak"):
        OpenAIClient(ModelConfig(model_name="anthropic/claude-sonnet-4-5"))


# How the model takes requests


def refusing(*settings: str) -> Callable[[dict[str, Any]], Reply]:
    """Script a model that does not know some settings, in the words of OpenAI."""

    def script(sent: dict[str, Any]) -> Reply:
        for name in settings:
            if name in sent:
                text = f"Unsupported parameter: '{name}' is not supported with this model."
                return failing(400, text, code="unsupported_parameter", param=name)
        return Reply(EIGHT)

    return script


def test_the_length_of_replies_is_sent_under_the_name_the_model_knows(direct: Way) -> None:
    direct.server.script = refusing("max_tokens")
    replies = direct.complete_all([ask(), ask("Again?")], max_tokens=99)
    assert "not_accepted" not in replies[0].provenance
    assert len(direct.server.requests) == 3
    assert [sent.get("max_completion_tokens") for sent in direct.server.requests] == [None, 99, 99]


def test_what_the_model_does_not_accept_is_left_out_and_told(direct: Way) -> None:
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


def test_a_setting_that_is_known_but_wrong_is_reported(direct: Way) -> None:
    direct.server.script = [failing(400, "max_tokens is too large: 99999.", code="invalid_value", param="max_tokens")]
    assert "too large" in str(direct.refusal())
    assert len(direct.server.requests) == 1


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


# Connections


def test_connections_are_kept_and_used_again(direct: Way) -> None:
    direct.complete_all([ask(str(number)) for number in range(5)])
    assert len(set(direct.server.connections)) == 1


def test_all_clients_of_an_endpoint_share_its_connections(direct: Way) -> None:
    async def two() -> None:
        clients = [make_client(direct.model(temperature=temperature)) for temperature in (0, 1)]
        for client in clients:
            await client.complete(ask())
        await clients[0].aclose()
        await clients[0].aclose()
        assert (await clients[1].complete(ask())).text == "ok"
        await clients[1].aclose()
        assert not openai_http._known.get(asyncio.get_running_loop())

    asyncio.run(two())
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
    direct.server.delay = 5

    async def call() -> float:
        client = make_client(direct.model())
        task = asyncio.create_task(client.complete(ask()))
        await asyncio.sleep(0.1)
        start = asyncio.get_running_loop().time()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await client.aclose()
        return asyncio.get_running_loop().time() - start

    assert asyncio.run(call()) < 1


def test_long_prompts_are_sent_whole(direct: Way) -> None:
    direct.complete(ask("x" * 3_000_000))
    assert len(direct.server.requests[0]["messages"][0]["content"]) == 3_000_000


def test_no_more_than_a_bound_is_read_of_a_reply(direct: Way) -> None:
    thoughts = json.dumps({"reasoning": "x" * (openai_http.MAX_BODY + 1), "choices": []}).encode()
    direct.server.script = [Reply(body=thoughts)]
    error = direct.refusal()
    assert error.category == "server_error"
    assert "longer than what is read" in str(error)


def test_certificates_that_cannot_be_read_are_an_error_for_people(direct: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    assert "/no/such/file.pem" in str(direct.refusal(endpoint_base_url="https://localhost:9/v1"))


# Keys


def test_a_model_that_repeats_the_key_as_its_name_is_kept_without_it(
    direct: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_API_KEY", KEY)
    body = {"model": f"gpt {KEY}", "choices": [{"message": {"content": "ok"}}]}
    direct.server.script = [Reply(body=json.dumps(body).encode())]
    assert direct.complete(api_key_env="TEAM_API_KEY").provenance["model"] == "gpt [hidden]"


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


# Streams


def streamed(way: Way, reply: Reply, request: Any = None, **settings: Any) -> ChatReply:
    way.server.script = [reply]
    return way.complete(request, extra_kwargs=STREAM, **settings)


def broken(way: Way, reply: Reply, request: Any = None, **settings: Any) -> BrokenReplyError:
    with pytest.raises(BrokenReplyError) as caught:
        streamed(way, reply, request, **settings)
    return caught.value


def test_a_streamed_reply_is_the_same_as_a_whole_one(direct: Way) -> None:
    reply = streamed(direct, Reply("Eight legs, as all spiders: \U0001f577."))
    assert (reply.text, reply.finish_reason) == ("Eight legs, as all spiders: \U0001f577.", "stop")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)
    assert reply.provenance["model"] == "gpt-test"
    assert direct.server.requests[0]["stream_options"] == {"include_usage": True}


def test_a_streamed_tool_call_is_put_together(direct: Way) -> None:
    direct.server.script = lambda sent: (
        Reply(tool_arguments=EIGHT) if "tools" in sent else failing(400, "No response_format here.")
    )
    assert direct.complete(judge(), extra_kwargs=STREAM).text == EIGHT


def test_a_streamed_reply_at_its_limit_is_flagged(direct: Way) -> None:
    assert streamed(direct, cut_off("It has ei")).finish_reason == "length"


def test_a_streamed_refusal_is_one(direct: Way) -> None:
    with pytest.raises(ModelError, match="I would rather not") as caught:
        streamed(direct, Reply(None, refusal="I would rather not."))
    assert caught.value.category == "refused"


def test_streams_use_their_connection_again(direct: Way) -> None:
    direct.complete_all([ask("a"), ask("b"), ask("c")], extra_kwargs=STREAM)
    assert len(set(direct.server.connections)) == 1


def test_a_model_that_cannot_count_streams_is_asked_without(direct: Way) -> None:
    direct.server.script = refusing("stream_options")
    reply = direct.complete(extra_kwargs=STREAM)
    assert reply.usage.input_tokens is None
    assert "not_accepted" not in reply.provenance


def test_a_provider_that_does_not_stream_is_understood(direct: Way) -> None:
    body = {"model": "gpt", "choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}
    assert streamed(direct, Reply(body=json.dumps(body).encode())).text == "whole"


def test_a_broken_stream_is_an_error_that_keeps_what_arrived(direct: Way) -> None:
    error = broken(direct, Reply("It has eight legs and many eyes.", fault="truncate"))
    assert error.category == "connection" and error.retryable
    assert error.partial and "It has eight legs and many eyes.".startswith(error.partial)
    assert f"broke off after {len(error.partial)} characters" in str(error)


def test_a_stream_that_goes_quiet_is_left_at_the_time_limit(direct: Way) -> None:
    error = broken(direct, Reply("It has eight legs.", fault="stall"), ask(timeout=0.3))
    assert error.category == "timeout"
    assert error.partial.startswith("It")


def test_a_slow_stream_is_left_at_the_time_limit_too(direct: Way) -> None:
    error = broken(direct, Reply("It has eight legs and many eyes.", pause=0.1), ask(timeout=0.35))
    assert error.category == "timeout"
    assert "It has eight legs and many eyes.".startswith(error.partial)


def test_a_partial_text_does_not_repeat_the_key(direct: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_API_KEY", KEY)
    error = broken(direct, Reply(f"{KEY} {'x' * 400}", fault="truncate"), api_key_env="TEAM_API_KEY")
    assert error.partial.startswith("[hidden]")
    assert KEY not in str(error)


def test_a_stream_that_breaks_before_its_first_word_is_a_connection_problem(direct: Way) -> None:
    with pytest.raises(ModelError) as caught:
        streamed(direct, Reply("", fault="truncate"))
    assert caught.value.category == "connection"
    assert not isinstance(caught.value, BrokenReplyError)


def test_an_endless_stream_is_cut(direct: Way) -> None:
    event = json.dumps({"choices": [{"delta": {"content": "x" * 50_000}}]})
    body = f"data: {event}\n\n".encode() * 50
    direct.server.script = [Reply(body=body, headers={"Content-Type": "text/event-stream"})]
    reply = direct.complete(extra_kwargs=STREAM)
    assert (len(reply.text), reply.finish_reason) == (MAX_REPLY, "length")
