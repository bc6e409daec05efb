"""429 storms: everything is done in the end, the provider is not hammered, and nobody else has to wait."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from tests.faults.openai_server import Reply, failing, rate_limited
from tests.faults.road import Road, always, call_of, first, honest, model, verdicts


class Capacity:
    """Serves so many requests a second, and turns the others away."""

    def __init__(self, per_second: float, burst: int, refusal: Reply) -> None:
        self._per_second, self._burst, self._refusal = per_second, burst, refusal
        self._tokens, self._seen = float(burst), time.monotonic()
        self.refused = 0

    def __call__(self, request: dict[str, Any]) -> Reply:
        now = time.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._seen) * self._per_second)
        self._seen = now
        if self._tokens < 1:
            self.refused += 1
            return self._refusal
        self._tokens -= 1
        return honest(request)


@pytest.mark.parametrize(
    "refusal", [rate_limited(0.2), rate_limited()], ids=["with Retry-After", "without Retry-After"]
)
def test_a_storm_ends_with_every_answer(road: Road, refusal: Reply, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karenina_core.models.caller.FIRST_WAIT", 0.2)
    capacity = Capacity(per_second=60, burst=10, refusal=refusal)
    road.server.script = capacity
    results = road.run(60, max_concurrent_requests=20, max_attempts=10)
    assert verdicts(results) == ["pass"] * 60
    assert 0 < capacity.refused < 0.5 * 120


def test_the_time_a_provider_asks_for_is_waited(road: Road) -> None:
    moments: list[float] = []

    def script(request: dict[str, Any]) -> Reply:
        if call_of(request) != ("answerer", 1):
            return honest(request)
        moments.append(time.monotonic())
        return rate_limited(0.4) if len(moments) == 1 else honest(request)

    road.server.script = script
    assert verdicts(road.run(1)) == ["pass"]
    assert len(moments) == 2
    assert moments[1] - moments[0] >= 0.4


def test_many_who_were_turned_away_do_not_come_back_at_the_same_moment(road: Road) -> None:
    moments: list[float] = []

    def script(request: dict[str, Any]) -> Reply:
        asked = road.calls.count(call_of(request))
        if call_of(request)[0] != "answerer":
            return honest(request)
        if asked:
            moments.append(time.monotonic())
            return honest(request)
        return rate_limited(0.2)

    road.server.script = script
    road.run(12, max_concurrent_requests=12)
    assert max(moments) - min(moments) > 0.02


def test_the_slot_is_free_while_a_call_waits(road: Road, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one slot for the whole process, another run goes on while this one has been asked to wait."""
    monkeypatch.setenv("KARENINA_MAX_CONCURRENT", "1")
    asked = threading.Event()

    def script(request: dict[str, Any]) -> Reply:
        if request["model"] == "limited" and not asked.is_set():
            asked.set()
            return rate_limited(5)
        return honest(request)

    road.server.script = script
    waiting = road.begin(1, answering_models=[model(road.server, "limited")])
    assert asked.wait(20)
    other = road.begin(3)
    assert road.finish(other).passed == 3
    assert road.runner.progress(waiting).done == 0
    road.runner.cancel(waiting)


def test_one_limited_model_does_not_hold_up_another(road: Road) -> None:
    road.server.script = always(rate_limited(1), of="limited")
    models = [model(road.server, "limited"), model(road.server)]
    run_id = road.begin(6, answering_models=models, max_attempts=20)
    while road.runner.progress(run_id).passed < 6:
        assert road.runner.wait(run_id, 0.05).active
    assert road.runner.progress(run_id).done == 6
    road.runner.cancel(run_id)


def test_a_storm_that_never_ends_becomes_error_rows(road: Road) -> None:
    road.server.script = always(rate_limited(0.01))
    assert verdicts(road.run(3, max_attempts=2)) == ["rate_limit"] * 3


def test_a_used_up_quota_is_no_rate_limit(road: Road) -> None:
    road.server.script = always(failing(429, "You exceeded your current quota.", code="insufficient_quota"))
    results = road.run(1)
    assert verdicts(results) == ["authentication"]
    assert len(road.calls) == 1


def test_overloaded_is_waited_for_like_a_rate_limit(road: Road) -> None:
    overloaded = Reply("Overloaded.", status=529, headers={"Retry-After": "0.2"})
    road.server.script = first(overloaded, overloaded)
    assert verdicts(road.run(2)) == ["pass", "pass"]
