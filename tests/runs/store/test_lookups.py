"""Questions about many results, answered without reading them."""

from __future__ import annotations

from karenina_core.runs import Store, wanted
from tests.runs.fakes import failure_of, plain_result, small_benchmark, small_config


def test_failures_count_verdicts_by_question_and_model(any_store: Store) -> None:
    run_id = any_store.runs.create(wanted(small_benchmark(3), small_config(2, 1, replicate_count=2)))
    any_store.results.save(
        run_id,
        [
            plain_result("q1", "lab/model-1", verdict="fail"),
            plain_result("q1", "lab/model-1", replicate=2),
            plain_result("q1", "lab/model-2"),
            plain_result("q2", "lab/model-1"),
            plain_result("q3", "lab/model-1", failure=failure_of("timeout")),
            plain_result("q3", "lab/model-2", verdict="not_evaluated"),
        ],
    )
    assert any_store.results.failures(run_id) == {"q1": {"lab/model-1": (1, 2), "lab/model-2": (0, 1)}}
