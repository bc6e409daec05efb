from __future__ import annotations

import asyncio

import pytest

from karenina_core.errors import ConfigError, StoreError
from karenina_core.runs import Engine, Store, run_verification, wanted
from karenina_core.schemas import ModelConfig, VerificationConfig, VerificationResultSet
from tests.faults.openai_server import OpenAIServer, Reply, failing
from tests.runs.elements import config_for, elements, extraction
from tests.runs.fakes import PATIENCE, fill_disk


@pytest.fixture
def judge(openai_server: OpenAIServer) -> OpenAIServer:
    openai_server.script = extraction
    return openai_server


def test_a_benchmark_is_answered_judged_and_decided(store: Store, judge: OpenAIServer) -> None:
    results = run_verification(elements(), config_for(judge), run_name="Friday", store=store)
    assert [(result.question_id, result.verdict) for result in results] == [
        ("gold", "pass"),
        ("iron", "fail"),
        ("neon", "fail"),
    ]
    assert {result.run_name for result in results} == {"Friday"}
    run = store.runs.get(str(results.run_id))
    assert (run.status, run.done, run.passed, run.calls) == ("completed", 3, 1, 6)


def test_benchmarks_run_themselves(judge: OpenAIServer) -> None:
    results = elements().run_verification(config_for(judge), question_ids=["gold"])
    assert results.counts() == {"pass": 1, "fail": 0, "not_evaluated": 0}
    with Store.open() as store:
        assert store.results.all(str(results.run_id)) == list(results)


def test_progress_reaches_a_hundred(store: Store, judge: OpenAIServer) -> None:
    seen: list[tuple[float, str]] = []
    run_verification(
        elements(), config_for(judge), store=store, progress_callback=lambda percent, line: seen.append((percent, line))
    )
    percents = [percent for percent, _ in seen]
    assert percents == sorted(percents)
    assert seen[-1] == (100.0, "3 of 3 done, 1 passed")


def test_it_works_inside_a_running_event_loop(store: Store, judge: OpenAIServer) -> None:
    async def notebook() -> VerificationResultSet:
        return run_verification(elements(), config_for(judge), store=store, limit=1)

    assert len(asyncio.run(notebook())) == 1


def test_nothing_finished_gives_no_results_and_a_note(store: Store, judge: OpenAIServer) -> None:
    benchmark = elements()
    for question_id in benchmark.get_question_ids():
        benchmark.mark_unfinished(question_id)
    results = run_verification(benchmark, config_for(judge), store=store)
    assert len(results) == 0
    assert "not marked finished" in store.runs.get(str(results.run_id)).note


def test_a_judge_that_fails_leaves_rows_without_a_verdict(store: Store, judge: OpenAIServer) -> None:
    judge.script = lambda request: Reply("no such model", status=404)
    results = run_verification(elements(), config_for(judge), store=store)
    assert results.counts()["not_evaluated"] == 3
    assert {result.failure.category for result in results if result.failure} == {"not_found"}
    judge.script = extraction
    with Engine(store) as runner:
        runner.resume(str(results.run_id), config_for(judge))
        assert runner.wait(str(results.run_id), PATIENCE).passed == 1


def test_stopping_in_the_middle_cancels_and_keeps(store: Store, judge: OpenAIServer) -> None:
    def stop(percent: float, line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_verification(elements(), config_for(judge), store=store, progress_callback=stop)
    (run,) = store.runs.all()
    assert run.status in ("cancelled", "interrupted", "completed")
    assert run.done == len(store.results.all(run.id))


def test_a_full_disk_is_an_error_with_the_reason(store: Store, judge: OpenAIServer) -> None:
    benchmark = elements()
    for number in range(60):
        benchmark.add_question(f"Question {number}?", "42")
    fill_disk(store)
    with pytest.raises(StoreError, match="disk is full"):
        run_verification(benchmark, config_for(judge), store=store)


def priced(server: OpenAIServer, **settings: object) -> VerificationConfig:
    """A judge of a known price."""
    config = config_for(server, **settings)
    config.parsing_models[0].model_name = "gpt-4.1-mini"
    return config


def test_a_run_whose_money_is_spent_returns_what_it_has(store: Store, judge: OpenAIServer) -> None:
    config = priced(judge, max_cost=1e-6, max_concurrent_requests=1)
    said: list[str] = []
    results = run_verification(
        elements(), config, store=store, progress_callback=lambda percent, line: said.append(line)
    )
    assert (len(judge.requests), results.counts()["pass"], len(results)) == (1, 1, 1)
    assert "Stopped: the run has spent" in said[-1]
    assert store.runs.get(str(results.run_id)).status == "interrupted"


def test_a_key_for_a_foreign_address_stops_the_run_before_anything_is_sent(
    store: Store, judge: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    config = config_for(judge)
    config.parsing_models.append(
        ModelConfig(
            id="elsewhere",
            interface="openai_endpoint",
            model_name="judge",
            endpoint_base_url="https://evil.example/v1",
            api_key_env="OPENAI_API_KEY",
        )
    )
    with pytest.raises(ConfigError, match="may not be sent to"):
        run_verification(elements(), config, store=store)
    assert not judge.requests


def test_replies_that_are_thrown_away_are_paid_too(store: Store, openai_server: OpenAIServer) -> None:
    openai_server.script = [Reply("No JSON."), Reply("None again."), Reply("Nor here.")]
    config = priced(openai_server)
    config.parsing_models[0].max_retries = 2
    results = run_verification(elements(), config, question_ids=["gold"], store=store)
    run = store.runs.get(str(results.run_id))
    assert len(openai_server.requests) == 3
    assert run.cost == pytest.approx(3 * (11 * 0.4e-6 + 7 * 1.6e-6))
    assert store.spending.today() == pytest.approx(run.cost)


def test_a_failed_answer_marks_the_rows_of_all_its_judges_with_its_own_failure(
    store: Store, openai_server: OpenAIServer
) -> None:
    openai_server.script = lambda sent: extraction(sent) if "response_format" in sent else failing(401, "No.")
    at = {"interface": "openai_endpoint", "endpoint_base_url": openai_server.url}
    config = VerificationConfig.model_validate(
        {
            "answering_models": [{**at, "model_name": "answerer"}],
            "parsing_models": [{**at, "model_name": "one"}, {**at, "model_name": "two"}],
        }
    )
    results = run_verification(elements(), config, question_ids=["gold"], store=store)
    assert [(row.parsing_model, row.verdict) for row in results] == [
        ("openai/one", "not_evaluated"),
        ("openai/two", "not_evaluated"),
    ]
    failures = [(row.failure.category, row.failure.stage) for row in results if row.failure]
    assert failures == [("authentication", "generate_answer")] * 2
    assert len(openai_server.requests) == 1


def test_on_a_shared_server_a_run_with_a_place_of_its_own_does_not_start(
    store: Store, judge: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARENINA_SHARED", "1")
    monkeypatch.setenv("KARENINA_ALLOWED_HOSTS", "127.0.0.1")
    config = config_for(judge, embedding_check_enabled=True, embedding_check_model="/etc")
    run_id = store.runs.create(wanted(elements(), config))
    with Engine(store) as runner, pytest.raises(ConfigError, match="'/etc' may not be loaded here"):
        runner.start(run_id, config)
    assert store.runs.get(run_id).status == "failed"
    assert not judge.requests
