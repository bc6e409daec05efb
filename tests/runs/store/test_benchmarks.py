from __future__ import annotations

import pytest

from karenina_core.errors import InputError, StoreError
from karenina_core.runs import Store
from tests.runs.fakes import small_benchmark


def test_a_benchmark_comes_back_as_it_was_saved(any_store: Store) -> None:
    benchmark = small_benchmark()
    benchmark_id = any_store.benchmarks.save(benchmark)
    assert any_store.benchmarks.load(benchmark_id).to_json() == benchmark.to_json()


def test_the_list_knows_counts_without_loading_questions(store: Store) -> None:
    benchmark = small_benchmark(3)
    benchmark.mark_unfinished("q2")
    store.benchmarks.save(benchmark)
    (row,) = store.benchmarks.all()
    assert (row.name, row.question_count, row.finished_count, row.revision) == ("Elements", 3, 2, 1)


def test_saving_under_an_id_replaces(store: Store) -> None:
    benchmark_id = store.benchmarks.save(small_benchmark(1))
    assert store.benchmarks.save(small_benchmark(2), benchmark_id) == benchmark_id
    assert [row.question_count for row in store.benchmarks.all()] == [2]


def test_two_editors_notice_each_other(store: Store) -> None:
    benchmark_id = store.benchmarks.save(small_benchmark())
    store.benchmarks.save(small_benchmark(), benchmark_id, expected_revision=1)
    with pytest.raises(StoreError, match="changed elsewhere"):
        store.benchmarks.save(small_benchmark(5), benchmark_id, expected_revision=1)
    assert store.benchmarks.row(benchmark_id).question_count == 3


def test_deleting_can_be_undone(any_store: Store) -> None:
    benchmark_id = any_store.benchmarks.save(small_benchmark())
    any_store.benchmarks.delete(benchmark_id)
    assert any_store.benchmarks.all() == []
    assert [row.id for row in any_store.benchmarks.all(deleted=True)] == [benchmark_id]
    any_store.benchmarks.restore(benchmark_id)
    assert [row.id for row in any_store.benchmarks.all()] == [benchmark_id]


def test_an_unknown_benchmark_is_named(store: Store) -> None:
    with pytest.raises(InputError, match="'nowhere'"):
        store.benchmarks.load("nowhere")
    with pytest.raises(InputError, match="'nowhere'"):
        store.benchmarks.delete("nowhere")
    with pytest.raises(InputError, match="'nowhere'"):
        store.benchmarks.save(small_benchmark(), "nowhere")
    with pytest.raises(InputError, match="'nowhere'"):
        store.benchmarks.row("nowhere")
