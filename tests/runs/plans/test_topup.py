"""The same run with more of everything: what it has stays, and nothing is asked twice."""

from __future__ import annotations

import pytest

from karenina_core.errors import ConfigError, InputError
from karenina_core.runs import Engine, Progress, Store, top_up, wanted, widened
from karenina_core.schemas import ModelConfig
from tests.runs.fakes import PATIENCE, Laboratory, small_benchmark, small_config

NEW_MODEL = ModelConfig.parse("lab/model-2")
NEW_JUDGE = ModelConfig.parse("lab/judge-2")


@pytest.fixture
def finished(store: Store, runner: Engine) -> str:
    """A run over two of three questions, at its end."""
    run_id = store.runs.create(wanted(small_benchmark(3), small_config(), limit=2))
    carry_out(runner, run_id)
    return run_id


def carry_out(runner: Engine, run_id: str, **more: object) -> Progress:
    runner.start(run_id, **more)  # type: ignore[arg-type]
    seen = runner.wait(run_id, PATIENCE)
    assert seen.status == "completed", seen.message
    return seen


def test_more_of_everything_is_the_same_run(store: Store, runner: Engine, lab: Laboratory, finished: str) -> None:
    before = {row["result_id"]: row["timestamp"] for row in store.results.rows(finished)}
    top_up(store, finished, answering_models=[NEW_MODEL], judges=[NEW_JUDGE], replicates=2, question_ids=["q3"])
    assert (store.runs.get(finished).status, store.runs.get(finished).total) == ("queued", 24)
    seen = carry_out(runner, finished)
    assert (seen.done, seen.percent) == (24, 100.0)
    after = {row["result_id"]: row["timestamp"] for row in store.results.rows(finished)}
    assert {key: after[key] for key in before} == before
    assert len(lab.answered) == len(set(lab.answered)) == 12
    assert len(lab.judged) == len(set(lab.judged)) == 24


def test_results_stay_in_the_order_of_the_matrix(store: Store, runner: Engine, finished: str) -> None:
    top_up(store, finished, answering_models=[NEW_MODEL], judges=[NEW_JUDGE], replicates=2, question_ids=["q3"])
    carry_out(runner, finished)
    expected = [
        (f"q{question}", f"lab/model-{model}", f"lab/judge-{judge}", replicate)
        for question in (1, 2, 3)
        for model in (1, 2)
        for judge in (1, 2)
        for replicate in (1, 2)
    ]
    assert [tuple(result.key) for result in store.results.all(finished)] == expected


def test_another_judge_asks_no_model_under_test(store: Store, runner: Engine, lab: Laboratory, finished: str) -> None:
    lab.answered.clear()
    top_up(store, finished, judges=[NEW_JUDGE])
    assert carry_out(runner, finished).total == 4
    assert lab.answered == []


def test_a_run_can_grow_several_times(store: Store, runner: Engine, finished: str) -> None:
    for replicates in (2, 3):
        top_up(store, finished, replicates=replicates)
        assert carry_out(runner, finished).total == 2 * replicates


def test_what_was_left_out_is_still_said(store: Store) -> None:
    benchmark = small_benchmark(3)
    benchmark.mark_unfinished("q3")
    run_id = store.runs.create(wanted(benchmark, small_config(), limit=1))
    top_up(store, run_id, question_ids=["q2"])
    assert store.runs.get(run_id).note == "Left out: 1 question not marked finished."


@pytest.mark.parametrize(
    ("growth", "complaint"),
    [
        ({}, "Nothing would be added"),
        ({"replicates": 1}, "Nothing would be added"),
        ({"question_ids": ["q1", "gone"]}, "Nothing would be added"),
        ({"answering_models": [ModelConfig(model_name="lab/model-1", temperature=1)]}, "another model with the label"),
        ({"judges": [ModelConfig(model_name="lab/judge-1", max_tokens=5)]}, "another model with the label"),
    ],
)
def test_what_is_no_growth_is_refused(store: Store, finished: str, growth: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        top_up(store, finished, **growth)  # type: ignore[arg-type]
    assert store.runs.get(finished).total == 2


def test_replicates_are_never_taken_away(store: Store) -> None:
    plan = wanted(small_benchmark(1), small_config(replicate_count=3))
    with pytest.raises(InputError, match="3 times already"):
        widened(plan, replicates=2)


def test_a_run_that_grew_is_not_started_as_it_was(store: Store, runner: Engine, finished: str) -> None:
    config = store.runs.get(finished).config
    top_up(store, finished, replicates=2)
    with pytest.raises(ConfigError, match="not the one"):
        runner.start(finished, config)


def test_pace_and_limit_may_change_with_the_growth(store: Store, finished: str) -> None:
    config = small_config(replicate_count=2, max_concurrent_requests=3, max_cost=1.0, max_attempts=2)
    store.runs.widen(finished, wanted(store.runs.plan(finished).benchmark, config, limit=2))
    assert store.runs.get(finished).config == config


def test_only_one_of_two_growths_at_once_is_taken(store: Store, finished: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process lets the run grow between our reading and our writing."""
    stale = store.runs.get(finished)
    top_up(store, finished, replicates=2)
    monkeypatch.setattr(store.runs, "get", lambda run_id: stale)
    with pytest.raises(InputError, match="under way"):
        top_up(store, finished, replicates=3)


def test_the_limit_of_a_run_holds_for_what_is_added(store: Store, runner: Engine, lab: Laboratory) -> None:
    """Every answer costs half a dollar; two are paid before, and one more fits."""
    config = small_config(max_cost=1.5, max_concurrent_requests=1)
    run_id = store.runs.create(wanted(small_benchmark(2), config))
    carry_out(runner, run_id)
    top_up(store, run_id, replicates=3)
    runner.start(run_id)
    seen = runner.wait(run_id, PATIENCE)
    assert (seen.status, seen.done, seen.cost) == ("interrupted", 3, 1.5)
    assert "at most $1.50" in seen.message


def test_the_budget_of_the_day_holds_for_what_is_added(
    store: Store, runner: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = store.runs.create(wanted(small_benchmark(2), small_config(max_concurrent_requests=1)))
    carry_out(runner, run_id)
    monkeypatch.setenv("KARENINA_DAILY_BUDGET", "1.5")
    top_up(store, run_id, replicates=3)
    runner.start(run_id)
    seen = runner.wait(run_id, PATIENCE)
    assert (seen.status, seen.done, store.spending.today()) == ("interrupted", 3, 1.5)


def test_a_reverified_run_does_not_grow(store: Store, finished: str) -> None:
    plan = store.runs.plan(finished)
    copy = store.runs.create(plan, parent_run=finished)
    with pytest.raises(InputError, match="re-verification"):
        top_up(store, copy, replicates=2)
