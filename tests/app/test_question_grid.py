"""Many questions at once: edits are looked over, saved, and taken back."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.runs import Store
from karenina_core.schemas.entities.question import question_id
from pages.components.questions.grid import merged
from tests.app.conftest import Open
from tests.app.looking import press, table, texts
from tests.app.samples import small_benchmark

TARGET = question_id("What is the target of venetoclax?")
PAIRS = question_id("How many chromosome pairs?")
PAGE = "pages/questions.py"


@pytest.fixture
def stored(store: Store) -> str:
    return store.benchmarks.save(small_benchmark())


def edit(app: AppTest, rows: dict[int, dict[str, Any]]) -> AppTest:
    """Edit cells of the table, by row and column, as if nothing had been edited before."""
    key = next(frame.key for frame in app.dataframe if frame.proto.alt == "Questions to edit")
    app.session_state[key] = {"edited_rows": rows, "added_rows": [], "deleted_rows": []}
    return app.run()


def grid(open_page: Open, **link: str) -> AppTest:
    return open_page(PAGE, edit="grid", **link)


def save(app: AppTest) -> AppTest:
    return app.button(key="save_grid").click().run()


def test_the_table_shows_the_questions_of_the_view(open_page: Open, stored: str) -> None:
    shown = table(grid(open_page, only="Draft"), "Questions to edit")
    assert list(shown["question"]) == ["How many chromosome pairs?"]
    assert list(shown["finished"]) == [False]


def test_an_empty_view_has_no_table(open_page: Open, stored: str) -> None:
    assert "No question is in this view." in texts(grid(open_page, find="nothing"))


def test_what_changes_is_said_before_it_is_saved(open_page: Open, store: Store, stored: str) -> None:
    app = edit(grid(open_page), {0: {"raw_answer": "Bcl-2"}, 1: {"question": "How many pairs?", "finished": True}})
    assert "**2 questions** changed, 1 of them with a new identity." in texts(app)
    assert list(table(app, "What changes")["What"]) == ["Reference answer", "Question", "Finished"]
    assert store.benchmarks.load(stored).get_question(TARGET).raw_answer == "BCL2"
    assert "Unsaved edits" in texts(app)


def test_saving_changes_all_at_once_and_is_undone_at_once(open_page: Open, store: Store, stored: str) -> None:
    app = save(
        edit(grid(open_page), {0: {"raw_answer": "Bcl-2"}, 1: {"question": "How many pairs?", "keywords": ["n"]}})
    )
    benchmark = store.benchmarks.load(stored)
    assert benchmark.get_question_ids() == [TARGET, question_id("How many pairs?")]
    assert benchmark.get_question(TARGET).raw_answer == "Bcl-2"
    assert store.benchmarks.row(stored).revision == 2
    assert "Unsaved edits" not in texts(app)
    app.button(key="undo").click().run()
    benchmark = store.benchmarks.load(stored)
    assert benchmark.get_question_ids() == [TARGET, PAIRS]
    assert (benchmark.get_question(TARGET).raw_answer, benchmark.get_question(PAIRS).keywords) == ("BCL2", [])


def test_ids_can_be_kept_although_texts_change(open_page: Open, store: Store, stored: str) -> None:
    app = edit(grid(open_page), {1: {"question": "How many pairs?"}})
    app.checkbox(key="keep_ids_of_grid").check().run()
    save(app)
    assert store.benchmarks.load(stored).get_question(PAIRS).question == "How many pairs?"


def test_a_blank_text_is_named_and_nothing_is_saved(open_page: Open, store: Store, stored: str) -> None:
    app = save(edit(grid(open_page), {0: {"question": None}, 1: {"raw_answer": "46"}}))
    assert "1 question has no text." in texts(app)
    assert "Nothing was saved." in texts(app)
    assert store.benchmarks.row(stored).revision == 1
    assert "Unsaved edits" in texts(app)


def test_unsaved_edits_survive_another_page_and_a_reload(open_page: Open, stored: str) -> None:
    app = edit(grid(open_page), {0: {"raw_answer": "Bcl-2"}})
    app.switch_page("pages/benchmarks.py").run()
    app.switch_page(PAGE).run()
    assert list(table(app, "Questions to edit")["raw_answer"]) == ["Bcl-2", "23"]
    again = grid(open_page)
    assert list(table(again, "Questions to edit")["raw_answer"]) == ["Bcl-2", "23"]
    assert "**1 question** changed." in texts(again)


def test_edits_of_questions_that_are_filtered_out_are_kept(open_page: Open, store: Store, stored: str) -> None:
    app = edit(grid(open_page), {0: {"raw_answer": "Bcl-2"}})
    app.segmented_control(key="only_choice").set_value("Draft").run()
    app = edit(app, {0: {"raw_answer": "twenty-three"}})
    assert "**2 questions** changed." in texts(app)
    save(app)
    benchmark = store.benchmarks.load(stored)
    assert [question.raw_answer for question in benchmark] == ["Bcl-2", "twenty-three"]


def test_discarding_shows_what_is_stored(open_page: Open, stored: str) -> None:
    app = edit(grid(open_page), {0: {"raw_answer": "Bcl-2"}})
    app.button(key="discard_grid").click().run()
    assert list(table(app, "Questions to edit")["raw_answer"]) == ["BCL2", "23"]
    assert app.button(key="discard_grid").disabled


@pytest.mark.parametrize("mine", [True, False])
def test_of_a_value_changed_elsewhere_meanwhile_one_version_is_chosen(
    mine: bool, open_page: Open, store: Store, stored: str
) -> None:
    app = edit(grid(open_page), {0: {"raw_answer": "Bcl-2"}})
    benchmark = store.benchmarks.load(stored)
    benchmark.edit_question(TARGET, raw_answer="hers")
    store.benchmarks.save(benchmark, stored)
    app = app.button(key="save_grid").click().run()
    assert "This was changed elsewhere in the meantime" in texts(app)
    assert {"hers", "Bcl-2"} <= {code.value for code in app.code}
    assert store.benchmarks.load(stored).get_question(TARGET).raw_answer == "hers", "nothing is written over"
    app = press(app, "Keep mine" if mine else "Keep the stored one")
    assert "changed elsewhere" not in texts(app)
    if mine:
        app.button(key="save_grid").click().run()
    assert store.benchmarks.load(stored).get_question(TARGET).raw_answer == ("Bcl-2" if mine else "hers")


def test_edits_of_a_question_that_was_deleted_meanwhile_are_announced(
    open_page: Open, store: Store, stored: str
) -> None:
    app = edit(grid(open_page), {0: {"raw_answer": "Bcl-2"}})
    benchmark = store.benchmarks.load(stored)
    benchmark.remove_question(TARGET)
    store.benchmarks.save(benchmark, stored)
    assert "deleted in the meantime: 1 edited question" in texts(app.run())


def test_all_that_are_shown_are_marked_at_once(open_page: Open, store: Store, stored: str) -> None:
    app = grid(open_page)
    assert "For all 2 shown:" in texts(app)
    app.button(key="mark_finished").click().run()
    assert "Marked **1 question** as finished" in texts(app)
    assert store.benchmarks.row(stored).finished_count == 2
    app.button(key="undo").click().run()
    assert store.benchmarks.row(stored).finished_count == 1


def test_marking_what_is_marked_already_changes_nothing(open_page: Open, store: Store, stored: str) -> None:
    app = grid(open_page, only="Ready")
    app.button(key="mark_finished").click().run()
    assert "All 1 were marked as finished already." in texts(app)


def test_only_the_selected_are_marked_and_their_other_edits_stay(open_page: Open, store: Store, stored: str) -> None:
    app = edit(grid(open_page), {0: {"selected": True, "raw_answer": "Bcl-2", "finished": True}})
    assert "For the 1 selected:" in texts(app)
    app.button(key="mark_unfinished").click().run()
    benchmark = store.benchmarks.load(stored)
    assert [question.finished for question in benchmark] == [False, False]
    assert "**1 question** changed." in texts(app)
    assert list(table(app, "Questions to edit")["selected"]) == [False, False]


def test_selecting_is_no_edit(open_page: Open, stored: str) -> None:
    app = edit(grid(open_page), {0: {"selected": True}})
    assert "Nothing is changed." in texts(app)
    assert app.button(key="discard_grid").disabled


def test_deleting_needs_a_selection_and_is_undone_in_place(open_page: Open, store: Store, stored: str) -> None:
    app = grid(open_page)
    assert app.button(key="delete_selected").disabled
    app = edit(app, {0: {"selected": True}, 1: {"selected": True}})
    app.button(key="delete_selected").click().run()
    assert len(store.benchmarks.load(stored)) == 0
    app.button(key="undo").click().run()
    assert store.benchmarks.load(stored).get_question_ids() == [TARGET, PAIRS]


def test_edits_in_the_table_follow_a_question_that_gets_another_id(open_page: Open, store: Store, stored: str) -> None:
    app = edit(grid(open_page), {1: {"raw_answer": "twenty-three"}})
    app.segmented_control(key="edit_choice").set_value("list").run()
    app.query_params["q"] = PAIRS
    app.run()
    field = next(widget for widget in app.text_area if (widget.key or "").startswith("question:"))
    field.set_value("How many pairs?").run()
    app.button(key="save_question").click().run()
    app.segmented_control(key="edit_choice").set_value("grid").run()
    save(app)
    assert store.benchmarks.load(stored).get_question(question_id("How many pairs?")).raw_answer == ("twenty-three")


def test_cells_remember_what_they_replace() -> None:
    rows = [{"id": "q", "question": "Old?", "raw_answer": "x", "keywords": [], "finished": False}]
    once = merged(rows, {"edited_rows": {0: {"question": "New?"}}}, {})
    twice = merged([{**rows[0], "question": "New?"}], {"edited_rows": {0: {"question": "Newer?"}}}, once)
    assert twice == {"q": {"question": "Newer?", "was": {"question": "Old?"}}}
