"""What only calls through litellm do; the rest is in `test_provider_clients.py`."""

from __future__ import annotations

from tests.faults.openai_server import OpenAIServer
from tests.models.ways import Way


def test_the_provider_must_be_named(openai_server: OpenAIServer) -> None:
    error = Way("litellm", openai_server).refusal(model_name="no-such-thing", endpoint_base_url=None)
    assert error.category == "bad_request"
    assert not openai_server.requests


def test_replies_come_whole(openai_server: OpenAIServer) -> None:
    assert Way("litellm", openai_server).complete(extra_kwargs={"stream": True}).text == "ok"
    assert "stream" not in openai_server.requests[0]
