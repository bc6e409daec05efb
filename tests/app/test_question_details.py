"""All fields of a question can be edited; what makes no sense is refused and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.benchmark import BenchmarkQuestion
from karenina_core.runs import Store
from karenina_core.schemas.entities.question import question_id
from pages.components.drafts import edited
from tests.app.conftest import Open
from tests.app.looking import table, texts
from tests.app.samples import small_benchmark

TARGET = question_id("What is the target of venetoclax?")
PAGE = "pages/questions.py"


@pytest.fixture
def stored(store: Store) -> str:
    benchmark = small_benchmark()
    benchmark.update_question(
        TARGET,
        author={"@type": "Person", "name": "Ada", "orcid": "7"},
        sources=[{"name": "A paper", "doi": 7}],
        few_shot_examples=[{"question": "1+1?", "answer": "2"}],
        custom_metadata={"level": 5, "tags": ["a"]},
    )
    return store.benchmarks.save(benchmark)


def write(app: AppTest, name: str, value: str) -> AppTest:
    fields = [*app.text_input, *app.text_area]
    return next(field for field in fields if (field.key or "").startswith(f"{name}:")).set_value(value).run()


def edit(app: AppTest, alt: str, **edits: Any) -> AppTest:
    key = next(frame.key for frame in app.dataframe if frame.proto.alt == alt)
    app.session_state[key] = {"edited_rows": {}, "added_rows": [], "deleted_rows": [], **edits}
    return app.run()


def saved(app: AppTest, store: Store, stored: str) -> BenchmarkQuestion:
    app.button(key="save_question").click().run()
    return store.benchmarks.load(stored).get_question(TARGET)


def test_everything_of_a_question_is_shown(open_page: Open, stored: str) -> None:
    app = open_page(PAGE)
    assert table(app, "Sources").values.tolist() == [["A paper", "", '{"doi": 7}']]
    assert table(app, "Few-shot examples").values.tolist() == [["1+1?", "2"]]
    assert table(app, "Custom metadata").values.tolist() == [["level", "5"], ["tags", '["a"]']]


def test_a_question_without_any_of_it_has_empty_tables(open_page: Open, stored: str) -> None:
    app = open_page(PAGE, q=question_id("How many chromosome pairs?"))
    assert [len(table(app, name)) for name in ("Sources", "Few-shot examples", "Custom metadata")] == [0, 0, 0]


def test_author_and_workspace_are_saved_and_the_unknown_is_kept(open_page: Open, store: Store, stored: str) -> None:
    app = write(open_page(PAGE), "author_affiliation", "Analytical Society")
    app = write(app, "workspace_path", "task_01")
    question = saved(app, store, stored)
    assert question.author == {"@type": "Person", "name": "Ada", "orcid": "7", "affiliation": "Analytical Society"}
    assert question.workspace_path == "task_01"


def test_rows_are_changed_added_and_deleted(open_page: Open, store: Store, stored: str) -> None:
    app = edit(open_page(PAGE), "Sources", edited_rows={0: {"url": "https://example.org"}})
    app = edit(app, "Few-shot examples", added_rows=[{"question": "2+2?", "answer": "4"}])
    app = edit(app, "Custom metadata", deleted_rows=[0], added_rows=[{"name": "hard", "value": "true"}])
    assert "Unsaved edits" in texts(app)
    question = saved(app, store, stored)
    assert question.sources == [{"name": "A paper", "doi": 7, "url": "https://example.org"}]
    assert [(example.question, example.answer) for example in question.few_shot_examples or ()] == [
        ("1+1?", "2"),
        ("2+2?", "4"),
    ]
    assert question.custom_metadata == {"tags": ["a"], "hard": True}


def test_rows_typed_so_far_survive_another_page_and_a_reload(open_page: Open, stored: str) -> None:
    app = edit(open_page(PAGE), "Custom metadata", added_rows=[{"name": "hard", "value": "true"}])
    app.switch_page("pages/benchmarks.py").run()
    app.switch_page(PAGE).run()
    assert table(app, "Custom metadata").values.tolist()[-1] == ["hard", "true"]
    assert table(open_page(PAGE), "Custom metadata").values.tolist()[-1] == ["hard", "true"]


@pytest.mark.parametrize(
    ("alt", "row", "said"),
    [
        ("Sources", {"name": "x", "more": "not json"}, "other details of source 2 are no JSON"),
        ("Few-shot examples", {"question": "2+2?"}, "example 2 has no answer"),
        ("Custom metadata", {"name": "tags", "value": "b"}, "there twice"),
    ],
)
def test_rows_that_make_no_sense_are_refused_and_stay(
    open_page: Open, store: Store, stored: str, alt: str, row: dict[str, str], said: str
) -> None:
    app = edit(open_page(PAGE), alt, added_rows=[row])
    saved(app, store, stored)
    assert said in texts(app)
    assert store.benchmarks.row(stored).revision == 1
    assert "Unsaved edits" in texts(app)


def test_a_workspace_outside_the_root_is_refused_and_the_path_stays(open_page: Open, store: Store, stored: str) -> None:
    app = write(open_page(PAGE), "workspace_path", "../secrets")
    assert saved(app, store, stored).workspace_path is None
    assert app.error
    assert "Unsaved edits" in texts(app)


def test_edits_made_before_the_form_had_all_its_fields_are_kept(open_page: Open, store: Store, stored: str) -> None:
    app = write(open_page(PAGE), "answer_notes", "Accept Bcl-2.")
    ((key, kept),) = store.settings.all("draft/").items()
    few = ("question", "raw_answer", "answer_notes")
    store.settings.set(
        key, {part: value if part == "name" else {n: value[n] for n in few} for part, value in kept.items()}
    )
    app = open_page(PAGE)
    assert "Unsaved edits" in texts(app)
    assert saved(app, store, stored).answer_notes == "Accept Bcl-2."


def test_everything_in_the_way_of_a_run_is_said(open_page: Open, stored: str) -> None:
    said = texts(open_page(PAGE, q=question_id("How many chromosome pairs?")))
    assert "Will not run: it has no template and no rubric trait" in said
    assert "Will not run: it is not marked as finished." in said


def test_the_edits_of_a_data_editor_become_rows() -> None:
    rows = [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]
    edits = {"edited_rows": {"1": {"value": None}}, "deleted_rows": [0], "added_rows": [{"name": "c"}]}
    assert edited(rows, edits) == [{"name": "b", "value": None}, {"name": "c", "value": None}]
    assert edited(rows, {}) == rows
