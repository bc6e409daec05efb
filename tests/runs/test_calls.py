"""Calls beside runs: what they come to, what they leave in the store, and what happens when the work fails."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.errors import StoreError
from karenina_core.models import ChatReply, ChatRequest, Message, ModelCaller, Price, Subject, call_key
from karenina_core.runs import Store, try_connection
from karenina_core.runs.calls import call_now, store_calls
from karenina_core.runs.prices import price_name
from karenina_core.schemas import ModelConfig
from tests.faults.openai_server import OpenAIServer, Reply, failing
from tests.faults.road import model as provider
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

    return call_now(store, work, of="asking", keys=None, max_attempts=1)


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
        call_now(store, fails, of="asking", keys=None, max_attempts=1)
    assert store.spending.today() == pytest.approx(COST)
    assert (asked(store, model), len(openai_server.requests)) == ("Gold.", 1)


def test_a_ledger_that_was_lent_has_stored_everything_at_its_end(store: Store, model: ModelConfig) -> None:
    key = call_key(model, REQUEST)
    with store_calls(store, of="asking") as services:
        on_a_loop(lambda: services.ledger.put(key, REQUEST, model, ChatReply("Gold.")))
    assert set(store.calls.known([key])) == {key}


def test_what_the_database_refuses_is_reported(store: Store, model: ModelConfig) -> None:
    with store.writing() as connection:
        connection.exec_driver_sql("DROP TABLE call")
    with pytest.raises(StoreError), store_calls(store, of="asking") as services:
        on_a_loop(lambda: services.ledger.put("k", REQUEST, model, ChatReply("Gold.")))


# A test of a model before a run depends on it


def ready(request: dict[str, Any]) -> Reply:
    return Reply('{"ready": true}' if request.get("response_format") else "ready")


@pytest.mark.parametrize(("as_judge", "message"), [(False, "replied after "), (True, "replied as JSON after ")])
def test_a_model_that_replies_works(as_judge: bool, message: str, store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = ready
    check = try_connection(store, provider(openai_server), as_judge=as_judge)
    assert check.works
    assert check.message.startswith(message)


def test_every_test_is_a_call_of_its_own(store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = ready
    for _ in range(2):
        assert try_connection(store, provider(openai_server), as_judge=False).works
    assert len(openai_server.requests) == 2, "a reply that is remembered proves nothing about now"
    assert not list(store.calls.sample(["answerer"])), "estimates for runs would count it"


def test_a_test_counts_towards_the_budget_of_the_day(
    store: Store, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai_server.script = ready
    priced = provider(openai_server)
    store.settings.set_prices({price_name(priced): Price(1e-3, 1e-2)})
    assert try_connection(store, priced, as_judge=False).works
    assert store.spending.today() > 0
    monkeypatch.setenv("KARENINA_DAILY_BUDGET", "0.001")
    assert not try_connection(store, priced, as_judge=False).works
    assert len(openai_server.requests) == 1


def test_a_judge_has_to_reply_as_json(store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = lambda _: Reply("I am ready.")
    assert try_connection(store, provider(openai_server), as_judge=False).works
    assert not try_connection(store, provider(openai_server, "judge"), as_judge=True).works


def test_a_refused_key_is_told_after_one_attempt(store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = lambda _: failing(401, "Wrong key.")
    check = try_connection(store, provider(openai_server), as_judge=False)
    assert (check.works, len(openai_server.requests)) == (False, 1)
    assert "key" in check.message


def test_a_model_that_cannot_be_asked_is_told_without_a_call(store: Store, openai_server: OpenAIServer) -> None:
    foreign = provider(openai_server, api_key_env="OPENAI_API_KEY")
    assert not try_connection(store, foreign, as_judge=False).works
    assert not openai_server.requests
