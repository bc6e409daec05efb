"""Primitives of one's own, with and without registration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from karenina_core.errors import InputError
from karenina_core.schemas.entities import BaseAnswer, VerifiedField
from karenina_core.schemas.primitives import (
    REGISTRY,
    TracePrimitive,
    VerificationPrimitive,
    _register_primitive,
    primitive_from_dict,
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
