"""A model is asked for a sign of life before a run depends on it."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.models import Price
from karenina_core.runs import Store, try_connection
from karenina_core.runs.prices import price_name
from tests.faults.openai_server import OpenAIServer, Reply, failing
from tests.faults.road import model


def ready(request: dict[str, Any]) -> Reply:
    return Reply('{"ready": true}' if request.get("response_format") else "ready")


@pytest.mark.parametrize(("as_judge", "told"), [(False, "replied after "), (True, "replied as JSON after ")])
def test_a_model_that_replies_works(as_judge: bool, told: str, store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = ready
    sign = try_connection(store, model(openai_server), as_judge=as_judge)
    assert sign.works
    assert sign.told.startswith(told)


def test_every_test_is_a_call_of_its_own(store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = ready
    for _ in range(2):
        assert try_connection(store, model(openai_server), as_judge=False).works
    assert len(openai_server.requests) == 2, "a reply that is remembered proves nothing about now"
    assert not list(store.calls.sample(["answerer"])), "estimates for runs would count it"


def test_a_test_counts_towards_the_budget_of_the_day(
    store: Store, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai_server.script = ready
    priced = model(openai_server)
    store.settings.set_prices({price_name(priced): Price(1e-3, 1e-2)})
    assert try_connection(store, priced, as_judge=False).works
    assert store.spending.today() > 0
    monkeypatch.setenv("KARENINA_DAILY_BUDGET", "0.001")
    assert not try_connection(store, priced, as_judge=False).works
    assert len(openai_server.requests) == 1


def test_a_judge_has_to_reply_as_json(store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = lambda _: Reply("I am ready.")
    assert try_connection(store, model(openai_server), as_judge=False).works
    assert not try_connection(store, model(openai_server, "judge"), as_judge=True).works


def test_a_refused_key_is_told_after_one_attempt(store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = lambda _: failing(401, "Wrong key.")
    sign = try_connection(store, model(openai_server), as_judge=False)
    assert (sign.works, len(openai_server.requests)) == (False, 1)
    assert "key" in sign.told


def test_a_model_that_cannot_be_asked_is_told_without_a_call(store: Store, openai_server: OpenAIServer) -> None:
    foreign = model(openai_server, api_key_env="OPENAI_API_KEY")
    assert not try_connection(store, foreign, as_judge=False).works
    assert not openai_server.requests
