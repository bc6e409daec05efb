from __future__ import annotations

import pytest

from karenina_core.errors import InputError
from karenina_core.runs import Store, wanted
from karenina_core.schemas import ModelConfig, Usage
from tests.runs.fakes import plain_result, small_benchmark, small_config


def test_a_new_run_is_queued_and_knows_what_it_wants(any_store: Store) -> None:
    plan = wanted(small_benchmark(3), small_config(2, 2, replicate_count=2))
    run = any_store.runs.get(any_store.runs.create(plan, "First"))
    assert (run.name, run.status, run.total, run.done) == ("First", "queued", 24, 0)
    assert run.config == plan.config
    assert (run.answering_models, run.parsing_models) == (
        ("lab/model-1", "lab/model-2"),
        ("lab/judge-1", "lab/judge-2"),
    )


def test_a_run_without_a_name_is_named_after_its_benchmark(store: Store) -> None:
    assert store.runs.get(store.runs.create(wanted(small_benchmark(), small_config()))).name.startswith("Elements 20")


def test_a_run_keeps_the_benchmark_as_it_was(store: Store) -> None:
    benchmark = small_benchmark(2)
    run_id = store.runs.create(wanted(benchmark, small_config(), ["q2"]))
    benchmark.remove_question("q2")
    plan = store.runs.plan(run_id)
    assert plan.question_ids == ("q2",)
    assert plan.benchmark.get_question_ids() == ["q1", "q2"]


def test_skipped_questions_are_remembered_with_their_reason(store: Store) -> None:
    benchmark = small_benchmark(2)
    benchmark.mark_unfinished("q1")
    run_id = store.runs.create(wanted(benchmark, small_config()))
    assert store.runs.plan(run_id).skipped == (("q1", "not marked finished"),)
    assert store.runs.get(run_id).note == "Left out: 1 question not marked finished."


def test_prepared_answers_are_not_stored(store: Store) -> None:
    manual = ModelConfig(interface="manual", model_name="me", manual_traces={"q1": "a private answer"})
    run_id = store.runs.create(wanted(small_benchmark(), small_config(answering_models=[manual])))
    assert "private" not in str(store.runs.get(run_id).settings)


def test_runs_over_the_same_benchmark_share_its_copy(store: Store) -> None:
    benchmark = small_benchmark()
    first, second = (store.runs.create(wanted(benchmark, small_config())) for _ in range(2))
    assert store.runs.get(first).snapshot == store.runs.get(second).snapshot


def test_the_newest_run_comes_first(store: Store) -> None:
    ids = [store.runs.create(wanted(small_benchmark(), small_config()), benchmark_id=name) for name in ("a", "b")]
    assert [run.id for run in store.runs.all()] == ids[::-1]
    assert [run.id for run in store.runs.all(benchmark_id="a")] == ids[:1]


def test_times_follow_the_status(store: Store) -> None:
    run_id = store.runs.create(wanted(small_benchmark(), small_config()))
    store.runs.set_status(run_id, "running")
    started = store.runs.get(run_id).started
    assert started is not None
    store.runs.set_status(run_id, "cancelled", "enough")
    assert store.runs.get(run_id).finished is not None
    store.runs.set_status(run_id, "running")
    run = store.runs.get(run_id)
    assert (run.started, run.finished, run.note) == (started, None, "enough")


def test_the_end_of_a_run_is_one_entry(any_store: Store) -> None:
    run_id = any_store.runs.create(wanted(small_benchmark(), small_config()))
    any_store.runs.claim(run_id, "far/1/a")
    any_store.runs.end(run_id, "far/1/a", "completed", "All is done.", Usage(calls=2, cost=0.5), 1.5)
    run = any_store.runs.get(run_id)
    assert (run.status, run.note, run.calls, run.cost, run.seconds) == ("completed", "All is done.", 2, 0.5, 1.5)
    assert run.finished is not None
    assert any_store.runs.claim(run_id, "far/2/b")


def test_who_lost_a_run_enters_what_it_spent_and_changes_nothing_else(any_store: Store) -> None:
    run_id = any_store.runs.create(wanted(small_benchmark(), small_config()))
    any_store.runs.claim(run_id, "far/1/a")
    any_store.runs.set_status(run_id, "running", "As it is.")
    any_store.runs.end(run_id, "far/2/b", "completed", "Too late.", Usage(calls=1))
    run = any_store.runs.get(run_id)
    assert (run.status, run.note, run.calls) == ("running", "As it is.", 1)
    assert not any_store.runs.claim(run_id, "far/2/b")


def test_only_who_has_a_run_says_where_it_stands(any_store: Store) -> None:
    run_id = any_store.runs.create(wanted(small_benchmark(), small_config()))
    any_store.runs.claim(run_id, "far/1/a")
    any_store.runs.set_status(run_id, "running", owner="far/1/a")
    any_store.runs.set_status(run_id, "paused", owner="far/2/b")
    assert any_store.runs.get(run_id).status == "running"


def test_a_run_that_is_not_there_cannot_end(any_store: Store) -> None:
    with pytest.raises(InputError, match="no stored run"):
        any_store.runs.end("run-0", "far/1/a", "completed")


def test_cost_and_time_add_up(any_store: Store) -> None:
    run_id = any_store.runs.create(wanted(small_benchmark(), small_config()))
    assert any_store.runs.get(run_id).cost is None
    any_store.runs.add_work(run_id, Usage(calls=2, cached_calls=1), 1.5)
    any_store.runs.add_work(run_id, Usage(calls=1, cost=0.25), 0.5)
    run = any_store.runs.get(run_id)
    assert (run.calls, run.cached_calls, run.cost, run.seconds) == (3, 1, 0.25, 2.0)


def test_deleting_a_run_can_be_undone(store: Store) -> None:
    run_id = store.runs.create(wanted(small_benchmark(), small_config()))
    store.runs.delete(run_id)
    assert (store.runs.all(), len(store.runs.all(deleted=True))) == ([], 1)
    store.runs.restore(run_id)
    assert [run.id for run in store.runs.all()] == [run_id]


def test_renaming(store: Store) -> None:
    run_id = store.runs.create(wanted(small_benchmark(), small_config()))
    store.runs.rename(run_id, "Friday")
    assert store.runs.get(run_id).name == "Friday"


def test_a_pilot_grows_into_the_whole_run(any_store: Store) -> None:
    benchmark = small_benchmark(3)
    run_id = any_store.runs.create(wanted(benchmark, small_config(), limit=1))
    any_store.results.save(run_id, [plain_result("q1")])
    any_store.runs.widen(run_id, wanted(benchmark, small_config(2)))
    any_store.results.save(run_id, [plain_result("q3", "lab/model-2"), plain_result("q1", "lab/model-2")])
    run = any_store.runs.get(run_id)
    assert (run.total, run.done) == (6, 3)
    assert [row["question_id"] for row in any_store.results.rows(run_id)] == ["q1", "q1", "q3"]


def test_a_run_never_loses_or_changes_what_it_wants(store: Store) -> None:
    benchmark = small_benchmark(3)
    run_id = store.runs.create(wanted(benchmark, small_config(2, replicate_count=2)))
    for config in (small_config(1, replicate_count=2), small_config(2), small_config(2, abstention_enabled=True)):
        with pytest.raises(InputError, match="A run can"):
            store.runs.widen(run_id, wanted(benchmark, config))
    with pytest.raises(InputError, match="questions"):
        store.runs.widen(run_id, wanted(benchmark, small_config(2, replicate_count=2), limit=1))
    with pytest.raises(InputError, match="changed since"):
        store.runs.widen(run_id, wanted(small_benchmark(4), small_config(2, replicate_count=2)))


def test_a_run_under_way_does_not_grow(store: Store) -> None:
    benchmark = small_benchmark(3)
    run_id = store.runs.create(wanted(benchmark, small_config(), limit=1))
    store.runs.set_status(run_id, "running")
    with pytest.raises(InputError, match="under way"):
        store.runs.widen(run_id, wanted(benchmark, small_config()))


def test_an_unknown_run_is_named(store: Store) -> None:
    for look in (store.runs.get, store.runs.plan, store.runs.order, store.runs.delete):
        with pytest.raises(InputError, match="'nothing'"):
            look("nothing")
