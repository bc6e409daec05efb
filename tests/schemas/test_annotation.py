from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from karenina_core.schemas import CAUSE_WORDS, CAUSES, MAX_NOTE, Annotation, agrees_with, latest_reviews

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def review(result_id: str = "r1", minutes: int = 0, **parts: object) -> Annotation:
    given = {"run_id": "run", "result_id": result_id, "agrees": True, "at": NOON + timedelta(minutes=minutes)}
    return Annotation.model_validate(given | parts)


def test_naming_a_cause_says_whether_the_verdict_is_right() -> None:
    right = {(verdict, cause) for verdict in ("pass", "fail", "not_evaluated") for cause in CAUSES
             if agrees_with(verdict, cause)}  # fmt: skip
    assert right == {
        ("fail", "answer_wrong"),
        ("not_evaluated", "unparseable"),
        ("not_evaluated", "abstained"),
        ("not_evaluated", "technical"),
    }


def test_the_last_review_that_stands_counts() -> None:
    reviews = [
        review(minutes=2, agrees=False),
        review(minutes=1),
        review(minutes=3, undone=True),
        review(minutes=4, field="target"),
        review("r2", undone=True),
    ]
    assert {name: item.agrees for name, item in latest_reviews(reviews).items()} == {"r1": False}


def test_a_review_without_a_name_is_somebodys() -> None:
    assert (review(author="Ann").who, review().who) == ("Ann", "Somebody")


def test_every_cause_has_words() -> None:
    assert set(CAUSE_WORDS) == set(CAUSES)


@pytest.mark.parametrize("wrong", [{"cause": "bad luck"}, {"note": "x" * (MAX_NOTE + 1)}, {"at": "2026-03-01T12:00"}])
def test_what_is_no_review_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        review(**wrong)
