"""Stored runs: what they want, where they stand, who carries them out, and what they saw of their benchmark."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys

import pytest
from sqlalchemy import select, update

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, StoreError
from karenina_core.runs import RunStatus, Store, wanted
from karenina_core.runs.store.benchmarks import Snapshot
from karenina_core.runs.store.runs import LEASE_SECONDS, Order, forget_owner, new_owner, surely_dead
from karenina_core.runs.store.schema import run as table
from karenina_core.runs.store.schema import snapshot
from karenina_core.schemas import ModelConfig, RowKey, Usage
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


# Where a run stands, in words


@pytest.mark.parametrize(
    ("status", "note", "words"),
    [
        ("failed", "There is no key.", "stopped by an error: There is no key."),
        ("interrupted", "The money is spent.", "interrupted, can be resumed: The money is spent."),
        ("interrupted", "", "interrupted, can be resumed"),
        ("completed", "There was a reason once.", "completed"),
    ],
)
def test_a_run_that_stopped_says_why(store: Store, status: RunStatus, note: str, words: str) -> None:
    run_id = store.runs.create(wanted(small_benchmark(1), small_config()))
    store.runs.set_status(run_id, status, note)
    assert store.runs.get(run_id).state == words


def test_what_a_run_leaves_out_is_no_reason_why_it_stopped(store: Store) -> None:
    plan = wanted(small_benchmark(2), small_config(), ["q1", "elsewhere"])
    assert plan.note == "Left out: 1 question not in this benchmark."
    run_id = store.runs.create(plan)
    store.runs.set_status(run_id, "interrupted", plan.note)
    assert store.runs.get(run_id).state == "interrupted, can be resumed"


# The order of rows


ORDER = Order(["q1", "q2"], ["a", "b"], ["j", "k"])


def test_rows_sort_by_question_then_model_then_judge_then_replicate() -> None:
    keys = [RowKey(q, a, j, r) for q in ("q1", "q2") for a in "ab" for j in "jk" for r in (1, 2, 1000)]
    positions = [ORDER.position(key) for key in keys]
    assert positions == sorted(set(positions))


def test_positions_stay_when_a_run_gains_models_and_questions() -> None:
    wider = Order(["q1", "q2", "q3"], ["a", "b", "c"], ["j", "k", "l"])
    key = RowKey("q2", "b", "k", 3)
    assert wider.position(key) == ORDER.position(key)


def test_positions_fit_into_a_big_integer() -> None:
    order = Order([f"q{number}" for number in range(200_000)], ["a"], ["j"])
    assert order.position(RowKey("q199999", "a", "j", 1000)) < 2**63


def test_a_stranger_is_refused() -> None:
    with pytest.raises(InputError, match="does not belong"):
        ORDER.position(RowKey("q9", "a", "j", 1))


# Who carries a run out


@pytest.fixture
def run_id(any_store: Store) -> str:
    return any_store.runs.create(wanted(small_benchmark(), small_config()))


def age(store: Store, run_id: str, seconds: float) -> None:
    with store.writing() as connection:
        connection.execute(update(table).where(table.c.id == run_id).values(beat=table.c.beat - seconds))


def test_a_run_has_one_owner(any_store: Store, run_id: str) -> None:
    assert any_store.runs.claim(run_id, "far/1/a")
    assert any_store.runs.claim(run_id, "far/1/a")
    assert not any_store.runs.claim(run_id, "far/2/b")
    any_store.runs.end(run_id, "far/1/a")
    assert any_store.runs.claim(run_id, "far/2/b")


def test_only_the_owner_can_give_a_run_back(any_store: Store, run_id: str) -> None:
    any_store.runs.claim(run_id, "far/1/a")
    any_store.runs.end(run_id, "far/2/b")
    assert not any_store.runs.claim(run_id, "far/2/b")


def test_a_silent_owner_loses_its_run(any_store: Store, run_id: str) -> None:
    any_store.runs.claim(run_id, "far/1/a")
    age(any_store, run_id, LEASE_SECONDS + 1)
    assert any_store.runs.claim(run_id, "far/2/b")
    assert any_store.runs.heartbeat([run_id], "far/1/a") == set()
    assert any_store.runs.heartbeat([run_id], "far/2/b") == {run_id}


def test_a_beating_owner_keeps_its_run(any_store: Store, run_id: str) -> None:
    any_store.runs.claim(run_id, "far/1/a")
    age(any_store, run_id, LEASE_SECONDS + 1)
    assert any_store.runs.heartbeat([run_id], "far/1/a") == {run_id}
    assert not any_store.runs.claim(run_id, "far/2/b")


def test_abandoned_runs_are_interrupted_and_living_ones_are_not(any_store: Store, run_id: str) -> None:
    living = any_store.runs.create(wanted(small_benchmark(), small_config()))
    for one in (run_id, living):
        any_store.runs.set_status(one, "running")
    any_store.runs.claim(living, "far/1/a")
    assert any_store.runs.interrupt_abandoned() == [run_id]
    assert (any_store.runs.get(run_id).status, any_store.runs.get(living).status) == ("interrupted", "running")


def test_ended_runs_are_left_alone(any_store: Store, run_id: str) -> None:
    any_store.runs.set_status(run_id, "completed")
    assert any_store.runs.interrupt_abandoned() == []


def test_an_owner_is_dead_when_its_process_is() -> None:
    child = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    assert surely_dead(f"{socket.gethostname()}/{child.stdout.strip()}/x")
    assert not surely_dead(f"elsewhere/{child.stdout.strip()}/x")
    assert not surely_dead(f"{socket.gethostname()}/{os.getppid()}/x")


def test_an_owner_of_this_process_lives_until_it_is_forgotten() -> None:
    owner = new_owner()
    assert not surely_dead(owner)
    forget_owner(owner)
    assert surely_dead(owner)


# What a run saw of its benchmark


def stored_run(store: Store, benchmark: Benchmark) -> str:
    return store.runs.create(wanted(benchmark, small_config()))


def stored_text(store: Store) -> str:
    with store.reading() as connection:
        return str(connection.execute(select(snapshot.c.checkpoint)).scalar_one())


def replace_text(store: Store, text: str) -> None:
    with store.writing() as connection:
        connection.execute(update(snapshot).values(checkpoint=text))


def test_a_snapshot_is_much_smaller_than_its_file_and_has_its_digest() -> None:
    benchmark = small_benchmark(450)
    taken = Snapshot.of(benchmark)
    assert len(taken.text) < len(benchmark.to_json()) / 8
    assert taken.digest == hashlib.sha256(benchmark.to_json().encode()).hexdigest()


def test_another_process_reads_the_benchmark_of_a_run(any_store: Store) -> None:
    benchmark = small_benchmark(450)
    run_id = stored_run(any_store, benchmark)
    with Store.open(any_store.engine.url.render_as_string(hide_password=False)) as other:
        plan = other.runs.plan(run_id)
    assert plan.benchmark.to_json() == benchmark.to_json()
    assert plan.question_ids == tuple(benchmark.get_question_ids())


def test_later_changes_do_not_reach_what_the_run_saw(store: Store) -> None:
    benchmark = small_benchmark(2)
    before = benchmark.to_json()
    run_id = stored_run(store, benchmark)
    benchmark.remove_question("q2")
    for _ in range(2):  # the copy that is at hand, then the one that is stored
        assert store.runs.plan(run_id).benchmark.to_json() == before


def test_benchmarks_that_earlier_versions_stored_as_they_are_can_be_read(store: Store) -> None:
    benchmark = small_benchmark()
    run_id = stored_run(store, benchmark)
    store.runs.plan(run_id)  # takes the copy that is at hand
    replace_text(store, benchmark.to_json())
    assert store.runs.plan(run_id).benchmark == benchmark


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-8],
        lambda text: text[:40],
        lambda text: text[:9] + "?" * 9,
        lambda text: text[:40] + "é" + text[41:],
    ],
)
def test_a_damaged_one_says_what_still_works(store: Store, damage) -> None:  # type: ignore[no-untyped-def]
    run_id = stored_run(store, small_benchmark())
    store.runs.plan(run_id)
    replace_text(store, damage(stored_text(store)))
    with pytest.raises(StoreError, match="start a new run"):
        store.runs.plan(run_id)


def test_the_ids_of_a_plan_are_those_of_its_benchmark_and_no_copies(store: Store) -> None:
    benchmark = small_benchmark(2)
    run_id = stored_run(store, benchmark)
    store.runs.plan(run_id)
    plan = store.runs.plan(run_id)
    assert all(one is other for one, other in zip(plan.question_ids, plan.benchmark.get_question_ids(), strict=True))


def test_another_text_than_was_stored_is_refused(store: Store) -> None:
    run_id = stored_run(store, small_benchmark(2))
    store.runs.plan(run_id)  # takes the copy that is at hand
    replace_text(store, Snapshot.of(small_benchmark(3)).text)
    with pytest.raises(StoreError, match="cannot be read"):
        store.runs.plan(run_id)
