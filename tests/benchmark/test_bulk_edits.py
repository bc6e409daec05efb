"""Changing many questions at once."""

from __future__ import annotations

import pytest

from karenina_core.benchmark import Benchmark, apply_edits, review_edits, take_back
from karenina_core.errors import InputError
from karenina_core.schemas.entities.question import question_id as id_of

ONE, TWO, THREE = (id_of(text) for text in ("One?", "Two?", "Three?"))


@pytest.fixture
def benchmark() -> Benchmark:
    made = Benchmark.create("Three")
    for text in ("One?", "Two?", "Three?"):
        made.add_question(text, "x", finished=False)
    return made


def test_a_review_counts_questions_and_changes_of_identity(benchmark: Benchmark) -> None:
    review = review_edits(benchmark, {ONE: {"question": "First?", "raw_answer": "1"}, TWO: {"finished": True}})
    assert (review.questions, len(review.changes), review.renamed) == (2, 3, (ONE,))
    assert not review.problems


def test_values_that_stay_the_same_are_no_changes(benchmark: Benchmark) -> None:
    assert review_edits(benchmark, {ONE: {"question": "One?", "finished": False}}).changes == ()


def test_a_text_whose_id_never_followed_from_it_is_not_renamed_by_its_own_text() -> None:
    benchmark = Benchmark.create("Own")
    benchmark.add_question("Old?", "x", question_id=id_of("New?"))
    assert review_edits(benchmark, {id_of("New?"): {"question": "New?"}}).renamed == ()


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ({ONE: {"question": " "}}, "1 question has no text."),
        ({ONE: {"raw_answer": ""}, TWO: {"raw_answer": ""}}, "2 questions have no reference answer."),
        ({ONE: {"question": "Two?"}}, "More than one question would have the text 'Two?'."),
        (
            {ONE: {"question": "Same?"}, TWO: {"question": "Same?"}},
            "More than one question would have the text 'Same?'.",
        ),
    ],
)
def test_what_cannot_be_saved_is_said_beforehand(
    benchmark: Benchmark, edits: dict[str, dict[str, object]], said: str
) -> None:
    assert review_edits(benchmark, edits).problems == (said,)


def test_edits_of_questions_that_are_gone_are_named(benchmark: Benchmark) -> None:
    review = review_edits(benchmark, {"nowhere": {"finished": True}})
    assert (review.gone, review.changes) == (("nowhere",), ())


def test_edits_are_applied_in_place(benchmark: Benchmark) -> None:
    apply_edits(benchmark, {TWO: {"question": "Second?", "keywords": ["k"]}, ONE: {"finished": True}})
    assert benchmark.get_question_ids() == [ONE, id_of("Second?"), THREE]
    assert benchmark.get_question(ONE).finished
    assert benchmark.get_question(id_of("Second?")).keywords == ["k"]


def test_ids_can_be_kept(benchmark: Benchmark) -> None:
    apply_edits(benchmark, {TWO: {"question": "Second?"}}, keep_ids=True)
    assert benchmark.get_question(TWO).question == "Second?"


def test_applying_can_be_taken_back_with_the_ids(benchmark: Benchmark) -> None:
    before = benchmark.to_json()
    applied = apply_edits(benchmark, {TWO: {"question": "Second?", "keywords": ["k"]}, ONE: {"finished": True}})
    assert take_back(benchmark, applied) == 0
    again = Benchmark.from_json(before)
    assert benchmark.get_question_ids() == again.get_question_ids()
    for question in again:
        restored = benchmark.get_question(question.id)
        assert (restored.question, restored.keywords, restored.finished) == (
            question.question, question.keywords, question.finished,
        )  # fmt: skip


def test_taking_back_leaves_what_was_changed_since(benchmark: Benchmark) -> None:
    applied = apply_edits(benchmark, {ONE: {"raw_answer": "1", "finished": True}, TWO: {"raw_answer": "2"}})
    benchmark.edit_question(ONE, raw_answer="newer")
    benchmark.remove_question(TWO)
    assert take_back(benchmark, applied) == 2
    question = benchmark.get_question(ONE)
    assert (question.raw_answer, question.finished) == ("newer", False)


def test_an_id_is_given_only_where_it_is_free(benchmark: Benchmark) -> None:
    benchmark.give_id(ONE, "first")
    assert benchmark.get_question_ids() == ["first", TWO, THREE]
    assert benchmark.renamed == [(ONE, "first")]
    with pytest.raises(InputError, match="taken"):
        benchmark.give_id("first", TWO)


def test_thousands_of_texts_are_changed_in_one_go_and_back() -> None:
    made = Benchmark.create("Many")
    ids = [made.add_question(f"Is it {number}?", "Yes") for number in range(5_000)]
    applied = apply_edits(made, {name: {"question": f"Was it {at}?"} for at, name in enumerate(ids)})
    assert [item.old_id for item in applied] == ids
    assert made.get_question_ids() == [item.question_id for item in applied]
    assert take_back(made, applied) == 0
    assert made.get_question_ids() == ids


def test_a_text_may_move_on_to_the_next_question() -> None:
    made = Benchmark.create("Moved")
    first, second = made.add_question("One?", "1"), made.add_question("Two?", "2")
    applied = apply_edits(made, {first: {"question": "None?"}, second: {"question": "One?"}})
    assert applied[1].question_id == first
    take_back(made, applied)
    assert made.get_question_ids() == [first, second]


def test_a_text_that_another_question_keeps_is_refused() -> None:
    made = Benchmark.create("Twice")
    first, _ = made.add_question("One?", "1"), made.add_question("Two?", "2")
    with pytest.raises(InputError, match="Another question"):
        apply_edits(made, {first: {"question": "Two?"}})


@pytest.mark.parametrize("fields", [{"colour": "red"}, {"question": None}, {"raw_answer": 5}])
def test_what_is_no_edit_of_a_question_is_refused_in_words(fields: dict[str, object]) -> None:
    made = Benchmark.create("Odd")
    name = made.add_question("One?", "1")
    with pytest.raises(InputError):
        review_edits(made, {name: fields})
