from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from karenina_core.runs.plan import wanted
from karenina_core.schemas.config import ModelConfig, VerificationConfig
from pages.components import frame, services
from tests.app.conftest import Open
from tests.faults.openai_server import OpenAIServer, failing
from tests.faults.road import always, config, honest, islands, model
from tests.runs.fakes import small_benchmark


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(honest, delay=0.05) as opened:
        yield opened


def under_way(server: OpenAIServer, questions: int = 200, **settings: object) -> str:
    plan = wanted(islands(questions), config(server, **settings))
    run_id = services.store().create_run(plan, "Islands")
    services.runner().start(run_id)
    until = time.monotonic() + 20
    while not services.runner().progress(run_id).done:
        assert time.monotonic() < until
    return run_id


def test_a_running_run_shows_its_models_and_can_be_slowed_down_and_sped_up(
    open_page: Open, server: OpenAIServer
) -> None:
    run_id = under_way(server)
    app = open_page(frame.MONITOR, run=run_id)
    table = app.dataframe[0].value
    assert sorted(table["Model"]) == ["answerer", "judge"]
    assert {"Limit", "In flight", "Waiting", "Slow-downs", "Requests", "Per minute", "Spend"} <= set(table.columns)
    app.button(key="slow_down").click().run()
    assert services.runner().progress(run_id).ceiling == 4
    app.button(key="speed_up").click().run()
    assert services.runner().progress(run_id).ceiling == 8
    services.runner().cancel(run_id)


def test_a_paused_run_has_no_time_left_and_no_pace(open_page: Open, server: OpenAIServer) -> None:
    run_id = under_way(server)
    services.runner().pause(run_id)
    app = open_page(frame.MONITOR, run=run_id)
    assert "Time left" not in [metric.label for metric in app.metric]
    assert not [button for button in app.button if button.key in ("slow_down", "speed_up")]
    services.runner().cancel(run_id)


def test_a_stopped_model_is_told_with_its_reason(open_page: Open, server: OpenAIServer) -> None:
    server.script = always(failing(401, "Wrong key."), of="locked")
    run_id = under_way(server, answering_models=[model(server, "locked"), model(server)])
    app = open_page(frame.MONITOR, run=run_id)
    assert any("refused the key" in warning.value for warning in app.warning)
    services.runner().cancel(run_id)
    assert any("refused the key" in warning.value for warning in app.run().warning)


def test_a_finished_run_shows_no_pace(open_page: Open, server: OpenAIServer) -> None:
    run_id = under_way(server, 3)
    assert services.runner().wait(run_id, 20).percent == 100.0
    app = open_page(frame.MONITOR, run=run_id)
    assert not [button for button in app.button if button.key in ("slow_down", "speed_up")]


def test_a_run_asks_for_its_prepared_answers_after_a_restart(open_page: Open) -> None:
    answers = {"q1": "Paris", "q2": "Lyon"}
    prepared = ModelConfig(interface="manual", model_name="elsewhere", manual_traces=answers)
    settings = VerificationConfig(answering_models=[prepared], parsing_models=["local"])
    run_id = services.store().create_run(wanted(small_benchmark(2), settings), "Prepared")
    app = open_page(frame.MONITOR, run=run_id)
    services.store().set_status(run_id, "interrupted")
    app = app.run()
    assert app.file_uploader[0].label == "Prepared answers of elsewhere"
    app.button(key="resume").click().run()
    assert "needed once more" in app.error[0].proto.title
    assert "needed once more" in app.run().error[0].proto.title, "it stays while the page polls"
    app.file_uploader[0].upload("other.json", b'{"q1": "Nice"}').run()
    assert any("not the answers" in error.proto.title for error in app.error)
