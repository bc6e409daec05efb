"""The pace of a run, as people set it and see it: against a provider on the loopback interface."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from karenina_core.errors import InputError
from karenina_core.runs.plan import PACE, config_hash
from karenina_core.schemas import VerificationConfig
from tests.faults.openai_server import OpenAIServer, Reply, failing
from tests.faults.road import Road, always, config, honest, model, verdicts


class Valve:
    """Lets requests through one by one, each when it is told to."""

    def __init__(self) -> None:
        self.permits = threading.Semaphore(0)

    def __call__(self, request: dict[str, Any]) -> Reply:
        assert self.permits.acquire(timeout=20)
        return honest(request)


def test_a_slower_pace_holds_for_the_run_and_after_it_was_resumed(road: Road) -> None:
    road.server.delay = 0.02
    run_id = road.create(30, max_concurrent_requests=8)
    road.runner.start(run_id)
    road.runner.set_concurrency(run_id, 2)
    assert road.runner.progress(run_id).ceiling == 2
    assert road.finish(run_id).passed == 30
    assert road.store.runs.get(run_id).config.max_concurrent_requests == 2


def test_a_faster_pace_takes_more_workers(road: Road) -> None:
    road.server.delay = 0.05
    run_id = road.create(30, max_concurrent_requests=1)
    road.runner.start(run_id)
    road.runner.set_concurrency(run_id, 10)
    assert road.finish(run_id).passed == 30
    assert 5 <= road.server.most_in_flight <= 10


def test_workers_beyond_the_calls_allowed_use_free_places_and_make_none(road: Road) -> None:
    road.server.delay = 0.05
    run_id = road.begin(150, max_concurrent_requests=40)
    under_way = 0
    while (seen := road.runner.progress(run_id)).active:
        under_way = max(under_way, seen.in_flight)
    assert seen.passed == 150
    assert 40 < under_way <= 48
    assert 30 < road.server.most_in_flight <= 40


def test_a_pace_stays_within_reason_and_needs_a_run(road: Road) -> None:
    road.server.delay = 0.05
    run_id = road.begin(10)
    road.runner.set_concurrency(run_id, -5)
    assert road.runner.progress(run_id).ceiling == 1
    road.runner.set_concurrency(run_id, 10**6)
    assert road.runner.progress(run_id).ceiling == 1000
    road.finish(run_id)
    with pytest.raises(InputError, match="not under way"):
        road.runner.set_concurrency(run_id, 5)


def test_every_model_is_seen_while_the_run_is_under_way(road: Road) -> None:
    road.server.delay = 0.05
    run_id = road.begin(12)
    while not (seen := road.runner.progress(run_id)).done:
        assert seen.active
    assert {model.model for model in seen.traffic} == {"answerer", "judge"}
    assert sum(model.requests for model in seen.traffic) <= 24
    assert all(model.limit <= 16 for model in seen.traffic)
    assert road.finish(run_id).traffic == ()


def test_a_stopped_model_is_named_with_its_reason(road: Road) -> None:
    locked = always(failing(401, "Wrong key."), of="locked")
    road.server.delay = 0.05
    road.server.script = locked
    run_id = road.begin(20, answering_models=[model(road.server, "locked"), model(road.server)])
    while road.runner.progress(run_id).passed < 1:
        assert road.runner.progress(run_id).active
    (stopped,) = [seen for seen in road.runner.progress(run_id).traffic if seen.model == "locked"]
    assert stopped.state == "stopped"
    assert "refused the key" in stopped.reason
    seen = road.finish(run_id)
    assert (seen.percent, seen.passed, seen.errors) == (100.0, 20, {"authentication": 20})


def test_a_dead_provider_ends_the_run_soon_and_the_rest_goes_on(road: Road, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karenina_core.models.limits.FIRST_PROBE", 0.01)
    monkeypatch.setattr("karenina_core.models.caller.FIRST_WAIT", 0.01)
    road.server.script = always(failing(503), of="dead")
    results = road.run(40, answering_models=[model(road.server, "dead"), model(road.server)], max_attempts=4)
    assert verdicts(results) == ["server_error", "pass"] * 40
    assert sum(name == "dead" for name, _ in road.calls) < 50


def test_the_time_limit_stops_the_run_and_it_can_be_resumed(road: Road) -> None:
    valve = Valve()
    road.server.script = valve
    valve.permits.release(4)
    run_id = road.begin(6, max_seconds=0.3, max_concurrent_requests=1)
    threading.Timer(0.5, lambda: valve.permits.release(100)).start()
    seen = road.finish(run_id)
    assert (seen.status, seen.eta) == ("interrupted", None)
    assert "has worked 0.3 seconds" in seen.message
    assert 0 < seen.done < 6
    asked = len(road.calls)
    for _ in range(20):
        road.resume(run_id)
        if road.runner.progress(run_id).done == 6:
            break
    assert road.runner.progress(run_id).passed == 6
    assert len(road.calls) == len(set(road.calls)) >= asked


def test_the_pace_is_no_part_of_what_a_run_asks_for(server: OpenAIServer) -> None:
    plain = config(server)
    paced = {"max_concurrent_requests": 3, "adaptive_concurrency": False, "max_seconds": 9, "max_attempts": 2}
    slow = config(server, **paced, answering_models=[model(server, requests_per_minute=5, tokens_per_minute=6)])
    assert config_hash(plain) == config_hash(slow)
    assert set(paced) <= PACE


def test_configurations_from_before_the_limits_keep_their_identity() -> None:
    models = {
        role: [{"model_name": name, "interface": "litellm"}]
        for role, name in (("answering_models", "lab/a"), ("parsing_models", "lab/b"))
    }
    known = "457e1620f441f1645f89b8caf547a0ec1f7681eb2c6d4be18109419f1b666e7f"
    assert config_hash(VerificationConfig.model_validate(models)) == known
