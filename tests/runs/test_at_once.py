"""Calls beside runs: what they come to, what they leave in the store, and what happens when the work fails."""

from __future__ import annotations

import pytest

from karenina_core.errors import StoreError
from karenina_core.models import ChatReply, ChatRequest, Message, ModelCaller, Price, Subject, call_key
from karenina_core.runs import Store
from karenina_core.runs.at_once import ask_at_once, store_services
from karenina_core.runs.prices import price_name
from karenina_core.schemas import ModelConfig
from tests.faults.openai_server import OpenAIServer, Reply
from tests.runs.fakes import on_a_loop

REQUEST = ChatRequest("answer", (Message("user", "Which metal?"),), Subject("q", "Which metal?", "student"))
COST = 11 * 0.01 + 7 * 0.1


@pytest.fixture
def model(store: Store, openai_server: OpenAIServer) -> ModelConfig:
    """Every call costs 81 cents."""
    openai_server.script = lambda sent: Reply("Gold.")
    made = ModelConfig(
        id="student", interface="openai_endpoint", model_name="student", endpoint_base_url=openai_server.url
    )
    store.settings.set_prices({price_name(made): Price(0.01, 0.1)})
    return made


def asked(store: Store, model: ModelConfig) -> str:
    async def work(caller: ModelCaller) -> str:
        reply, _ = await caller.complete(model, REQUEST)
        return reply.text

    return ask_at_once(store, work, of="asking", keys=None, max_attempts=1)


def test_what_the_calls_come_to_is_returned_and_they_are_paid_once(
    store: Store, model: ModelConfig, openai_server: OpenAIServer
) -> None:
    assert [asked(store, model), asked(store, model)] == ["Gold.", "Gold."]
    assert len(openai_server.requests) == 1
    assert store.spending.today() == pytest.approx(COST)


def test_calls_made_before_the_work_failed_are_remembered_and_counted(
    store: Store, model: ModelConfig, openai_server: OpenAIServer
) -> None:
    async def fails(caller: ModelCaller) -> str:
        await caller.complete(model, REQUEST)
        raise ValueError("It failed.")

    with pytest.raises(ValueError, match="It failed"):
        ask_at_once(store, fails, of="asking", keys=None, max_attempts=1)
    assert store.spending.today() == pytest.approx(COST)
    assert (asked(store, model), len(openai_server.requests)) == ("Gold.", 1)


def test_a_ledger_that_was_lent_has_stored_everything_at_its_end(store: Store, model: ModelConfig) -> None:
    key = call_key(model, REQUEST)
    with store_services(store, of="asking") as services:
        on_a_loop(lambda: services.ledger.put(key, REQUEST, model, ChatReply("Gold.")))
    assert store.calls.known([key]) == {key}


def test_what_the_database_refuses_is_reported(store: Store, model: ModelConfig) -> None:
    with store.writing() as connection:
        connection.exec_driver_sql("DROP TABLE call")
    with pytest.raises(StoreError), store_services(store, of="asking") as services:
        on_a_loop(lambda: services.ledger.put("k", REQUEST, model, ChatReply("Gold.")))
