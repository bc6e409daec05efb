"""Drafting templates costs money too: it is remembered, counted, and stopped."""

from __future__ import annotations

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import ConfigError
from karenina_core.runs import Store, estimate_templates
from karenina_core.runs.drafting.calls import generate_all_templates
from karenina_core.schemas import ModelConfig
from tests.faults.openai_server import OpenAIServer
from tests.runs.drafting import drafts
from tests.runs.drafting.drafts import COST, drafter_at, proposal

SYMBOL = proposal("Au", "The symbol that is named", "symbol")


@pytest.fixture
def model(openai_server: OpenAIServer) -> ModelConfig:
    return drafter_at(openai_server, SYMBOL)


@pytest.fixture
def priced(store: Store, model: ModelConfig) -> ModelConfig:
    return drafts.priced(store, model)


def untemplated(questions: int = 4) -> Benchmark:
    benchmark = Benchmark.create("Symbols")
    for number in range(questions):
        benchmark.add_question(f"Which symbol has element {number}?", "Au", question_id=f"q{number}")
    return benchmark


def test_every_question_gets_a_template_and_the_day_its_account(store: Store, priced: ModelConfig) -> None:
    benchmark = untemplated()
    made = generate_all_templates(benchmark, priced, store=store)
    assert all(item.success for item in made.values())
    assert all(benchmark.has_template(name) for name in made)
    assert store.spending.today() == pytest.approx(4 * COST)


def test_drafting_stops_at_its_limit_and_keeps_what_it_has(store: Store, priced: ModelConfig) -> None:
    benchmark = untemplated()
    made = generate_all_templates(benchmark, priced, store=store, max_cost=2 * COST - 0.01, max_concurrent=1)
    assert [item.success for item in made.values()] == [True, True, False, False]
    assert "drafting has spent $1.62 of at most $1.61" in str(made["q2"].error)


def test_drafting_keeps_to_the_budget_of_the_day(
    store: Store, priced: ModelConfig, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARENINA_DAILY_BUDGET", "0.5")
    made = generate_all_templates(untemplated(), priced, store=store, max_concurrent=1)
    assert [item.success for item in made.values()] == [True, False, False, False]
    assert "today" in str(made["q3"].error)
    assert len(openai_server.requests) == 1


def test_what_was_drafted_before_is_not_paid_again(
    store: Store, priced: ModelConfig, openai_server: OpenAIServer
) -> None:
    for _ in range(2):
        generate_all_templates(untemplated(), priced, store=store)
    assert len(openai_server.requests) == 4


def test_benchmarks_draft_within_the_budget_themselves(priced: ModelConfig, openai_server: OpenAIServer) -> None:
    made = untemplated(1).generate_all_templates(priced, max_cost=5.0)
    assert made["q0"].success


def test_the_estimate_counts_what_would_be_asked(store: Store, priced: ModelConfig) -> None:
    benchmark = untemplated()
    before = estimate_templates(benchmark, priced, store=store)
    assert before is not None
    assert (before.calls, before.cached) == (4, 0)
    generate_all_templates(benchmark, priced, store=store, question_ids=["q0", "q1", "q2"])
    one = estimate_templates(benchmark, priced, store=store)
    again = estimate_templates(benchmark, priced, store=store, force_regenerate=True)
    assert one is not None and again is not None
    assert (one.calls, one.cached, one.low) == (1, 0, pytest.approx(COST))
    assert (again.calls, again.cached) == (1, 3)


def test_a_model_on_this_computer_costs_nothing() -> None:
    assert estimate_templates(untemplated(), ModelConfig(interface="local")) is None


def test_a_model_that_cannot_be_asked_is_refused_at_once(store: Store) -> None:
    missing = ModelConfig(interface="local", model_name="nowhere.gguf")
    with pytest.raises(ConfigError, match="no model file"):
        generate_all_templates(untemplated(), missing, store=store)
