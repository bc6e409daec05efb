"""Connections that break, hang half open, or crawl: the time limit of a call holds whatever is on the wire."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from karenina_core.schemas import VerificationResult
from tests.faults.road import PATIENCE, Road, model, verdicts
from tests.faults.wire import SILENCE, Step, Wire, completion, dripping

HEAD, BODY = completion("The island has the sign S1.")
HALF_OPEN: dict[str, list[Step]] = {
    "accepts, then nothing": [SILENCE],
    "reads, then nothing": [0.0, SILENCE],
    "stops within the head": [HEAD[:20], SILENCE],
    "stops after the head": [HEAD, SILENCE],
    "stops within the body": [HEAD, BODY[:50], SILENCE],
}
HUNG_UP: dict[str, list[Step]] = {
    "before a word": [0.0],
    "within the head": [HEAD[:20]],
    "after the head": [HEAD],
    "within the body": [HEAD, BODY[:-1]],
    "no HTTP at all": [b"\x15\x03\x01\x00\x02\x02\x46 these are no words of HTTP\r\n\r\n"],
}


def run(road: Road, wire: Wire, **settings: object) -> list[VerificationResult]:
    """Ask one question of the wire, and of a model that is well."""
    models = [model(wire.url, "wire"), model(road.server, request_timeout=20)]
    judges = [model(road.server, "judge", request_timeout=20)]
    return road.run(1, answering_models=models, parsing_models=judges, **settings)


@pytest.mark.parametrize("steps", HALF_OPEN.values(), ids=HALF_OPEN)
def test_a_half_open_connection_is_left_at_the_time_limit(road: Road, steps: Sequence[Step]) -> None:
    with Wire(steps) as wire:
        results = run(road, wire, request_timeout=0.4, max_attempts=2)
        assert verdicts(results) == ["timeout", "pass"]
        assert wire.connections == 2


@pytest.mark.parametrize("steps", HUNG_UP.values(), ids=HUNG_UP)
def test_a_connection_that_is_closed_early_is_tried_again_then_an_error(road: Road, steps: Sequence[Step]) -> None:
    with Wire(steps) as wire:
        results = run(road, wire, max_attempts=2)
        assert verdicts(results)[0] in ("connection", "server_error")
        assert verdicts(results)[1] == "pass"
        assert wire.connections == 2


def test_a_slow_reply_within_the_time_limit_counts(road: Road) -> None:
    with Wire(dripping("The island has the sign S1.", pieces=20, pause=0.02)) as wire:
        assert verdicts(run(road, wire)) == ["pass", "pass"]
        assert wire.connections == 1


def test_a_reply_that_crawls_past_the_time_limit_is_left(road: Road) -> None:
    """Bytes that keep coming do not keep a call alive for ever."""
    with Wire(dripping("The island has the sign S1.", pieces=200, pause=0.05)) as wire:
        assert verdicts(run(road, wire, request_timeout=0.5, max_attempts=1)) == ["timeout", "pass"]


def test_names_that_nobody_resolves_hold_up_nothing_else(road: Road, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look-up without an answer keeps its thread for a minute; more of them than there are usual threads."""
    usual, answered = socket.getaddrinfo, threading.Event()

    def look_up(host: str, *rest: Any, **options: Any) -> Any:
        if str(host).endswith("silent.example"):
            assert answered.wait(PATIENCE)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return usual(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    silent = [model(f"http://{number}.silent.example/v1", f"silent-{number}") for number in range(40)]
    try:
        models = [*silent, model(road.server, request_timeout=20)]
        judges = [model(road.server, "judge", request_timeout=20)]
        settings = {"request_timeout": 0.2, "max_attempts": 1, "max_concurrent_requests": 50}
        results = road.run(1, answering_models=models, parsing_models=judges, **settings)
        assert verdicts(results) == ["timeout"] * 40 + ["pass"]
        road.runner.close()
        assert not answered.is_set()
    finally:
        answered.set()


def test_nobody_listens(road: Road) -> None:
    with Wire([SILENCE]) as wire:
        gone = wire.url
    results = road.run(1, answering_models=[model(gone, "gone"), model(road.server)], max_attempts=2)
    assert verdicts(results) == ["connection", "pass"]
