"""Truth values, fixed categories and meaning."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from pydantic import ValidationError

from karenina_core.schemas.primitives import BooleanMatch, LiteralMatch, SemanticMatch

MATCH = BooleanMatch()


@pytest.mark.parametrize("truth", [True, False])
def test_equal_truth_values_pass_and_others_fail(truth: bool) -> None:
    assert MATCH.check(truth, truth)
    assert not MATCH.check(not truth, truth)


@pytest.mark.parametrize(
    ("value", "truth"),
    [(float("nan"), True), ([], False), (2, True), (0.0, False), ({}, False), ("", False), ("no", True), ("0", True)],
)
def test_other_types_are_coerced_as_python_does(value: Any, truth: bool) -> None:
    assert MATCH.check(value, truth)


def test_null_is_coerced_too_so_templates_keep_it_away() -> None:
    assert MATCH.check(None, False)
    assert not MATCH.check(None, True)


def test_a_value_without_truth_fails() -> None:
    class Vector:
        def __bool__(self) -> bool:
            raise ValueError("ambiguous")

    assert not MATCH.check(Vector(), True)
    assert not MATCH.check(Vector(), False)


def test_parameters_are_refused() -> None:
    with pytest.raises(ValidationError):
        BooleanMatch(strict=True)  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        LiteralMatch(values=["I"])  # type: ignore[call-arg]


def test_the_explanation_shows_how_a_text_was_read() -> None:
    explained = MATCH.explain("false", True)
    assert explained.passed
    assert [(step.before, step.after) for step in explained.steps] == [('"false"', "True")]
    assert MATCH.explain(False, True).reason == "False differs from the expected True."


class Phase(Enum):
    ONE = "I"
    TWO = "II"


@pytest.mark.parametrize("category", ["III", 3, True, b"III", Phase.ONE])
def test_the_same_category_passes(category: Any) -> None:
    assert LiteralMatch().check(category, category)


@pytest.mark.parametrize(
    ("extracted", "expected"),
    [
        ("II", "III"),
        ("iii", "III"),
        (" III", "III"),
        (1, True),
        (1, "1"),
        (1.0, 1),
        (Phase.ONE, Phase.TWO),
        ("", "III"),
    ],
)
def test_another_category_fails(extracted: Any, expected: Any) -> None:
    assert not LiteralMatch().check(extracted, expected)
    assert not LiteralMatch().check(expected, extracted)


@pytest.mark.parametrize("value", [None, ["III"], {}, float("nan"), object()])
def test_null_and_what_is_no_category_fail(value: Any) -> None:
    assert not LiteralMatch().check(value, "III")
    assert not LiteralMatch().check(value, value)


def test_the_explanation_names_both_categories() -> None:
    assert LiteralMatch().explain("II", "III").reason == '"II" is not the expected category "III".'
    assert LiteralMatch().explain("III", "III").reason == '"III" is the expected category "III".'
    assert LiteralMatch().explain(None, "III").reason == "Nothing was extracted, which never passes."


@pytest.mark.parametrize("value", ["Targets BCL2", None, 3])
def test_it_cannot_be_checked_directly(value: Any) -> None:
    with pytest.raises(NotImplementedError, match="embedding_check stage"):
        SemanticMatch().check(value, "Targets the BCL2 protein")
    with pytest.raises(NotImplementedError, match="embedding_check stage"):
        SemanticMatch().explain(value, "Targets the BCL2 protein")


def test_a_similarity_on_the_threshold_passes() -> None:
    assert SemanticMatch().threshold == 0.85
    assert SemanticMatch().passes(0.85)
    assert not SemanticMatch().passes(0.8499)
    assert not SemanticMatch().passes(float("nan"))


@pytest.mark.parametrize("threshold", [-0.1, 1.01, float("nan"), float("inf"), None, "high"])
def test_thresholds_outside_zero_to_one_are_refused(threshold: Any) -> None:
    with pytest.raises(ValidationError):
        SemanticMatch(threshold=threshold)


def test_a_similarity_is_explained() -> None:
    explained = SemanticMatch(threshold=0.8).explain_similarity(0.75)
    assert not explained.passed
    assert explained.reason == "The similarity 0.750 stays below the threshold 0.8."
