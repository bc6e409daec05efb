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

WAYS = ("OpenAI protocol", "litellm")


class Way:
    """One way to the provider on the loopback interface.

    Attributes:
        name: One of `WAYS`; the provenance of replies says it.
        server: The provider.
    """

    def __init__(self, name: str, server: OpenAIServer) -> None:
        self.name = name
        self.server = server

    def model(self, **settings: Any) -> ModelConfig:
        """Return a model at the provider; or elsewhere, if the settings say so."""
        interface = "litellm" if self.name == "litellm" else "provider"
        usual = {"interface": interface, "model_name": "openai/gpt-test", "endpoint_base_url": self.server.url}
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
