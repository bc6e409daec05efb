"""A question keeps little beside its texts, and nobody can tell from what it says and does."""

from __future__ import annotations

import copy
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from karenina_core.benchmark import BenchmarkQuestion
from karenina_core.schemas import Question

FIELDS = st.fixed_dictionaries(
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


def made(**fields: Any) -> BenchmarkQuestion:
    return BenchmarkQuestion.model_validate({"question": "Why?", "raw_answer": "So.", **fields})


@given(FIELDS)
def test_a_question_says_what_it_was_given(fields: dict[str, Any]) -> None:
    question = BenchmarkQuestion.model_validate(fields)
    assert {name: getattr(question, name) for name in fields} == fields
    assert question.model_fields_set == set(fields)
    assert list(vars(question)) == list(BenchmarkQuestion.model_fields)
    assert question == Question.model_validate({**question.model_dump(exclude={"id"})})


def test_the_fields_of_a_question_take_less_room_than_in_a_dictionary_of_their_own() -> None:
    questions = [made() for _ in range(100)]
    own = dict.fromkeys(BenchmarkQuestion.model_fields)
    assert sys.getsizeof(vars(questions[-1])) < 0.7 * sys.getsizeof(own)


def test_questions_with_the_same_fields_share_the_names_of_them() -> None:
    one, other, third = made(), made(question="Who?"), made(answer_notes="None.")
    assert one.model_fields_set is other.model_fields_set
    assert third.model_fields_set == {"question", "raw_answer", "answer_notes"}


def test_changing_a_copy_changes_no_other_question() -> None:
    one, other = made(), made()
    changed = one.model_copy(update={"finished": False, "answer_notes": "Changed."})
    assert (changed.finished, changed.answer_notes) == (False, "Changed.")
    assert changed.model_fields_set == {"question", "raw_answer", "finished", "answer_notes"}
    assert (one.finished, one.answer_notes, one.model_fields_set) == (True, None, other.model_fields_set)


def test_questions_do_not_share_their_lists() -> None:
    one, other = made(), made()
    one.keywords.append("odd")
    assert other.keywords == []


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, BenchmarkQuestion.model_copy])
def test_a_copy_equals_the_question(copied: Any) -> None:
    question = made(keywords=["a"], stored_id="q1", finished=False)
    again = copied(question)
    assert (again, again.id, again.finished) == (question, "q1", False)
    assert again.model_dump_json() == question.model_dump_json()


def test_a_question_stays_read_only() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(made(), "question", "What?")  # noqa: B010  # the type checker knows better


def test_a_question_built_without_its_text_has_none() -> None:
    given: Any = {"raw_answer": "So."}
    assert not hasattr(BenchmarkQuestion.model_construct(**given), "question")
