"""Adding, reading and removing questions."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas import FewShotExample, Question, Rubric, RubricTrait
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
def benchmark() -> Benchmark:
    return Benchmark.create("B")


def test_a_text_and_its_answer(benchmark: Benchmark) -> None:
    question_id = benchmark.add_question("Why?", "Because")
    assert question_id == hashlib.md5(b"Why?").hexdigest()
    assert benchmark[question_id].finished
    assert benchmark.notices == []


def test_every_field_as_argument(benchmark: Benchmark) -> None:
    question_id = benchmark.add_question(
        **FIELDS, answer_template=TEMPLATE, finished=False, rubric=Rubric(traits=[BH3])
    )
    question = benchmark[question_id]
    assert {name: getattr(question, name) for name in FIELDS} == FIELDS
    assert (question.answer_template, question.finished) == (TEMPLATE, False)
    assert benchmark.get_question_rubric(question_id) == Rubric(traits=[BH3])
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
def test_half_a_surrogate_pair_in_any_text_is_refused_in_words(benchmark: Benchmark, fields: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="holds half a surrogate pair") as caught:
        benchmark.add_question({"question": "Why?", "raw_answer": "Because", **fields})
    assert caught.value.next
    assert benchmark.is_empty


def test_every_field_of_a_question_object_survives_a_file(benchmark: Benchmark) -> None:
    question = Question(
        **FIELDS, answer_template=TEMPLATE, question_rubric=Rubric(traits=[BH3]).model_dump(mode="json")
    )
    question_id = benchmark.add_question_from_object(question)
    assert benchmark[question_id] == question
    assert Benchmark.from_json(benchmark.to_json())[question_id] == question
    assert benchmark.get_question_rubric(question_id).trait("BH3")


def test_a_dict_is_a_question_too(benchmark: Benchmark) -> None:
    data = {**FIELDS, "id": "mine", "finished": False, "rubric": {"traits": [{"name": "Clarity"}]}}
    assert benchmark.add_question(data) == "mine"
    assert not benchmark["mine"].finished
    assert benchmark.get_question_rubric("mine").traits == [RubricTrait(name="Clarity")]


def test_the_older_name_of_keywords_is_accepted(benchmark: Benchmark) -> None:
    benchmark.add_question({"question": "Why?", "raw_answer": "x", "tags": ["a"]})
    assert benchmark[0].keywords == ["a"]


def test_arguments_win_over_the_object(benchmark: Benchmark) -> None:
    benchmark.add_question(Question(**FIELDS), raw_answer="Other", question_id="q1")
    assert benchmark["q1"].raw_answer == "Other"


def test_a_question_moves_between_benchmarks_with_its_id(benchmark: Benchmark) -> None:
    source = small_benchmark()
    assert benchmark.add_question(source["sky"]) == "sky"
    assert not benchmark["sky"].finished
    assert benchmark.add_question(source["sky"]) == "sky"
    assert len(benchmark) == 1


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
def test_unusable_questions_are_refused(benchmark: Benchmark, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        benchmark.add_question(**arguments)
    assert benchmark.is_empty


def test_an_unreadable_template_is_refused(benchmark: Benchmark) -> None:
    with pytest.raises(TemplateError) as caught:
        benchmark.add_question("Why?", "x", answer_template=BROKEN_TEMPLATE)
    assert caught.value.line == 1
    assert benchmark.is_empty


def test_a_taken_id_is_refused(benchmark: Benchmark) -> None:
    benchmark.add_question("Why?", "x", question_id="q1")
    with pytest.raises(InputError, match="'q1' is taken"):
        benchmark.add_question("Why not?", "x", question_id="q1")


def test_an_explicit_id_makes_a_question_of_its_own(benchmark: Benchmark) -> None:
    benchmark.add_question("Why?", "x")
    benchmark.add_question("Why?", "x", question_id="again")
    assert len(benchmark) == 2
    assert [problem.question_id for problem in benchmark.check() if "same text" in problem.what] == ["again"]


def test_the_same_text_again_gains_what_is_new(benchmark: Benchmark) -> None:
    first = benchmark.add_question("Why?", "x", keywords=["a"])
    again = benchmark.add_question(
        "Why?", "x", answer_template=TEMPLATE, keywords=["a", "b"], rubric=Rubric(traits=[BH3]), answer_notes="n"
    )
    assert again == first
    assert len(benchmark) == 1
    question = benchmark[first]
    assert (question.answer_template, question.keywords, question.answer_notes) == (TEMPLATE, ["a", "b"], "n")
    assert benchmark.get_question_rubric(first).trait("BH3")
    (notice,) = benchmark.notices
    assert "'Why?' is there already" in notice
    assert "added the template; added the keywords b; added answer_notes; added the traits BH3" in notice


def test_the_same_text_again_never_overwrites_silently(benchmark: Benchmark) -> None:
    benchmark.add_question("Why?", "x", TEMPLATE, rubric=Rubric(traits=[CLARITY, POLITE]), author={"name": "Ada"})
    changed = CLARITY.model_copy(update={"description": "Another"})
    benchmark.add_question(
        "Why?", "y", OTHER_TEMPLATE, finished=False, rubric=Rubric(traits=[changed]), author={"name": "Ben"}
    )
    question = benchmark[0]
    assert (question.raw_answer, question.author, question.finished) == ("x", {"name": "Ada"}, False)
    assert question.answer_template == OTHER_TEMPLATE
    assert [trait.name for trait in benchmark.get_question_rubric(question.id).traits] == ["Clarity", "Polite"]
    for part in (
        "replaced its template",
        "replaced the traits Clarity",
        "kept its own raw_answer, author",
        "unfinished",
    ):
        assert part in benchmark.notices[0]


def test_adding_exactly_the_same_changes_nothing(benchmark: Benchmark) -> None:
    benchmark.add_question(**FIELDS)
    before = benchmark.modified_at
    benchmark.add_question(**FIELDS)
    assert benchmark.modified_at == before
    assert benchmark.notices[0].endswith("nothing changed.")


def test_several_at_once(benchmark: Benchmark) -> None:
    questions = [Question(question=f"{number}?", raw_answer="x") for number in range(3)]
    ids = benchmark.add_questions(questions, finished=False)
    assert ids == benchmark.get_question_ids()
    assert benchmark.add_questions_batch(questions) == ids
    assert (len(benchmark), benchmark.finished_count) == (3, 0)


def test_reading() -> None:
    benchmark = small_benchmark()
    assert benchmark.get_question("lungs") is benchmark.get_question_as_object("lungs")
    assert benchmark.get_all_questions(ids_only=True) == ["target", "lungs", "sky"]
    assert benchmark.get_all_questions() == benchmark.get_all_questions_as_objects() == list(benchmark)


def test_removing() -> None:
    benchmark = small_benchmark()
    assert benchmark.remove_question("lungs")
    assert not benchmark.remove_question("lungs")
    assert "lungs" not in benchmark
    assert benchmark.add_question("How many lungs?", "2") == hashlib.md5(b"How many lungs?").hexdigest()
    assert benchmark.clear_questions() == 3
    assert benchmark.is_empty
