from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.models import ChatRequest, Message, Purpose, Subject, call_key
from karenina_core.models.ports import CallNamer
from karenina_core.schemas import ModelConfig

SCHEMA = {"type": "object", "properties": {"größe": {"type": "number"}}, "a": [1, 2.5, None, True]}
HARD = (("system", 'Sé "kurz"\n'), ("user", "\ud800 \u2028 \x00 \U0001f600"))


def model(**fields: Any) -> ModelConfig:
    return ModelConfig.model_validate(fields)


def request(
    purpose: Purpose = "answer",
    schema: dict[str, Any] | None = None,
    replicate: int = 1,
    part: str = "",
    messages: Any = (("user", "Why?"),),
) -> ChatRequest:
    subject = Subject("q1", "Why?", "demo/careful", replicate, part)
    return ChatRequest(purpose, tuple(Message(*message) for message in messages), subject, schema)


OWN = {"model_name": "m", "interface": "openai_endpoint", "endpoint_base_url": "http://127.0.0.1:8000/v1"}
EXTRA = {"top_p": 0.9, "b": [1, {"z": 1, "a": "é"}]}


@pytest.mark.parametrize(
    ("config", "asked", "key"),
    [
        (
            model(model_name="openai/gpt-4.1-mini"),
            request(),
            "9bc85fa1821b46ba5aacddcbe65f68c01ec2ef0d1a72b74dc72d4d16f50145cd",
        ),
        (
            model(**OWN, temperature=0, extra_kwargs=EXTRA),
            request("parse", SCHEMA, 2, messages=HARD),
            "0c4365bac9b24e0031381e83a99ff8b0d67fa52b7e49c3800ab984211afc1cba",
        ),
        (
            model(interface="manual", model_name="mine"),
            request("rubric", part="x"),
            "77c00d0689c62974c132fd9d698a211fb7cb5db1a5d8f427403df45a2dbdd36c",
        ),
        (
            model(interface="recorded", model_name="demo/careful"),
            request("parse", SCHEMA),
            "de8a620f90d4365cd5806f94bb70ad1a51cf82880acfde27640795ab995f3db3",
        ),
        (
            model(interface="local"),
            request(schema=SCHEMA),
            "6c94814f309d6ad78ea1a97709d7c7ef53a5acec6fd678d520e1d300a1d946ce",
        ),
        (
            model(model_name="openrouter/x/y", temperature=1e-7, max_tokens=5),
            request(),
            "29f1a486207081b9c4c2b07aa6c6be084caf5aa58f3d400399b8691dd802c9f1",
        ),
    ],
    ids=["provider", "own address", "manual", "recorded", "local", "small numbers"],
)
def test_the_identity_of_a_call_never_changes(config: ModelConfig, asked: ChatRequest, key: str) -> None:
    """Calls of earlier releases are found by it; another value would have them paid for again."""
    assert call_key(config, asked) == key


def test_how_fast_a_model_may_be_called_is_no_part_of_the_identity() -> None:
    slow = model(**OWN, max_concurrent_requests=1, requests_per_minute=2, tokens_per_minute=3, request_timeout=4)
    assert call_key(slow, request()) == call_key(model(**OWN), request())


def canonical(config: ModelConfig, asked: ChatRequest) -> str:
    sent = {
        "transport": "litellm" if config.is_provider else config.transport,
        "model": config.provider_model,
        "base_url": config.endpoint_base_url,
        "temperature": config.temperature,
        "max_tokens": config.max_tokens,
        "extra": config.extra_kwargs,
        "messages": [[message.role, message.content] for message in asked.messages],
        "schema": asked.schema,
        "replicate": asked.subject.replicate,
    }
    text = json.dumps(sent, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
texts = st.text(st.characters(), max_size=40)


@given(st.lists(texts, max_size=4), st.none() | st.dictionaries(st.text(), values, max_size=4), st.integers(1, 99))
def test_it_is_the_hash_of_the_canonical_json(
    contents: list[str], schema: dict[str, Any] | None, replicate: int
) -> None:
    config, asked = model(**OWN), request("parse", schema, replicate, messages=[("user", text) for text in contents])
    assert call_key(config, asked) == canonical(config, asked)


def test_another_schema_is_another_call() -> None:
    namer = CallNamer(model(**OWN))
    keys = {namer.key(request("parse", {"title": str(number)})) for number in range(600)}
    assert len(keys) == 600


def test_who_is_asked_about_what_changes_nothing_for_a_provider() -> None:
    namer = CallNamer(model(**OWN))
    other = replace(request(), subject=Subject("q2", "Other?", "else"), purpose="parse", timeout=3.0)
    assert namer.key(other) == namer.key(request())
