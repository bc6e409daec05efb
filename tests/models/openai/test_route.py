"""Which models are called directly, and where."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.models import PROVIDERS, call_key, check_access, make_client
from karenina_core.models.litellm.client import LitellmClient
from karenina_core.models.openai.client import OpenAIClient
from karenina_core.models.openai.route import Route, route_of
from karenina_core.schemas import ModelConfig
from tests.models.fakes import judge

LOCAL = "http://127.0.0.1:11434/v1"


def way(**settings: Any) -> Route | None:
    return route_of(ModelConfig(**settings))


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
    ],
)
def test_models_that_speak_the_protocol_are_called_directly(settings: dict[str, Any], route: tuple[str, ...]) -> None:
    assert way(**settings) == route
    assert isinstance(make_client(ModelConfig(**settings)), OpenAIClient)


@pytest.mark.parametrize(
    "settings",
    [
        {"interface": "litellm", "model_name": "openai/gpt-4.1"},
        {"interface": "litellm", "model_name": "openai/gpt-test", "endpoint_base_url": LOCAL},
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
    assert way(**settings) is None
    assert isinstance(make_client(ModelConfig(**settings)), LitellmClient)


def test_litellm_is_chosen_by_name_on_the_command_line() -> None:
    chosen = ModelConfig.parse("litellm:openai/gpt-4.1", temperature=0)
    assert (chosen.interface, chosen.id, chosen.transport) == ("litellm", "openai/gpt-4.1", "litellm")
    assert route_of(chosen) is None


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
    assert way(model_name="openai/gpt-4.1") is None
    assert way(model_name="llama3.2", endpoint_base_url=LOCAL) is not None


def test_a_provider_excepted_from_the_proxy_is_called_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "api.openai.com")
    assert way(model_name="openai/gpt-4.1") is not None


def test_models_that_are_no_providers_have_no_way() -> None:
    assert way(interface="local") is None


@pytest.mark.parametrize("provider", [item for item in PROVIDERS if item.base_url], ids=lambda item: item.title)
def test_every_known_endpoint_may_get_its_providers_key(provider: Any) -> None:
    check_access(
        ModelConfig(
            model_name=f"{provider.prefixes[0]}/x",
            endpoint_base_url=provider.base_url,
            api_key_env=provider.variables[0],
        )
    )
