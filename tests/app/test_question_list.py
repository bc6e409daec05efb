"""Search and quick views of the Questions page: what they show, how they count, and that a link keeps them."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.authoring import REVIEW_PROPERTY
from karenina_core.benchmark import Benchmark
from karenina_core.runs import Store
from karenina_core.schemas.entities.question import question_id
from pages.components.questions import list as question_list
from tests.app.conftest import Open
from tests.app.looking import select_row, table, texts
from tests.app.samples import TEMPLATE, small_benchmark

TARGET = question_id("What is the target of venetoclax?")
PAIRS = question_id("How many chromosome pairs?")
PAGE = "pages/questions.py"


@pytest.fixture
def stored(store: Store) -> str:
    """A stored benchmark: one question ready, one draft, one that nothing decides, one with a draft to review."""
    benchmark = small_benchmark()
    benchmark.add_question("Why is the sky blue?", "Scattering", keywords=["optics"])
    looked = benchmark.add_question("What does aspirin inhibit?", "COX-1", TEMPLATE)
    benchmark.set_question_custom_property(looked, REVIEW_PROPERTY, "target: The description is vague.")
    return store.benchmarks.save(benchmark)


def listed(app: AppTest) -> list[str]:
    return list(table(app, "Questions")["Question"])


def view(app: AppTest, name: str) -> AppTest:
    return app.segmented_control(key="only_choice").set_value(name).run()


def test_every_view_counts_honestly(open_page: Open, stored: str) -> None:
    app = open_page(PAGE)
    assert "4 of 4 shown · 2 ready · 1 draft · 1 with an issue · 1 to review" in texts(app)
    for name, shown in [("All", 4), ("Ready", 2), ("Draft", 1), ("Issues", 1), ("Needs review", 1)]:
        assert f"{shown} of 4 shown" in texts(view(app, name))
        assert len(listed(app)) == shown


def test_views_of_what_is_unfinished_say_why(open_page: Open, stored: str) -> None:
    app = view(open_page(PAGE), "Issues")
    assert "nothing would be decided" in table(app, "Questions")["Why"][0]
    app = view(app, "Draft")
    assert "not marked as finished" in table(app, "Questions")["Why"][0]
    app = view(app, "Needs review")
    assert table(app, "Questions")["Why"][0] == "target: The description is vague."
    assert table(app, "Questions")["State"][0] == "✓ ready ⚑"


@pytest.mark.parametrize("words", ["sky", "SCATTER", "OPT", question_id("Why is the sky blue?")[:8]])
def test_search_looks_into_text_answer_keywords_and_id(open_page: Open, stored: str, words: str) -> None:
    app = open_page(PAGE)
    app.text_input(key="question_search").set_value(words).run()
    assert listed(app) == ["Why is the sky blue?"]


def test_search_and_view_are_in_the_link_and_survive_another_page(open_page: Open, stored: str) -> None:
    app = view(open_page(PAGE), "Ready")
    app.text_input(key="question_search").set_value("target").run()
    link = {name: app.query_params[name] for name in ("find", "only")}
    assert link == {"find": "target", "only": "Ready"}
    app.switch_page("pages/benchmarks.py").run()
    app.switch_page(PAGE).run()
    assert listed(app) == ["What is the target of venetoclax?"]
    again = open_page(PAGE, **link)
    assert listed(again) == ["What is the target of venetoclax?"]
    assert again.segmented_control(key="only_choice").value == "Ready"


def test_a_view_of_the_link_that_there_is_not_shows_all(open_page: Open, stored: str) -> None:
    assert len(listed(open_page(PAGE, only="Everything", find=""))) == 4


def test_an_empty_view_says_so_and_keeps_the_editor(open_page: Open, stored: str) -> None:
    app = open_page(PAGE)
    app.text_input(key="question_search").set_value("no such words").run()
    assert "No question is in this view." in texts(app)
    assert "0 of 4 shown" in texts(app)
    assert app.button(key="save_question")


def test_failing_in_a_run_needs_a_run(open_page: Open, stored: str) -> None:
    app = view(open_page(PAGE), "Failing in run")
    assert "This benchmark has no run with results yet." in texts(app)
    assert app.button(key="go_to_configure")


def test_failing_in_a_run_names_the_models(open_page: Open, store: Store, demo_run: str) -> None:
    failed = store.results.failures(demo_run)
    app = view(open_page(PAGE), "Failing in run")
    shown = table(app, "Questions")
    assert len(shown) == len(failed) > 0
    wrong = {name for models in failed.values() for name, (number, _) in models.items() if number}
    assert {model.split(" (")[0] for cell in shown["For"] for model in cell.split(", ")} == wrong
    assert all(" of " in cell for cell in shown["Failed"])
    assert "Failed for" in texts(app)
    assert app.query_params["failing"] == demo_run


def test_a_question_whose_text_changed_since_the_run_is_counted_apart(
    open_page: Open, store: Store, demo_run: str
) -> None:
    (row,) = store.benchmarks.all()
    benchmark = store.benchmarks.load(row.id)
    failed = next(iter(store.results.failures(demo_run)))
    benchmark.edit_question(failed, question="Quite another text?")
    store.benchmarks.save(benchmark, row.id)
    app = view(open_page(PAGE), "Failing in run")
    assert "1 more question failed in this run" in texts(app)


def test_a_long_list_is_shown_page_by_page(open_page: Open, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_list, "PAGE", 10)
    benchmark = Benchmark.create("Long")
    ids = [benchmark.add_question(f"Question {number:02}?", "x", TEMPLATE) for number in range(25)]
    store.benchmarks.save(benchmark)
    app = open_page(PAGE, q=ids[13])
    assert "25 of 25 shown" in texts(app)
    assert listed(app)[0] == "Question 10?"
    app = select_row(app, "Questions", 9)
    assert app.query_params["q"] == ids[19]


def test_next_and_previous_follow_the_list(open_page: Open, stored: str) -> None:
    app = view(open_page(PAGE, q=TARGET), "Ready")
    assert app.button(key="previous_question").disabled
    app.button(key="next_question").click().run()
    assert app.query_params["q"] == question_id("What does aspirin inhibit?")
    assert app.button(key="next_question").disabled


def test_from_a_question_outside_the_view_one_steps_into_it(open_page: Open, stored: str) -> None:
    app = view(open_page(PAGE, q=TARGET), "Issues")
    app.button(key="next_question").click().run()
    assert app.query_params["q"] == question_id("Why is the sky blue?")


def test_a_reviewed_draft_leaves_the_list_and_can_come_back(open_page: Open, store: Store, stored: str) -> None:
    name = question_id("What does aspirin inhibit?")
    app = open_page(PAGE, q=name)
    assert "needs your review" in texts(app)
    app.button(key="reviewed").click().run()
    assert "1 to review" not in texts(app)
    app.button(key="undo").click().run()
    assert REVIEW_PROPERTY in store.benchmarks.load(stored).get_question(name).custom_metadata
