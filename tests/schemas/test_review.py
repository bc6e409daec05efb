"""Reviews by people, words for failures, and models that share their layout."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from pydantic import BaseModel, ValidationError

from karenina_core.benchmark import Benchmark
from karenina_core.schemas import (
    CAUSES,
    MAX_NOTE,
    NO_VERDICT,
    Annotation,
    FailureCategory,
    agrees_with,
    failure_in_words,
    latest_reviews,
)
from karenina_core.schemas.results import FAILURE_WORDS, failures_in_words
from karenina_core.templates import FieldSpec, TemplateSpec

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


@pytest.mark.parametrize("wrong", [{"cause": "bad luck"}, {"note": "x" * (MAX_NOTE + 1)}, {"at": "2026-03-01T12:00"}])
def test_what_is_no_review_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        review(**wrong)


def test_every_category_has_words() -> None:
    assert set(FAILURE_WORDS) == {*get_args(FailureCategory), NO_VERDICT}


def test_counts_are_listed_the_most_frequent_first() -> None:
    assert failures_in_words({"parsing": 1, "abstention": 2}) == (
        "2 × the model declined to answer, 1 × the judge's reply could not be read"
    )


def test_a_category_of_a_newer_version_is_shown_as_it_is() -> None:
    assert failure_in_words("lost_in_space") == "lost in space"


def many() -> list[tuple[BaseModel, BaseModel]]:
    """Return pairs of models of one class with different content."""
    benchmark = Benchmark.create("Two")
    ids = [benchmark.add_question(f"Which {what}?", what) for what in ("sign", "colour")]
    first, second = (benchmark.get_question_as_object(question_id) for question_id in ids)
    return [
        (first, second),
        (FieldSpec(name="sign", ground_truth="S1"), FieldSpec(name="colour", ground_truth="red")),
        (TemplateSpec(own_code=False), TemplateSpec(own_code=True)),
    ]


@pytest.mark.parametrize("first, second", many())
def test_models_of_one_class_share_the_set_of_what_was_given_and_no_content(
    first: BaseModel, second: BaseModel
) -> None:
    assert first.__pydantic_fields_set__ is second.__pydantic_fields_set__
    assert first != second
    assert type(first).model_validate(first.model_dump(exclude_computed_fields=True)) == first


@pytest.mark.parametrize("model", [model for pair in many() for model in pair])
def test_copies_are_equal_and_changed_copies_change_nothing_else(model: BaseModel) -> None:
    given = set(model.model_fields_set)
    assert copy.deepcopy(model) == model
    assert model.model_copy(update={"weight": 2.0}).model_fields_set == given | {"weight"}
    assert model.model_fields_set == given


def test_they_stay_read_only_and_remember_what_was_given() -> None:
    spec = TemplateSpec(own_code=True)
    with pytest.raises(ValidationError, match="frozen"):
        spec.own_code = False
    assert spec.model_fields_set == {"own_code"}
    assert TemplateSpec().model_fields_set == set()
