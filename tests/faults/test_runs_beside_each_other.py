"""Runs of one process that need the same calls at the same moment: every call is paid once."""

from __future__ import annotations

import pytest

from karenina_core.runs import Store
from tests.faults.openai_server import failing
from tests.faults.road import Road, first, model, wait_until

QUESTIONS = 30


def paid(store: Store, run_id: str) -> int:
    """Return the calls of a run that it paid for itself."""
    spent = store.runs.get(run_id)
    return (spent.calls or 0) - (spent.cached_calls or 0)


def two_under_way(road: Road, delay: float) -> list[str]:
    """Begin the same run twice, and return their ids when a few calls were made."""
    road.server.delay = delay
    runs = [road.begin(QUESTIONS, max_concurrent_requests=4) for _ in range(2)]
    wait_until(lambda: len(road.calls) >= 6)
    return runs


@pytest.mark.parametrize("at_once", [2, 50])
def test_two_judges_begun_at_once_read_the_same_answers(road: Road, at_once: int) -> None:
    road.server.delay = 0.02
    judges = [model(road.server, name) for name in ("judge", "judge-strict")]
    runs = [road.begin(QUESTIONS, parsing_models=[judge], max_concurrent_requests=at_once) for judge in judges]
    assert [road.finish(run_id).passed for run_id in runs] == [QUESTIONS] * 2
    assert sorted(set(road.calls)) == sorted(road.calls), "a call was paid twice"
    assert len(road.calls) == 3 * QUESTIONS
    assert sum(paid(road.store, run_id) for run_id in runs) == 3 * QUESTIONS


def test_the_same_run_begun_twice_is_paid_once(road: Road) -> None:
    road.server.delay = 0.02
    runs = [road.begin(QUESTIONS, max_concurrent_requests=8) for _ in range(3)]
    assert [road.finish(run_id).passed for run_id in runs] == [QUESTIONS] * 3
    answers = [call for call in road.calls if call[0] == "answerer"]
    assert len(answers) == len(set(answers)) == QUESTIONS


def test_a_run_that_is_cancelled_leaves_its_calls_to_the_other(road: Road) -> None:
    first_run, second_run = two_under_way(road, delay=0.1)
    road.runner.cancel(first_run)
    assert road.finish(second_run).passed == QUESTIONS
    assert road.runner.progress(first_run).status == "cancelled"


def test_a_run_that_is_paused_holds_up_no_other(road: Road) -> None:
    first_run, second_run = two_under_way(road, delay=0.02)
    road.runner.pause(first_run)
    assert road.finish(second_run).passed == QUESTIONS
    road.runner.resume(first_run)
    assert road.finish(first_run).passed == QUESTIONS
    answers = [call for call in road.calls if call[0] == "answerer"]
    assert len(answers) == len(set(answers)) == QUESTIONS


def test_a_failure_of_one_run_is_not_the_failure_of_the_other(road: Road) -> None:
    road.server.delay = 0.02
    road.server.script = first(*[failing(500)] * 2, question=1)
    runs = [road.begin(3, max_attempts=1, max_concurrent_requests=1) for _ in range(2)]
    seen = [road.finish(run_id) for run_id in runs]
    assert sorted(progress.passed for progress in seen) in ([2, 2], [2, 3])
    assert all(road.resume(run_id) for run_id in runs)
    assert [road.runner.progress(run_id).passed for run_id in runs] == [3, 3]
