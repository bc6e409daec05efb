"""Carrying runs out: starting, pausing, resuming, cancelling, and what a stop leaves behind."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import ConfigError, InputError, StoreError
from karenina_core.models import ModelCaller
from karenina_core.runs import Engine, ModelCount, Progress, Store, wanted, with_answers
from karenina_core.runs.engine.engine import HEARTBEAT_SECONDS
from karenina_core.runs.engine.job import gc_tuning, workers_for
from karenina_core.runs.engine.pause import PauseControl
from karenina_core.runs.store.runs import LEASE_SECONDS
from karenina_core.schemas import ModelConfig, VerificationConfig
from tests.runs.fakes import (
    PATIENCE,
    FakeEvaluator,
    Laboratory,
    Turnstile,
    fill_disk,
    free_disk,
    small_benchmark,
    small_config,
)

ROOT = Path(__file__).parents[3]


def new_run(store: Store, questions: int = 3, **config: object) -> str:
    return store.runs.create(wanted(small_benchmark(questions), small_config(**config)), "Test")  # type: ignore[arg-type]


def finish(runner: Engine, run_id: str) -> Progress:
    seen = runner.wait(run_id, PATIENCE)
    assert not seen.active, f"still {seen.status}: {seen.message}"
    return seen


@pytest.fixture
def gate(lab: Laboratory) -> Turnstile:
    """Every answer waits here until it is let through."""
    turnstile = Turnstile()
    lab.before_answer = turnstile.enter
    return turnstile


def test_a_run_reaches_all_its_rows(store: Store, runner: Engine) -> None:
    run_id = new_run(store, 3, answering=2, parsing=2, replicate_count=2)
    runner.start(run_id)
    seen = finish(runner, run_id)
    assert (seen.status, seen.done, seen.total, seen.percent) == ("completed", 24, 24, 100.0)
    assert seen.models == {"lab/model-1": ModelCount(12), "lab/model-2": ModelCount(12)}
    assert len(store.results.all(run_id)) == 24


def test_no_more_is_under_way_than_allowed(store: Store, runner: Engine, lab: Laboratory, gate: Turnstile) -> None:
    run_id = new_run(store, 10, max_concurrent_requests=3)
    runner.start(run_id)
    gate.wait_for(3)
    gate.let()
    finish(runner, run_id)
    assert lab.most_at_once == 3


def test_calls_and_cost_are_counted(store: Store, runner: Engine) -> None:
    first, second = new_run(store, 2), new_run(store, 2)
    for run_id in (first, second):
        runner.start(run_id)
        finish(runner, run_id)
    paid, free = runner.progress(first), runner.progress(second)
    assert (paid.calls, paid.cached_calls, paid.cost) == (2, 0, 1.0)
    assert (free.calls, free.cached_calls, free.cost) == (2, 2, None)


def test_pause_begins_nothing_new_and_resume_goes_on(
    store: Store, runner: Engine, lab: Laboratory, gate: Turnstile
) -> None:
    run_id = new_run(store, 6, max_concurrent_requests=2)
    runner.start(run_id)
    gate.wait_for(2)
    runner.pause(run_id)
    assert (runner.progress(run_id).status, store.runs.get(run_id).status) == ("paused", "paused")
    gate.let()
    assert runner.wait(run_id, 0.2).status == "paused"
    assert len(lab.answered) == 2
    runner.resume(run_id)
    assert finish(runner, run_id).status == "completed"
    assert len(lab.answered) == 6


def test_cancel_stops_at_once_and_keeps_what_is_there(
    store: Store, runner: Engine, lab: Laboratory, gate: Turnstile
) -> None:
    run_id = new_run(store, 6, max_concurrent_requests=2)
    runner.start(run_id)
    gate.let(3)
    gate.wait_for(5)
    runner.cancel(run_id)
    seen = runner.progress(run_id)
    assert (seen.status, seen.done) == ("cancelled", len(store.results.rows(run_id)))
    assert len(lab.answered) == 3


def test_a_paused_run_can_be_cancelled(store: Store, runner: Engine, gate: Turnstile) -> None:
    run_id = new_run(store)
    runner.start(run_id)
    gate.wait_for(1)
    runner.pause(run_id)
    runner.cancel(run_id)
    assert runner.progress(run_id).status == "cancelled"


def test_resuming_a_cancelled_run_repeats_nothing(
    store: Store, runner: Engine, lab: Laboratory, gate: Turnstile
) -> None:
    run_id = new_run(store, 6, parsing=2, max_concurrent_requests=1)
    runner.start(run_id)
    gate.let(3)
    gate.wait_for(4)
    runner.cancel(run_id)
    kept = {row["result_id"]: row["timestamp"] for row in store.results.rows(run_id)}
    gate.let()
    runner.resume(run_id)
    assert finish(runner, run_id).percent == 100.0
    now = {row["result_id"]: row["timestamp"] for row in store.results.rows(run_id)}
    assert len(now) == 12
    assert {key: now[key] for key in kept} == kept
    assert len(lab.answered) == len(set(lab.answered)) == 6
    assert len(lab.judged) == len(set(lab.judged)) == 12


def test_a_failed_answer_marks_all_its_judges(store: Store, runner: Engine, lab: Laboratory) -> None:
    lab.failing["q2"] = "rate_limit"
    run_id = new_run(store, 3, parsing=2)
    runner.start(run_id)
    seen = finish(runner, run_id)
    assert (seen.status, seen.percent, seen.errors) == ("completed", 100.0, {"rate_limit": 2})
    assert [row["failure_category"] for row in store.results.rows(run_id, question_id="q2")] == ["rate_limit"] * 2


def test_resume_tries_failures_again_and_nothing_else(store: Store, runner: Engine, lab: Laboratory) -> None:
    lab.failing.update(q2="server_error", q3="template_validation")
    run_id = new_run(store, 3)
    runner.start(run_id)
    finish(runner, run_id)
    lab.failing.clear()
    lab.answered.clear()
    runner.resume(run_id)
    seen = finish(runner, run_id)
    assert [question for question, _, _ in lab.answered] == ["q2"]
    assert (seen.passed, seen.errors, seen.done) == (2, {"template_validation": 1}, 3)


def test_a_breakdown_becomes_a_row_and_the_run_goes_on(store: Store, runner: Engine, lab: Laboratory) -> None:
    lab.broken.add("q2")
    run_id = new_run(store, 3, parsing=2)
    runner.start(run_id)
    seen = finish(runner, run_id)
    assert (seen.status, seen.passed, seen.errors) == ("completed", 4, {"unexpected": 2})
    reasons = {result.failure.reason for result in store.results.all(run_id, question_id="q2") if result.failure}
    assert reasons == {"RuntimeError: boom"}


def test_two_runs_go_on_at_once(store: Store, runner: Engine, gate: Turnstile) -> None:
    first, second = (new_run(store, 2, max_concurrent_requests=1, replicate_count=n) for n in (1, 2))
    runner.start(first)
    runner.start(second)
    gate.wait_for(2)
    assert {runner.progress(run_id).status for run_id in (first, second)} == {"running"}
    gate.let()
    assert (finish(runner, first).done, finish(runner, second).done) == (2, 4)


def test_a_double_click_starts_once(store: Store, runner: Engine, lab: Laboratory, gate: Turnstile) -> None:
    run_id = new_run(store, 3)
    clicks = [threading.Thread(target=runner.start, args=(run_id,)) for _ in range(4)]
    for click in clicks:
        click.start()
    for click in clicks:
        click.join()
    gate.let()
    finish(runner, run_id)
    assert len(lab.answered) == 3


def test_closing_interrupts_and_a_new_runner_resumes(store: Store, lab: Laboratory, gate: Turnstile) -> None:
    run_id = new_run(store, 4, max_concurrent_requests=1)
    with Engine(store, lab) as first:
        first.start(run_id)
        gate.let(2)
        gate.wait_for(3)
    assert store.runs.get(run_id).status == "interrupted"
    gate.let()
    with Engine(store, lab) as second:
        second.resume(run_id)
        assert finish(second, run_id).status == "completed"
    assert len(lab.answered) == len(set(lab.answered)) == 4


@pytest.mark.parametrize("status", ["queued", "running", "paused"])
def test_runs_left_behind_are_interrupted_at_the_next_start(store: Store, lab: Laboratory, status: str) -> None:
    run_id = new_run(store)
    store.runs.set_status(run_id, status)  # type: ignore[arg-type]
    child = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    import socket

    store.runs.claim(run_id, f"{socket.gethostname()}/{child.stdout.strip()}/gone")
    with Engine(store, lab) as runner:
        assert runner.progress(run_id).status == "interrupted"
        runner.resume(run_id)
        assert finish(runner, run_id).status == "completed"


def test_a_run_of_a_living_process_is_left_to_it(store: Store, runner: Engine) -> None:
    run_id = new_run(store)
    store.runs.set_status(run_id, "running")
    store.runs.claim(run_id, "elsewhere/1/a")
    for act in (runner.start, runner.cancel):
        with pytest.raises(StoreError, match="another process"):
            act(run_id)
    assert runner.progress(run_id).status == "running"


def test_a_run_that_was_taken_over_is_given_up(
    store: Store, lab: Laboratory, gate: Turnstile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karenina_core.runs.engine.engine.HEARTBEAT_SECONDS", 0.01)
    run_id = new_run(store)
    with Engine(store, lab) as runner:
        runner.start(run_id)
        gate.wait_for(1)
        with store.writing() as connection:
            connection.exec_driver_sql("UPDATE run SET owner = 'elsewhere/1/a'")
        until = time.monotonic() + PATIENCE
        while runner.progress(run_id).in_flight and time.monotonic() < until:
            time.sleep(0.01)
        with pytest.raises(InputError, match="not under way here"):
            runner.pause(run_id)
        gate.let()
        assert runner.wait(run_id, PATIENCE).status == "running"
    assert store.runs.get(run_id).status == "running"


def test_the_lease_outlives_several_missed_beats() -> None:
    assert LEASE_SECONDS > 3 * HEARTBEAT_SECONDS


def test_a_run_that_cannot_work_does_not_start(store: Store, runner: Engine, lab: Laboratory) -> None:
    lab.problems = ["There is no key for lab."]
    run_id = new_run(store)
    with pytest.raises(ConfigError, match="no key for lab"):
        runner.start(run_id)
    assert (store.runs.get(run_id).status, lab.answered) == ("failed", [])
    assert "no key for lab" in store.runs.get(run_id).note
    lab.problems = []
    runner.start(run_id)
    assert finish(runner, run_id).status == "completed"


def test_another_configuration_is_refused(store: Store, runner: Engine) -> None:
    run_id = new_run(store)
    with pytest.raises(ConfigError, match="not the one"):
        runner.start(run_id, small_config(replicate_count=2))


def test_a_full_disk_pauses_the_run_and_loses_nothing(store: Store, runner: Engine, lab: Laboratory) -> None:
    run_id = new_run(store, 60)
    fill_disk(store)
    runner.start(run_id)
    seen = wait_for_status(runner, run_id, "paused")
    assert "disk is full" in seen.message
    free_disk(store)
    runner.resume(run_id)
    assert finish(runner, run_id).passed == 60
    assert len(lab.answered) == 60


def test_a_run_on_a_full_disk_can_be_cancelled(store: Store, runner: Engine) -> None:
    run_id = new_run(store, 60)
    fill_disk(store)
    runner.start(run_id)
    wait_for_status(runner, run_id, "paused")
    runner.cancel(run_id)
    assert not runner.progress(run_id).active


def wait_for_status(runner: Engine, run_id: str, status: str) -> Progress:
    for _ in range(PATIENCE * 20):
        seen = runner.wait(run_id, 0.05)
        if seen.status == status:
            return seen
    raise AssertionError(f"never {status}: {seen}")


def test_an_empty_run_is_complete(store: Store, runner: Engine) -> None:
    run_id = store.runs.create(wanted(small_benchmark(), small_config(), []))
    runner.start(run_id)
    assert finish(runner, run_id).percent == 100.0


def test_runs_that_are_not_under_way_are_named(store: Store, runner: Engine) -> None:
    with pytest.raises(InputError, match="not under way"):
        runner.pause(new_run(store))
    for look in (runner.start, runner.cancel, runner.progress):
        with pytest.raises(InputError, match="'nothing'"):
            look("nothing")


def test_a_queued_run_can_be_cancelled(store: Store, runner: Engine) -> None:
    run_id = new_run(store)
    runner.cancel(run_id)
    assert store.runs.get(run_id).status == "cancelled"


def test_a_closed_runner_says_so(store: Store, lab: Laboratory) -> None:
    run_id = new_run(store)
    runner = Engine(store, lab)
    runner.close()
    runner.close()
    with pytest.raises(InputError, match="closed"):
        runner.start(run_id)
    assert runner.progress(run_id).total == 3


def test_a_run_on_postgresql(postgres_url: str, lab: Laboratory) -> None:
    lab.failing["q2"] = "timeout"
    with Store.open(postgres_url) as store, Engine(store, lab) as runner:
        run_id = new_run(store, 20, parsing=2)
        runner.start(run_id)
        assert finish(runner, run_id).errors == {"timeout": 2}
        lab.failing.clear()
        runner.resume(run_id)
        assert finish(runner, run_id).passed == 40


def test_killed_in_the_middle_nothing_reported_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "killed.db"
    command = [sys.executable, "-m", "tests.runs.killed_run", str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    reported = set(ended.stdout.split())
    assert ended.returncode == -9, ended.stderr
    lab = Laboratory()
    with Store.open(path) as store, Engine(store, lab) as runner:
        (run,) = store.runs.all()
        assert run.status == "interrupted"
        assert reported <= {row["question_id"] for row in store.results.rows(run.id)}
        runner.resume(run.id)
        assert finish(runner, run.id).passed == 30
    assert not reported & {question for question, _, _ in lab.answered}


# Starting


@pytest.mark.parametrize("variable", ["KARENINA_DAILY_BUDGET", "KARENINA_MAX_CONCURRENT"])
def test_a_setting_of_the_environment_that_cannot_be_used_stops_a_run_before_the_first_call(
    store: Store, runner: Engine, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "plenty")
    with pytest.raises(ConfigError, match=variable):
        runner.start(new_run(store))


PREPARED = {"q1": "42", "q2": "42"}


def prepared_config() -> VerificationConfig:
    """Return a configuration whose answers are prepared."""
    prepared = ModelConfig(interface="manual", model_name="elsewhere", manual_traces=PREPARED)
    return small_config().model_copy(update={"answering_models": [prepared]})


def run_of_the_first(store: Store, runner: Engine, config: VerificationConfig) -> str:
    """Carry out a run of the first of two questions."""
    run_id = store.runs.create(wanted(small_benchmark(2), config, limit=1))
    runner.start(run_id, config)
    finish(runner, run_id)
    return run_id


def test_prepared_answers_stay_for_as_long_as_the_process_lives(store: Store) -> None:
    seen: list[VerificationConfig] = []

    class Watching(Laboratory):
        def __call__(self, benchmark: Benchmark, config: VerificationConfig, caller: ModelCaller) -> FakeEvaluator:
            seen.append(config)
            return super().__call__(benchmark, config, caller)

    config = prepared_config()
    with Engine(store, Watching()) as runner:
        run_id = run_of_the_first(store, runner, config)
        store.runs.widen(run_id, wanted(store.runs.plan(run_id).benchmark, config))
        runner.resume(run_id)
        assert finish(runner, run_id).done == 2
    assert [given.answering_models[0].manual_traces for given in seen] == [PREPARED] * 2


def test_another_process_asks_for_the_prepared_answers_before_it_goes_on(store: Store) -> None:
    config = prepared_config()
    with Engine(store, Laboratory()) as first:
        run_id = run_of_the_first(store, first, config)
        assert first.needs_answers(run_id) == ()
    with Engine(store, Laboratory()) as second:
        assert second.needs_answers(run_id) == ("elsewhere",)
        second.resume(run_id)  # nothing is left for which they would be needed
        assert finish(second, run_id).status == "completed"
        store.runs.widen(run_id, wanted(store.runs.plan(run_id).benchmark, config))
        with pytest.raises(ConfigError, match="prepared answers of elsewhere"):
            second.resume(run_id)
        second.resume(run_id, with_answers(store.runs.get(run_id).config, {"manual": PREPARED}))
        assert finish(second, run_id).passed == 2


# Workers and garbage


def test_many_calls_take_more_workers() -> None:
    assert [workers_for(calls) for calls in (1, 32, 40, 200)] == [1, 32, 48, 368]


@pytest.fixture
def threshold() -> Iterator[None]:
    usual = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*usual)


@pytest.mark.usefixtures("threshold")
def test_garbage_is_searched_less_often_until_the_last_job_has_ended() -> None:
    with gc_tuning():
        with gc_tuning():
            pass
        assert gc.get_threshold()[0] > 700
    assert gc.get_threshold() == (700, 10, 10)


# Pauses

EVALUATION = ("q1", "m", 1)


def pause_control() -> tuple[PauseControl, list[str]]:
    """Return a control that is paused by trouble, and the reasons."""
    reasons: list[str] = []

    def trouble(error: StoreError, began: float) -> None:
        reasons.append(error.what)
        control.pause()

    control = PauseControl(trouble)
    control.resume()
    return control, reasons


def test_what_has_begun_is_finished_during_a_pause_and_nothing_else_begins() -> None:
    async def scene() -> list[bool]:
        control, _ = pause_control()
        allowed = [control.begin(EVALUATION)]
        control.pause()
        allowed += [control.begin(EVALUATION), control.begin(("q2", "m", 1))]
        control.finish(EVALUATION)
        return [*allowed, control.allows(EVALUATION)]

    assert asyncio.run(scene()) == [True, True, False, False]


def test_trouble_pauses_and_the_work_is_done_after_the_pause() -> None:
    refusals = ["The disk is full."]

    async def work() -> str:
        if refusals:
            raise StoreError(refusals.pop())
        return "stored"

    async def scene() -> tuple[list[str], str]:
        control, reasons = pause_control()
        waiting = asyncio.create_task(control.retry_while_store_fails(work))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not control.running
        control.resume()
        return reasons, await waiting

    assert asyncio.run(scene()) == (["The disk is full."], "stored")


def test_the_end_sends_away_everybody_who_waits() -> None:
    async def fails() -> None:
        raise StoreError("The disk is full.")

    async def scene() -> None:
        control, _ = pause_control()
        control.pause()
        waiting = [asyncio.create_task(work) for work in (control.wait(), control.retry_while_store_fails(fails))]
        await asyncio.sleep(0)
        control.end()
        for task in (*waiting, asyncio.create_task(control.wait())):
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(scene())
