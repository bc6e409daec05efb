"""Drafting templates from the pages: by rule, with a model, for all that are missing and for one."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.benchmark import Benchmark
from karenina_core.runs import Store
from karenina_core.schemas import ModelConfig
from pages.components import services
from tests.app.conftest import Open
from tests.app.looking import labelled, table, texts
from tests.app.samples import TEMPLATE
from tests.faults.openai_server import OpenAIServer, Reply
from tests.runs.drafts import drafter_at, priced, proposal, untemplated_benchmark

PAGE = "pages/benchmarks.py"


@pytest.fixture
def benchmark_id(store: Store) -> str:
    return store.benchmarks.save(untemplated_benchmark())


@pytest.fixture
def model(store: Store, openai_server: OpenAIServer) -> ModelConfig:
    return priced(store, drafter_at(openai_server, proposal()))


def drafting(open_page: Open, benchmark_id: str, *models: ModelConfig) -> AppTest:
    app = open_page(PAGE, benchmark=benchmark_id, do="draft")
    if models:
        app.session_state["_models_drafting"] = list(models)
        app.segmented_control(key="draft_way").set_value("model").run()
    return app


def ended(app: AppTest, benchmark_id: str) -> AppTest:
    services.drafter().wait(benchmark_id, timeout=30)
    app.run()
    assert not app.exception
    return app


def agreed(app: AppTest) -> AppTest:
    [box] = [box for box in app.checkbox if box.label.startswith("I have read this")]
    return box.check().run()


def by_rule(open_page: Open, benchmark_id: str) -> AppTest:
    return ended(drafting(open_page, benchmark_id).button(key="draft_by_rule").click().run(), benchmark_id)


def test_the_panel_offers_what_is_missing(open_page: Open, benchmark_id: str) -> None:
    app = open_page(PAGE, benchmark=benchmark_id)
    assert app.button(key="next_step").label == "Draft 3 missing templates"
    app.button(key="next_step").click().run()
    assert app.query_params["do"] == "draft"
    assert "3 questions of 4 have no template." in texts(app)


def test_the_questions_lead_there_too(open_page: Open, benchmark_id: str) -> None:
    app = open_page("pages/questions.py", benchmark=benchmark_id)
    app.button(key="open_drafting").click().run()
    assert not app.exception
    assert "3 questions of 4 have no template." in texts(app)


def test_a_benchmark_without_questions_has_nothing_to_draft(open_page: Open, store: Store) -> None:
    app = drafting(open_page, store.benchmarks.save(Benchmark.create("Empty")))
    assert "This benchmark has no questions yet." in texts(app)
    assert "draft_by_rule" not in [button.key for button in app.button]


def test_without_any_benchmark_the_link_shows_the_list(open_page: Open) -> None:
    app = open_page(PAGE, do="draft")
    assert "No benchmarks yet." in texts(app)


def test_rules_draft_and_say_what_they_leave(open_page: Open, benchmark_id: str, store: Store) -> None:
    app = by_rule(open_page, benchmark_id)
    assert "✓ 1 checked · ! 1 to review · – 1 without a draft" in texts(app)
    assert "1 question without a draft: The reference answer is a sentence or more." in texts(app)
    assert app.button(key="draft_open_Draft").label == "Open the 1 undrafted"
    assert store.benchmarks.load(benchmark_id).get_template("own") == TEMPLATE


def test_drafts_to_review_are_opened_in_the_list_of_questions_with_the_reason(
    open_page: Open, benchmark_id: str
) -> None:
    app = by_rule(open_page, benchmark_id)
    app.button(key="draft_open_Needs review").click().run()
    [reason] = table(app, "Questions")["Why"]
    assert "The comma is read as a thousands separator" in reason


def test_checked_drafts_are_finished_in_one_go_and_back(open_page: Open, benchmark_id: str, store: Store) -> None:
    app = by_rule(open_page, benchmark_id)
    app.button(key="draft_finish").click().run()
    assert store.benchmarks.load(benchmark_id).get_finished_questions(ids_only=True) == ["name", "own"]
    app.button(key="undo").click().run()
    assert store.benchmarks.load(benchmark_id).get_finished_questions(ids_only=True) == ["own"]


def test_after_the_checked_drafts_are_finished_the_page_leads_to_the_run(open_page: Open, benchmark_id: str) -> None:
    app = by_rule(open_page, benchmark_id)
    assert "draft_next" not in [button.key for button in app.button], "first they are to be marked finished"
    app.button(key="draft_finish").click().run()
    assert "Next: 2 questions of 4 will take part in a run." in texts(app).replace("*", "")
    app.button(key="draft_next").click().run()
    assert app.title[0].value == "Configure"
    assert app.query_params["benchmark"] == benchmark_id


def test_a_batch_is_taken_back(open_page: Open, benchmark_id: str, store: Store) -> None:
    app = by_rule(open_page, benchmark_id)
    app.button(key="draft_undo").click().run()
    assert "2 drafts undone." in texts(app)
    assert store.benchmarks.load(benchmark_id).get_missing_templates() == ["name", "number", "sentence"]
    assert "draft_undo" not in [button.key for button in app.button]


def test_what_became_of_a_batch_is_there_in_another_session(open_page: Open, benchmark_id: str) -> None:
    by_rule(open_page, benchmark_id)
    app = drafting(open_page, benchmark_id)
    assert "Drafted by rule" in texts(app)
    app.button(key="draft_close").click().run()
    assert "Drafted by rule" not in texts(app)


def test_existing_templates_are_replaced_only_when_asked_for(open_page: Open, benchmark_id: str, store: Store) -> None:
    app = drafting(open_page, benchmark_id)
    assert app.button(key="draft_by_rule").label == "Draft 3 templates by rule"
    labelled(app.checkbox, "Also replace 1 existing template").check().run()
    app.button(key="draft_by_rule").click().run()
    app = ended(app, benchmark_id)
    assert store.benchmarks.load(benchmark_id).get_template("own") != TEMPLATE
    app.button(key="draft_undo").click().run()
    assert store.benchmarks.load(benchmark_id).get_template("own") == TEMPLATE


def test_a_model_drafts_only_after_the_cost_was_agreed_to(
    open_page: Open, benchmark_id: str, model: ModelConfig, openai_server: OpenAIServer, store: Store
) -> None:
    app = drafting(open_page, benchmark_id, model)
    assert "About 3 calls to providers, $" in texts(app)
    assert "tokens per reply" in texts(app)
    assert app.button(key="draft_with_model").disabled
    agreed(app).button(key="draft_with_model").click().run()
    app = ended(app, benchmark_id)
    assert len(openai_server.requests) == 3
    assert "**Drafted by openai/drafter** · ✓ 1 checked · ! 2 to review" in texts(app)
    assert "3 calls · $2.4300 spent" in texts(app)
    assert store.benchmarks.load(benchmark_id).get_missing_templates() == []


def test_what_failed_is_tried_again(
    open_page: Open, benchmark_id: str, model: ModelConfig, openai_server: OpenAIServer, store: Store
) -> None:
    good = openai_server.script
    openai_server.script = lambda sent: Reply("no", status=400)
    agreed(drafting(open_page, benchmark_id, model)).button(key="draft_with_model").click().run()
    services.drafter().wait(benchmark_id, timeout=30)
    openai_server.script = good
    app = drafting(open_page, benchmark_id)
    assert "– 3 without a draft" in texts(app)
    app = agreed(app).button(key="draft_retry").click().run()
    app = ended(app, benchmark_id)
    assert store.benchmarks.load(benchmark_id).get_missing_templates() == []


def test_a_batch_under_way_survives_a_change_of_page_and_can_be_cancelled(
    open_page: Open, benchmark_id: str, model: ModelConfig, openai_server: OpenAIServer
) -> None:
    openai_server.script = lambda sent: Reply("", fault="hang")
    app = agreed(drafting(open_page, benchmark_id, model)).button(key="draft_with_model").click().run()
    assert "You can leave this page; the work goes on." in texts(app)
    app.switch_page("pages/home.py").run()
    assert app.sidebar.button(key="job_card_drafts").label == "Open drafts"
    app = open_page(PAGE, benchmark=benchmark_id)
    assert app.button(key="next_step").label == "See the drafts"
    assert "templates are being drafted, 0 of 3 are done." in texts(app)
    app = drafting(open_page, benchmark_id)
    app.button(key="draft_cancel").click().run()
    assert "The batch was cancelled after 0 of 3 questions" in texts(app)


def test_a_model_is_not_asked_about_a_question_with_unsaved_edits(
    open_page: Open, benchmark_id: str, model: ModelConfig
) -> None:
    app = open_page("pages/questions.py", benchmark=benchmark_id, q="own")
    app.session_state["_models_drafting"] = [model]
    app = labelled(app.text_area, "Reference answer").set_value("BCL-XL").run()
    assert "Save or discard your edits first" in texts(app)
    assert "one_start" not in [button.key for button in app.button]


def test_one_question_is_drafted_with_a_model_and_back(
    open_page: Open, benchmark_id: str, model: ModelConfig, store: Store
) -> None:
    app = open_page("pages/questions.py", benchmark=benchmark_id, q="own")
    app.session_state["_models_drafting"] = [model]
    app = agreed(labelled(app.run().selectbox, "Model that drafts").set_value(model.id).run())
    assert app.button(key="one_start").label == "Draft and replace"
    app.button(key="one_start").click().run()
    services.drafter().wait(benchmark_id, "own", timeout=30)
    app.run()
    assert "Drafted. It must name the protein." in texts(app)
    assert store.benchmarks.load(benchmark_id).get_template("own") != TEMPLATE
    app.button(key="undo").click().run()
    assert store.benchmarks.load(benchmark_id).get_template("own") == TEMPLATE
