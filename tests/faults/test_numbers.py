"""The same numbers wherever a run is looked at: where it is carried out, from another process, and in its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from karenina_core.models import Rate
from karenina_core.runs import Progress
from karenina_core.runs.engine.progress import stored_progress
from tests.faults.openai_server import HANGING, Reply, failing
from tests.faults.road import Road, always, call_of, honest, wait_until

Numbers = tuple[int, int, int, int, int, int]


def silent_about(*numbers: int) -> Callable[[dict[str, Any]], Reply]:
    """Never answer what is asked about some questions."""
    return lambda request: HANGING if call_of(request)[1] in numbers else honest(request)


def numbers_of(seen: Progress) -> Numbers:
    return seen.total, seen.done, seen.passed, seen.failed, seen.not_evaluated, sum(seen.errors.values())


def everywhere(road: Road, run_id: str) -> set[Numbers]:
    """Return what is told where the run is carried out, by its stored rows, in the list of runs and by counting."""
    run, rows = road.store.runs.get(run_id), road.store.results.rows(run_id)
    verdict = Counter(row["verdict"] for row in rows)
    errors = sum(row["status"] == "failed" for row in rows)
    return {
        numbers_of(road.runner.progress(run_id)),
        numbers_of(stored_progress(road.store, run_id)),
        (run.total, run.done, run.passed, run.failed, run.not_evaluated, run.errors),
        (run.total, len(rows), verdict["pass"], verdict["fail"], verdict["not_evaluated"], errors),
    }


@pytest.fixture
def broken(road: Road) -> str:
    """A run over four questions at its end; two of its evaluations failed, and one answer is wrong."""

    def script(request: dict[str, Any]) -> Reply:
        model, number = call_of(request)
        if model == "judge":
            return Reply('{"sign": "S9"}') if number == 1 else honest(request)
        return failing(500) if number in (2, 3) else honest(request)

    road.server.script = script
    run_id = road.begin(4, max_attempts=1)
    road.finish(run_id)
    return run_id


def test_a_run_at_its_end_has_the_same_numbers_everywhere(road: Road, broken: str) -> None:
    assert everywhere(road, broken) == {(4, 4, 1, 1, 2, 2)}


def test_while_errors_are_tried_again_they_count_as_what_they_are(road: Road, broken: str) -> None:
    road.server.script = silent_about(3)
    road.runner.resume(broken)
    wait_until(lambda: everywhere(road, broken) == {(4, 4, 2, 1, 1, 1)})
    seen = road.runner.progress(broken)
    assert (seen.to_retry, seen.percent, seen.errors) == (1, 75.0, {"server_error": 1})
    road.runner.cancel(broken)
    assert everywhere(road, broken) == {(4, 4, 2, 1, 1, 1)}
    road.server.script = honest
    road.resume(broken)
    seen = road.runner.progress(broken)
    assert everywhere(road, broken) == {(4, 4, 3, 1, 0, 0)}
    assert (seen.to_retry, seen.percent, seen.errors, seen.causes) == (0, 100.0, {}, {})


def test_errors_that_were_not_reached_again_are_kept_by_a_cancel(road: Road, broken: str) -> None:
    road.server.script = silent_about(2, 3)
    road.runner.resume(broken)
    assert road.runner.progress(broken).to_retry == 2
    road.runner.cancel(broken)
    assert everywhere(road, broken) == {(4, 4, 1, 1, 2, 2)}
    assert [result.failure is None for result in road.store.results.all(broken)] == [True, False, False, True]


def test_errors_that_come_again_count_once(road: Road, broken: str) -> None:
    road.server.script = always(failing(503), question=2)
    assert [result.verdict for result in road.resume(broken)] == ["fail", "not_evaluated", "pass", "pass"]
    assert everywhere(road, broken) == {(4, 4, 2, 1, 1, 1)}


def test_the_time_left_of_a_retry_is_that_of_what_is_tried_again(
    road: Road, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Rate, "SOONEST", 0.0)
    monkeypatch.setattr(Rate, "ENOUGH", 1)
    road.server.script = silent_about(3)
    road.runner.resume(broken)
    wait_until(lambda: road.runner.progress(broken).to_retry == 1)
    seen = road.runner.progress(broken)
    assert seen.eta is not None and seen.rate is not None
    assert seen.eta == pytest.approx(60 / seen.rate)
    road.runner.cancel(broken)


def test_the_calls_per_minute_of_a_run_are_those_of_its_models(road: Road, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rate, "SOONEST", 0.0)
    road.server.script = silent_about(8)
    run_id = road.begin(8)
    wait_until(lambda: road.runner.progress(run_id).done == 7)
    seen = road.runner.progress(run_id)
    rates = [model.per_minute for model in seen.traffic]
    assert len(rates) == 2 and None not in rates
    assert seen.calls_per_minute == pytest.approx(sum(filter(None, rates)))
    road.runner.cancel(run_id)
    assert road.runner.progress(run_id).calls_per_minute is None
