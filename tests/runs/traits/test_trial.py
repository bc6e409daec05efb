"""Trying a trait on one response."""

from __future__ import annotations

import pytest

from karenina_core.errors import ConfigError
from karenina_core.models import Price
from karenina_core.pipeline import Sample
from karenina_core.runs import Store, estimate_trial, try_trait
from karenina_core.runs.prices import price_name
from karenina_core.schemas import ManualRubricTrait, ModelConfig
from tests.faults.openai_server import OpenAIServer
from tests.runs.scored import CLARITY, judge

SAMPLE = Sample("Which metal?", "It is gold.")
COST = 11 * 0.01 + 7 * 0.1


@pytest.fixture
def model(store: Store, openai_server: OpenAIServer) -> ModelConfig:
    """Every call costs 81 cents."""
    made = judge(openai_server)
    store.settings.set_prices({price_name(made): Price(0.01, 0.1)})
    return made


def test_the_outcome_comes_with_its_call(store: Store, model: ModelConfig) -> None:
    part = try_trait(store, CLARITY, SAMPLE, model)
    assert (part.scores, len(part.calls)) == ({"Clarity": 4}, 1)


def test_it_is_paid_once_and_stands_in_the_days_account(
    store: Store, model: ModelConfig, openai_server: OpenAIServer
) -> None:
    for _ in range(2):
        try_trait(store, CLARITY, SAMPLE, model)
    assert len(openai_server.requests) == 1
    assert store.spending.today() == pytest.approx(COST)


def test_it_keeps_to_the_budget_of_the_day(
    store: Store, model: ModelConfig, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARENINA_DAILY_BUDGET", "0.5")
    try_trait(store, CLARITY, SAMPLE, model)
    part = try_trait(store, CLARITY, Sample("Which metal?", "It is iron."), model)
    assert "today" in part.errors["Clarity"]
    assert len(openai_server.requests) == 1


def test_a_key_of_the_session_reaches_the_judge(store: Store, model: ModelConfig, openai_server: OpenAIServer) -> None:
    keyed = model.model_copy(update={"api_key_env": "OWN_API_KEY"})
    try_trait(store, CLARITY, SAMPLE, keyed, {"OWN_API_KEY": "sk-of-this-session"}.get)
    assert openai_server.headers[0]["Authorization"] == "Bearer sk-of-this-session"


def test_the_estimate_knows_the_ledger(store: Store, model: ModelConfig) -> None:
    before = estimate_trial(store, CLARITY, SAMPLE, model)
    assert before is not None
    assert (before.calls, before.cached) == (1, 0)
    try_trait(store, CLARITY, SAMPLE, model)
    after = estimate_trial(store, CLARITY, SAMPLE, model)
    assert after is not None
    assert (after.calls, after.cached) == (0, 1)


def test_patterns_take_nothing(store: Store, model: ModelConfig, openai_server: OpenAIServer) -> None:
    trait = ManualRubricTrait(name="Gold", pattern="gold")
    assert estimate_trial(store, trait, SAMPLE, model) is None
    assert try_trait(store, trait, SAMPLE).regex == {"Gold": True}
    assert openai_server.requests == []


def test_a_judge_has_to_be_one_that_can_be_asked(store: Store) -> None:
    with pytest.raises(ConfigError, match="needs a judge"):
        try_trait(store, CLARITY, SAMPLE)
    with pytest.raises(ConfigError, match="cannot judge"):
        try_trait(store, CLARITY, SAMPLE, ModelConfig(interface="manual"))
