"""Every page opens: without anything, with a finished run, and when its link makes no sense."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from pages.components import frame, services
from tests.app.conftest import ROOT, Open, healthy

PAGES = list(frame.PAGES)


def texts(app: AppTest) -> str:
    """Return everything a page says."""
    kinds = ("title", "markdown", "caption", "info", "warning", "subheader", "error")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(app, kind))


def button(app: AppTest, label: str) -> AppTest:
    """Press the button with this label."""
    [match] = [item for item in app.button if item.label == label]
    return healthy(match.click().run())


@pytest.mark.parametrize("screen", PAGES)
def test_every_page_opens_when_there_is_nothing_yet(screen: str, open_page: Open) -> None:
    app = open_page(screen)
    assert app.title
    assert not app.error


@pytest.mark.parametrize("screen", PAGES)
def test_every_page_opens_with_a_finished_run(screen: str, open_page: Open, demo_run: str) -> None:
    app = open_page(screen, run=demo_run)
    assert app.title
    assert not app.error


@pytest.mark.parametrize("screen", PAGES)
def test_a_link_to_something_unknown_still_opens(screen: str, open_page: Open, demo_run: str) -> None:
    assert not open_page(screen, run="gone", row="gone", benchmark="gone", q="gone").error


@pytest.mark.parametrize("screen", [frame.MONITOR, frame.RESULTS, frame.ANSWER])
def test_a_link_to_an_unknown_run_says_so_and_shows_the_newest(screen: str, open_page: Open, demo_run: str) -> None:
    app = open_page(screen, run="gone")
    assert "The run in this link is not in this workspace; showing the newest." in texts(app)
    assert app.query_params["run"] == demo_run
    assert "not in this workspace" not in texts(app.run())


def test_a_link_to_an_unknown_evaluation_says_so(open_page: Open, demo_run: str) -> None:
    app = open_page(frame.ANSWER, run=demo_run, row="gone")
    assert "The evaluation in this link is not in this run; showing the first." in texts(app)


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.py")), ids=lambda path: path.stem)
def test_every_page_begins_with_the_frame(path: Path) -> None:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    first = next(node for node in body[1:] if not isinstance(node, ast.Import | ast.ImportFrom))
    assert ast.unparse(first).startswith("frame.begin(")


def test_every_page_of_the_navigation_exists() -> None:
    assert {Path(page).name for page in PAGES} == {path.name for path in (ROOT / "pages").glob("*.py")}


def test_no_full_collection_follows_every_rerun() -> None:
    assert config.get_option("runner.postScriptGC") is False


def test_the_server_listens_on_this_computer_and_tells_nobody() -> None:
    assert config.get_option("server.address") == "localhost"
    assert config.get_option("browser.gatherUsageStats") is False
    assert config.get_option("client.showErrorDetails") == "none"


def test_the_demo_starts_from_home_and_reaches_its_end(open_page: Open) -> None:
    app = button(open_page(), "Try the demo")
    [run] = services.store().runs.all()
    services.runner().wait(run.id, 600)
    app = healthy(app.run())
    assert "42 of 42" in str(app.get("progress")[0].proto.text)
    assert services.store().runs.get(run.id).status == "completed"


def test_the_monitor_leads_to_the_results(open_page: Open, demo_run: str) -> None:
    app = open_page("pages/monitor.py", run=demo_run)
    assert {metric.label: metric.value for metric in app.metric}["Pass"] == "25"
    app = button(app, "See results")
    assert app.title[0].value == "Results"


def test_results_say_what_was_left_out(open_page: Open, demo_run: str) -> None:
    app = open_page("pages/results.py", run=demo_run)
    shown = texts(app).replace("\\", "")
    assert "demo/thorough: 11 of 14 right" in shown
    assert "2 × the model declined to answer" in shown
    assert {metric.label: metric.value for metric in app.metric}["Not evaluated"] == "3"


@pytest.mark.parametrize("view", ["Pass rate", "By field", "By question", "By keyword", "Traits", "Metric traits"])
def test_every_view_of_the_results_draws_its_charts(view: str, open_page: Open, demo_run: str) -> None:
    app = open_page("pages/results.py", run=demo_run)
    app.session_state["view"] = view
    app = healthy(app.run())
    figures = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    assert figures
    assert all(figure["data"] for figure in figures)


def test_every_evaluation_is_in_the_table(open_page: Open, demo_run: str) -> None:
    app = open_page("pages/results.py", run=demo_run)
    [table] = [item for item in app.dataframe if "Verdict" in item.value.columns]
    assert len(table.value) == 42


def test_filters_keep_what_they_should(open_page: Open, demo_run: str) -> None:
    app = open_page("pages/results.py", run=demo_run, show="failures")
    assert "14 of 42 evaluations shown" in texts(app)
    app.text_input(key="search").set_value("venetoclax")
    app = healthy(app.run())
    [table] = [item for item in app.dataframe if "Verdict" in item.value.columns]
    assert all("enetoclax" in text for text in table.value["Question"])


def test_filters_that_keep_nothing_can_be_cleared(open_page: Open, demo_run: str) -> None:
    app = open_page("pages/results.py", run=demo_run)
    app.text_input(key="search").set_value("no such question").run()
    app = button(app, "Clear filters")
    assert "42 of 42 evaluations shown" in texts(app)


def test_an_answer_shows_its_whole_way(open_page: Open, demo_run: str) -> None:
    rows = services.store().results.rows(demo_run)
    [row] = [
        r
        for r in rows
        if "Venetoclax" in r["question"] and r["answering_model"] == "demo/thorough" and r["verdict"] == "fail"
    ]
    app = open_page("pages/answer.py", run=demo_run, row=row["result_id"])
    shown = texts(app)
    for cell in ("1 · Prompt", "2 · Answer", "3 · Judge", "4 · Extraction", "5 · Verdict", "6 · Rubric", "7 · Review"):
        assert cell in shown
    assert "BCL2" in "\n".join(code.value for code in app.code)
    assert "of 1 field right" in shown
    app = button(app, "Open this question")
    assert (app.title[0].value, app.query_params["q"]) == ("Questions", row["question_id"])


def test_next_and_previous_walk_through_the_answers(open_page: Open, demo_run: str) -> None:
    app = open_page("pages/answer.py", run=demo_run)
    assert "Evaluation 1 of 42" in [box.label for box in app.selectbox]
    app = button(app, "Next")
    assert "Evaluation 2 of 42" in [box.label for box in app.selectbox]
    app = button(app, "Previous")
    assert "Evaluation 1 of 42" in [box.label for box in app.selectbox]


def test_configuring_needs_models_before_it_runs(
    open_page: Open, demo_run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages.components.runs.model_editor.live_available", lambda: False)
    app = open_page("pages/configure.py")
    assert "Add at least one model" in texts(app)


def test_a_configured_run_goes_to_the_monitor(open_page: Open, demo_run: str) -> None:
    from karenina_core.demo import demo_config

    app = open_page("pages/configure.py")
    app.session_state["_models_answering"] = demo_config().answering_models
    app.session_state["_models_judge"] = demo_config().parsing_models
    app = healthy(app.run())
    assert "14 questions × 3 models × 1 repeat = 42 answers" in texts(app)
    app = button(app, "Try 3 questions")
    assert app.title[0].value == "Monitor"
    newest = services.store().runs.all()[0]
    assert newest.total == 9


def test_a_finished_try_goes_on_with_the_other_questions_as_the_same_run(open_page: Open) -> None:
    from karenina_core.demo import demo_benchmark, demo_config

    benchmark = demo_benchmark()
    benchmark_id = services.store().benchmarks.save(benchmark)
    run_id = services.start_run(benchmark_id, benchmark, demo_config(), "Pilot", limit=3)
    services.runner().wait(run_id, 600)
    app = open_page(frame.MONITOR, run=run_id)
    app = button(app, "Continue with the other 11 questions")
    services.runner().wait(run_id, 600)
    assert services.store().runs.get(run_id).done == 42
    assert "widen" not in [item.key for item in app.run().button]


def test_the_monitor_names_every_cause_in_words(open_page: Open, demo_run: str) -> None:
    assert "the model declined to answer" in texts(open_page(frame.MONITOR, run=demo_run))


def test_settings_show_where_things_are_and_no_key(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    app = open_page("pages/settings.py")
    assert "karenina.db" in app.code[0].value
    assert "canary" not in str(app.main)
    assert "✓ found" in list(app.dataframe[0].value["State"])
