"""Before money is spent: what it will be, and a yes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.schemas import ModelConfig
from pages.components import services
from pages.components.runs import spending
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, table, texts
from tests.app.samples import small_benchmark
from tests.faults.openai_server import OpenAIServer, Reply


def configure(open_page: Open, *models: ModelConfig) -> AppTest:
    services.store().benchmarks.save(small_benchmark())
    app = open_page("pages/configure.py")
    app.session_state["_models_answering"] = list(models)
    app.session_state["_models_judge"] = [models[0].model_copy(update={"id": "judge"})]
    return healthy(app.run())


def test_a_provider_is_paid_only_after_a_yes(open_page: Open) -> None:
    app = configure(open_page, ModelConfig(model_name="openai/gpt-4.1-mini"))
    assert "About 2 calls to providers, $0.00" in texts(app)
    assert "Assumes 50 to 1,000 tokens per reply" in texts(app)
    assert labelled(app.button, "Run all 1").disabled
    app = healthy(app.checkbox[0].check().run())
    assert not labelled(app.button, "Run all 1").disabled
    app = healthy(app.number_input(key="cfg_repeats").set_value(100).run())
    assert labelled(app.button, "Run all 100").disabled, "a yes counts for what was shown"
    assert "This may cost more than" not in texts(app)
    app = healthy(app.number_input(key="cfg_max_cost").set_value(0.01).run())
    assert "This may cost more than the limit of $0.01. The run then stops, keeps what is done" in texts(app)


def agreed(open_page: Open, monkeypatch: pytest.MonkeyPatch, calls: int, high: float) -> AppTest:
    """Agree to two calls for one dollar, and look again when so much is expected."""
    app = configure(open_page, ModelConfig(model_name="openai/gpt-4.1-mini"))
    known = spending.expected

    def expect(calls: int, high: float) -> None:
        monkeypatch.setattr(spending, "expected", lambda *plan: replace(known(*plan), calls=calls, high=high))

    expect(2, 1.0)
    app = healthy(healthy(app.run()).checkbox[0].check().run())
    assert not labelled(app.button, "Run all 1").disabled
    expect(calls, high)
    return healthy(app.run())


@pytest.mark.parametrize(
    ("calls", "high", "lasts"),
    [(1, 0.4, True), (2, 1.05, True), (3, 1.0, False), (2, 1.2, False)],
    ids=["less", "hardly more", "more calls", "more money"],
)
def test_a_yes_lasts_unless_more_is_expected_than_was_agreed_to(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, calls: int, high: float, lasts: bool
) -> None:
    app = agreed(open_page, monkeypatch, calls, high)
    assert app.checkbox[0].value is lasts
    assert labelled(app.button, "Run all 1").disabled is not lasts


def test_a_run_whose_replies_are_all_known_needs_no_yes(open_page: Open, openai_server: OpenAIServer) -> None:
    openai_server.script = lambda sent: Reply('{"target": "BCL2"}')
    model = ModelConfig(interface="openai_endpoint", model_name="gpt-4.1-mini", endpoint_base_url=openai_server.url)
    app = configure(open_page, model)
    app = healthy(app.checkbox[0].check().run())
    healthy(labelled(app.button, "Run all 1").click().run())
    services.runner().wait(services.store().runs.all()[0].id, 60)
    again = open_page("pages/configure.py")
    assert "No provider needs to be called. 2 replies are known already and cost nothing." in texts(again).replace(
        "*", ""
    )
    assert not again.checkbox
    assert not labelled(again.button, "Run all 1").disabled


def test_a_limit_that_cannot_count_a_model_says_so(open_page: Open) -> None:
    app = configure(open_page, ModelConfig(model_name="lab/unheard-of"))
    assert "unknown price" in texts(app)
    assert "The limit cannot count what lab/unheard-of, judge cost." in texts(app)
    app = healthy(app.number_input(key="cfg_max_cost").set_value(None).run())
    assert "The limit cannot count" not in texts(app)


def test_a_price_needs_both_numbers(open_page: Open) -> None:
    app = configure(open_page, ModelConfig(model_name="lab/one"), ModelConfig(model_name="lab/two"))
    key = next(frame.key for frame in app.dataframe if frame.proto.alt == "Prices")
    typed = {0: {"Sent": 1.0, "Received": 2.0}, 1: {"Sent": 3.0}}
    app.session_state[key] = {"edited_rows": typed, "added_rows": [], "deleted_rows": []}
    app = healthy(labelled(app.button, "Use these prices").click().run())
    assert "A price needs both numbers: lab/two." in texts(app)
    assert not services.store().settings.prices()
    typed[1]["Received"] = 4.0
    app.session_state[key] = {"edited_rows": typed, "added_rows": [], "deleted_rows": []}
    app = healthy(labelled(app.button, "Use these prices").click().run())
    assert list(table(app, "Prices")["Price of"]) == ["yours", "yours"]


def test_the_days_account_is_shown(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARENINA_DAILY_BUDGET", "20")
    app = configure(open_page, ModelConfig(model_name="openai/gpt-4.1-mini"))
    assert "Spent today, by all runs: $0.00 of at most $20.00" in texts(app)


def test_the_monitor_raises_the_limit(open_page: Open, openai_server: OpenAIServer) -> None:
    from karenina_core.runs import wanted
    from karenina_core.schemas import VerificationConfig

    openai_server.script = lambda sent: Reply('{"target": "BCL2"}')
    model = ModelConfig(interface="openai_endpoint", model_name="gpt-4.1-mini", endpoint_base_url=openai_server.url)
    config = VerificationConfig(answering_models=[model], parsing_models=[model], max_cost=1e-6)
    run_id = services.store().runs.create(wanted(small_benchmark(), config), "Poor")
    services.runner().start(run_id)
    assert services.runner().wait(run_id, 600).status == "interrupted"
    assert len(openai_server.requests) == 1
    app = open_page("pages/monitor.py", run=run_id)
    assert "Stopped: the run has spent" in texts(app)
    app.number_input(key="new_limit").set_value(1.0)
    healthy(labelled(app.button, "Raise the limit and resume").click().run())
    assert services.runner().wait(run_id, 600).status == "completed"
    assert len(openai_server.requests) == 2


def test_the_number_of_evaluations_is_that_of_the_monitor(open_page: Open) -> None:
    judge = ModelConfig(model_name="openai/gpt-4.1-mini")
    app = configure(open_page, judge)
    app.session_state["_models_judge"] = [judge.model_copy(update={"id": name}) for name in ("one", "two")]
    app = healthy(app.run())
    assert "= 1 answer × 2 judges = 2 evaluations" in texts(app)
    assert labelled(app.button, "Run all 2")
