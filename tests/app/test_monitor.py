from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from karenina_core.models.prices import Price
from karenina_core.runs.plans.plan import wanted
from karenina_core.runs.plans.quotes import price_name
from karenina_core.schemas.config import ModelConfig, VerificationConfig
from pages.components import frame, services
from pages.components.runs.traffic import is_held_up
from tests.app.conftest import Open
from tests.app.looking import texts
from tests.faults.openai_server import OpenAIServer, failing, rate_limited
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


def test_a_run_over_its_limit_says_so_first_and_leads_to_a_higher_one(open_page: Open, server: OpenAIServer) -> None:
    models = config(server)
    store = services.store()
    each = Price(0.00001, 0.00003)
    store.set_prices({price_name(one): each for one in (*models.parsing_models, *models.answering_models)})
    run_id = under_way(server, 60, max_cost=0.01)
    services.runner().wait(run_id, 20)
    app = open_page(frame.MONITOR, run=run_id)
    assert ":orange-badge[:material/warning: interrupted, can be resumed]" in texts(app)
    assert "of at most $0.01. Raise the limit to go on." in app.warning[0].value.replace("\\", "")
    [spend] = [metric for metric in app.metric if metric.label == "Spend"]
    assert spend.delta == "of at most $0.01"
    assert app.button(key="resume").proto.type == "primary"
    assert app.button(key="see_results").proto.type == "secondary"


def test_a_run_with_errors_is_not_simply_completed(open_page: Open, server: OpenAIServer) -> None:
    server.script = always(failing(401, "Wrong key."), of="locked")
    run_id = under_way(server, 3, answering_models=[model(server, "locked"), model(server)])
    services.runner().wait(run_id, 20)
    said = texts(open_page(frame.MONITOR, run=run_id))
    assert "completed, 3 not evaluated because of errors" in said
    assert services.store().run(run_id).state == "completed, 3 not evaluated because of errors"
    home = open_page(frame.HOME)
    assert [button for button in home.button if button.key == f"home_monitor_{run_id}"]


def test_a_model_without_any_verdict_has_no_rate(open_page: Open, server: OpenAIServer) -> None:
    server.script = always(failing(401, "Wrong key."), of="locked")
    run_id = under_way(server, 3, answering_models=[model(server, "locked"), model(server)])
    services.runner().wait(run_id, 20)
    app = open_page(frame.MONITOR, run=run_id)
    lines = [item.proto.text for item in app.get("progress")]
    assert "locked: none of 3 evaluated" in lines
    assert "answerer: 3 of 3 right" in lines


def test_a_run_that_its_provider_holds_up_says_so(open_page: Open, server: OpenAIServer) -> None:
    server.script = lambda _: rate_limited(30)
    run_id = services.store().create_run(wanted(islands(5), config(server)), "Islands")
    services.runner().start(run_id)
    until = time.monotonic() + 20
    while not is_held_up(services.runner().progress(run_id)):
        assert time.monotonic() < until
    assert "running, waiting for the provider" in texts(open_page(frame.MONITOR, run=run_id))
    services.runner().cancel(run_id)
