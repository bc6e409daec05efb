"""Changing questions and their finished flags."""

from __future__ import annotations

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas import Rubric
from tests.benchmark.samples import BROKEN_TEMPLATE, POLITE, TEMPLATE, small_benchmark


@pytest.fixture
def benchmark() -> Benchmark:
    return small_benchmark()


def test_a_change_is_dated_and_the_id_stays(benchmark: Benchmark) -> None:
    before = benchmark["lungs"]
    benchmark.update_question("lungs", question="How many lungs has a human?", raw_answer="two")
    after = benchmark["lungs"]
    assert (after.question, after.raw_answer) == ("How many lungs has a human?", "two")
    assert after.date_created == before.date_created
    assert after.date_modified > before.date_modified
    assert before.text_id not in benchmark
    assert after.text_id in benchmark


def test_a_snapshot_does_not_change(benchmark: Benchmark) -> None:
    before = benchmark["lungs"]
    benchmark.update_question("lungs", raw_answer="two")
    assert before.raw_answer == "2"


def test_rubric_template_and_flag_can_be_changed_too(benchmark: Benchmark) -> None:
    benchmark.update_question_metadata(
        "lungs", rubric=Rubric(traits=[POLITE]), answer_template=TEMPLATE, finished=False
    )
    assert benchmark.get_question_rubric("lungs") == Rubric(traits=[POLITE])
    assert benchmark.get_question_metadata("lungs") == {
        **benchmark["lungs"].model_dump(mode="json"),
        "finished": False,
        "has_template": True,
        "has_rubric": True,
    }
    benchmark.update_question("lungs", rubric=None, answer_template=None)
    assert benchmark.get_question_rubric("lungs") is None
    assert not benchmark.has_template("lungs")


def test_unusable_changes_are_refused(benchmark: Benchmark) -> None:
    for fields in ({"raw_answer": ""}, {"colour": "x"}, {"id": "x"}, {"keywords": 3}, {"workspace_path": "/etc"}):
        with pytest.raises(InputError):
            benchmark.update_question("lungs", **fields)
    with pytest.raises(TemplateError):
        benchmark.update_question("lungs", answer_template=BROKEN_TEMPLATE)
    assert benchmark == benchmark.clone()


def test_authors_and_sources(benchmark: Benchmark) -> None:
    benchmark.set_question_author("lungs", {"name": "Cy"})
    benchmark.set_question_sources("lungs", [{"name": "Atlas"}])
    assert benchmark.get_question_author("lungs") == {"name": "Cy"}
    assert benchmark.get_question_sources("lungs") == [{"name": "Atlas"}]
    timestamps = benchmark.get_question_timestamps("lungs")
    assert timestamps["modified"] > timestamps["created"]


def test_custom_properties_of_a_question(benchmark: Benchmark) -> None:
    benchmark.set_question_custom_property("lungs", "level", 3)
    assert benchmark.get_question_custom_property("lungs", "level") == 3
    assert benchmark.remove_question_custom_property("lungs", "level")
    assert not benchmark.remove_question_custom_property("lungs", "level")
    assert benchmark.get_question_custom_property("lungs", "level", "none") == "none"
    assert benchmark["lungs"].custom_metadata is None


def test_finished_flags(benchmark: Benchmark) -> None:
    benchmark.mark_finished("sky")
    benchmark.mark_unfinished("lungs")
    assert benchmark.get_finished_questions(ids_only=True) == ["target", "sky"]
    assert [question.id for question in benchmark.get_unfinished_questions()] == ["lungs"]
    assert benchmark.toggle_finished("lungs") is True
    benchmark.mark_unfinished_batch(["target", "sky"])
    assert benchmark.get_unfinished_questions(ids_only=True) == ["target", "sky"]
    benchmark.mark_finished_batch(["target", "sky"])
    assert len(benchmark.get_finished_questions()) == 3


def test_finished_flags_survive_a_file(benchmark: Benchmark) -> None:
    again = Benchmark.from_json(benchmark.to_json())
    again.toggle_finished("sky")
    assert Benchmark.from_json(again.to_json()).get_finished_questions(ids_only=True) == ["target", "lungs", "sky"]
