"""Every page opens, without anything and with a finished run, also by a link without sense; the way of the demo."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from karenina_core.analysis import FORMATS
from karenina_core.demo import demo_benchmark, demo_config
from karenina_core.runs import Store, wanted
from pages.components import frame, services
from tests.app.conftest import ROOT, Open, healthy
from tests.app.looking import labelled, labels, metrics, press, texts
from tests.faults.road import islands

PAGES = list(frame.PAGES)


@pytest.mark.parametrize("screen", PAGES)
def test_every_page_opens_when_there_is_nothing_yet(screen: str, open_page: Open) -> None:
    app = open_page(screen)
    assert app.title and not app.error
    assert not app.get("download_button") or screen != frame.REPORT


@pytest.mark.parametrize("screen", PAGES)
def test_every_page_opens_with_a_finished_run_and_a_link_to_something_unknown(
    screen: str, open_page: Open, demo_run: str
) -> None:
    app = open_page(screen, run=demo_run)
    assert app.title and not app.error
    app = open_page(screen, run="gone", row="gone", benchmark="gone", q="gone")
    assert not app.error
    runs = (frame.MONITOR, frame.RESULTS, frame.COMPARE, frame.ANSWER, frame.REPORT)
    if screen not in (frame.HOME, frame.SETTINGS):
        named = "run" if screen in runs else "benchmark"
        for _ in range(2):
            assert f"The {named} in this link does not exist" in texts(app)
            assert not app.dataframe and not app.subheader, "and no other is shown"
            app = app.run()
        app = press(app, f"Show another {named}")
        assert f"The {named} in this link" not in texts(app) and "gone" not in str(app.query_params.get(named))


@pytest.mark.parametrize(
    ("screen", "named", "link"),
    [
        (frame.ANSWER, "evaluation", {"row": "gone"}),
        (frame.QUESTIONS, "question", {"q": "gone"}),
        (frame.QUESTIONS, "run", {"only": "Failing in run", "failing": "gone"}),
        (frame.RUBRICS, "question", {"scope": "question", "q": "gone"}),
    ],
)
def test_a_link_to_an_unknown_part_says_so(
    screen: str, named: str, link: dict[str, str], open_page: Open, demo_run: str
) -> None:
    app = open_page(screen, run=demo_run, **link)
    assert f"The {named} in this link does not exist" in texts(app)
    assert "5 · Verdict" not in texts(app) and "Failed for" not in texts(app)
    assert named == "run" or "Discard edits" not in labels(app.button)
    assert "does not exist" not in texts(press(app, f"Show another {named}"))


def test_every_page_begins_with_the_frame_and_is_in_the_navigation() -> None:
    files = sorted((ROOT / "pages").glob("*.py"))
    assert {Path(page).name for page in PAGES} == {path.name for path in files}
    for path in files:
        body = ast.parse(path.read_text(encoding="utf-8")).body
        first = next(node for node in body[1:] if not isinstance(node, ast.Import | ast.ImportFrom))
        assert ast.unparse(first) == f"frame.begin(frame.{path.stem.upper()})"


def test_runs_of_one_name_and_minute_have_different_labels_wherever_one_is_chosen(
    open_page: Open, store: Store
) -> None:
    """As where a demonstration to three people carries the demo out three times."""
    settings = demo_config().model_copy(update={"embedding_check_enabled": False})
    benchmark = demo_benchmark()
    benchmark_id = store.benchmarks.save(benchmark)
    for _ in range(3):
        run_id = store.runs.create(wanted(benchmark, settings), "Demo", benchmark_id=benchmark_id)
        services.runner().start(run_id)
        services.runner().wait(run_id, 600)
    assert len(set(labelled(open_page(frame.REPORT).multiselect, "Runs").options)) == 3
    results = open_page(frame.RESULTS, run=run_id)
    assert len(set(labelled(results.selectbox, "Run").options)) == 3
    assert len(set(labelled(results.selectbox, "What changed since").options)) == 2
    questions = open_page(frame.QUESTIONS, only="Failing in run")
    assert len(set(labelled(questions.selectbox, "Failing in").options)) == 3


# The way of the demo


def test_the_demo_starts_from_home_and_leads_to_its_results(open_page: Open) -> None:
    app = press(open_page(), "Try the demo")
    [run] = services.store().runs.all()
    services.runner().wait(run.id, 600)
    app = healthy(app.run())
    assert "42 of 42" in str(app.get("progress")[0].proto.text)
    assert services.store().runs.get(run.id).status == "completed"
    assert "the model declined to answer" in texts(app)
    assert (metrics(app)["Pass"], metrics(app)["Fail"], metrics(app)["Not evaluated"]) == ("25", "14", "3")
    assert "42 of 42 done · ✓ 25 pass · ✗ 14 fail · – 3 not evaluated" in texts(open_page())
    app = press(app, "See results")
    assert app.title[0].value == "Results"
    assert "demo/thorough: 11 of 14 right" in texts(app)
    assert "2 × the model declined to answer" in texts(app)
    [table] = [item for item in app.dataframe if "Verdict" in item.value.columns]
    assert len(table.value) == 42


@pytest.mark.parametrize("view", ["Pass rate", "By field", "By question", "By keyword", "Traits", "Metric traits"])
def test_every_view_of_the_results_draws_its_charts(view: str, open_page: Open, demo_run: str) -> None:
    app = open_page(frame.RESULTS, run=demo_run)
    app.session_state["view"] = view
    figures = [json.loads(chart.proto.spec) for chart in healthy(app.run()).get("plotly_chart")]
    assert figures and all(figure["data"] for figure in figures)


def test_an_answer_shows_its_whole_way_and_leads_to_its_question_and_the_next(open_page: Open, demo_run: str) -> None:
    app = open_page(frame.ANSWER, run=demo_run)
    assert "Evaluation 1 of 42" in labels(app.selectbox)
    for cell in ("1 · Prompt", "2 · Answer", "3 · Judge", "4 · Extraction", "5 · Verdict", "6 · Rubric", "7 · Review"):
        assert cell in texts(app)
    assert "of 1 field right" in texts(app)
    app = press(app, "Next")
    assert "Evaluation 2 of 42" in labels(app.selectbox)
    app = press(app, "Previous")
    assert "Evaluation 1 of 42" in labels(app.selectbox)
    app = press(app, "Open this question")
    assert app.title[0].value == "Questions"


def test_the_report_says_what_it_begins_with_and_offers_every_format(open_page: Open, demo_run: str) -> None:
    app = open_page(frame.REPORT, run=demo_run)
    assert "of 14 right" in texts(app)
    offered = [item.proto.label for item in app.get("download_button")]
    assert any("a report in one file that opens offline" in label for label in offered)
    assert {FORMATS[name].label for name in ("csv", "csv-long", "xlsx", "json", "upstream")} <= set(offered)
    assert "Choose at least one run." in texts(healthy(app.multiselect[0].set_value([]).run()))


# Home and settings


def test_a_newcomer_reads_how_it_works_first_and_others_find_their_work_first(open_page: Open, store: Store) -> None:
    app = open_page()
    assert [part.value for part in app.subheader] == ["How it works", "Recent runs"]
    assert "No runs yet." in texts(app)
    assert press(app, "Bring your own questions").title[0].value == "Benchmarks"
    unfinished = islands(1)
    unfinished.mark_unfinished_batch(["q1"])
    store.benchmarks.save(unfinished)
    app = open_page()
    assert [part.value for part in app.subheader] == ["Recent runs", "Recent benchmarks", "How it works"]
    assert "Configure a run" not in labels(app.button)


@pytest.mark.parametrize(("label", "title"), [("Questions", "Questions"), ("Configure a run", "Configure")])
def test_a_recent_benchmark_is_one_click_away(label: str, title: str, open_page: Open, store: Store) -> None:
    store.benchmarks.save(islands(1))
    newest = store.benchmarks.save(islands(3))
    app = open_page()
    assert "3 questions · 3 finished · changed " in texts(app)
    app = press(app, label)  # of the first, which was changed last
    assert (app.title[0].value, app.query_params["benchmark"]) == (title, newest)


def test_settings_show_where_things_are_and_no_key(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    app = open_page(frame.SETTINGS)
    assert "karenina.db" in app.code[0].value
    assert "canary" not in str(app.main)
    assert "✓ found" in list(app.dataframe[0].value["State"])
