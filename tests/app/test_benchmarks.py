"""The Benchmarks page: bring one in, look after those that are here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.benchmark import Benchmark, question_states
from karenina_core.runs import DraftBatch, Outcome, Store
from pages.components.benchmarks import upload
from pages.components.benchmarks.choice import next_step
from tests.app.conftest import Open
from tests.app.looking import labelled, select_row, table, texts
from tests.app.samples import TEMPLATE

CHECKPOINTS = Path(__file__).parents[1] / "data" / "checkpoints"


def uploaded(app: AppTest, data: bytes, name: str = "small.jsonld") -> AppTest:
    return app.file_uploader[0].upload(name, data).run()


def test_an_empty_workspace_names_the_next_clicks(open_page: Open) -> None:
    app = open_page("pages/benchmarks.py")
    assert "Drop a file above, add the demo, or start a new one." in texts(app)


def test_the_demo_is_one_click_away(open_page: Open) -> None:
    app = open_page("pages/benchmarks.py").button(key="add_demo").click().run()
    assert list(table(app, "Benchmarks")["Questions"]) == [14]
    assert "Added **Biomedical demo**" in texts(app)


def test_a_file_is_reported_and_not_stored_before_it_is_added(open_page: Open, store: Store, small: Benchmark) -> None:
    app = uploaded(open_page("pages/benchmarks.py"), small.to_json().encode())
    assert "2 questions · 1 finished · 1 with a template" in texts(app)
    assert "no repairs were needed" in texts(app)
    assert "i note" in set(table(app, "Problems")["Severity"])
    app.button(key="upload_discard").click().run()
    assert "small.jsonld" not in texts(app)
    assert store.benchmarks.all() == []


def test_adding_a_file_stores_and_chooses_it(open_page: Open, store: Store, small: Benchmark) -> None:
    app = uploaded(open_page("pages/benchmarks.py"), small.to_json().encode())
    app.button(key="upload_add").click().run()
    [row] = store.benchmarks.all()
    assert row.name == "Small"
    assert app.query_params["benchmark"] == row.id
    assert "small.jsonld" not in texts(app)


def test_a_file_that_cannot_be_read_says_why_and_cannot_be_added(open_page: Open) -> None:
    app = uploaded(open_page("pages/benchmarks.py"), b'{"@type": ')
    assert "not valid JSON" in texts(app)
    assert "upload_add" not in [button.key for button in app.button]


def test_repairs_are_listed(open_page: Open, small: Benchmark) -> None:
    data = json.loads(small.to_json())
    data["dataFeedElement"][1]["@id"] = data["dataFeedElement"][0]["@id"]
    app = uploaded(open_page("pages/benchmarks.py"), json.dumps(data).encode())
    assert len(table(app, "Repairs")) == 1


@pytest.mark.parametrize("path", sorted(CHECKPOINTS.iterdir()), ids=lambda path: path.name)
def test_files_of_every_dialect_come_in_through_the_same_door(open_page: Open, store: Store, path: Path) -> None:
    app = uploaded(open_page("pages/benchmarks.py"), path.read_bytes(), path.name)
    app.button(key="upload_add").click().run()
    assert not app.exception
    assert len(store.benchmarks.all()) == 1


def test_a_file_is_read_once_and_survives_a_change_of_page(
    open_page: Open, small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    original = upload.load_checkpoint
    monkeypatch.setattr(upload, "load_checkpoint", lambda data: read.append(len(data)) or original(data))
    app = uploaded(open_page("pages/benchmarks.py"), small.to_json().encode()).run()
    app.switch_page("pages/questions.py").run()
    app.switch_page("pages/benchmarks.py").run()
    assert "small.jsonld" in texts(app)
    assert len(read) == 1


def test_a_new_benchmark_starts_empty(open_page: Open, store: Store) -> None:
    app = open_page("pages/benchmarks.py")
    labelled(app.button, "Create").click()
    app.run()
    assert "A benchmark needs a name." in texts(app)
    labelled(app.text_input, "Name").set_value("Mine")
    labelled(app.button, "Create").click()
    app.run()
    assert [(row.name, row.question_count) for row in store.benchmarks.all()] == [("Mine", 0)]


def test_selecting_a_row_chooses_the_benchmark(open_page: Open, store: Store, small: Benchmark) -> None:
    first = store.benchmarks.save(small)
    store.benchmarks.save(Benchmark.create("Newer"))
    app = select_row(open_page("pages/benchmarks.py"), "Benchmarks", 1)
    assert app.query_params["benchmark"] == first


def test_search_narrows_the_list_and_counts_honestly(open_page: Open, store: Store, small: Benchmark) -> None:
    store.benchmarks.save(small)
    store.benchmarks.save(Benchmark.create("Other"))
    app = open_page("pages/benchmarks.py")
    app.text_input(key="benchmark_search").set_value("two QUESTIONS").run()
    assert list(table(app, "Benchmarks")["Name"]) == ["Small"]
    assert "1 of 2 shown" in texts(app)


def test_benchmarks_of_the_same_name_are_told_apart_by_their_version(open_page: Open, store: Store) -> None:
    for name, version in (("Lungs", "1.0.0"), ("Lungs", "2.0.0"), ("Hearts", "1.0.0")):
        store.benchmarks.save(Benchmark.create(name, version=version))
    shown = list(table(open_page("pages/benchmarks.py"), "Benchmarks")["Name"])
    assert sorted(shown) == ["Hearts", "Lungs · 1.0.0", "Lungs · 2.0.0"]


def test_deleting_can_be_undone(open_page: Open, store: Store, small: Benchmark) -> None:
    benchmark_id = store.benchmarks.save(small)
    app = open_page("pages/benchmarks.py")
    app.menu_button(key="benchmark_more").set_value("delete").run()
    assert store.benchmarks.all() == []
    app.button(key="undo").click().run()
    assert [row.id for row in store.benchmarks.all()] == [benchmark_id]
    assert app.query_params["benchmark"] == benchmark_id


def test_a_deleted_benchmark_can_be_restored_in_a_later_session(
    open_page: Open, store: Store, small: Benchmark
) -> None:
    benchmark_id = store.benchmarks.save(small)
    store.benchmarks.delete(benchmark_id)
    app = open_page("pages/benchmarks.py")
    app.segmented_control(key="benchmark_view").set_value("Deleted").run()
    app.button(key=f"restore_{benchmark_id}").click().run()
    assert [row.id for row in store.benchmarks.all()] == [benchmark_id]


def test_duplicating_keeps_both(open_page: Open, store: Store, small: Benchmark) -> None:
    store.benchmarks.save(small)
    app = open_page("pages/benchmarks.py")
    app.menu_button(key="benchmark_more").set_value("duplicate").run()
    assert {row.name for row in store.benchmarks.all()} == {"Small", "Small (copy)"}


def test_renaming_changes_what_is_stored(open_page: Open, store: Store, small: Benchmark) -> None:
    benchmark_id = store.benchmarks.save(small)
    app = open_page("pages/benchmarks.py")
    app.menu_button(key="benchmark_more").set_value("rename").run()
    labelled(app.text_input, "Version").set_value("2.0.0")
    labelled(app.button, "Save").click()
    app.run()
    row = store.benchmarks.row(benchmark_id)
    assert (row.name, row.version, row.question_count) == ("Small", "2.0.0", 2)


def test_a_name_cannot_smuggle_an_image_onto_the_page(open_page: Open, store: Store) -> None:
    store.benchmarks.save(Benchmark.create("![x](http://example.invalid/x.png)"))
    app = open_page("pages/benchmarks.py")
    assert not [element for element in [*app.markdown, *app.caption] if "![" in element.value]


def steps(template: str | None = None, *, finished: bool = False, questions: int = 2) -> Benchmark:
    """Return a benchmark on its way to a run."""
    benchmark = Benchmark.create("Steps")
    for number in range(questions):
        benchmark.add_question(f"What is the target of drug {number}?", "BCL2", template, finished=finished)
    return benchmark


def tried(benchmark: Benchmark) -> DraftBatch:
    """Return a batch of drafts that drafted nothing."""
    outcomes = tuple(Outcome(name, "none") for name in benchmark.get_question_ids())
    return DraftBatch("b", None, "completed", 2, outcomes)


@pytest.mark.parametrize(
    ("benchmark", "batch", "label"),
    [
        (steps(questions=0), None, "Add questions"),
        (steps(), None, "Draft 2 missing templates"),
        (steps(), DraftBatch("b", None, "running", 2), "See the drafts"),
        (steps(), tried(steps()), "Open questions"),
        (steps(TEMPLATE), None, "Check and finish them"),
        (steps(TEMPLATE, finished=True), None, "Configure a run"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_one_step_comes_after_the_other(benchmark: Benchmark, batch: DraftBatch | None, label: str) -> None:
    assert next_step(benchmark, question_states(benchmark), batch).label == label


def test_the_card_leads_to_the_next_step_by_its_only_primary_button(open_page: Open, store: Store) -> None:
    app = open_page("pages/benchmarks.py", benchmark=store.benchmarks.save(steps()))
    assert "✓ 0 ready · ○ 2 draft · ! 0 with an issue" in texts(app)
    assert [button.key for button in app.button if button.proto.type == "primary"] == ["next_step"]
    app.button(key="next_step").click().run()
    assert not app.exception and app.query_params["do"] == "draft"
