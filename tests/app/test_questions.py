"""The Questions page: the list, the editor, and edits that are never lost."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.benchmark import Benchmark
from karenina_core.demo import demo_benchmark
from karenina_core.runs import Store
from karenina_core.schemas.entities.question import question_id
from pages.components import services
from tests.app.conftest import Open
from tests.app.looking import labelled, press, select_row, table, texts
from tests.app.samples import small_benchmark

TARGET = question_id("What is the target of venetoclax?")
PAIRS = question_id("How many chromosome pairs?")


@pytest.fixture
def stored(store: Store, small: Benchmark) -> str:
    """Return the id of the stored small benchmark."""
    return store.benchmarks.save(small)


def field(app: AppTest, name: str):
    """Return the widget that edits a value of the chosen question."""
    widgets = [*app.text_area, *app.toggle, *app.multiselect]
    return next(widget for widget in widgets if (widget.key or "").startswith(f"{name}:"))


def save(app: AppTest) -> AppTest:
    return app.button(key="save_question").click().run()


def test_without_a_benchmark_the_page_leads_to_one(open_page: Open) -> None:
    app = open_page("pages/questions.py")
    assert "There is no benchmark in this workspace yet." in texts(app)
    assert app.button(key="go_to_benchmarks")


def test_a_benchmark_without_questions_says_how_to_begin(open_page: Open, store: Store) -> None:
    store.benchmarks.save(Benchmark.create("Empty"))
    assert "Add the first one above." in texts(open_page("pages/questions.py"))


def test_the_list_shows_where_every_question_stands(open_page: Open, stored: str) -> None:
    app = open_page("pages/questions.py")
    assert list(table(app, "Questions")["State"]) == ["✓ ready", "○ draft"]
    assert "2 of 2 shown · 1 ready · 1 draft · 0 with an issue" in texts(app)


def test_selecting_a_row_opens_the_question_and_its_link(open_page: Open, stored: str) -> None:
    app = select_row(open_page("pages/questions.py"), "Questions", 1)
    assert field(app, "question").value == "How many chromosome pairs?"
    assert app.query_params["q"] == PAIRS


def test_a_link_opens_its_question(open_page: Open, stored: str) -> None:
    app = open_page("pages/questions.py", benchmark=stored, q=PAIRS)
    assert field(app, "raw_answer").value == "23"


def test_an_edit_is_announced_and_saved_only_on_demand(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/questions.py")
    field(app, "raw_answer").set_value("BCL-2").run()
    assert "Unsaved edits" in texts(app)
    assert table(app, "Questions")["State"][0] == "✓ ready ✎"
    assert store.benchmarks.load(stored).get_question(TARGET).raw_answer == "BCL2"
    save(app)
    assert store.benchmarks.load(stored).get_question(TARGET).raw_answer == "BCL-2"
    assert "Unsaved edits" not in texts(app)


def test_unsaved_edits_survive_another_question_another_page_and_a_reload(open_page: Open, stored: str) -> None:
    app = open_page("pages/questions.py")
    field(app, "answer_notes").set_value("Accept Bcl-2.").run()
    app = select_row(app, "Questions", 1)
    app = select_row(app, "Questions", 0)
    assert field(app, "answer_notes").value == "Accept Bcl-2."
    app.switch_page("pages/benchmarks.py").run()
    app.switch_page("pages/questions.py").run()
    assert field(app, "answer_notes").value == "Accept Bcl-2."
    assert field(app, "question").value == "What is the target of venetoclax?"
    reloaded = open_page("pages/questions.py")
    assert field(reloaded, "answer_notes").value == "Accept Bcl-2."
    assert "Unsaved edits" in texts(reloaded)


def test_a_browser_that_draws_the_form_anew_finds_the_present_values_in_it(open_page: Open, stored: str) -> None:
    app = open_page("pages/questions.py")
    field(app, "answer_notes").set_value("Accept Bcl-2.").run()
    app.run()
    assert field(app, "answer_notes").proto.default == "Accept Bcl-2."
    assert field(app, "question").proto.default == "What is the target of venetoclax?"
    assert field(app, "finished").proto.default is True


def test_discarding_edits_shows_what_is_stored(open_page: Open, stored: str) -> None:
    app = open_page("pages/questions.py")
    field(app, "raw_answer").set_value("wrong").run()
    app.button(key="discard_edits").click().run()
    assert field(app, "raw_answer").value == "BCL2"
    assert field(open_page("pages/questions.py"), "raw_answer").value == "BCL2"


def test_two_people_editing_different_fields_both_keep_their_work(open_page: Open, store: Store, stored: str) -> None:
    first, second = open_page("pages/questions.py"), open_page("pages/questions.py")
    field(first, "raw_answer").set_value("BCL-2").run()
    field(second, "answer_notes").set_value("A note.").run()
    save(first)
    second.run()
    assert "changed elsewhere" not in texts(second) and field(second, "raw_answer").value == "BCL-2"
    save(second)
    question = store.benchmarks.load(stored).get_question(TARGET)
    assert (question.raw_answer, question.answer_notes) == ("BCL-2", "A note.")


@pytest.mark.parametrize("mine", [True, False])
def test_of_two_edits_of_the_same_field_the_second_person_chooses_one(
    mine: bool, open_page: Open, store: Store, stored: str
) -> None:
    first, second = open_page("pages/questions.py"), open_page("pages/questions.py")
    field(first, "raw_answer").set_value("BCL-2").run()
    field(second, "raw_answer").set_value("Bcl2").run()
    save(first)
    save(second)
    assert "This was changed elsewhere in the meantime" in texts(second)
    assert {"BCL-2", "Bcl2"} <= {code.value for code in second.code}
    assert store.benchmarks.load(stored).get_question(TARGET).raw_answer == "BCL-2", "nothing is written over"
    second = press(second, "Keep mine" if mine else "Keep the stored one")
    assert "changed elsewhere" not in texts(second)
    assert field(second, "raw_answer").value == ("Bcl2" if mine else "BCL-2")
    if mine:
        save(second)
    assert store.benchmarks.load(stored).get_question(TARGET).raw_answer == ("Bcl2" if mine else "BCL-2")


def test_a_new_text_changes_the_id_and_says_so(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/questions.py")
    field(app, "question").set_value("What does venetoclax bind?").run()
    assert "Changing the text changes the identity" in texts(app)
    save(app)
    assert app.query_params["q"] == question_id("What does venetoclax bind?")
    assert store.benchmarks.load(stored).get_question_ids() == [app.query_params["q"], PAIRS]


def test_a_typo_can_be_corrected_without_a_new_id(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/questions.py")
    field(app, "question").set_value("What is the target of Venetoclax?").run()
    app.checkbox[0].check().run()
    save(app)
    assert store.benchmarks.load(stored).get_question(TARGET).question == "What is the target of Venetoclax?"


def test_a_blank_reference_answer_is_refused_and_the_edit_kept(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/questions.py")
    field(app, "raw_answer").set_value(" ").run()
    save(app)
    assert "no reference answer" in texts(app)
    assert field(app, "raw_answer").value == " "
    assert store.benchmarks.load(stored).get_question(TARGET).raw_answer == "BCL2"


def test_a_broken_template_shows_the_line_and_is_not_saved(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/questions.py")
    field(app, "answer_template").set_value("class Answer(BaseAnswer):\n    target: str = open('x')\n").run()
    assert "Line 2" in app.error[0].proto.title
    assert "target: str = open('x')" in [code.value for code in app.code]
    save(app)
    assert store.benchmarks.load(stored).get_template(TARGET).startswith("from karenina.")


def test_a_question_that_only_wants_finishing_is_finished_by_one_click(
    open_page: Open, store: Store, stored: str
) -> None:
    app = open_page("pages/questions.py", q=PAIRS)
    assert "finish_question" not in [button.key for button in app.button], "it has no template yet"
    app.button(key="insert_skeleton").click().run()
    assert "finish_question" not in [button.key for button in app.button], "its edits are not saved yet"
    save(app)
    app.button(key="finish_question").click().run()
    assert store.benchmarks.load(stored).get_question(PAIRS).finished
    assert table(app, "Questions")["State"][1] == "✓ ready"
    assert field(app, "finished").value is True
    app.button(key="undo").click().run()
    assert not store.benchmarks.load(stored).get_question(PAIRS).finished


def test_a_finished_question_that_nothing_decides_says_why_it_will_not_run(open_page: Open, stored: str) -> None:
    app = open_page("pages/questions.py", q=PAIRS)
    field(app, "finished").set_value(True).run()
    save(app)
    assert "so nothing would be decided" in texts(app)
    assert table(app, "Questions")["State"][1] == "! issue"


def test_a_question_made_here_is_a_draft(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/questions.py")
    labelled(app.text_area, "New question").set_value("Why is the sky blue?")
    labelled(app.text_area, "Its reference answer").set_value("Scattering")
    labelled(app.button, "Add as draft").click()
    app.run()
    assert not store.benchmarks.load(stored).get_question(app.query_params["q"]).finished
    assert field(app, "question").value == "Why is the sky blue?"


def test_adding_a_text_that_is_there_opens_it_unchanged(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/questions.py", q=PAIRS)
    labelled(app.text_area, "New question").set_value("What is the target of venetoclax?")
    labelled(app.text_area, "Its reference answer").set_value("something else")
    labelled(app.button, "Add as draft").click()
    app.run()
    assert app.query_params["q"] == TARGET
    assert store.benchmarks.load(stored).get_question(TARGET).finished


def test_a_blank_question_is_refused_in_words(open_page: Open, stored: str) -> None:
    app = open_page("pages/questions.py")
    labelled(app.button, "Add as draft").click()
    app.run()
    assert "The question has no" in texts(app)


def test_deleting_a_question_can_be_undone_in_place(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/questions.py", q=TARGET)
    app.button(key="delete_question").click().run()
    assert store.benchmarks.load(stored).get_question_ids() == [PAIRS]
    app.button(key="undo").click().run()
    assert store.benchmarks.load(stored).get_question_ids() == [TARGET, PAIRS]
    assert app.query_params["q"] == TARGET


def test_every_question_of_the_demo_opens(open_page: Open, store: Store) -> None:
    store.benchmarks.save(demo_benchmark())
    app = open_page("pages/questions.py")
    for row in range(14):
        app = select_row(app, "Questions", row)
        assert not app.exception
        assert not app.error


def test_saving_is_out_of_use_while_there_is_nothing_to_save(open_page: Open) -> None:
    services.store().benchmarks.save(small_benchmark())
    app = open_page("pages/questions.py")
    save = app.button(key="save_question")
    assert save.disabled and "nothing to save" in save.help
    app.text_area(key=next(area.key for area in app.text_area if area.label == "Reference answer")).set_value("B").run()
    assert not app.button(key="save_question").disabled


def test_benchmarks_of_one_name_can_be_told_apart(open_page: Open) -> None:
    for _ in range(2):
        services.store().benchmarks.save(small_benchmark())
    [box] = [box for box in open_page("pages/questions.py").selectbox if box.label == "Benchmark"]
    assert len(set(box.options)) == 2
