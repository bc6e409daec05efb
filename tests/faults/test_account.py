"""What a run spent stands in its account once: no more and no less than its stored calls, however it is stopped."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, select

from karenina_core.runs import Engine, RunRow, Store
from karenina_core.runs.store.schema import call
from tests.faults.openai_server import OpenAIServer, Reply
from tests.faults.road import PATIENCE, Road, honest, model, verdicts, wait_until
from tests.faults.test_kill import IN_FLIGHT, Mortal
from tests.runs.postgres import LostCommits


def count_calls(store: Store) -> int:
    with store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(call)).scalar_one())


def stored_calls(road: Road) -> int:
    return count_calls(road.store)


def paid(run: RunRow) -> int:
    return run.calls - run.cached_calls


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


FULL = "CREATE TRIGGER full BEFORE INSERT ON call BEGIN SELECT raise(FAIL, 'database or disk is full'); END"


@pytest.mark.parametrize(("fault", "cure"), [("BEGIN IMMEDIATE", "ROLLBACK"), (FULL, "DROP TRIGGER full")])
def test_a_kill_while_the_database_refuses_leaves_an_account_of_what_is_stored(
    tmp_path: Path, fault: str, cure: str
) -> None:
    """The replies that wait in memory are lost with the process: only the provider's bill has them."""
    path, questions = tmp_path / "karenina.db", 40
    with OpenAIServer(honest, delay=0.005) as server, closing(sqlite3.connect(path, isolation_level=None)) as other:
        mortal = Mortal(f"sqlite:///{path}", server, questions)
        seen = -1

        def waits_for_the_database() -> bool:
            nonlocal seen
            if len(server.requests) < 30:
                return False
            if seen < 0:
                other.execute(fault)
            before, seen = seen, len(server.requests)
            time.sleep(0.5)
            return before == seen

        assert mortal.live(waits_for_the_database, watch=False).killed
        other.execute(cure)
        with Store.open(path) as store:
            assert paid(store.runs.get(mortal.run_id)) == count_calls(store)
            lost = len(server.requests) - count_calls(store)
        assert 0 < lost <= IN_FLIGHT
        mortal.live()
        with Store.open(path) as store:
            run = store.runs.get(mortal.run_id)
            assert (run.status, run.passed) == ("completed", questions)
            assert paid(run) == count_calls(store) == 2 * questions == len(server.requests) - lost


def test_a_commit_that_the_server_made_and_could_not_confirm_is_entered_once(
    postgres_socket: str, postgres_url: str, server: OpenAIServer, tmp_path: Path
) -> None:
    with (
        LostCommits(postgres_socket, tmp_path, after=b"INSERT INTO call") as between,
        Store.open(postgres_url.replace(postgres_socket, str(tmp_path))) as store,
        Engine(store) as runner,
    ):
        road = Road(store, runner, server)
        between.lose = 3
        run_id = road.begin(30)

        def resumed_to_its_end() -> bool:
            seen = runner.wait(run_id, 0.05)
            if seen.status == "paused":
                runner.resume(run_id)
            return not seen.active

        wait_until(resumed_to_its_end)
        run = store.runs.get(run_id)
        assert (between.lose, run.status, run.passed, run.done) == (0, "completed", 30, 30)
        assert paid(run) == count_calls(store) == len(server.requests) == 60
