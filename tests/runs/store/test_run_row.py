"""A run says in words where it stands."""

from __future__ import annotations

import pytest

from karenina_core.runs import RunStatus, Store, wanted
from tests.runs.fakes import small_benchmark, small_config


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
