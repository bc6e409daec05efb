from __future__ import annotations

from collections import Counter

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.models import Price
from karenina_core.runs import Engine, Estimate, Plan, Store, estimate, wanted, widened
from karenina_core.runs.estimates import CallCount, CallKind, estimate_calls
from karenina_core.schemas import ModelConfig, VerificationConfig
from tests.app.samples import TEMPLATE
from tests.faults.openai_server import OpenAIServer, Reply
from tests.runs.fakes import PATIENCE


def plan_of(*models: object, **settings: object) -> Plan:
    benchmark = Benchmark.create("Targets")
    for number in range(4):
        benchmark.add_question(f"What is target {number}?", "BCL2", TEMPLATE)
    judges = settings.pop("judges", [{"interface": "local"}])
    config = {"answering_models": list(models), "parsing_models": judges, **settings}
    return wanted(benchmark, VerificationConfig.model_validate(config))


def test_nothing_is_expected_of_providers_that_take_no_part() -> None:
    assert estimate(plan_of({"interface": "local"})) is None


def test_a_known_price_gives_a_range() -> None:
    expected = estimate(plan_of("openai/gpt-4.1-mini", replicate_count=5))
    assert expected is not None
    assert (expected.calls, expected.priced, expected.unknown) == (20, True, ())
    # 20 replies of 50 to 1000 tokens at $1.60 per million, and a little for the questions.
    assert expected.low == pytest.approx(20 * 50 * 1.6e-6, rel=0.1)
    assert expected.high == pytest.approx(20 * 1000 * 1.6e-6, rel=0.1)
    assert expected.cost == "$0.0016 to $0.03"
    assert expected.quotes["openai/gpt-4.1-mini"].source == "list"
    assert expected.time == ""


def test_judges_are_asked_once_for_every_answer() -> None:
    expected = estimate(plan_of("openai/gpt-4.1-mini", judges=["openai/gpt-4.1", "openai/gpt-4.1-mini"]))
    assert expected is not None
    assert expected.calls == 4 + 8
    assert expected.low < expected.high
    assert "counted for every answer that is not known yet" in expected.assumption


def test_an_unknown_price_is_said() -> None:
    alone = estimate(plan_of("lab/unheard-of"))
    beside = estimate(plan_of("lab/unheard-of", "openai/gpt-4.1-mini"))
    assert alone is not None and beside is not None
    assert alone.cost == "unknown price"
    assert beside.cost.endswith("and an unknown price for lab/unheard-of")


def test_a_model_that_may_say_little_costs_little() -> None:
    short = estimate(plan_of({"model_name": "openai/gpt-4.1-mini", "max_tokens": 50}))
    assert short is not None
    assert short.low == short.high


# With what the store knows


def at(server: OpenAIServer, name: str = "lab", **settings: object) -> dict[str, object]:
    return {
        "id": name,
        "interface": "openai_endpoint",
        "model_name": "priced",
        "endpoint_base_url": server.url,
        **settings,
    }


@pytest.fixture
def server(openai_server: OpenAIServer) -> OpenAIServer:
    """Every reply takes 11 and 7 tokens."""
    openai_server.script = lambda sent: Reply('{"target": "BCL2"}' if "response_format" in sent else "It is BCL2.")
    return openai_server


@pytest.fixture
def plan(server: OpenAIServer) -> Plan:
    return plan_of(at(server), judges=[at(server, "judge")])


def carried_out(store: Store, plan: Plan) -> str:
    run_id = store.runs.create(plan)
    with Engine(store) as runner:
        runner.start(run_id)
        assert runner.wait(run_id, PATIENCE).status == "completed"
    return run_id


def test_calls_the_ledger_knows_are_not_counted(store: Store, plan: Plan, server: OpenAIServer) -> None:
    before = estimate(plan, store)
    carried_out(store, plan)
    again = estimate(plan, store)
    assert before is not None and again is not None
    assert (before.calls, before.cached) == (len(server.requests), 0)
    assert (again.calls, again.cached, again.cost) == (0, len(server.requests), "nothing")


def test_a_new_judge_reads_answers_that_are_known(store: Store, plan: Plan, server: OpenAIServer) -> None:
    run_id = carried_out(store, plan)
    more = widened(plan, judges=[ModelConfig.model_validate(at(server, "strict", temperature=1))])
    expected = estimate(more, store, run_id)
    assert expected is not None
    assert (expected.calls, expected.cached) == (4, 4)
    assert "not known yet" not in expected.assumption


def test_what_a_run_has_is_not_counted(store: Store, plan: Plan) -> None:
    run_id = carried_out(store, plan)
    nothing = estimate(plan, store, run_id)
    doubled = estimate(widened(plan, replicates=2), store, run_id)
    assert nothing is not None and doubled is not None
    assert (nothing.calls, nothing.cached) == (0, 0)
    assert (doubled.calls, doubled.cached) == (8, 0)


def test_tokens_and_time_come_from_the_try(store: Store, plan: Plan) -> None:
    run_id = carried_out(store, plan)
    store.settings.set_prices({expected_name(plan): Price(1e-3, 1e-2)})
    expected = estimate(widened(plan, replicates=2), store, run_id)
    assert expected is not None
    assert expected.low == expected.high == pytest.approx(8 * (11 * 1e-3 + 7 * 1e-2))
    assert expected.quotes["lab"].source == "yours"
    assert expected.assumption.startswith("From 8 stored calls: their mean")
    assert expected.seconds is not None
    assert 0 < expected.seconds[0] <= expected.seconds[1]
    assert "second" in expected.time or "minute" in expected.time


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        ({}, 200 * 3 / 10),
        ({"max_concurrent_requests": 2}, 100 * 3 / 2),
        ({"requests_per_minute": 4}, 100 / 4 * 60),
        ({"tokens_per_minute": 36}, 100 * (11 + 7) / 36 * 60),
        ({"max_concurrent_requests": 50}, 200 * 3 / 10),
    ],
    ids=["none", "at once", "requests a minute", "tokens a minute", "more than the run needs"],
)
def test_the_limits_of_a_model_take_their_time(
    store: Store, monkeypatch: pytest.MonkeyPatch, limits: dict[str, int], seconds: float
) -> None:
    """A hundred answers of one model and a hundred judgements of another, of 3 s each, 10 calls at once."""
    answering, judge = (
        ModelConfig(id=label, interface="openai_endpoint", model_name="priced", endpoint_base_url="http://127.0.0.1:9")
        for label in ("lab", "judge")
    )
    kinds = (CallKind("lab", "answer"), CallKind("judge", "parsing"))
    reply = '{"text": "", "seconds": 3.0}'
    stored = [
        {"model": kind.model, "purpose": kind.purpose, "input_tokens": 11, "output_tokens": 7, "reply": reply}
        for kind in kinds * 3
    ]
    monkeypatch.setattr(store.calls, "sample", lambda models: stored)
    models = [answering.model_copy(update=limits), judge]
    expected = estimate_calls(models, CallCount(Counter(dict.fromkeys(kinds, 100))), store, 10)
    assert expected.seconds == pytest.approx((seconds, seconds))
    assert expected.unknown == ("lab", "judge")


def test_a_model_that_was_never_asked_is_named(store: Store, plan: Plan) -> None:
    run_id = carried_out(store, plan)
    expected = estimate(widened(plan, answering_models=[ModelConfig.parse("openai/gpt-4.1-mini")]), store, run_id)
    assert expected is not None
    assert "For openai/gpt-4.1-mini: assumes 50 to 1,000 tokens per reply" in expected.assumption


def test_what_a_person_says_a_call_costs_is_what_it_costs(store: Store, plan: Plan) -> None:
    assert store.runs.get(carried_out(store, plan)).cost is None
    store.settings.set_prices({expected_name(plan): Price(1e-3, 1e-2)})
    doubled = widened(plan, replicates=2)
    run = store.runs.get(carried_out(store, doubled))
    assert run.cost == pytest.approx(8 * (11 * 1e-3 + 7 * 1e-2))
    assert store.spending.today() == pytest.approx(run.cost)


def expected_name(plan: Plan) -> str:
    from karenina_core.runs.prices import price_name

    return price_name(plan.config.answering_models[0])


def test_many_known_answers_are_counted_from_a_sample(
    store: Store, plan: Plan, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karenina_core.runs.estimates.MOST", 2)
    run_id = carried_out(store, plan)
    more = widened(plan, judges=[ModelConfig.model_validate(at(server, "strict", temperature=1))])
    expected = estimate(more, store, run_id)
    assert expected is not None
    assert expected.calls == 4
    assert "from a sample" in expected.assumption


def test_prepared_answers_are_known_before_the_run(store: Store, server: OpenAIServer) -> None:
    answers = {f"What is target {number}?": "BCL2" for number in range(3)}
    notes = {"id": "notes", "interface": "manual", "model_name": "notes", "manual_traces": answers}
    expected = estimate(plan_of(notes, judges=[at(server)]), store)
    assert expected is not None
    assert expected.calls == 3


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.2, 0.4, "1 second"), (20, 50, "20 to 50 seconds"), (100, 290, "2 to 5 minutes"), (6000, 7300, "2 hours")],
)
def test_times_are_in_words(low: float, high: float, words: str) -> None:
    assert Estimate(1, 0, 0, 0, False, (), {}, (low, high), "").time == words
