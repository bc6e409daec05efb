"""Cancelling, restarting, clicking twice, looking from elsewhere: a run belongs to its process, not to a tab."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from karenina_core.errors import StoreError
from karenina_core.runs import Engine, Store
from tests.faults.openai_server import HANGING, OpenAIServer, Reply
from tests.faults.road import PATIENCE, Road, call_of, honest, model, verdicts, wait_until

ROOT = Path(__file__).parents[2]


def test_cancel_does_not_wait_for_calls_in_flight(road: Road) -> None:
    """Had it waited, the calls would have run out of time: asked again, and with a row for each."""
    road.server.script = [HANGING]
    run_id = road.begin(60, max_concurrent_requests=50, max_attempts=2)
    wait_until(lambda: road.calls)
    road.runner.cancel(run_id)
    assert road.runner.progress(run_id).status == "cancelled"
    assert road.store.results.rows(run_id) == []
    assert len(road.calls) == len(set(road.calls))


def test_cancel_stops_spending_and_keeps_what_is_there(road: Road) -> None:
    def slow_from_the_tenth(request: dict[str, object]) -> Reply:
        return HANGING if call_of(request)[1] > 10 else honest(request)

    road.server.script = slow_from_the_tenth
    run_id = road.begin(40, max_concurrent_requests=4)
    wait_until(lambda: road.runner.progress(run_id).done == 10)
    road.runner.cancel(run_id)
    asked = len(road.calls)
    stored = road.store.results.rows(run_id)
    assert (len(stored), road.runner.progress(run_id).done) == (10, 10)
    road.runner.wait(run_id, 0.2)
    assert len(road.calls) == asked
    road.server.script = honest
    road.server.requests.clear()
    assert verdicts(road.resume(run_id)) == ["pass"] * 40
    assert len(road.calls) == 60


def test_pause_finishes_what_is_under_way_and_starts_nothing(road: Road) -> None:
    road.server.delay = 0.02
    run_id = road.begin(30, max_concurrent_requests=3)
    wait_until(lambda: road.runner.progress(run_id).done >= 5)
    road.runner.pause(run_id)
    wait_until(lambda: road.runner.progress(run_id).in_flight == 0)
    asked = len(road.calls)
    road.runner.wait(run_id, 0.2)
    assert len(road.calls) == asked
    assert verdicts(road.resume(run_id)) == ["pass"] * 30
    assert len(road.calls) == len(set(road.calls)) == 60


def test_a_pause_sends_nothing_that_only_waited_for_a_place(road: Road) -> None:
    road.server.delay = 0.1
    run_id = road.begin(150, max_concurrent_requests=40)
    wait_until(lambda: any(seen.waiting for seen in road.runner.progress(run_id).traffic))
    road.runner.pause(run_id)
    sent = sum(seen.requests + seen.in_flight for seen in road.runner.progress(run_id).traffic)
    wait_until(lambda: road.runner.progress(run_id).in_flight == 0)
    assert len(road.calls) <= sent
    road.server.delay = 0
    assert verdicts(road.resume(run_id)) == ["pass"] * 150
    assert len(road.calls) == len(set(road.calls)) == 300


def test_those_that_wait_during_a_pause_leave_their_places_to_other_runs(
    road: Road, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARENINA_MAX_CONCURRENT", "1")
    road.server.delay = 0.05
    paused = road.begin(8, max_concurrent_requests=8)
    wait_until(lambda: road.calls)
    road.runner.pause(paused)
    assert road.finish(road.begin(3, answering_models=[model(road.server, "other")])).passed == 3
    assert road.runner.progress(paused).in_flight == 0
    assert verdicts(road.resume(paused)) == ["pass"] * 8


def test_a_paused_run_is_soon_at_rest_however_slowly_its_model_may_be_called(road: Road) -> None:
    slow = model(road.server, requests_per_minute=6)
    run_id = road.begin(10, answering_models=[slow], max_concurrent_requests=10)
    wait_until(lambda: road.calls)
    road.runner.pause(run_id)
    wait_until(lambda: road.runner.progress(run_id).in_flight == 0)
    assert [seen.waiting for seen in road.runner.progress(run_id).traffic if seen.model == "answerer"] == [0]
    assert len(road.calls) <= 2


def test_those_that_wait_during_a_pause_are_sent_away_by_a_cancel(road: Road) -> None:
    road.server.delay = 0.05
    run_id = road.begin(150, max_concurrent_requests=40)
    wait_until(lambda: any(seen.waiting for seen in road.runner.progress(run_id).traffic))
    road.runner.pause(run_id)
    wait_until(lambda: road.runner.progress(run_id).in_flight == 0)
    asked = len(road.calls)
    road.runner.cancel(run_id)
    assert road.runner.progress(run_id).status == "cancelled"
    assert len(road.calls) == asked


def test_a_judgement_under_way_is_finished_during_a_pause(road: Road) -> None:
    judged = threading.Event()

    def twice_judged(request: dict[str, object]) -> Reply:
        if request["model"] != "judge":
            return honest(request)
        if judged.is_set():
            return honest(request)
        judged.set()
        return Reply('{"reasoning": "It gives a sign.", "abstained": false}')

    road.server.script = twice_judged
    road.server.delay = 0.1
    run_id = road.begin(1, abstention_enabled=True)
    assert judged.wait(PATIENCE)
    road.runner.pause(run_id)
    wait_until(lambda: road.runner.progress(run_id).in_flight == 0)
    assert road.runner.progress(run_id).passed == 1
    assert [name for name, _ in road.calls] == ["answerer", "judge", "judge"]


def test_after_a_restart_the_run_goes_on_where_it_was(store: Store, server: OpenAIServer) -> None:
    server.delay = 0.01
    with Engine(store) as first:
        road = Road(store, first, server)
        run_id = road.begin(40, max_concurrent_requests=4)
        wait_until(lambda: first.progress(run_id).done >= 10)
    run = store.runs.get(run_id)
    assert (run.status, run.done) == ("interrupted", len(store.results.rows(run_id)))
    with Engine(store) as second:
        assert verdicts(Road(store, second, server).resume(run_id)) == ["pass"] * 40
    twice = len(road.calls) - len(set(road.calls))
    assert twice <= 4, "only calls in flight at the moment of closing may be asked again"


def test_many_clicks_start_one_run(road: Road) -> None:
    run_id = road.create(10)
    clicks = [threading.Thread(target=road.runner.start, args=(run_id,)) for _ in range(8)]
    for click in clicks:
        click.start()
    for click in clicks:
        click.join()
    road.finish(run_id)
    assert len(road.calls) == 20


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_of_two_processes_one_carries_the_run_out_and_the_other_watches(
    database: str, request: pytest.FixtureRequest, path: Path, server: OpenAIServer
) -> None:
    url = f"sqlite:///{path}" if database == "sqlite" else request.getfixturevalue("postgres_url")
    release = threading.Event()

    def held_after_five(sent: dict[str, object]) -> Reply:
        if call_of(sent)[1] > 5 and not release.is_set():
            return Reply("wait", status=503)
        return honest(sent)

    server.script = held_after_five
    with Store.open(url) as store:
        run_id = Road(store, None, server).create(10, max_attempts=20)  # type: ignore[arg-type]
        command = [sys.executable, "-m", "tests.faults.killed_run", url, run_id]
        child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: store.runs.get(run_id).done >= 5 or child.poll() is not None)
            with Engine(store) as watcher:
                assert store.runs.get(run_id).status == "running", "a living process lost its run to another's start"
                for act in (watcher.start, watcher.resume, watcher.cancel):
                    with pytest.raises(StoreError, match="another process"):
                        act(run_id)
                seen = watcher.progress(run_id)
                assert (seen.status, seen.done, seen.total) == ("running", 5, 10)
                release.set()
                wait_until(lambda: not watcher.progress(run_id).active)
                assert watcher.progress(run_id).passed == 10
            output, _ = child.communicate(timeout=PATIENCE)
            assert output.splitlines()[-1] == "ended completed"
        finally:
            release.set()
            child.kill()
            child.wait()
