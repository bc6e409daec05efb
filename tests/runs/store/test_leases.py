from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
from sqlalchemy import update

from karenina_core.runs import Store, wanted
from karenina_core.runs.store.runs import LEASE_SECONDS, forget_owner, new_owner, surely_dead
from karenina_core.runs.store.schema import run as table
from tests.runs.fakes import small_benchmark, small_config


@pytest.fixture
def run_id(any_store: Store) -> str:
    return any_store.runs.create(wanted(small_benchmark(), small_config()))


def age(store: Store, run_id: str, seconds: float) -> None:
    with store.writing() as connection:
        connection.execute(update(table).where(table.c.id == run_id).values(beat=table.c.beat - seconds))


def test_a_run_has_one_owner(any_store: Store, run_id: str) -> None:
    assert any_store.runs.claim(run_id, "far/1/a")
    assert any_store.runs.claim(run_id, "far/1/a")
    assert not any_store.runs.claim(run_id, "far/2/b")
    any_store.runs.release(run_id, "far/1/a")
    assert any_store.runs.claim(run_id, "far/2/b")


def test_only_the_owner_can_give_a_run_back(any_store: Store, run_id: str) -> None:
    any_store.runs.claim(run_id, "far/1/a")
    any_store.runs.release(run_id, "far/2/b")
    assert not any_store.runs.claim(run_id, "far/2/b")


def test_a_silent_owner_loses_its_run(any_store: Store, run_id: str) -> None:
    any_store.runs.claim(run_id, "far/1/a")
    age(any_store, run_id, LEASE_SECONDS + 1)
    assert any_store.runs.claim(run_id, "far/2/b")
    assert any_store.runs.heartbeat([run_id], "far/1/a") == set()
    assert any_store.runs.heartbeat([run_id], "far/2/b") == {run_id}


def test_a_beating_owner_keeps_its_run(any_store: Store, run_id: str) -> None:
    any_store.runs.claim(run_id, "far/1/a")
    age(any_store, run_id, LEASE_SECONDS + 1)
    assert any_store.runs.heartbeat([run_id], "far/1/a") == {run_id}
    assert not any_store.runs.claim(run_id, "far/2/b")


def test_abandoned_runs_are_interrupted_and_living_ones_are_not(any_store: Store, run_id: str) -> None:
    living = any_store.runs.create(wanted(small_benchmark(), small_config()))
    for one in (run_id, living):
        any_store.runs.set_status(one, "running")
    any_store.runs.claim(living, "far/1/a")
    assert any_store.runs.interrupt_abandoned() == [run_id]
    assert (any_store.runs.get(run_id).status, any_store.runs.get(living).status) == ("interrupted", "running")


def test_ended_runs_are_left_alone(any_store: Store, run_id: str) -> None:
    any_store.runs.set_status(run_id, "completed")
    assert any_store.runs.interrupt_abandoned() == []


def test_an_owner_is_dead_when_its_process_is() -> None:
    child = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    assert surely_dead(f"{socket.gethostname()}/{child.stdout.strip()}/x")
    assert not surely_dead(f"elsewhere/{child.stdout.strip()}/x")
    assert not surely_dead(f"{socket.gethostname()}/{os.getppid()}/x")


def test_an_owner_of_this_process_lives_until_it_is_forgotten() -> None:
    owner = new_owner()
    assert not surely_dead(owner)
    forget_owner(owner)
    assert surely_dead(owner)
