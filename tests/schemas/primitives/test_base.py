"""Primitives of one's own, with and without registration, and what suits which type of field."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any, Literal, Optional, get_args

import pytest

from karenina_core.errors import InputError
from karenina_core.schemas import NATURAL, applicable, field_kind, suggest
from karenina_core.schemas.entities import BaseAnswer, VerifiedField
from karenina_core.schemas.primitives import (
    REGISTRY,
    BooleanMatch,
    DateMatch,
    ExactMatch,
    FieldKind,
    LiteralMatch,
    NumericExact,
    NumericRange,
    SetContainment,
    TracePrimitive,
    VerificationPrimitive,
    _register_primitive,
    primitive_from_dict,
    stored_form,
)


class CaseInsensitiveContains(VerificationPrimitive):
    """Pass if ground truth appears as a substring of the extracted value."""

    def check(self, extracted: Any, expected: Any) -> bool:
        return str(expected).lower() in str(extracted).lower()


class TraceWordCount(TracePrimitive):
    """Pass if the response word count falls within bounds."""

    min_words: int = 0
    max_words: int = 10000

    def check_trace(self, raw_trace: str) -> bool:
        count = len(raw_trace.split())
        return self.min_words <= count <= self.max_words


class Answer(BaseAnswer):
    drug: str = VerifiedField(
        description="The drug named", ground_truth="venetoclax", verify_with=CaseInsensitiveContains()
    )
    short: bool = VerifiedField(
        description="Whether the response is short", ground_truth=True, verify_with=TraceWordCount(max_words=3)
    )


@pytest.fixture
def registered() -> Iterator[type[TraceWordCount]]:
    yield _register_primitive(TraceWordCount)
    del REGISTRY["TraceWordCount"]


def test_an_instance_works_without_registration() -> None:
    answer = Answer(drug="Venetoclax (Venclexta)", short=False)
    answer._raw_trace = "It is venetoclax."
    assert answer.verify()
    answer._raw_trace = "It is, I believe, venetoclax."
    assert answer.field_results() == {"drug": True, "short": False}


def test_null_never_passes_a_rule_of_ones_own_in_a_template() -> None:
    answer = Answer.model_construct(drug=None, short=True)
    answer._raw_trace = "none"
    assert answer.field_results()["drug"] is None
    assert not answer.verify()


def test_without_registration_the_stored_form_cannot_be_read_back() -> None:
    with pytest.raises(InputError, match="no verification primitive named 'CaseInsensitiveContains'"):
        primitive_from_dict(CaseInsensitiveContains().to_dict())


def test_with_registration_it_can(registered: type[TraceWordCount]) -> None:
    rule = registered(min_words=2)
    assert rule.to_dict() == {"type": "TraceWordCount", "min_words": 2, "max_words": 10000}
    assert primitive_from_dict(rule.to_dict()) == rule


def test_explanations_exist_without_being_written() -> None:
    explained = CaseInsensitiveContains().explain("Venclexta", "venetoclax")
    assert (explained.passed, explained.reason) == (False, "'Venclexta' does not match 'venetoclax'")
    assert TraceWordCount().explain_trace("two words").passed


def test_a_rule_without_a_check_says_so() -> None:
    with pytest.raises(NotImplementedError, match="must implement check"):
        type("Empty", (VerificationPrimitive,), {})().check(1, 1)
    with pytest.raises(NotImplementedError, match="must implement check_trace"):
        type("EmptyTrace", (TracePrimitive,), {})().check_trace("")


STRIPS = {"type": "ExactMatch", "normalize": ["strip"]}


def test_the_stored_form_is_complete() -> None:
    assert stored_form({"type": "ExactMatch"}) == ExactMatch().to_dict()


def test_a_change_to_one_does_not_reach_another_of_the_same_content() -> None:
    first = primitive_from_dict(STRIPS)
    assert isinstance(first, ExactMatch)
    first.normalize.append("lowercase")
    stored_form(STRIPS)["normalize"].append("lowercase")
    assert primitive_from_dict(STRIPS) == ExactMatch(normalize=["strip"])
    assert stored_form(STRIPS)["normalize"] == ["strip"]


def test_values_that_are_equal_and_not_the_same_are_kept_apart() -> None:
    for value in (0.0, -0.0, 0.0):
        found = stored_form({"type": "NumericRange", "min": value, "max": 1.0})["min"]
        assert math.copysign(1, found) == math.copysign(1, value)
    assert [type(stored_form({"type": "NumericRange", "min": low})["min"]) for low in (1, 1.0)] == [
        type(NumericRange(min=low).to_dict()["min"]) for low in (1, 1.0)
    ]


@pytest.mark.parametrize(
    ("field_type", "natural"),
    [
        (bool, BooleanMatch),
        (str, ExactMatch),
        (int, NumericExact),
        (float, NumericExact),
        (list[str], SetContainment),
        (Literal["I", "II"], LiteralMatch),
        (date, DateMatch),
        ("date", DateMatch),
        ("list[str]", SetContainment),
        (Optional[int], NumericExact),  # noqa: UP045 - templates write it both ways
        (str | None, ExactMatch),
        (Annotated[bool, "note"], BooleanMatch),
    ],
)
def test_the_natural_primitive(field_type: Any, natural: type[VerificationPrimitive]) -> None:
    assert suggest(field_type) is natural


@pytest.mark.parametrize("field_type", [dict, list[int], int | str, "colour", None, object, ["str"]])
def test_other_types_have_no_natural_primitive(field_type: Any) -> None:
    assert field_kind(field_type) is None
    assert suggest(field_type) is None


def test_every_kind_has_a_natural_primitive_made_for_it() -> None:
    assert set(NATURAL) == set(get_args(FieldKind))
    assert all(NATURAL[kind].applies_to[0] == kind or kind == "float" for kind in NATURAL)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("bool", ["BooleanMatch", "TraceContains", "TraceLength", "TraceRegex"]),
        ("int", ["NumericExact", "NumericRange", "NumericTolerance"]),
        ("list[str]", ["SetContainment", "OrderedMatch"]),
        ("literal", ["LiteralMatch"]),
        ("date", ["DateMatch", "DateRange", "DateTolerance"]),
    ],
)
def test_all_primitives_of_a_kind_the_natural_one_first(kind: str, names: list[str]) -> None:
    found = [cls.__name__ for cls in applicable(kind)]
    assert found[0] == names[0]
    assert sorted(found) == sorted(names)


def test_texts_can_be_dates_too() -> None:
    names = [cls.__name__ for cls in applicable(str)]
    assert names[0] == "ExactMatch"
    assert {"ContainsAny", "ContainsAll", "RegexMatch", "SemanticMatch", "DateMatch"} < set(names)
