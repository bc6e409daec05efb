from __future__ import annotations

from collections.abc import Iterator

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import ConfigError, InputError, StoreError
from karenina_core.models import MeteredCallLedger
from karenina_core.runs import Engine, Store, wanted, with_answers
from karenina_core.runs.at_once import open_ledger
from karenina_core.runs.engine.launch import Launcher, Ready
from karenina_core.runs.engine.writer import Writer
from karenina_core.runs.store.runs import new_owner
from karenina_core.schemas import ModelConfig, VerificationConfig
from tests.runs.fakes import PATIENCE, FakeEvaluator, Laboratory, plain_result, small_benchmark, small_config


@pytest.fixture
def launcher(store: Store, lab: Laboratory) -> Iterator[Launcher]:
    writer = Writer(store)
    with open_ledger(store) as ledger:
        yield Launcher(store, writer, ledger, new_owner(), lab)
    writer.close()


def new_run(store: Store, questions: int = 3) -> str:
    return store.runs.create(wanted(small_benchmark(questions), small_config()), "Test")


def rows_left(ready: Ready) -> int:
    return ready.job.plan.rows - ready.job.progress().done


def test_a_run_that_is_ready_is_ours_and_running(store: Store, launcher: Launcher) -> None:
    run_id = new_run(store)
    assert rows_left(launcher.make_ready(run_id, None)) == 3
    assert store.runs.get(run_id).status == "running"


def test_what_is_there_is_not_done_again(store: Store, launcher: Launcher) -> None:
    run_id = new_run(store)
    store.results.save(run_id, [plain_result("q2")])
    assert rows_left(launcher.make_ready(run_id, None)) == 2


def test_a_run_of_another_process_is_not_taken(store: Store, launcher: Launcher) -> None:
    run_id = new_run(store)
    store.runs.set_status(run_id, "running")
    store.runs.claim(run_id, "elsewhere/1/a")
    for take in (launcher.take, lambda name: launcher.make_ready(name, None)):
        with pytest.raises(StoreError, match="another process"):
            take(run_id)
    assert store.runs.get(run_id).status == "running"


def test_a_run_that_cannot_work_ends_with_the_reason(store: Store, launcher: Launcher, lab: Laboratory) -> None:
    lab.problems = ["There is no key for lab."]
    run_id = new_run(store)
    with pytest.raises(ConfigError, match="no key for lab"):
        launcher.make_ready(run_id, None)
    assert (store.runs.get(run_id).status, "no key for lab" in store.runs.get(run_id).note) == ("failed", True)


@pytest.mark.parametrize("variable", ["KARENINA_DAILY_BUDGET", "KARENINA_MAX_CONCURRENT"])
def test_a_setting_of_the_environment_that_cannot_be_used_is_told_before_the_first_call(
    store: Store, launcher: Launcher, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "plenty")
    with pytest.raises(ConfigError, match=variable):
        launcher.make_ready(new_run(store), None)


def test_a_run_that_is_not_there_is_named(launcher: Launcher) -> None:
    for look in (launcher.needs_answers, lambda name: launcher.make_ready(name, None)):
        with pytest.raises(InputError, match="'nothing'"):
            look("nothing")


PREPARED = {"q1": "42", "q2": "42"}


def prepared_config() -> VerificationConfig:
    """Return a configuration whose answers are prepared."""
    prepared = ModelConfig(interface="manual", model_name="elsewhere", manual_traces=PREPARED)
    return small_config().model_copy(update={"answering_models": [prepared]})


def run_of_the_first(store: Store, runner: Engine, config: VerificationConfig) -> str:
    """Carry out a run of the first of two questions."""
    run_id = store.runs.create(wanted(small_benchmark(2), config, limit=1))
    runner.start(run_id, config)
    runner.wait(run_id, PATIENCE)
    return run_id


def test_prepared_answers_stay_for_as_long_as_the_process_lives(store: Store) -> None:
    seen: list[VerificationConfig] = []

    class Watching(Laboratory):
        def __call__(
            self, benchmark: Benchmark, config: VerificationConfig, ledger: MeteredCallLedger
        ) -> FakeEvaluator:
            seen.append(config)
            return super().__call__(benchmark, config, ledger)

    config = prepared_config()
    with Engine(store, Watching()) as runner:
        run_id = run_of_the_first(store, runner, config)
        store.runs.widen(run_id, wanted(store.runs.plan(run_id).benchmark, config))
        runner.resume(run_id)
        assert runner.wait(run_id, PATIENCE).done == 2
    assert [given.answering_models[0].manual_traces for given in seen] == [PREPARED] * 2


def test_another_process_asks_for_the_prepared_answers_before_it_goes_on(store: Store) -> None:
    config = prepared_config()
    with Engine(store, Laboratory()) as first:
        run_id = run_of_the_first(store, first, config)
        assert first.needs_answers(run_id) == ()
    with Engine(store, Laboratory()) as second:
        assert second.needs_answers(run_id) == ("elsewhere",)
        second.resume(run_id)  # nothing is left for which they would be needed
        assert second.wait(run_id, PATIENCE).status == "completed"
        store.runs.widen(run_id, wanted(store.runs.plan(run_id).benchmark, config))
        with pytest.raises(ConfigError, match="prepared answers of elsewhere"):
            second.resume(run_id)
        second.resume(run_id, with_answers(store.runs.get(run_id).config, {"manual": PREPARED}))
        assert second.wait(run_id, PATIENCE).passed == 2
