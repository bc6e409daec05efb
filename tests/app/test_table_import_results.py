"""An export of results on the Benchmarks page: a run again, or questions and answers."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.analysis import to_json
from karenina_core.benchmark import Benchmark
from karenina_core.runs import Store
from pages.components import services
from pages.components.table_import import answers as table_import_answers
from tests.app.conftest import Open
from tests.app.looking import labelled, texts

PAGE = "pages/benchmarks.py"


@pytest.fixture
def export(demo_run: str) -> bytes:
    """The results of the demo, as a file."""
    store = services.store()
    return to_json(store.results.all(demo_run), store.runs.get(demo_run).config)


def uploaded(open_page: Open, data: bytes) -> AppTest:
    return open_page(PAGE).file_uploader[0].upload("colleague.json", data).run()


def test_results_open_as_a_run(open_page: Open, export: bytes, store: Store) -> None:
    app = uploaded(open_page, export)
    assert "42 evaluations with their evidence." in texts(app)
    app.button(key="results_open").click().run()
    assert not app.exception
    run = next(run for run in store.runs.all() if run.name == "colleague")
    assert (run.done, run.status) == (42, "completed")
    assert app.query_params["run"] == run.id


def test_damaged_results_say_which_one_it_is(open_page: Open, export: bytes, store: Store) -> None:
    app = uploaded(open_page, export.replace(b'"status": "completed"', b'"status": "?"', 1))
    app.button(key="results_open").click().run()
    assert "Result 1 in the file is damaged." in texts(app)
    assert "colleague" not in [run.name for run in store.runs.all()]


def test_answers_of_results_go_to_the_benchmark_that_asked(open_page: Open, export: bytes, store: Store) -> None:
    [row] = store.benchmarks.all()
    store.benchmarks.save(Benchmark.create("Another"))
    app = uploaded(open_page, export)
    app.segmented_control(key="results_way").set_value("answers").run()
    assert labelled(app.selectbox, "Import into").value == row.id
    app.button(key="table_import").click().run()
    assert not app.exception
    kept = table_import_answers.of_benchmark(row.id)
    assert {model: len(answers) for model, answers in kept.items()} == dict.fromkeys(kept, 14) and len(kept) == 3
    assert store.benchmarks.row(row.id).question_count == 14


def test_results_can_be_let_go(open_page: Open, export: bytes) -> None:
    app = uploaded(open_page, export)
    app.button(key="upload_discard").click().run()
    assert "results_open" not in [button.key for button in app.button]
