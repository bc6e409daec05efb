"""What a run saw of its benchmark is stored packed, and read back as it was."""

from __future__ import annotations

import hashlib

import pytest
from sqlalchemy import select, update

from karenina_core.benchmark import Benchmark
from karenina_core.errors import StoreError
from karenina_core.runs import Store, wanted
from karenina_core.runs.store.benchmarks import Snapshot
from karenina_core.runs.store.schema import snapshot
from tests.runs.fakes import small_benchmark, small_config


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
