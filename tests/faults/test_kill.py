"""kill -9 at random moments. The provider keeps the bill: every call it was asked for, whoever asked."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import select

from karenina_core.runs import Engine, Store, wanted
from karenina_core.runs.engine.job import workers_for
from karenina_core.runs.store.schema import call as call_table
from tests.faults.openai_server import OpenAIServer
from tests.faults.road import PATIENCE, Call, call_of, config, honest, islands

ROOT = Path(__file__).parents[2]
IN_FLIGHT = 8


@dataclass
class Life:
    """What a process had reported when it was killed, and what it had committed."""

    reported: int = 0
    named: set[int] = field(default_factory=set)
    committed: set[Call] = field(default_factory=set)
    stored: set[int] = field(default_factory=set)
    bill: int = 0
    killed: bool = True


class Mortal:
    """A run that is carried out by one process after the other."""

    def __init__(self, url: str, server: OpenAIServer, questions: int, in_flight: int = IN_FLIGHT) -> None:
        self.url, self.server = url, server
        with Store.open(url) as store:
            plan = wanted(islands(questions), config(server, max_concurrent_requests=in_flight))
            self.run_id = store.runs.create(plan, "Mortal")

    def live(self, doomed: Callable[[], bool] | None = None, *, watch: bool = True) -> Life:
        """Let a new process resume the run, and kill it as soon as `doomed` says so.

        The store is looked at afterwards, where somebody watches.
        """
        command = [sys.executable, "-m", "tests.faults.killed_run", self.url, self.run_id]
        child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        lines: list[str] = []
        assert child.stdout is not None
        # Line by line, so that the first is seen while the child lives.
        reader = threading.Thread(target=lambda stream: [lines.append(line) for line in stream], args=(child.stdout,))
        reader.start()
        end = time.monotonic() + PATIENCE
        while child.poll() is None and time.monotonic() < end and not (lines and doomed and doomed()):
            time.sleep(0.001)
        killed = child.poll() is None
        if killed:
            os.kill(child.pid, signal.SIGKILL)
        child.wait()
        reader.join()
        child.stdout.close()
        return self._account(lines, killed) if watch else Life(killed=killed)

    def _account(self, lines: list[str], killed: bool) -> Life:
        life = Life(killed=killed, bill=len(self.server.requests))
        for line in lines:
            if not line.endswith("\n"):
                continue  # killed while it said so
            word, *rest = line.split()
            if word == "done":
                life.reported = int(rest[0])
                life.named |= {int(number) for number in rest[1:]}
        with Store.open(self.url) as store, store.reading() as connection:
            life.stored = {int(row["question_id"][1:]) for row in store.results.rows(self.run_id)}
            rows = connection.execute(select(call_table.c.model, call_table.c.question_id))
            life.committed = {(row.model, int(row.question_id[1:])) for row in rows}
        return life


def check(lives: list[Life], bill: list[Call], questions: int, under_way: int = IN_FLIGHT) -> None:
    """Nothing reported is lost, nothing committed is asked again, and little is paid twice."""
    for life, later in pairwise(lives):
        assert life.reported <= len(life.stored), "a result that was reported is lost"
        assert life.named <= life.stored, "a result that was reported is lost"
        assert life.stored <= later.stored
        again = set(bill[life.bill : later.bill]) & life.committed
        assert not again, f"committed calls were asked again: {again}"
    kills = sum(life.killed for life in lives)
    twice = len(bill) - 2 * questions
    assert len(set(bill)) == 2 * questions
    assert 0 <= twice <= kills * under_way, f"{twice} calls were paid twice by {kills} kills"
    assert max(Counter(bill).values()) <= 1 + kills


@pytest.mark.slow
def test_twenty_kills_lose_nothing_and_repeat_nothing_that_was_committed(tmp_path: Path) -> None:
    questions, chance = 300, random.Random(20)
    with OpenAIServer(honest, delay=0.005) as server:
        mortal = Mortal(f"sqlite:///{tmp_path / 'mortal.db'}", server, questions)
        lives = []
        for _ in range(20):
            moment, pause = len(server.requests) + chance.randint(0, 40), chance.random() * 0.01
            lives.append(mortal.live(lambda moment=moment, pause=pause: _at(server, moment, pause)))  # type: ignore[misc]
        assert all(life.killed for life in lives)
        lives.append(mortal.live())
        check(lives, [call_of(request) for request in server.requests], questions)
    assert (lives[-1].killed, lives[-1].reported, len(lives[-1].stored)) == (False, questions, questions)
    with Store.open(mortal.url) as store, Engine(store) as runner:
        assert runner.progress(mortal.run_id).passed == questions


def test_kills_with_a_hundred_calls_in_flight_repeat_those_and_what_is_on_its_way_to_the_disk(tmp_path: Path) -> None:
    questions, chance = 400, random.Random(7)
    with OpenAIServer(honest, delay=0.02) as server:
        mortal = Mortal(f"sqlite:///{tmp_path / 'mortal.db'}", server, questions, 100)
        lives = []
        for _ in range(3):
            moment, pause = len(server.requests) + chance.randint(0, 200), chance.random() * 0.05
            lives.append(mortal.live(lambda moment=moment, pause=pause: _at(server, moment, pause)))  # type: ignore[misc]
        lives.append(mortal.live())
        check(lives, [call_of(request) for request in server.requests], questions, workers_for(100))
        assert server.most_in_flight <= 100
    assert (lives[-1].reported, len(lives[-1].stored)) == (questions, questions)
    with Store.open(mortal.url) as store, Engine(store) as runner:
        assert runner.progress(mortal.run_id).passed == questions


def test_kills_on_postgresql(postgres_url: str) -> None:
    questions, chance = 60, random.Random(3)
    with OpenAIServer(honest, delay=0.005) as server:
        mortal = Mortal(postgres_url, server, questions)
        lives = []
        for _ in range(3):
            moment = len(server.requests) + chance.randint(5, 25)
            lives.append(mortal.live(lambda moment=moment: _at(server, moment, 0.0)))  # type: ignore[misc]
        lives.append(mortal.live())
        check(lives, [call_of(request) for request in server.requests], questions)
    assert len(lives[-1].stored) == questions


def _at(server: OpenAIServer, moment: int, pause: float) -> bool:
    if len(server.requests) < moment:
        return False
    time.sleep(pause)
    return True
