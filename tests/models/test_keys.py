"""Which key goes where: every case ends at a real connection or at none."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from karenina_core.errors import ConfigError, ModelError
from karenina_core.models import ChatReply, check_access, make_client, using_keys
from karenina_core.models.keys import find_key
from karenina_core.schemas import ModelConfig
from tests.faults.openai_server import OpenAIServer, Reply, redirecting
from tests.models.fakes import ask

KEY = "sk-canary-0123456789abcdefghij"
CERTIFICATE = Path(__file__).parents[1] / "data" / "loopback.pem"  # for localhost, made for these tests


def at(url: str, **settings: Any) -> ModelConfig:
    return ModelConfig(**{"model_name": "openai/gpt-test", "endpoint_base_url": url} | settings)


def complete(config: ModelConfig) -> ChatReply:
    async def once() -> ChatReply:
        client = make_client(config)
        try:
            return await client.complete(ask(timeout=20))
        finally:
            await client.aclose()

    return asyncio.run(once())


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN", "TEAM_API_KEY"])
def test_no_key_goes_to_a_foreign_address(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, KEY)
    with pytest.raises(ConfigError, match=r"may not be sent to evil\.example") as caught:
        check_access(at("https://evil.example/v1", api_key_env=variable))
    assert caught.value.why and "KARENINA_ALLOWED_HOSTS" in caught.value.next
    with pytest.raises(ConfigError):
        make_client(at("https://evil.example/v1", api_key_env=variable))


def test_a_key_goes_to_its_own_provider_and_to_no_other_one() -> None:
    check_access(at("https://api.openai.com/v1", api_key_env="OPENAI_API_KEY"))
    check_access(ModelConfig(model_name="openai/gpt", api_key_env="OPENAI_API_KEY"))
    with pytest.raises(ConfigError, match="It belongs to OpenAI"):
        check_access(at("https://api.groq.com/openai/v1", api_key_env="OPENAI_API_KEY"))
    with pytest.raises(ConfigError, match="may not be sent to the provider 'groq'"):
        check_access(ModelConfig(model_name="groq/llama", api_key_env="OPENAI_API_KEY"))


def test_a_model_without_a_prefix_is_looked_up_before_its_key_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(ModelError, match="may not be sent to the provider 'anthropic'"):
        complete(ModelConfig(model_name="claude-sonnet-4-5", api_key_env="OPENAI_API_KEY"))


def test_an_administrator_lets_a_key_go_to_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARENINA_ALLOWED_HOSTS", "gateway.lab.example")
    check_access(at("https://gateway.lab.example/v1", api_key_env="OPENAI_API_KEY"))


def test_a_key_goes_to_this_computer_only_while_one_person_uses_it(
    openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    complete(at(openai_server.url, api_key_env="OPENAI_API_KEY"))
    assert openai_server.headers[0]["Authorization"] == f"Bearer {KEY}"
    monkeypatch.setenv("KARENINA_SHARED", "1")
    with pytest.raises(ConfigError, match="shared"):
        complete(at(openai_server.url, api_key_env="OPENAI_API_KEY"))
    assert len(openai_server.requests) == 1


def test_on_a_shared_server_a_key_is_that_of_a_known_provider_or_listed(
    openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A configuration from elsewhere names the key of another service, and would have it sent to its provider."""
    stranger = ModelConfig(model_name="openai/gpt", api_key_env="STRIPE_API_KEY")
    check_access(stranger)
    monkeypatch.setenv("KARENINA_SHARED", "1")
    monkeypatch.setenv("STRIPE_API_KEY", KEY)
    monkeypatch.setenv("KARENINA_ALLOWED_HOSTS", "127.0.0.1")
    for model in (stranger, at(openai_server.url, api_key_env="STRIPE_API_KEY")):
        with pytest.raises(ConfigError, match="may not be used as a model key"):
            check_access(model)
        with pytest.raises((ConfigError, ModelError)):
            complete(model)
    assert not openai_server.requests
    check_access(at(openai_server.url, api_key_env="OPENAI_API_KEY"))
    monkeypatch.setenv("KARENINA_KEY_VARIABLES", "GATEWAY_API_KEY, OPENAI_API_KEY")
    check_access(at(openai_server.url, api_key_env="GATEWAY_API_KEY"))


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "KARENINA_DATABASE_URL", "DATABASE_PASSWORD", "HOME"])
def test_other_secrets_are_no_keys(name: str) -> None:
    with pytest.raises(ConfigError, match="may not be used as a model key"):
        check_access(at("http://127.0.0.1:9/v1", api_key_env=name))


@pytest.mark.parametrize("prefix", ["vertex_ai", "bedrock", "databricks", "gemini", "anthropic", "azure"])
def test_libraries_with_credentials_of_their_own_go_to_no_foreign_address(prefix: str) -> None:
    with pytest.raises(ConfigError, match="Only the OpenAI protocol"):
        check_access(at("https://evil.example", model_name=f"{prefix}/model"))


@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "azure_ad_token", "azure_ad_token_provider", "vertex_credentials", "aws_profile_name", "base_url"),
        *("aws_bedrock_runtime_endpoint", "custom_llm_provider", "client", "ssl_verify", "extra_headers", "fallbacks"),
        *("input_cost_per_token", "success_callback", "logger_fn", "mock_response", "API_BASE"),
    ],
)
def test_no_setting_leads_elsewhere_or_changes_the_price(name: str) -> None:
    with pytest.raises(ValueError, match=f"extra_kwargs may not hold {name}"):
        ModelConfig(model_name="openai/gpt", extra_kwargs={name: "x"})


def test_nothing_of_the_environment_is_added(openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GROQ_API_KEY", "OPENAI_ORG_ID", "OPENAI_ORGANIZATION", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Secret: {KEY}")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    complete(at(openai_server.url))
    assert openai_server.headers[0]["Authorization"] == "Bearer none"
    assert KEY not in str(openai_server.headers)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Names and the addresses they lead to, in place of a name server."""
    known: dict[str, str] = {}
    real = socket.getaddrinfo

    def look_up(host: Any, *arguments: Any, **settings: Any) -> Any:
        return real(known.get(str(host), host), *arguments, **settings)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


def test_a_name_that_leads_back_to_this_computer_is_not_followed(
    openai_server: OpenAIServer, names: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names["model.example"] = "127.0.0.1"
    url = openai_server.url.replace("127.0.0.1", "model.example")
    with pytest.raises(ModelError, match="belongs to this computer") as caught:
        complete(at(url))
    assert not caught.value.retryable
    assert not openai_server.requests
    monkeypatch.setenv("KARENINA_ALLOWED_HOSTS", "model.example")
    assert complete(at(url)).text == "ok"
    assert openai_server.headers[0]["Host"].startswith("model.example")


def test_a_name_is_judged_anew_at_every_connection(openai_server: OpenAIServer, names: dict[str, str]) -> None:
    async def call_and_rebind() -> None:
        openai_server.script = [Reply("ok", headers={"Connection": "close"})]
        client = make_client(at(openai_server.url.replace("127.0.0.1", "localhost")))
        names["localhost"] = "127.0.0.1"
        assert (await client.complete(ask())).text == "ok"
        names["localhost"] = "169.254.169.254"
        with pytest.raises(ModelError, match="link-local"):
            await client.complete(ask())
        await client.aclose()

    asyncio.run(call_and_rebind())
    assert len(openai_server.requests) == 1


def test_redirects_are_not_followed(openai_server: OpenAIServer) -> None:
    with OpenAIServer([redirecting(f"{openai_server.url}/chat/completions")]) as elsewhere, pytest.raises(ModelError):
        complete(at(elsewhere.url))
    assert len(elsewhere.requests) == 1
    assert not openai_server.requests


def test_a_literal_address_is_judged_at_the_connection_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARENINA_ALLOWED_HOSTS", "10.0.0.1")
    client = make_client(at("http://10.0.0.1:9/v1"))
    monkeypatch.delenv("KARENINA_ALLOWED_HOSTS")

    async def call() -> None:
        with pytest.raises(ModelError, match="private network") as caught:
            await client.complete(ask())
        assert not caught.value.retryable
        await client.aclose()

    asyncio.run(call())


def test_certificates_come_from_the_file_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(certificate=CERTIFICATE) as server:
        url = server.url.replace("127.0.0.1", "localhost")
        with pytest.raises(ModelError) as caught:
            complete(at(url))
        assert caught.value.category == "connection"
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert complete(at(url)).text == "ok"
        assert set(server.names) == {"localhost"}


def test_typed_keys_serve_their_own_context_only(monkeypatch: pytest.MonkeyPatch) -> None:
    config = ModelConfig(model_name="openai/gpt", api_key_env="OPENAI_API_KEY")

    async def of(key: str) -> str | None:
        with using_keys({"OPENAI_API_KEY": key}.get):
            task = asyncio.create_task(_later(config))
        return await task

    async def both() -> tuple[str | None, str | None]:
        return await of("key-of-ada"), await of("key-of-bob")

    assert asyncio.run(both()) == ("key-of-ada", "key-of-bob")
    with pytest.raises(ModelError, match="is not set"):
        find_key(config)


async def _later(config: ModelConfig) -> str | None:
    await asyncio.sleep(0)
    return find_key(config)


def test_a_typed_key_serves_models_that_name_no_variable() -> None:
    with using_keys({"GROQ_API_KEY": "typed-groq-key"}.get):
        assert find_key(ModelConfig(model_name="groq/llama")) == "typed-groq-key"
        assert find_key(ModelConfig(model_name="openai/gpt")) is None
        assert find_key(at("http://127.0.0.1:9/v1")) == "none"
