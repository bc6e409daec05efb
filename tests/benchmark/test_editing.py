"""Questions edited by people: one as a form, and many at once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.benchmark import (
    Benchmark,
    BenchmarkQuestion,
    apply_edits,
    fields_of,
    form_of,
    review_edits,
    take_back,
)
from karenina_core.benchmark.editing import text_of_value, value_of_text
from karenina_core.errors import InputError
from karenina_core.schemas.entities.question import question_id as id_of

WHOLE: dict[str, Any] = {
    "raw_answer": "BCL2",
    "keywords": ["oncology", "drugs"],
    "answer_notes": "Accept Bcl-2.",
    "author": {"@type": "Person", "name": "Ada", "email": "ada@example.org", "affiliation": {"name": "Lab"}},
    "sources": [{"@type": "ScholarlyArticle", "name": "A paper", "url": "https://example.org"}, {"doi": 7}],
    "few_shot_examples": [{"question": "1+1?", "answer": "2"}],
    "workspace_path": "task_01",
    "custom_metadata": {"difficulty": "hard", "level": 5, "code": "007", "tags": ["a", 1, None], "on": True},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def question(**fields: Any) -> BenchmarkQuestion:
    benchmark = Benchmark.create("One")
    return benchmark.get_question(benchmark.add_question("What is the target?", **{"raw_answer": "x", **fields}))


def read(edits: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return fields_of({**form_of(question(**fields)), **edits}, edits)


def test_a_form_that_nobody_touched_says_nothing() -> None:
    assert fields_of(form_of(question(**WHOLE)), ()) == {}


def test_a_whole_form_read_back_is_the_same_question() -> None:
    whole = question(**WHOLE)
    form = form_of(whole)
    benchmark = Benchmark.create("Other")
    name = benchmark.add_question("x", "y")
    benchmark.update_question(name, **fields_of(form, form))
    again = benchmark.get_question(name)
    names = ["question", "finished", "answer_template", *WHOLE]
    assert {field: getattr(again, field) for field in names} == {field: getattr(whole, field) for field in names}


def test_what_the_form_has_no_place_for_is_shown_as_json() -> None:
    form = form_of(question(**WHOLE))
    assert (form["author_name"], form["author_affiliation"]) == ("Ada", "")
    assert form["author_more"] == '{"@type": "Person", "affiliation": {"name": "Lab"}}'
    assert form["sources"][1] == {"name": "", "url": "", "more": '{"doi": 7}'}


BLANK_AUTHOR = {"author_name": "", "author_email": "", "author_affiliation": "", "author_more": " "}
ROWS = [{"name": None, "url": " ", "more": None}, {"name": "A book", "url": None, "more": ""}]


@pytest.mark.parametrize(
    ("edits", "fields"),
    [
        ({"author_name": "Grace"}, {"author": {**WHOLE["author"], "name": "Grace"}}),
        (BLANK_AUTHOR, {"author": None}),
        ({**BLANK_AUTHOR, "author_email": " a@b.org "}, {"author": {"@type": "Person", "email": "a@b.org"}}),
        ({"answer_notes": " ", "workspace_path": ""}, {"answer_notes": None, "workspace_path": None}),
        ({"sources": ROWS}, {"sources": [{"name": "A book"}]}),
        ({"few_shot_examples": [{"question": "", "answer": None}]}, {"few_shot_examples": None}),
    ],
)
def test_what_was_edited_is_read_without_blanks(edits: dict[str, Any], fields: dict[str, Any]) -> None:
    assert read(edits, **WHOLE) == fields


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ({"author_more": "orcid 7"}, "other details of the author are no JSON"),
        ({"author_more": "[1]"}, "no JSON object"),
        ({"sources": [{"name": "a"}, {"name": "b", "more": "{"}]}, "other details of source 2"),
        ({"few_shot_examples": [{"question": "1+1?", "answer": " "}]}, "example 1 has no answer"),
        ({"few_shot_examples": [{"question": None, "answer": "2"}]}, "example 1 has no question"),
        ({"custom_metadata": [{"name": "", "value": "x"}]}, "a value and no name"),
        ({"custom_metadata": [{"name": "a", "value": "x"}, {"name": "a ", "value": "y"}]}, "'a' is there twice"),
        ({"custom_metadata": [{"name": "a", "value": '{"b": '}]}, "begins like JSON"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(edits: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(edits)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("0.5", 0.5),
        ("true", True),
        ("null", None),
        ('"5"', "5"),
        ("[1, 2]", [1, 2]),
        ("five", "five"),
        ("", ""),
        *((text, text) for text in ("NaN", "Infinity", "007", "a: b", " x ")),
    ],
)
def test_a_value_is_json_where_it_reads_as_such_and_text_otherwise(text: str, value: object) -> None:
    assert value_of_text(text) == value


@given(JSON)
def test_every_json_value_survives_being_shown(value: object) -> None:
    assert value_of_text(text_of_value(value)) == value
    assert type(value_of_text(text_of_value(value))) is type(value)


ONE, TWO, THREE = (id_of(text) for text in ("One?", "Two?", "Three?"))


@pytest.fixture
def three() -> Benchmark:
    made = Benchmark.create("Three")
    for text in ("One?", "Two?", "Three?"):
        made.add_question(text, "x", finished=False)
    return made


def test_a_review_counts_questions_and_changes_of_identity(three: Benchmark) -> None:
    review = review_edits(three, {ONE: {"question": "First?", "raw_answer": "1"}, TWO: {"finished": True}})
    assert (review.questions, len(review.changes), review.renamed) == (2, 3, (ONE,))
    assert not review.problems
    assert review_edits(three, {ONE: {"question": "One?", "finished": False}}).changes == ()


def test_a_text_whose_id_never_followed_from_it_is_not_renamed_by_its_own_text() -> None:
    three = Benchmark.create("Own")
    three.add_question("Old?", "x", question_id=id_of("New?"))
    assert review_edits(three, {id_of("New?"): {"question": "New?"}}).renamed == ()


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
    three: Benchmark, edits: dict[str, dict[str, object]], said: str
) -> None:
    assert review_edits(three, edits).problems == (said,)


def test_edits_of_questions_that_are_gone_are_named(three: Benchmark) -> None:
    review = review_edits(three, {"nowhere": {"finished": True}})
    assert (review.gone, review.changes) == (("nowhere",), ())


def test_edits_are_applied_in_place(three: Benchmark) -> None:
    apply_edits(three, {TWO: {"question": "Second?", "keywords": ["k"]}, ONE: {"finished": True}})
    assert three.get_question_ids() == [ONE, id_of("Second?"), THREE]
    assert three.get_question(ONE).finished
    assert three.get_question(id_of("Second?")).keywords == ["k"]
    apply_edits(three, {THREE: {"question": "Third?"}}, keep_ids=True)
    assert three.get_question(THREE).question == "Third?"


def test_applying_can_be_taken_back_with_the_ids(three: Benchmark) -> None:
    before = three.to_json()
    applied = apply_edits(three, {TWO: {"question": "Second?", "keywords": ["k"]}, ONE: {"finished": True}})
    assert take_back(three, applied) == 0
    again = Benchmark.from_json(before)
    assert three.get_question_ids() == again.get_question_ids()
    for question in again:
        restored = three.get_question(question.id)
        assert (restored.question, restored.keywords, restored.finished) == (
            question.question, question.keywords, question.finished,
        )  # fmt: skip


def test_taking_back_leaves_what_was_changed_since(three: Benchmark) -> None:
    applied = apply_edits(three, {ONE: {"raw_answer": "1", "finished": True}, TWO: {"raw_answer": "2"}})
    three.edit_question(ONE, raw_answer="newer")
    three.remove_question(TWO)
    assert take_back(three, applied) == 2
    question = three.get_question(ONE)
    assert (question.raw_answer, question.finished) == ("newer", False)


def test_an_id_is_given_only_where_it_is_free(three: Benchmark) -> None:
    three.give_id(ONE, "first")
    assert three.get_question_ids() == ["first", TWO, THREE]
    assert three.renamed == [(ONE, "first")]
    with pytest.raises(InputError, match="taken"):
        three.give_id("first", TWO)


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
