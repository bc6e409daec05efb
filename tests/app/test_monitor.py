"""The monitor follows a run: its numbers, its models, its buttons; and the card of a run on every other page."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.models import Price
from karenina_core.models.weights import loading
from karenina_core.runs import Engine, Store, wanted
from karenina_core.runs.prices import price_name
from karenina_core.runs.store.runs import forget_owner, new_owner
from karenina_core.schemas import ModelConfig, VerificationConfig
from pages.components import frame, services
from pages.components.runs import monitor
from pages.components.runs.controls import is_held_up
from tests.app.conftest import Open, healthy
from tests.app.looking import metrics, press, table, texts
from tests.faults.openai_server import OpenAIServer, Reply, failing, rate_limited
from tests.faults.road import PATIENCE, always, config, honest, islands, model
from tests.runs.fakes import small_benchmark


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(honest, delay=0.05) as opened:
        yield opened


def until(holds: Callable[[], object]) -> None:
    """Wait for a state."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end


def priced(*models: ModelConfig) -> None:
    """Give models a price."""
    services.store().settings.set_prices({price_name(one): Price(0.00001, 0.00003) for one in models})


def begun(server: OpenAIServer, questions: int, **settings: object) -> str:
    """Start a run, and return its id when the first evaluation is done."""
    plan = wanted(islands(questions), config(server, **settings))
    run_id = services.store().runs.create(plan, "Islands")
    services.runner().start(run_id)
    until(lambda: services.runner().progress(run_id).done)
    return run_id


def under_way(server: OpenAIServer, **settings: object) -> str:
    """Start a run that does not end while pages are drawn, also on a slow machine."""
    run_id = begun(server, 200, **settings)
    server.delay = 3
    return run_id


def keys(app: AppTest) -> set[str | None]:
    return {button.key for button in app.button}


def test_a_running_run_shows_its_models_and_can_be_slowed_down_and_sped_up(
    open_page: Open, server: OpenAIServer
) -> None:
    run_id = under_way(server)
    with loading("all-MiniLM-L6-v2"):
        app = open_page(frame.MONITOR, run=run_id)
        assert "all-MiniLM-L6-v2 is being loaded" in texts(app)
    assert "being loaded" not in texts(app.run())
    assert app.button(key="see_results").proto.type == "secondary", "the run has not ended"
    table = app.dataframe[0].value
    assert sorted(table["Model"]) == ["answerer", "judge"]
    assert {"Limit", "In flight", "Waiting", "Slow-downs", "Requests", "Per minute", "Spend"} <= set(table.columns)
    app.button(key="slow_down").click().run()
    assert services.runner().progress(run_id).ceiling == 4
    app.button(key="speed_up").click().run()
    assert services.runner().progress(run_id).ceiling == 8
    services.runner().pause(run_id)
    app = app.run()
    assert "Time left" not in metrics(app)
    assert not keys(app) & {"slow_down", "speed_up"}
    services.runner().cancel(run_id)


def test_a_run_with_errors_says_so_and_tries_them_again(open_page: Open, server: OpenAIServer) -> None:
    server.script = always(failing(401, "Wrong key."), of="locked")
    run_id = begun(server, 3, answering_models=[model(server, "locked"), model(server)])
    services.runner().wait(run_id, PATIENCE)
    app = open_page(frame.MONITOR, run=run_id)
    assert "completed with 3 errors" in texts(app)
    assert "“Retry the 3 errors” tries these again." in texts(app) and "To try again: " in texts(app)
    assert not app.dataframe, "no calls are left to watch"
    [stopped] = [warning for warning in app.warning if "locked was stopped" in warning.proto.title]
    assert "refused the key" in stopped.value
    lines = [item.proto.text for item in app.get("progress")]
    assert "locked: none of 3 evaluated (3 errors)" in lines
    assert any(line.startswith("answerer: 3 of 3 right (100 %, 95 % interval ") for line in lines)
    assert f"home_monitor_{run_id}" in keys(open_page(frame.HOME))
    server.script = honest
    app = press(app, "Retry the 3 errors")
    seen = services.runner().wait(run_id, PATIENCE)
    assert (seen.done, seen.passed, seen.errors) == (6, 6, {})


def test_a_run_asks_for_its_prepared_answers_after_a_restart(open_page: Open) -> None:
    answers = {"q1": "Paris", "q2": "Lyon"}
    prepared = ModelConfig(interface="manual", model_name="elsewhere", manual_traces=answers)
    settings = VerificationConfig(answering_models=[prepared], parsing_models=["local"])
    run_id = services.store().runs.create(wanted(small_benchmark(2), settings), "Prepared")
    app = open_page(frame.MONITOR, run=run_id)
    services.store().runs.set_status(run_id, "interrupted")
    app = app.run()
    assert app.file_uploader[0].label == "Prepared answers of elsewhere"
    app.button(key="resume").click().run()
    assert "needed once more" in app.error[0].proto.title
    assert "needed once more" in app.run().error[0].proto.title, "it stays while the page polls"
    app.file_uploader[0].upload("other.json", b'{"q1": "Nice"}').run()
    assert any("not the answers" in error.proto.title for error in app.error)


def test_squares_fill_up_by_question_and_model_unless_the_run_is_too_large(
    open_page: Open, demo_run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(frame.MONITOR, run=demo_run)
    [chart] = app.get("plotly_chart")
    marks = [mark for trace in json.loads(chart.proto.spec)["data"] for mark in trace["customdata"]]
    assert len({(model, question) for model, _, question, *_ in marks}) == 42
    assert app.button(key="see_results").proto.type == "primary", "the run has ended"
    monkeypatch.setattr(monitor, "MOST", 41)
    app = open_page(frame.MONITOR, run=demo_run)
    lines = [item.proto.text.replace("\\", "") for item in app.get("progress")]
    assert "demo/careless: 5 of 12 right · 2 not evaluated" in lines
    assert not app.get("plotly_chart")


def test_a_run_in_which_everything_fails_says_so_while_it_can_be_stopped(open_page: Open, server: OpenAIServer) -> None:
    server.script = always(Reply("not JSON"), of="judge")
    run_id = under_way(server)
    until(lambda: services.runner().progress(run_id).done >= 5)
    services.runner().pause(run_id)
    app = open_page(frame.MONITOR, run=run_id)
    assert "Not one of the first " in app.error[0].proto.title
    services.runner().cancel(run_id)
    assert not app.run().error, "what has ended costs nothing more"
    app.button(key="see_left_out").click().run()
    assert app.title[0].value == "Results"
    assert (app.query_params["run"], app.query_params["show"]) == (run_id, "none")


def test_a_run_that_its_provider_holds_up_says_so(open_page: Open, server: OpenAIServer) -> None:
    server.script = lambda _: rate_limited(30)
    run_id = services.store().runs.create(wanted(islands(5), config(server)), "Islands")
    services.runner().start(run_id)
    until(lambda: is_held_up(services.runner().progress(run_id)))
    assert "running, waiting for the provider" in texts(open_page(frame.MONITOR, run=run_id))
    services.runner().cancel(run_id)


# Runs of other processes


def test_a_run_that_another_process_paused_is_continued_there(open_page: Open, server: OpenAIServer) -> None:
    run_id = services.store().runs.create(wanted(islands(200), config(server)), "Elsewhere")
    with Store.open(services.store().url) as other, Engine(other) as runner:
        runner.start(run_id)
        runner.pause(run_id)
        app = open_page(frame.MONITOR, run=run_id)
        assert "Another running copy of this app carries the run out." in texts(app)
        assert not keys(app) & {"continue", "pause", "cancel", "resume", "slow_down"}
        runner.resume(run_id)
        app.run()
        assert not keys(app) & {"continue", "pause", "cancel", "resume", "slow_down"}
        assert "Time left" not in [metric.label for metric in app.metric], "nobody here knows it"


def test_a_run_whose_process_died_can_be_resumed_from_where_it_is_watched(open_page: Open) -> None:
    store = services.store()
    run_id = store.runs.create(
        wanted(small_benchmark(2), VerificationConfig(answering_models=["local"], parsing_models=["local"]))
    )
    owner = new_owner()
    assert store.runs.claim(run_id, owner)
    store.runs.set_status(run_id, "paused")
    assert "Another running copy" in texts(open_page(frame.MONITOR, run=run_id))
    forget_owner(owner)
    services.notice_abandoned.clear()
    app = open_page(frame.MONITOR, run=run_id)
    assert "interrupted, can be resumed" in texts(app)
    assert "resume" in keys(app)


# What is said of models and errors


def test_models_are_listed_as_configured_and_a_known_price_is_no_unknown_spend(
    open_page: Open, server: OpenAIServer
) -> None:
    server.script = always(rate_limited(30))
    models = config(server, answering_models=[model(server), model(server, "second")])
    priced(*models.parsing_models, models.answering_models[0])
    run_id = services.store().runs.create(wanted(islands(20), models), "Islands")
    services.runner().start(run_id)
    until(lambda: len((now := services.runner().progress(run_id)).traffic) == 3 and now.retries)
    shown = table(open_page(frame.MONITOR, run=run_id), "Models of the run and their calls")
    services.runner().cancel(run_id)
    assert list(shown["Model"]) == ["answerer", "second", "judge"]
    assert shown["Spend"][0] == "nothing yet"
    assert shown["Spend"][1] == "unknown"


def test_what_is_typed_as_the_limit_of_one_run_is_not_proposed_for_another(
    open_page: Open, server: OpenAIServer
) -> None:
    models = config(server)
    priced(*models.parsing_models, *models.answering_models)
    small = begun(server, 60, max_cost=0.01)
    services.runner().wait(small, PATIENCE)
    large = begun(server, 900, max_cost=0.05, replicate_count=2)
    services.runner().wait(large, PATIENCE)
    app = open_page(frame.MONITOR, run=small)
    app.number_input(key="new_limit").set_value(0.02).run()
    other = app.selectbox[0].set_value(large).run()
    assert other.number_input(key="new_limit").value > 0.5, "enough for what is left"


def test_known_replies_stand_beside_all_replies(open_page: Open, server: OpenAIServer) -> None:
    for _ in range(2):
        run_id = begun(server, 3)
        services.runner().wait(run_id, PATIENCE)
    [replies] = [metric for metric in open_page(frame.MONITOR, run=run_id).metric if metric.label == "Model replies"]
    assert (replies.value, replies.delta) == ("6", "6 known already")


# The card of a run on other pages, and its line on Home


@pytest.fixture
def two_runs() -> Iterator[tuple[str, str]]:
    """Two runs of one provider, which take longer than a test."""
    with OpenAIServer(honest, delay=2) as server:
        plan = wanted(islands(400), config(server))
        first, second = (services.store().runs.create(plan, name) for name in ("First", "Second"))
        for run_id in (first, second):
            services.runner().start(run_id)
        yield first, second
        for run_id in (first, second):
            services.runner().cancel(run_id)


def test_every_run_under_way_leads_to_its_monitor_and_is_paused_from_any_page(
    open_page: Open, two_runs: tuple[str, str]
) -> None:
    first, second = two_runs
    for run_id in two_runs:
        app = healthy(open_page(frame.HOME).sidebar.button(key=f"job_card_open_{run_id}").click().run())
        assert app.query_params["run"] in (run_id, [run_id])
    app = open_page(frame.SETTINGS)
    app = healthy(app.sidebar.button(key=f"job_card_pause_{first}").click().run())
    assert services.runner().progress(first).status == "paused"
    assert services.runner().progress(second).status == "running"
    assert f"job_card_pause_{first}" not in [button.key for button in app.sidebar.button]
