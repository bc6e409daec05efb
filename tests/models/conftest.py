"""The two ways to a provider, for tests of what must not depend on the way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from karenina_core.errors import ModelError
from karenina_core.models import ChatReply, ChatRequest, make_client
from karenina_core.schemas import ModelConfig
from tests.faults.openai_server import OpenAIServer
from tests.models.fakes import ask

KEY = "sk-test-4f9d1c7b2a6e8053"


class Way:
    """One way to the provider on the loopback interface.

    Attributes:
        name: `OpenAI protocol` or `litellm`; the provenance of replies says it.
        server: The provider.
    """

    def __init__(self, name: str, server: OpenAIServer) -> None:
        self.name = name
        self.server = server

    def model(self, **settings: Any) -> ModelConfig:
        """Return a model at the provider; or elsewhere, if the settings say so."""
        usual: dict[str, Any] = {"model_name": "openai/gpt-test"}
        if self.name == "OpenAI protocol":
            usual |= {"endpoint_base_url": self.server.url}
        return ModelConfig(**usual | settings)

    def complete(self, request: ChatRequest | None = None, **settings: Any) -> ChatReply:
        """Make one call with a client of its own."""
        return self.complete_all([request or ask()], **settings)[0]

    def complete_all(self, requests: list[ChatRequest], **settings: Any) -> list[ChatReply]:
        """Make calls one after the other with one client."""

        async def each() -> list[ChatReply]:
            client = make_client(self.model(**settings))
            try:
                return [await client.complete(request) for request in requests]
            finally:
                await client.aclose()

        return asyncio.run(each())

    def refusal(self, request: ChatRequest | None = None, **settings: Any) -> ModelError:
        """Make one call that must fail, and return the error."""
        with pytest.raises(ModelError) as caught:
            self.complete(request, **settings)
        return caught.value


@pytest.fixture(params=["OpenAI protocol", "litellm"])
def way(request: pytest.FixtureRequest, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Way:
    """Run a test on both ways to a provider."""
    if request.param == "litellm":  # the environment leads to another address of OpenAI
        monkeypatch.setenv("OPENAI_BASE_URL", openai_server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return Way(request.param, openai_server)


@pytest.fixture
def direct(openai_server: OpenAIServer) -> Way:
    """Run a test on the direct way alone."""
    return Way("OpenAI protocol", openai_server)
