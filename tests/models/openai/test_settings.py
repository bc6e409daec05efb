from __future__ import annotations

import json
from typing import Any

import pytest

from karenina_core.models.failures import failure
from karenina_core.models.openai.errors import RejectedError
from karenina_core.models.openai.route import route_of
from karenina_core.models.openai.settings import Settings, settings_of
from karenina_core.schemas import ModelConfig


def settings(**given: Any) -> Settings:
    config = ModelConfig(**{"model_name": "openai/gpt", "max_tokens": 9} | given)
    route = route_of(config)
    assert route is not None
    return settings_of(config, route)


def rejected(text: str, code: str = "", param: str = "") -> RejectedError:
    return RejectedError(failure("bad_request", "m", text), code, param)


def test_openai_itself_is_told_the_length_by_its_new_name() -> None:
    assert settings().values == {"model": "gpt", "temperature": 0.1, "max_completion_tokens": 9}
    assert settings(endpoint_base_url="http://127.0.0.1:9/v1").values["max_tokens"] == 9


def test_a_length_given_by_its_new_name_counts() -> None:
    values = settings(endpoint_base_url="http://127.0.0.1:9/v1", extra_kwargs={"max_completion_tokens": 5}).values
    assert values == {"model": "gpt", "temperature": 0.1, "max_completion_tokens": 5}


def test_openrouter_is_asked_what_a_call_costs() -> None:
    assert settings(interface="openrouter", model_name="x/y").values["usage"] == {"include": True}


@pytest.mark.parametrize("name", ["drop_params", "num_retries", "timeout", "caching"])
def test_options_of_litellm_are_not_sent(name: str) -> None:
    assert name not in settings(extra_kwargs={name: True}).values


def test_a_body_of_ones_own_replaces_neither_model_nor_messages() -> None:
    body = {"model": "dearer", "messages": [], "top_k": 1}
    values = settings(extra_kwargs={"extra_body": body}).values
    assert values["model"] == "gpt" and "messages" not in values and values["top_k"] == 1


def test_the_head_is_json_without_its_end() -> None:
    head = settings(extra_kwargs={"stop": ['a"b', "\u00e9"]}).head
    assert json.loads(head + b"}")["stop"] == ['a"b', "\u00e9"]


@pytest.mark.parametrize(
    "error",
    [
        rejected("temperature is out of range", param="temperature"),
        rejected("Unsupported parameter", param="top_p"),
        rejected("Unsupported parameter: 'logit_bias'"),
        rejected("Unsupported parameter", param="max_tokens"),
    ],
)
def test_a_refusal_of_something_else_changes_nothing(error: RejectedError) -> None:
    assert settings().without(error) is None


def test_every_setting_is_given_up_once() -> None:
    first = settings()
    second = first.without(rejected("'max_completion_tokens' is not supported"))
    assert second is not None and second.values["max_tokens"] == 9
    third = second.without(rejected("max_tokens", code="unsupported_parameter", param="max_tokens"))
    assert third is not None
    assert third.values == {"model": "gpt", "temperature": 0.1}
    assert third.not_accepted == {"max_tokens": 9}
    assert third.without(rejected("'max_tokens' is not supported")) is None
    assert first.values["max_completion_tokens"] == 9
