"""Changing and removing questions by hand."""

from __future__ import annotations

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas.entities.question import question_id
from tests.benchmark.samples import BROKEN_TEMPLATE, small_benchmark


@pytest.fixture
def benchmark() -> Benchmark:
    return small_benchmark()


def test_a_new_text_gives_a_new_id_in_the_same_place(benchmark: Benchmark) -> None:
    new_id = benchmark.edit_question("lungs", question="How many lungs has a human?")
    assert new_id == question_id("How many lungs has a human?")
    assert benchmark.get_question_ids() == ["target", new_id, "sky"]
    assert benchmark.get_question(new_id).raw_answer == "2"


def test_the_id_can_be_kept_for_a_typo(benchmark: Benchmark) -> None:
    assert benchmark.edit_question("lungs", question="How many lungs??", keep_id=True) == "lungs"
    assert benchmark.get_question("lungs").question == "How many lungs??"


@pytest.mark.parametrize("keep_id", [True, False])
def test_half_a_surrogate_pair_is_refused_and_changes_nothing(benchmark: Benchmark, keep_id: bool) -> None:
    before = benchmark.to_json()
    with pytest.raises(InputError, match="holds half a surrogate pair"):
        benchmark.edit_question("lungs", question="How many \ud83d?", keep_id=keep_id)
    with pytest.raises(InputError, match="The question's id holds half a surrogate pair"):
        benchmark.give_id("lungs", "\ud83d")
    assert benchmark.to_json() == before


def test_other_fields_leave_the_id_alone(benchmark: Benchmark) -> None:
    assert benchmark.edit_question("lungs", raw_answer="two", keywords=["organs"], finished=False) == "lungs"
    question = benchmark.get_question("lungs")
    assert (question.raw_answer, question.keywords, question.finished) == ("two", ["organs"], False)


def test_a_changed_id_survives_a_file_with_its_rubric(benchmark: Benchmark) -> None:
    new_id = benchmark.edit_question("target", question="What does venetoclax bind?")
    again = Benchmark.from_json(benchmark.to_json())
    assert again.get_question_ids() == [new_id, "lungs", "sky"]
    assert [trait.name for trait in again.get_question_rubric(new_id).traits] == ["BH3"]


def test_the_old_text_can_be_added_again_after_a_change(benchmark: Benchmark) -> None:
    benchmark.edit_question("lungs", question="How many kidneys?")
    added = benchmark.add_question("How many lungs?", "2")
    assert added == question_id("How many lungs?")
    assert len(benchmark) == 4


def test_the_text_of_another_question_is_refused(benchmark: Benchmark) -> None:
    taken = benchmark.add_question("What is DNA?", "A molecule")
    with pytest.raises(InputError, match="Another question"):
        benchmark.edit_question("lungs", question="What is DNA?")
    assert benchmark.get_question("lungs").question == "How many lungs?"
    assert taken in benchmark


@pytest.mark.parametrize("fields", [{"question": " "}, {"raw_answer": ""}, {"nonsense": 1}])
def test_unusable_fields_change_nothing(benchmark: Benchmark, fields: dict[str, object]) -> None:
    before = benchmark.to_json()
    with pytest.raises(InputError):
        benchmark.edit_question("lungs", **fields)
    assert benchmark.to_json() == before


def test_a_broken_template_changes_nothing(benchmark: Benchmark) -> None:
    with pytest.raises(TemplateError):
        benchmark.edit_question("lungs", question="A new text", answer_template=BROKEN_TEMPLATE)
    assert benchmark.get_question("lungs").question == "How many lungs?"


def test_a_question_that_was_taken_out_goes_back_as_it_was(benchmark: Benchmark) -> None:
    before = benchmark.get_all_questions()
    removed = benchmark.take_question("lungs")
    assert benchmark.get_question_ids() == ["target", "sky"]
    assert benchmark.put_back(removed) == "lungs"
    assert benchmark.get_all_questions() == before
    assert benchmark.get_question(question_id("How many lungs?")).id == "lungs"


def test_a_question_cannot_be_put_back_twice(benchmark: Benchmark) -> None:
    removed = benchmark.take_question("lungs")
    benchmark.put_back(removed)
    with pytest.raises(InputError, match="already"):
        benchmark.put_back(removed)


def test_an_unknown_question_cannot_be_taken_out(benchmark: Benchmark) -> None:
    with pytest.raises(InputError):
        benchmark.take_question("unknown")
