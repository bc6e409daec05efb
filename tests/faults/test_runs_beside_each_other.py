"""Runs of one process that need the same calls at the same moment: neither holds up or harms the other."""

from __future__ import annotations

import pytest

from tests.faults.openai_server import failing
from tests.faults.road import Road, first, wait_until

QUESTIONS = 30


@pytest.mark.parametrize("stop", ["cancel", "pause"])
def test_a_run_that_is_stopped_holds_up_no_other(road: Road, stop: str) -> None:
    road.server.delay = 0.05
    stopped, other = (road.begin(QUESTIONS, max_concurrent_requests=4) for _ in range(2))
    wait_until(lambda: len(road.calls) >= 6)
    getattr(road.runner, stop)(stopped)
    assert road.finish(other).passed == QUESTIONS
    road.runner.resume(stopped)
    assert road.finish(stopped).passed == QUESTIONS


def test_a_failure_of_one_run_is_not_the_failure_of_the_other(road: Road) -> None:
    road.server.delay = 0.02
    road.server.script = first(*[failing(500)] * 2, question=1)
    runs = [road.begin(3, max_attempts=1, max_concurrent_requests=1) for _ in range(2)]
    seen = [road.finish(run_id) for run_id in runs]
    assert sorted(progress.passed for progress in seen) in ([2, 2], [2, 3])
    assert all(road.resume(run_id) for run_id in runs)
    assert [road.runner.progress(run_id).passed for run_id in runs] == [3, 3]
