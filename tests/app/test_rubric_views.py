"""Coverage, the library, and scoring a stored run, on the Rubrics page."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.benchmark import Benchmark
from karenina_core.runs import Store, add_to_library, library
from karenina_core.schemas import ManualRubricTrait, ModelConfig, Rubric, RubricTrait
from pages.components import services
from tests.app.conftest import Open, healthy
from tests.app.looking import labelled, select_row, table, texts
from tests.app.samples import small_benchmark
from tests.faults.openai_server import OpenAIServer, Reply

CLARITY = RubricTrait(name="Clearness", description="How clear?")
BCL2 = ManualRubricTrait(name="Names BCL2", description="Says BCL2", pattern=r"BCL-?2", case_sensitive=False)


def other_benchmark() -> Benchmark:
    benchmark = small_benchmark()
    benchmark.name = "Other"
    return benchmark


def mark(app: AppTest, *rows: int) -> AppTest:
    """Mark rows of the table of traits to copy."""
    frame = next(frame for frame in app.dataframe if frame.proto.alt == "Traits to copy")
    app.session_state[frame.key] = {"selection": {"rows": list(rows), "columns": [], "cells": []}}
    return app.run()


def names(store: Store, benchmark_id: str) -> list[str]:
    rubric = store.benchmarks.load(benchmark_id).get_global_rubric()
    return [trait.name for trait in rubric.traits] if rubric else []


class TestCoverage:
    @pytest.fixture
    def benchmark(self) -> Benchmark:
        benchmark = small_benchmark()
        benchmark.set_question_rubric(benchmark.get_question_ids()[0], Rubric(traits=[BCL2]))
        return benchmark

    def test_traits_and_questions_are_shown_with_their_reach(
        self, open_page: Open, store: Store, benchmark: Benchmark
    ) -> None:
        store.benchmarks.save(benchmark)
        app = open_page("pages/rubrics.py", view="coverage")
        assert "1 trait, 1 question of 2 without any trait" in texts(app)
        assert list(table(app, "Traits and the questions they touch")["Questions"]) == [1]
        assert list(table(app, "Questions and their traits")["Names BCL2"]) == ["◆", "–"]

    def test_questions_are_filtered(self, open_page: Open, store: Store, benchmark: Benchmark) -> None:
        store.benchmarks.save(benchmark)
        app = open_page("pages/rubrics.py", view="coverage")
        app.segmented_control(key="coverage_view").set_value("No trait").run()
        assert list(table(app, "Questions and their traits")["Question"]) == ["How many chromosome pairs?"]
        assert "1 of 2 questions shown" in texts(app)
        app.segmented_control(key="coverage_view").set_value("Replaces a shared trait").run()
        assert "0 of 2 questions shown" in texts(app)
        app.segmented_control(key="coverage_view").set_value("All").run()
        app.text_input(key="coverage_search").set_value("VENETOCLAX").run()
        assert len(table(app, "Questions and their traits")) == 1
        app.text_input(key="coverage_search").set_value("").run()
        app.selectbox(key="coverage_trait").set_value("Names BCL2").run()
        assert list(table(app, "Questions and their traits")["Names BCL2"]) == ["◆"]

    def test_a_question_leads_to_its_traits(self, open_page: Open, store: Store, benchmark: Benchmark) -> None:
        store.benchmarks.save(benchmark)
        app = select_row(open_page("pages/rubrics.py", view="coverage"), "Questions and their traits", 0)
        app.button(key="coverage_edit").click().run()
        assert list(table(app, "Rubric traits")["Trait"]) == ["Names BCL2"]
        assert app.query_params["scope"] in ("question", ["question"])

    def test_many_questions_come_in_pages(self, open_page: Open, store: Store) -> None:
        large = Benchmark.create("Large")
        for number in range(250):
            large.add_question(f"Question {number}?", "x")
        large.set_global_rubric(Rubric(traits=[CLARITY]))
        store.benchmarks.save(large)
        app = open_page("pages/rubrics.py", view="coverage")
        assert "every question has one" in texts(app)
        assert len(table(app, "Questions and their traits")) == 100

    def test_without_traits_or_questions_the_page_says_how_to_begin(self, open_page: Open, store: Store) -> None:
        store.benchmarks.save(small_benchmark())
        assert "No trait touches any of the 2 questions" in texts(open_page("pages/rubrics.py", view="coverage"))
        empty = store.benchmarks.save(Benchmark.create("Empty"))
        assert "no questions yet" in texts(open_page("pages/rubrics.py", view="coverage", benchmark=empty))


class TestLibrary:
    @pytest.fixture
    def stored(self, store: Store) -> str:
        benchmark = small_benchmark()
        benchmark.set_global_rubric(Rubric(traits=[CLARITY]))
        return store.benchmarks.save(benchmark)

    def test_an_empty_library_says_how_to_fill_it(self, open_page: Open, stored: str) -> None:
        assert "The library is empty. Add a trait" in texts(open_page("pages/rubrics.py", view="library"))

    def test_a_trait_is_kept_and_copied_into_another_benchmark(
        self, open_page: Open, store: Store, stored: str
    ) -> None:
        app = open_page("pages/rubrics.py", benchmark=stored)
        app.button(key="keep_trait").click().run()
        assert [(entry.trait, entry.origin) for entry in library(store)] == [(CLARITY, "Small")]
        other = store.benchmarks.save(other_benchmark())
        app = mark(open_page("pages/rubrics.py", benchmark=other, view="library"), 0)
        app.button(key="library_copy").click().run()
        assert names(store, other) == ["Clearness"]
        app.button(key="undo").click().run()
        assert names(store, other) == []

    def test_a_copy_gets_another_name_where_it_is_used(self, open_page: Open, store: Store, stored: str) -> None:
        add_to_library(store, CLARITY.model_copy(update={"description": "Otherwise"}))
        app = mark(open_page("pages/rubrics.py", benchmark=stored, view="library"), 0)
        app.button(key="library_copy").click().run()
        assert names(store, stored) == ["Clearness", "Clearness 2"]

    def test_traits_of_another_benchmark_are_copied_into_a_question(
        self, open_page: Open, store: Store, stored: str
    ) -> None:
        other = store.benchmarks.save(other_benchmark())
        app = open_page("pages/rubrics.py", benchmark=other, view="library", scope="question")
        app.selectbox(key="library_source").set_value(stored).run()
        mark(app, 0).button(key="library_copy").click().run()
        own = store.benchmarks.load(other).get_question_rubric(app.query_params["q"])
        assert own is not None
        assert own.traits == [CLARITY]

    def test_removing_from_the_library_can_be_undone(self, open_page: Open, store: Store, stored: str) -> None:
        add_to_library(store, BCL2)
        app = mark(open_page("pages/rubrics.py", view="library"), 0)
        app.button(key="library_remove").click().run()
        assert library(store) == []
        app.button(key="undo").click().run()
        assert [entry.trait for entry in library(store)] == [BCL2]

    def test_a_file_is_added(self, open_page: Open, store: Store, stored: str) -> None:
        app = open_page("pages/rubrics.py", view="library")
        content = json.dumps([CLARITY.model_dump(), BCL2.model_dump()]).encode()
        app.file_uploader(key="library_import").set_value(("traits.json", content, "application/json")).run()
        assert "The file holds 2 traits; 2 of them are not in the library yet." in texts(app)
        app.button(key="library_import_add").click().run()
        assert [entry.trait.name for entry in library(store)] == ["Clearness", "Names BCL2"]

    def test_a_file_that_is_none_says_so(self, open_page: Open, store: Store, stored: str) -> None:
        app = open_page("pages/rubrics.py", view="library")
        app.file_uploader(key="library_import").set_value(("traits.json", b'{"a": 1}', "application/json")).run()
        assert "The file is no trait library." in texts(app)


class TestScoring:
    def opened(self, open_page: Open, store: Store, *traits: RubricTrait | ManualRubricTrait) -> AppTest:
        """Open the demo's benchmark with further traits."""
        [row] = store.benchmarks.all()
        benchmark = store.benchmarks.load(row.id)
        for trait in traits:
            benchmark.add_global_rubric_trait(trait)
        store.benchmarks.save(benchmark, row.id)
        app = open_page("pages/rubrics.py", view="score", benchmark=row.id)
        labelled(app.selectbox, "Trait").set_value(traits[-1].name).run()
        return healthy(app)

    def test_without_a_run_there_is_nothing_to_score(self, open_page: Open, store: Store) -> None:
        store.benchmarks.save(small_benchmark())
        assert "No run has ended yet" in texts(open_page("pages/rubrics.py", view="score"))

    def test_a_pattern_is_scored_at_once_and_results_show_it(
        self, open_page: Open, store: Store, demo_run: str
    ) -> None:
        before = {result.result_id: result.verdict for result in store.results.all(demo_run)}
        results = open_page("pages/results.py", run=demo_run)
        assert "Names BCL2" not in str([frame.value.to_dict() for frame in results.dataframe])
        app = self.opened(open_page, store, BCL2)
        assert "42 results of 42 have no value of it yet." in texts(app)
        app.button(key="score").click().run()
        services.scorer().wait(demo_run, 20)
        app = healthy(app.run())
        assert "completed" in texts(app)
        assert "42 scored" in texts(app)
        assert {result.result_id: result.verdict for result in store.results.all(demo_run)} == before
        assert all("Names BCL2" in result.rubric.regex for result in store.results.all(demo_run))
        from pages.components.results import data as results_data

        assert "Names BCL2" in set(results_data.frames(demo_run).traits["trait"])

    def test_a_judge_is_chosen_and_agreed_to(
        self, open_page: Open, store: Store, demo_run: str, openai_server: OpenAIServer
    ) -> None:
        openai_server.script = lambda sent: Reply(json.dumps({"reason": "", "value": 5}))
        app = self.opened(open_page, store, CLARITY)
        model = ModelConfig(
            id="court", interface="openai_endpoint", model_name="court", endpoint_base_url=openai_server.url
        )
        app.session_state["_models_judge"] = [model]
        app = healthy(app.run())
        labelled(app.selectbox, "Judge").set_value("court").run()
        assert "About 42 calls to providers" in texts(app)
        assert app.button(key="score").disabled
        app = healthy(app.checkbox[0].check().run())
        app.button(key="score").click().run()
        services.scorer().wait(demo_run, 60)
        assert {result.rubric.scores.get("Clearness") for result in store.results.all(demo_run)} == {5}
        app = healthy(app.run())
        assert "Every result of this run has a value of this trait." in texts(app)
        assert {request["model"] for request in openai_server.requests} == {"court"}

    def test_a_run_with_another_trait_of_that_name_is_refused(
        self, open_page: Open, store: Store, demo_run: str
    ) -> None:
        [row] = store.benchmarks.all()
        benchmark = store.benchmarks.load(row.id)
        rubric = benchmark.get_global_rubric()
        assert rubric is not None
        changed = rubric.traits[0].model_copy(update={"description": "Something else"})
        benchmark.set_global_rubric(Rubric(traits=[changed]))
        store.benchmarks.save(benchmark, row.id)
        app = open_page("pages/rubrics.py", view="score", benchmark=row.id)
        assert "values of another trait named" in texts(app)
