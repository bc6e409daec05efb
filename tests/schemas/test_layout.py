"""Thousands of questions and fields share what they have alike, and stay what they are."""

from __future__ import annotations

import copy

import pytest
from pydantic import BaseModel, ValidationError

from karenina_core.benchmark import Benchmark
from karenina_core.templates import FieldSpec, TemplateSpec


def many() -> list[tuple[BaseModel, BaseModel]]:
    """Return pairs of models of one class with different content."""
    benchmark = Benchmark.create("Two")
    ids = [benchmark.add_question(f"Which {what}?", what) for what in ("sign", "colour")]
    first, second = (benchmark.get_question_as_object(question_id) for question_id in ids)
    return [
        (first, second),
        (FieldSpec(name="sign", ground_truth="S1"), FieldSpec(name="colour", ground_truth="red")),
        (TemplateSpec(class_name="Answer"), TemplateSpec(class_name="Reply")),
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
