"""A key that is missing or wrong: one request tells, that model stops, the others go on, and the key shows nowhere."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from tests.faults.openai_server import Reply, failing
from tests.faults.road import Road, always, model, verdicts

SECRET = "sk-live-9d41c07be2f6a853"
WRONG = failing(401, f"Incorrect API key provided: {SECRET}.")


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a variable with a key."""
    monkeypatch.setenv("ISLAND_API_KEY", SECRET)
    return "ISLAND_API_KEY"


@pytest.mark.parametrize("refusal", [WRONG, failing(403, f"{SECRET} may not.")], ids=["401", "403"])
def test_a_wrong_key_costs_one_request(road: Road, key: str, refusal: Reply) -> None:
    road.server.script = always(refusal, of="locked")
    models = [model(road.server, "locked", api_key_env=key), model(road.server)]
    results = road.run(20, answering_models=models, max_concurrent_requests=8)
    assert verdicts(results)[::2] == ["authentication"] * 20
    assert verdicts(results)[1::2] == ["pass"] * 20
    assert sum(name == "locked" for name, _ in road.calls) == 1


def test_a_judge_with_a_wrong_key_stops_and_the_answers_are_kept(road: Road, key: str) -> None:
    road.server.script = always(WRONG, of="locked")
    results = road.run(10, parsing_models=[model(road.server, "locked", api_key_env=key), model(road.server, "judge")])
    assert verdicts(results) == ["authentication", "pass"] * 10
    assert all(result.raw_llm_response for result in results)
    assert sum(name == "locked" for name, _ in road.calls) == 1


def test_with_the_right_key_a_resumed_run_asks_only_what_is_missing(road: Road, key: str) -> None:
    road.server.script = always(WRONG, of="judge")
    run_id = road.begin(4, parsing_models=[model(road.server, "judge", api_key_env=key)])
    road.finish(run_id)
    road.server.script = always(WRONG, of="nobody")
    road.server.requests.clear()
    assert verdicts(road.resume(run_id)) == ["pass"] * 4
    assert sorted(road.calls) == [("judge", number) for number in range(1, 5)]


def test_a_missing_key_sends_nothing(road: Road) -> None:
    models = [model(road.server, "locked", api_key_env="NOWHERE_API_KEY"), model(road.server)]
    results = road.run(3, answering_models=models)
    assert verdicts(results) == ["authentication", "pass"] * 3
    assert "NOWHERE_API_KEY" in str(results[0].failure)
    assert not [call for call in road.calls if call[0] == "locked"]


def test_the_key_is_in_no_row_no_file_and_no_log(
    road: Road, key: str, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    road.server.script = always(WRONG, of="locked")
    results = road.run(2, answering_models=[model(road.server, "locked", api_key_env=key)])
    assert road.server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    assert SECRET not in repr(results)
    assert SECRET not in caplog.text
    road.runner.close()
    road.store.close()
    for file in path.parent.iterdir():
        assert SECRET.encode() not in file.read_bytes(), file.name
