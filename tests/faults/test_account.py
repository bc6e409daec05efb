"""What a run spent stands in its account once: no more and no less than its stored calls, however it is stopped."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import func, select

from karenina_core.runs.store.schema import call
from tests.faults.openai_server import Reply
from tests.faults.road import PATIENCE, Road, honest, model, verdicts


def stored_calls(road: Road) -> int:
    with road.store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(call)).scalar_one())


def wait_for_requests(road: Road, number: int) -> None:
    until = time.monotonic() + PATIENCE
    while len(road.server.requests) < number:
        assert time.monotonic() < until
        time.sleep(0.005)


@pytest.mark.parametrize("requests", [5, 20, 45, 80])
def test_a_cancelled_run_has_paid_for_the_calls_that_are_stored(road: Road, requests: int) -> None:
    run_id = road.begin(60, max_concurrent_requests=20)
    wait_for_requests(road, requests)
    road.runner.cancel(run_id)
    assert road.store.runs.get(run_id).calls == stored_calls(road)


def test_cancelled_and_resumed_it_comes_out_even(road: Road) -> None:
    run_id = road.begin(60, max_concurrent_requests=20)
    for requests in (10, 40, 70):
        wait_for_requests(road, requests)
        road.runner.cancel(run_id)
        road.runner.resume(run_id)
    assert road.finish(run_id).status == "completed"
    run = road.store.runs.get(run_id)
    assert verdicts(road.store.results.all(run_id)) == ["pass"] * 60
    assert run.calls - run.cached_calls == stored_calls(road) == 120


def test_a_full_disk_after_the_run_was_taken_over_ends_and_loses_no_reply(road: Road) -> None:
    """Nothing can be stored for a moment; the replies are paid for, and the run may come back."""

    def slowly(request: dict[str, object]) -> Reply:
        time.sleep(0.1)
        return honest(request)

    road.server.script = slowly
    run_id = road.begin(3, max_concurrent_requests=3, answering_models=[model(road.server)])
    wait_for_requests(road, 1)
    with road.store.writing() as connection:
        connection.exec_driver_sql("UPDATE run SET owner = 'elsewhere/1/abcdef01'")
        connection.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON call BEGIN SELECT raise(FAIL, 'database or disk is full'); END"
        )
    wait_for_requests(road, 3)
    time.sleep(0.2)
    with road.store.writing() as connection:
        connection.exec_driver_sql("DROP TRIGGER full")
        connection.exec_driver_sql("UPDATE run SET owner = NULL")
    until = time.monotonic() + PATIENCE
    while stored_calls(road) < 3:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert verdicts(road.resume(run_id)) == ["pass"] * 3
    assert len(road.calls) == len(set(road.calls)), "a call that was paid was asked again"
