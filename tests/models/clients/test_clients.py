from __future__ import annotations

import asyncio

import pytest

from karenina_core.errors import InputError
from karenina_core.models import ClientPool, make_client
from karenina_core.models.clients import CLIENTS
from karenina_core.models.clients.litellm import LitellmClient
from karenina_core.models.clients.manual import ManualClient
from karenina_core.models.clients.openai import OpenAIClient
from karenina_core.schemas import ModelConfig
from tests.models.fakes import MODEL, FakeClient


def test_interface_and_provider_decide_the_client() -> None:
    assert isinstance(make_client(ModelConfig(model_name="openai/gpt")), OpenAIClient)
    assert isinstance(make_client(ModelConfig(interface="openrouter", model_name="x")), OpenAIClient)
    assert isinstance(make_client(ModelConfig(model_name="anthropic/claude")), LitellmClient)
    assert isinstance(make_client(ModelConfig(interface="litellm", model_name="openai/gpt")), LitellmClient)
    assert isinstance(make_client(ModelConfig(interface="manual")), ManualClient)
    assert len({kind.name for kind in CLIENTS}) == len(CLIENTS)


def test_an_unknown_recording_is_refused_when_the_client_is_made() -> None:
    with pytest.raises(InputError, match="no recording 'nosuch'"):
        make_client(ModelConfig(interface="recorded", model_name="nosuch/entry"))


def test_one_client_serves_one_configuration() -> None:
    pool = ClientPool(lambda config: FakeClient(config=config))
    assert pool(MODEL) is pool(MODEL.model_copy())
    assert pool(MODEL) is not pool(MODEL.model_copy(update={"temperature": 1.0}))


def test_prepared_answers_belong_to_their_client() -> None:
    pool = ClientPool()
    one = ModelConfig(interface="manual", manual_traces={"q1": "Six."})
    other = ModelConfig(interface="manual", manual_traces={"q1": "Eight."})
    assert pool(one) is not pool(other)


def test_closing_the_pool_closes_its_clients() -> None:
    client = FakeClient()
    pool = ClientPool(lambda config: client)
    pool(MODEL)
    asyncio.run(pool.aclose())
    assert client.closed
