"""The Check section of a benchmark: every finding, and fixes that need one click."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.authoring import lint_benchmark
from karenina_core.benchmark import Benchmark
from karenina_core.runs import Store
from karenina_core.schemas.entities.rubric import Rubric, RubricTrait
from pages.components import services
from tests.app.conftest import Open
from tests.app.looking import select_row, table, texts
from tests.app.samples import small_benchmark
from tests.authoring.test_benchmark_repair import CODE, UNSOUND, unsound

PAGE = "pages/benchmarks.py"


@pytest.fixture
def store() -> Store:
    """Return the store the pages use."""
    return services.store()


def checking(open_page: Open, store: Store, benchmark: Benchmark) -> tuple[AppTest, str]:
    benchmark_id = store.save_benchmark(benchmark)
    return open_page(PAGE, benchmark=benchmark_id, do="check"), benchmark_id


def test_the_panel_leads_to_the_check(open_page: Open, store: Store) -> None:
    benchmark_id = store.save_benchmark(small_benchmark())
    app = open_page(PAGE, benchmark=benchmark_id)
    app.button(key="open_check").click().run()
    assert app.query_params["do"] == "check"
    app.button(key="task_back").click().run()
    assert "do" not in app.query_params
    assert len(table(app, "Benchmarks")) == 1


def test_a_benchmark_without_questions_has_nothing_to_mend(open_page: Open, store: Store) -> None:
    app, _ = checking(open_page, store, Benchmark.create("Empty"))
    assert any("Nothing is to be mended in the templates and rubrics." in item.value for item in app.caption)


def test_findings_are_listed_the_gravest_first(open_page: Open, store: Store) -> None:
    app, _ = checking(open_page, store, unsound())
    shown = list(table(app, "Findings")["Severity"])
    assert shown == sorted(shown, key=["✗ error", "! warning", "i hint"].index)
    assert len(shown) == sum(lint_benchmark(unsound()).count.values())


def test_one_click_mends_one_finding_and_another_takes_it_back(open_page: Open, store: Store) -> None:
    app, benchmark_id = checking(open_page, store, unsound())
    what = list(table(app, "Findings")["Fix"])
    app = select_row(app, "Findings", next(at for at, label in enumerate(what) if label))
    app.button(key="check_fix").click().run()
    assert not app.exception
    assert "Fixed 1 finding." in texts(app)
    assert store.load_benchmark(benchmark_id).get_template("one") != UNSOUND
    app.button(key="undo").click().run()
    assert store.load_benchmark(benchmark_id).get_template("one") == UNSOUND


def test_all_findings_of_a_kind_are_mended_at_once(open_page: Open, store: Store) -> None:
    app, benchmark_id = checking(open_page, store, unsound())
    kind = next(box for box in app.selectbox if box.label == "Kind of finding")
    app = kind.set_value(CODE).run()
    assert len(table(app, "Findings")) == 4
    app.button(key="check_fix_all").click().run()
    assert "Fixed 4 findings." in texts(app)
    assert CODE not in lint_benchmark(store.load_benchmark(benchmark_id)).by_code


def test_a_fix_is_not_taken_back_over_a_later_edit(open_page: Open, store: Store) -> None:
    app, benchmark_id = checking(open_page, store, unsound())
    app = next(box for box in app.selectbox if box.label == "Kind of finding").set_value(CODE).run()
    app.button(key="check_fix_all").click().run()
    later = store.load_benchmark(benchmark_id)
    later.mark_unfinished("one")
    store.save_benchmark(later, benchmark_id)
    app.button(key="undo").click().run()
    assert "changed elsewhere" in texts(app)
    assert not store.load_benchmark(benchmark_id).get_question("one").finished


def test_a_finding_links_to_its_question_or_rubric(open_page: Open, store: Store) -> None:
    app, _ = checking(open_page, store, unsound())
    app.button(key="check_open").click().run()
    assert not app.exception and app.query_params["q"] == "one"
    traits = Benchmark.create("Traits")
    traits.set_global_rubric(Rubric(traits=[RubricTrait(name="clarity", kind="binary")]))
    app, _ = checking(open_page, store, traits)
    app.button(key="check_open").click().run()
    assert not app.exception and app.query_params["scope"] == "global"
