"""Adding, reading, changing and removing questions and their templates."""

from __future__ import annotations

import copy
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas import BaseAnswer, FewShotExample, Question, Rubric, RubricTrait
from karenina_core.schemas.entities.question import question_id
from tests.benchmark.samples import BH3, BROKEN_TEMPLATE, CLARITY, OTHER_TEMPLATE, POLITE, TEMPLATE, small_benchmark

FIELDS: dict[str, Any] = {
    "question": "Why?",
    "raw_answer": "Because",
    "keywords": ["k"],
    "answer_notes": "note",
    "author": {"name": "Ada"},
    "sources": [{"url": "https://example.org"}],
    "workspace_path": "task_01",
    "custom_metadata": {"difficulty": "hard"},
    "few_shot_examples": [FewShotExample(question="a", answer="b")],
}


@pytest.fixture
def empty() -> Benchmark:
    return Benchmark.create("B")


def test_a_text_and_its_answer(empty: Benchmark) -> None:
    question_id = empty.add_question("Why?", "Because")
    assert question_id == hashlib.md5(b"Why?").hexdigest()
    assert empty[question_id].finished
    assert empty.notices == []


def test_every_field_as_argument(empty: Benchmark) -> None:
    question_id = empty.add_question(**FIELDS, answer_template=TEMPLATE, finished=False, rubric=Rubric(traits=[BH3]))
    question = empty[question_id]
    assert {name: getattr(question, name) for name in FIELDS} == FIELDS
    assert (question.answer_template, question.finished) == (TEMPLATE, False)
    assert empty.get_question_rubric(question_id) == Rubric(traits=[BH3])
    assert question.question_rubric == Rubric(traits=[BH3]).model_dump(mode="json")


HALF = "a\ud800b"


@pytest.mark.parametrize(
    "fields",
    [
        {"question": HALF},
        {"question": HALF, "question_id": "q1"},
        {"raw_answer": HALF},
        {"keywords": [HALF]},
        {"answer_notes": HALF},
        {"author": {"name": HALF}},
        {"sources": [{"title": HALF}]},
        {"custom_metadata": {HALF: 1}},
        {"few_shot_examples": [FewShotExample(question="a", answer=HALF)]},
        {"few_shot_examples": [{"question": HALF, "answer": "b"}]},
        {"rubric": {"traits": [{"name": "A", "description": HALF}]}},
        {"question_id": HALF},
    ],
    ids=str,
)
def test_half_a_surrogate_pair_in_any_text_is_refused_in_words(empty: Benchmark, fields: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="holds half a surrogate pair") as caught:
        empty.add_question({"question": "Why?", "raw_answer": "Because", **fields})
    assert caught.value.next
    assert empty.is_empty


def test_every_field_of_a_question_object_survives_a_file(empty: Benchmark) -> None:
    question = Question(
        **FIELDS, answer_template=TEMPLATE, question_rubric=Rubric(traits=[BH3]).model_dump(mode="json")
    )
    question_id = empty.add_question_from_object(question)
    assert empty[question_id] == question
    assert Benchmark.from_json(empty.to_json())[question_id] == question
    assert empty.get_question_rubric(question_id).trait("BH3")


def test_a_dict_is_a_question_too(empty: Benchmark) -> None:
    data = {**FIELDS, "id": "mine", "finished": False, "rubric": {"traits": [{"name": "Clarity"}]}}
    assert empty.add_question(data) == "mine"
    assert not empty["mine"].finished
    assert empty.get_question_rubric("mine").traits == [RubricTrait(name="Clarity")]


def test_the_older_name_of_keywords_is_accepted(empty: Benchmark) -> None:
    empty.add_question({"question": "Why?", "raw_answer": "x", "tags": ["a"]})
    assert empty[0].keywords == ["a"]


def test_arguments_win_over_the_object(empty: Benchmark) -> None:
    empty.add_question(Question(**FIELDS), raw_answer="Other", question_id="q1")
    assert empty["q1"].raw_answer == "Other"


def test_a_question_moves_between_benchmarks_with_its_id(empty: Benchmark) -> None:
    source = small_benchmark()
    assert empty.add_question(source["sky"]) == "sky"
    assert not empty["sky"].finished
    assert empty.add_question(source["sky"]) == "sky"
    assert len(empty) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"question": "", "raw_answer": "x"}, "no text"),
        ({"question": "Why?"}, "no reference answer"),
        ({"question": "Why?", "raw_answer": " "}, "no reference answer"),
        ({"question": {"raw_answer": "x"}}, "no text"),
        ({"question": {"question": "Why?", "raw_answer": "x", "anwser_notes": "x"}}, "anwser_notes"),
        ({"question": "Why?", "raw_answer": "x", "author": "Ada"}, "author"),
        ({"question": "Why?", "raw_answer": "x", "workspace_path": "../x"}, "workspace path"),
        ({"question": "Why?", "raw_answer": "x", "rubric": {"traits": [{"name": "a"}, {"name": "a"}]}}, "unique"),
    ],
)
def test_unusable_questions_are_refused(empty: Benchmark, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        empty.add_question(**arguments)
    assert empty.is_empty


def test_an_unreadable_template_is_refused(empty: Benchmark) -> None:
    with pytest.raises(TemplateError) as caught:
        empty.add_question("Why?", "x", answer_template=BROKEN_TEMPLATE)
    assert caught.value.line == 1
    assert empty.is_empty


def test_a_taken_id_is_refused(empty: Benchmark) -> None:
    empty.add_question("Why?", "x", question_id="q1")
    with pytest.raises(InputError, match="'q1' is taken"):
        empty.add_question("Why not?", "x", question_id="q1")


def test_an_explicit_id_makes_a_question_of_its_own(empty: Benchmark) -> None:
    empty.add_question("Why?", "x")
    empty.add_question("Why?", "x", question_id="again")
    assert len(empty) == 2
    assert [problem.question_id for problem in empty.check() if "same text" in problem.what] == ["again"]


def test_the_same_text_again_gains_what_is_new(empty: Benchmark) -> None:
    first = empty.add_question("Why?", "x", keywords=["a"])
    again = empty.add_question(
        "Why?", "x", answer_template=TEMPLATE, keywords=["a", "b"], rubric=Rubric(traits=[BH3]), answer_notes="n"
    )
    assert again == first
    assert len(empty) == 1
    question = empty[first]
    assert (question.answer_template, question.keywords, question.answer_notes) == (TEMPLATE, ["a", "b"], "n")
    assert empty.get_question_rubric(first).trait("BH3")
    (notice,) = empty.notices
    assert "'Why?' is there already" in notice
    assert "changed answer_notes, answer_template, keywords, question_rubric." in notice


def test_the_same_text_again_never_overwrites_silently(empty: Benchmark) -> None:
    empty.add_question("Why?", "x", TEMPLATE, rubric=Rubric(traits=[CLARITY, POLITE]), author={"name": "Ada"})
    changed = CLARITY.model_copy(update={"description": "Another"})
    empty.add_question(
        "Why?", "y", OTHER_TEMPLATE, finished=False, rubric=Rubric(traits=[changed]), author={"name": "Ben"}
    )
    question = empty[0]
    assert (question.raw_answer, question.author, question.finished) == ("x", {"name": "Ada"}, False)
    assert question.answer_template == OTHER_TEMPLATE
    assert [trait.name for trait in empty.get_question_rubric(question.id).traits] == ["Clarity", "Polite"]
    what = "changed answer_template, finished, question_rubric; kept its own raw_answer, author."
    assert empty.notices[0].endswith(what)


def test_adding_exactly_the_same_changes_nothing(empty: Benchmark) -> None:
    empty.add_question(**FIELDS)
    before = empty.modified_at
    empty.add_question(**FIELDS)
    assert empty.modified_at == before
    assert empty.notices[0].endswith("nothing changed.")


def test_several_at_once(empty: Benchmark) -> None:
    questions = [Question(question=f"{number}?", raw_answer="x") for number in range(3)]
    ids = empty.add_questions(questions, finished=False)
    assert ids == empty.get_question_ids()
    assert empty.add_questions_batch(questions) == ids
    assert (len(empty), empty.finished_count) == (3, 0)


def test_reading() -> None:
    empty = small_benchmark()
    assert empty.get_question("lungs") is empty.get_question_as_object("lungs")
    assert empty.get_all_questions(ids_only=True) == ["target", "lungs", "sky"]
    assert empty.get_all_questions() == empty.get_all_questions_as_objects() == list(empty)


def test_removing() -> None:
    empty = small_benchmark()
    assert empty.remove_question("lungs")
    assert not empty.remove_question("lungs")
    assert "lungs" not in empty
    assert empty.add_question("How many lungs?", "2") == hashlib.md5(b"How many lungs?").hexdigest()
    assert empty.clear_questions() == 3
    assert empty.is_empty


ANY_FIELDS = st.fixed_dictionaries(
    {"question": st.text(min_size=1), "raw_answer": st.text(min_size=1)},
    optional={
        "keywords": st.lists(st.text()),
        "date_created": st.text(),
        "date_modified": st.text(),
        "answer_notes": st.none() | st.text(),
        "author": st.none() | st.dictionaries(st.text(), st.integers()),
        "answer_template": st.none() | st.text(),
        "custom_metadata": st.none() | st.dictionaries(st.text(), st.integers()),
    },
)


def question_of(**fields: Any) -> BenchmarkQuestion:
    return BenchmarkQuestion.model_validate({"question": "Why?", "raw_answer": "So.", **fields})


@given(ANY_FIELDS)
def test_a_question_says_what_it_was_given(fields: dict[str, Any]) -> None:
    question = BenchmarkQuestion.model_validate(fields)
    assert {name: getattr(question, name) for name in fields} == fields
    assert question.model_fields_set == set(fields)
    assert list(vars(question)) == list(BenchmarkQuestion.model_fields)
    assert question == Question.model_validate({**question.model_dump(exclude={"id"})})


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, BenchmarkQuestion.model_copy])
def test_a_copy_equals_the_question(copied: Any) -> None:
    question = question_of(keywords=["a"], stored_id="q1", finished=False)
    again = copied(question)
    assert (again, again.id, again.finished) == (question, "q1", False)
    assert again.model_dump_json() == question.model_dump_json()


def test_a_question_stays_read_only() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(question_of(), "question", "What?")  # noqa: B010  # the type checker knows better


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


@pytest.mark.parametrize(
    "fields",
    [{"question": " "}, {"raw_answer": ""}, {"nonsense": 1}, {"id": "x"}, {"keywords": 3}, {"workspace_path": "/etc"}],
)
def test_unusable_fields_change_nothing(benchmark: Benchmark, fields: dict[str, object]) -> None:
    before = benchmark.to_json()
    with pytest.raises(InputError):
        benchmark.edit_question("lungs", **fields)
    assert benchmark.to_json() == before


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


class Answer(BaseAnswer):
    count: int = Field(description="How many lungs.")

    def ground_truth(self) -> None:
        self.correct = {"count": 2}

    def verify(self) -> bool:
        return bool(self.count == self.correct["count"])


def test_a_template_may_be_source_or_class(benchmark: Benchmark) -> None:
    benchmark.add_answer_template("lungs", TEMPLATE)
    assert benchmark.get_template("lungs") == TEMPLATE
    benchmark.update_template("lungs", Answer)
    assert "count: int" in (benchmark.get_template("lungs") or "")


@pytest.mark.parametrize("source", [BROKEN_TEMPLATE, "x = 1", "import os\nos.system('true')"])
def test_a_template_that_cannot_be_read_is_refused(benchmark: Benchmark, source: str) -> None:
    with pytest.raises(TemplateError):
        benchmark.add_answer_template("target", source)
    with pytest.raises(InputError, match="empty"):
        benchmark.add_answer_template("target", " ")
    assert benchmark.get_template("target") == TEMPLATE


def test_taking_a_template_away(benchmark: Benchmark) -> None:
    assert benchmark.remove_template("target")
    assert not benchmark.remove_template("target")
    assert (benchmark.has_template("target"), benchmark.get_template("target")) == (False, None)


def test_copying_a_template(benchmark: Benchmark) -> None:
    benchmark.copy_template("target", "lungs")
    assert benchmark.get_template("lungs") == TEMPLATE
    benchmark.remove_template("target")
    with pytest.raises(InputError, match="no template to copy"):
        benchmark.copy_template("target", "lungs")


def test_one_template_for_all_questions_without(benchmark: Benchmark) -> None:
    assert benchmark.get_missing_templates() == ["lungs"]
    assert benchmark.apply_global_template(OTHER_TEMPLATE) == ["lungs"]
    assert benchmark.get_missing_templates() == []
    assert benchmark.get_template("target") == TEMPLATE


def test_templates_of_finished_questions(benchmark: Benchmark) -> None:
    assert benchmark.get_finished_templates() == {"target": TEMPLATE}
    assert benchmark.get_finished_templates(["lungs", "sky"]) == {}
