"""Whatever an endpoint sends, a reply or a `ModelError` comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.errors import ModelError
from karenina_core.models import MAX_REPLY, ChatReply, Price
from karenina_core.models.clients.openai_reply import RejectedError, ReplyContext, decode, error_of, read_reply
from karenina_core.models.prices import Listed

CONTEXT = ReplyContext("m", Listed("openai", "chat", Price(1.0, 2.0), 0.5), "the-key-itself", charges=True)

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
anything = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


def shaped(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return objects with some of these fields, each as it should be or anything."""
    return st.fixed_dictionaries({}, optional={name: value | anything for name, value in fields.items()}) | anything


functions = shaped(name=st.just("reply"), arguments=st.text())
parts = shaped(type=st.sampled_from(["text", "thinking"]), text=st.text())
messages = shaped(
    content=st.text() | st.lists(parts, max_size=3),
    refusal=st.text(),
    tool_calls=st.lists(shaped(function=functions), max_size=2),
)
errors = shaped(message=st.text(), code=st.integers(0, 999) | st.text(), param=st.text(), type=st.text())
choices = shaped(message=messages, finish_reason=st.sampled_from(["stop", "length", "eos"]), error=errors)
counts = shaped(cached_tokens=st.integers())
usages = shaped(
    prompt_tokens=st.integers(), completion_tokens=st.integers(), cost=st.floats(), prompt_tokens_details=counts
)
completions = shaped(choices=st.lists(choices, max_size=2), usage=usages, model=st.text(), error=errors)


def read(data: Any, context: ReplyContext = CONTEXT, **settings: Any) -> ChatReply:
    return read_reply(data, context, 0.1, {"through": "test"}, **settings)


def completion(message: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "stop"}], "model": "gpt", **fields}


@given(completions, st.booleans())
def test_any_json_gives_a_reply_or_a_model_error(data: Any, cut: bool) -> None:
    try:
        reply = read(decode(json.dumps(data).encode()), cut=cut)
    except ModelError:
        return
    assert len(reply.text) <= MAX_REPLY
    assert reply.text or reply.finish_reason == "length"
    assert (reply.text + str(reply.provenance) + str(reply.finish_reason)).encode()
    assert reply.usage.cost is None or reply.usage.cost >= 0


@given(errors, st.integers(100, 599))
def test_any_error_gives_a_model_error(error: Any, status: int) -> None:
    assert str(error_of(status, {}, json.dumps({"error": error}).encode(), "m")).encode()


@given(st.binary())
def test_any_bytes_are_json_or_a_value_error(data: bytes) -> None:
    for whole in (True, False):
        try:
            decode(data, whole=whole)
        except ValueError:
            continue


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (rb'"a\ud800b"', "a\ufffdb"),
        (rb'"\ud83d\udd77"', "\U0001f577"),
        (rb'"\udd77\ud83d\ud83d\udd77"', "\ufffd\ufffd\U0001f577"),
        (b'"caf\xe9"', "caf\ufffd"),
        (rb'"\\ud800 \" \ud800"', '\\ud800 " \ufffd'),
    ],
)
def test_half_of_a_character_becomes_a_replacement(written: bytes, expected: str) -> None:
    data = b'{"choices": [{"message": {"content": %b}}]}' % written
    assert read(decode(data)).text == expected


def test_what_was_cut_off_keeps_its_text() -> None:
    data = b'{"choices":[{"message":{"content":"It has eigh'
    with pytest.raises(ValueError):
        decode(data)
    reply = read(decode(data, whole=False), cut=True)
    assert (reply.text, reply.finish_reason) == ("It has eigh", "length")


def test_parts_that_are_no_text_are_left_out() -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Eight"}, {"type": "text", "text": "."}]
    assert read(completion({"content": parts})).text == "Eight."


def test_arguments_that_are_no_text_are_written_as_json() -> None:
    call = {"function": {"name": "reply", "arguments": {"count": 8}}}
    assert read(completion({"content": None, "tool_calls": [call]})).text == '{"count": 8}'


def test_calls_of_other_tools_are_no_reply() -> None:
    call = {"function": {"name": "search", "arguments": "{}"}}
    with pytest.raises(ModelError) as caught:
        read(completion({"content": None, "tool_calls": [call]}))
    assert caught.value.category == "empty"


def test_what_the_endpoint_charges_comes_before_the_list() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "cost": 0.25}
    assert read(completion({"content": "a"}, usage=usage)).usage.cost == 0.25
    assert read(completion({"content": "a"}, usage=usage), CONTEXT._replace(charges=False)).usage.cost == 12


@pytest.mark.parametrize("details", [{"prompt_tokens_details": {"cached_tokens": 4}}, {"prompt_cache_hit_tokens": 4}])
def test_tokens_at_hand_are_counted_in_both_spellings(details: dict[str, Any]) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, **details}
    assert read(completion({"content": "a"}, usage=usage)).usage.cost == 6 * 1.0 + 4 * 0.5 + 2.0


def test_an_empty_error_beside_a_reply_is_none() -> None:
    assert read(completion({"content": "a"}, error={"message": "", "code": None})).text == "a"


def test_the_key_is_not_kept() -> None:
    reply = read(completion({"content": "It is the-key-itself."}) | {"model": "the-key-itself"})
    assert reply.text == "It is [hidden]."
    assert reply.provenance == {"model": "[hidden]", "through": "test"}


# Errors


def error(status: int, body: Any, **headers: str) -> ModelError:
    return error_of(status, headers, body if isinstance(body, bytes) else json.dumps(body).encode(), "m")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"error": {"message": "Slow down."}}, "Slow down."),
        ({"error": "Slow down."}, "Slow down."),
        ({"message": "Slow down."}, "Slow down."),
        ({"detail": [{"loc": ["body"], "msg": "Slow down."}]}, "Slow down."),
        ({"error": {"message": {"detail": "Slow down."}}}, "Slow down."),
        (b"<html><h1>Slow\n down.</h1></html>", "Slow down."),
        ({}, "It answered with status 429."),
        (None, "It answered with status 429."),
    ],
)
def test_the_endpoints_words_are_found_in_every_shape(body: Any, text: str) -> None:
    found = error(429, body, **{"retry-after": "3"})
    assert text in found.why
    assert (found.category, found.retry_after) == ("rate_limit", 3.0)


def test_a_rejection_names_the_setting() -> None:
    found = error(400, {"error": {"message": "No.", "code": "unsupported_parameter", "param": "temperature"}})
    assert isinstance(found, RejectedError)
    assert (found.code, found.param) == ("unsupported_parameter", "temperature")


@pytest.mark.parametrize(
    ("status", "kind", "category"),
    [
        (400, {"code": "context_length_exceeded"}, "context_length"),
        (429, {"type": "insufficient_quota"}, "authentication"),
    ],
)
def test_the_kind_of_an_error_says_more_than_its_status(status: int, kind: dict[str, str], category: str) -> None:
    assert error(status, {"error": {"message": "No.", **kind}}).category == category


@pytest.mark.parametrize(("code", "category"), [(429, "rate_limit"), ("503", "server_error"), ("odd", "unexpected")])
def test_an_error_inside_of_a_success_has_a_category(code: Any, category: str) -> None:
    with pytest.raises(ModelError) as caught:
        read({"error": {"message": "No.", "code": code}})
    assert caught.value.category == category


def test_a_redirect_is_not_followed() -> None:
    assert "leads to another one (status 307)" in error(307, {}).why


def test_secrets_are_hidden_in_what_the_endpoint_says() -> None:
    assert "abcdefghijklmnop" not in str(error(401, b"Bearer abcdefghijklmnop"))
