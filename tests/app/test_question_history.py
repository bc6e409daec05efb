"""The history of a question: every save is there, can be compared, and gone back to."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.differences import Piece
from karenina_core.runs import Store
from karenina_core.schemas.entities.question import question_id
from pages.components.questions.history import marked
from tests.app.conftest import Open
from tests.app.looking import select_row, table, texts
from tests.app.samples import small_benchmark

TARGET = question_id("What is the target of venetoclax?")
PAGE = "pages/questions.py"


@pytest.fixture
def stored(store: Store) -> str:
    return store.benchmarks.save(small_benchmark())


def save(app: AppTest, name: str, value: object) -> AppTest:
    widgets = [*app.text_area, *app.toggle, *app.multiselect]
    next(widget for widget in widgets if (widget.key or "").startswith(f"{name}:")).set_value(value).run()
    return app.button(key="save_question").click().run()


def test_a_question_that_was_never_saved_again_says_so(open_page: Open, stored: str) -> None:
    assert "There is no earlier version yet." in texts(open_page(PAGE))


def test_every_save_is_listed_with_what_it_changed(open_page: Open, stored: str) -> None:
    app = save(open_page(PAGE), "raw_answer", "Bcl-2")
    app = save(app, "finished", False)
    assert list(table(app, "Versions")["Changed"]) == ["finished", "reference answer"]
    assert "2 earlier versions" in texts(app)


def test_a_save_shows_the_words_it_changed(open_page: Open, stored: str) -> None:
    app = save(open_page(PAGE), "question", "What is the target of Venetoclax?")
    said = texts(app)
    assert "What is the target of :red[~~venetoclax~~]:green[**Venetoclax**]?" in said


def test_a_template_is_compared_line_by_line(open_page: Open, store: Store, stored: str) -> None:
    benchmark = store.benchmarks.load(stored)
    source = benchmark.get_template(TARGET)
    benchmark.add_answer_template(TARGET, source.replace('ground_truth="BCL2"', 'ground_truth="BAX"'))
    store.benchmarks.save(benchmark, stored)
    (shown,) = [code.value for code in open_page(PAGE).code if code.language == "diff"]
    assert '-        ground_truth="BCL2",' in shown.splitlines()
    assert '+        ground_truth="BAX",' in shown.splitlines()


def test_a_version_is_compared_with_the_save_or_with_now(open_page: Open, stored: str) -> None:
    app = save(save(open_page(PAGE), "raw_answer", "one"), "raw_answer", "two")
    app = select_row(app, "Versions", 1)
    assert ":red[~~BCL2~~]:green[**one**]" in texts(app)
    app.segmented_control(key="version_compare").set_value("What is different now").run()
    assert ":red[~~BCL2~~]:green[**two**]" in texts(app)


def test_a_new_version_is_the_one_that_is_shown(open_page: Open, stored: str) -> None:
    app = save(save(open_page(PAGE), "raw_answer", "one"), "raw_answer", "two")
    app = save(select_row(app, "Versions", 1), "raw_answer", "three")
    assert ":red[~~two~~]:green[**three**]" in texts(app)


def test_going_back_can_be_undone(open_page: Open, store: Store, stored: str) -> None:
    app = save(save(open_page(PAGE), "raw_answer", "one"), "answer_notes", "A note.")
    app = select_row(app, "Versions", 1)
    app.button(key="revert_version").click().run()
    question = store.benchmarks.load(stored).get_question(TARGET)
    assert (question.raw_answer, question.answer_notes) == ("BCL2", None)
    assert list(table(app, "Versions")["Changed"]) == ["reference answer, notes", "notes", "reference answer"]
    app.button(key="undo").click().run()
    question = store.benchmarks.load(stored).get_question(TARGET)
    assert (question.raw_answer, question.answer_notes) == ("one", "A note.")


def test_going_back_to_another_text_brings_the_old_id_back(open_page: Open, store: Store, stored: str) -> None:
    app = save(open_page(PAGE), "question", "What does venetoclax bind?")
    assert app.query_params["q"] != TARGET
    app.button(key="revert_version").click().run()
    assert app.query_params["q"] == TARGET
    assert store.benchmarks.load(stored).get_question_ids()[0] == TARGET
    app.button(key="undo").click().run()
    assert app.query_params["q"] == question_id("What does venetoclax bind?")


def test_unsaved_edits_are_not_overwritten_by_going_back(open_page: Open, stored: str) -> None:
    app = save(open_page(PAGE), "raw_answer", "one")
    next(area for area in app.text_area if (area.key or "").startswith("answer_notes:")).set_value("typed").run()
    assert app.button(key="revert_version").disabled


def test_a_deleted_question_can_be_brought_back_later(open_page: Open, store: Store, stored: str) -> None:
    app = open_page(PAGE, q=TARGET)
    app.button(key="delete_question").click().run()
    app = open_page(PAGE)
    app.button(key=f"bring_back_{TARGET}").click().run()
    assert TARGET in store.benchmarks.load(stored).get_question_ids()
    assert app.query_params["q"] == TARGET
    assert list(table(app, "Versions")["Changed"]) == ["deleted"]


def test_marks_of_a_difference_hold_no_foreign_markdown() -> None:
    assert marked(Piece("added", " **x** ")) == r" :green[**\*\*x\*\***] "
    assert marked(Piece("removed", "\n ")) == " :red[~~⏎␣~~] "
