from __future__ import annotations

import pytest

from karenina_core.analysis import disputes, stance
from karenina_core.schemas import Annotation


def review(author: str, cause: str | None = None, minute: int = 0, **parts) -> Annotation:
    given = {"run_id": "r1", "result_id": "x", "agrees": False, "at": f"2026-03-01T12:{minute:02}:00Z"}
    return Annotation(**given | parts, author=author, cause=cause)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"cause": "judge_misread"}, "the judge misread it"),
        ({"cause": "answer_wrong", "agrees": True}, "the answer is wrong"),
        ({"agrees": True}, "agrees"),
        ({"agrees": False}, "disagrees"),
    ],
)
def test_an_opinion_is_its_cause_or_else_what_it_thinks_of_the_verdict(parts: dict[str, object], words: str) -> None:
    assert stance(review("Ann", **parts)) == words


def test_two_people_who_name_different_causes_disagree() -> None:
    ann, bob = review("Ann", "answer_wrong", 1, agrees=True), review("Bob", "judge_misread", 2)
    assert disputes([bob, ann]) == {"x": (ann, bob)}


def test_one_person_may_change_the_mind() -> None:
    first, second = review("Ann", "answer_wrong", 1, agrees=True), review("Ann", "judge_misread", 2)
    assert disputes([first, second]) == {}
    assert disputes([first, second, review("Bob", "judge_misread", 3)]) == {}


def test_a_cause_that_only_one_names_is_no_dispute() -> None:
    assert disputes([review("Ann", "judge_misread", 1), review("Bob", None, 2)]) == {}
    assert "x" in disputes([review("Ann", None, 1, agrees=True), review("Bob", None, 2)])


def test_what_was_taken_back_or_is_about_a_field_disputes_nothing() -> None:
    ann = review("Ann", "answer_wrong", 1, agrees=True)
    assert disputes([ann, review("Bob", "judge_misread", 2, undone=True)]) == {}
    assert disputes([ann, review("Bob", "judge_misread", 2, field="target")]) == {}
