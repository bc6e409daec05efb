"""Clocks that jump, and owners that slept: a run has one owner, and only the owner's rows are stored."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from karenina_core.errors import InputError
from karenina_core.runs import Engine, Store, top_up
from karenina_core.runs.store import runs as leases
from karenina_core.runs.store.results import rows_of
from karenina_core.runs.store.runs import LEASE_SECONDS, LeaseLostError
from tests.faults.openai_server import HANGING, Reply
from tests.faults.road import PATIENCE, Road, call_of, honest, verdicts, wait_until
from tests.runs.fakes import plain_result

ROOT = Path(__file__).parents[2]
DAY = 86_400.0
ELSEWHERE = "elsewhere/1/a"


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the clock of the database, on which leases depend, jump by so many seconds."""
    usual = dict(leases._CLOCKS)

    def to(seconds: float) -> None:
        for dialect, clock in usual.items():
            monkeypatch.setitem(leases._CLOCKS, dialect, f"({clock} + {seconds})")

    return to


@pytest.fixture
def run_id(any_store: Store) -> str:
    from karenina_core.runs import wanted
    from tests.runs.fakes import small_benchmark, small_config

    return any_store.runs.create(wanted(small_benchmark(2), small_config()))


@pytest.mark.parametrize("seconds", [DAY, -DAY], ids=["forward", "back"])
def test_a_jump_of_this_machines_clock_during_a_run_changes_nothing(
    road: Road, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    usual = time.time

    def jump_at_the_third(request: dict[str, Any]) -> Reply:
        if len(road.server.requests) == 3:
            monkeypatch.setattr(time, "time", lambda: usual() + seconds)
        return honest(request)

    road.server.script = jump_at_the_third
    run_id = road.begin(6)
    seen = road.finish(run_id)
    assert (seen.status, seen.passed) == ("completed", 6)
    assert 0 <= seen.elapsed < PATIENCE


@pytest.mark.parametrize("seconds", [DAY, -DAY], ids=["fast", "slow"])
def test_a_time_that_a_provider_names_is_read_by_its_own_clock(
    road: Road, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """By ours, which is wrong, it would be over long ago, or not for a day: then nobody would wait for it."""
    moments: list[float] = []

    def busy_at_first(request: dict[str, Any]) -> Reply:
        if request["model"] == "answerer":
            moments.append(time.monotonic())
        if len(moments) > 1:
            return honest(request)
        there = usual() // 1
        dates = {"Date": formatdate(there, usegmt=True), "Retry-After": formatdate(there + 1, usegmt=True)}
        return Reply("Slow down.", status=429, headers=dates)

    usual = time.time
    monkeypatch.setattr(time, "time", lambda: usual() + seconds)
    road.server.script = busy_at_first
    assert verdicts(road.run(1)) == ["pass"]
    assert moments[1] - moments[0] >= 1


@pytest.mark.parametrize("seconds", [DAY, -DAY], ids=["forward", "back"])
def test_an_owner_keeps_its_run_over_a_jump_of_the_database_clock(
    any_store: Store, run_id: str, jump: Any, seconds: float
) -> None:
    any_store.runs.claim(run_id, ELSEWHERE)
    jump(seconds)
    assert any_store.runs.heartbeat([run_id], ELSEWHERE) == {run_id}
    assert not any_store.runs.claim(run_id, "elsewhere/2/b")


@pytest.mark.parametrize("seconds", [DAY, -DAY], ids=["forward", "back"])
def test_a_dead_owner_does_not_keep_its_run_for_a_day_because_of_a_jump(
    any_store: Store, run_id: str, jump: Any, seconds: float
) -> None:
    any_store.runs.claim(run_id, ELSEWHERE)
    jump(seconds)
    assert any_store.runs.claim(run_id, "elsewhere/2/b")


def test_a_small_correction_of_the_clock_is_no_reason_to_take_a_run_over(
    any_store: Store, run_id: str, jump: Any
) -> None:
    any_store.runs.claim(run_id, ELSEWHERE)
    for seconds in (LEASE_SECONDS / 2, -LEASE_SECONDS / 2):
        jump(seconds)
        assert not any_store.runs.claim(run_id, "elsewhere/2/b")


def test_of_many_who_claim_a_silent_run_one_gets_it(any_store: Store, run_id: str, jump: Any) -> None:
    any_store.runs.claim(run_id, ELSEWHERE)
    jump(LEASE_SECONDS + 1)
    won: list[str] = []
    together = threading.Barrier(8)

    def claim(owner: str) -> None:
        together.wait()
        if any_store.runs.claim(run_id, owner):
            won.append(owner)

    rivals = [threading.Thread(target=claim, args=(f"elsewhere/{number}/c",)) for number in range(8)]
    for rival in rivals:
        rival.start()
    for rival in rivals:
        rival.join()
    assert len(won) == 1


def test_a_run_that_somebody_is_about_to_start_does_not_grow(any_store: Store, run_id: str, jump: Any) -> None:
    """Who has it has read already what it wants, and would end with a part of it; a dead one keeps it for no longer."""
    assert any_store.runs.claim(run_id, ELSEWHERE)
    with pytest.raises(InputError, match="under way"):
        top_up(any_store, run_id, replicates=2)
    jump(LEASE_SECONDS + 1)
    top_up(any_store, run_id, replicates=2)
    assert any_store.runs.get(run_id).total == 4


def test_rows_of_a_former_owner_are_refused_in_the_very_transaction(any_store: Store, run_id: str) -> None:
    any_store.runs.claim(run_id, ELSEWHERE)
    with any_store.writing() as connection:
        any_store.results.insert(connection, run_id, [rows_of(run_id, plain_result("q1"))], owner=ELSEWHERE)
    with pytest.raises(LeaseLostError), any_store.writing() as connection:
        any_store.results.insert(connection, run_id, [rows_of(run_id, plain_result("q2"))], owner="elsewhere/2/b")
    assert [row["question_id"] for row in any_store.results.rows(run_id)] == ["q1"]


def test_a_process_that_slept_too_long_stores_no_more_rows_and_its_paid_calls_are_kept(road: Road) -> None:
    """As a laptop that is closed for an hour: meanwhile somebody else carries the run out."""
    taken = threading.Event()

    def take_over(request: dict[str, Any]) -> Reply:
        if len(road.server.requests) == 5 and not taken.is_set():
            with road.store.writing() as connection:
                connection.exec_driver_sql(f"UPDATE run SET owner = '{ELSEWHERE}'")
            taken.set()
        elif taken.is_set() and len(road.server.requests) <= 10:
            time.sleep(0.2)  # in flight while the others learn that the run is no longer theirs
        return honest(request)

    road.server.script = take_over
    run_id = road.begin(20, max_concurrent_requests=2)
    assert taken.wait(PATIENCE)
    road.runner.wait(run_id, PATIENCE)
    run = road.store.runs.get(run_id)
    assert run.status == "running", "the status is the new owner's to write"
    assert run.done == len(road.store.results.rows(run_id)) < 20
    asked = list(road.calls)
    assert len(asked) <= 10, "the former owner went on asking"
    assert run.calls == len(asked), "what the former owner spent is part of the account"
    with road.store.writing() as connection:
        connection.exec_driver_sql(f"UPDATE run SET owner = '{socket.gethostname()}/{os.getpid()}/gone'")
    with Engine(road.store) as other:
        other.resume(run_id)
        other.wait(run_id, PATIENCE)
    assert verdicts(road.store.results.all(run_id)) == ["pass"] * 20
    assert len(road.calls) == len(set(road.calls)), "a call that was paid was asked again"


def test_a_process_that_is_stopped_and_goes_on_writes_nothing_into_a_run_that_is_not_its_own_any_more(
    road: Road, path: Path, jump: Any
) -> None:
    """Its calls ran out of time meanwhile; these errors must not replace what the new owner has found."""
    road.server.script = lambda request: HANGING if call_of(request)[1] > 20 else honest(request)
    run_id = road.create(30, max_concurrent_requests=4, request_timeout=2, max_attempts=1)
    command = [sys.executable, "-m", "tests.faults.killed_run", str(path), run_id]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: len(road.calls) >= 44 and road.store.runs.get(run_id).done >= 20)
        child.send_signal(signal.SIGSTOP)
        jump(LEASE_SECONDS + 1)
        road.server.script = honest
        with Engine(road.store) as other:
            assert other.progress(run_id).status == "interrupted"
            other.resume(run_id)
            assert other.wait(run_id, PATIENCE).passed == 30
            child.send_signal(signal.SIGCONT)
            assert child.communicate(timeout=PATIENCE)[0].splitlines()[-1] == "ended completed"
            assert other.progress(run_id).passed == 30
    finally:
        child.kill()
        child.communicate()
    assert verdicts(road.store.results.all(run_id)) == ["pass"] * 30
    assert len(road.calls) <= 60 + 8
