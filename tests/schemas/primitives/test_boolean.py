"""`BooleanMatch`: both sides are coerced to truth values."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from karenina_core.schemas.primitives import BooleanMatch

MATCH = BooleanMatch()


@pytest.mark.parametrize("truth", [True, False])
def test_equal_truth_values_pass_and_others_fail(truth: bool) -> None:
    assert MATCH.check(truth, truth)
    assert not MATCH.check(not truth, truth)


@pytest.mark.parametrize("word", ["false", "FALSE", " no ", "0", ""])
def test_words_for_false_mean_false(word: str) -> None:
    assert MATCH.check(word, False)
    assert not MATCH.check(word, True)


@pytest.mark.parametrize("word", ["true", "Yes", "1", "approved"])
def test_words_for_true_and_other_texts_mean_true(word: str) -> None:
    assert MATCH.check(word, True)
    assert not MATCH.check(word, False)


@pytest.mark.parametrize(("value", "truth"), [(float("nan"), True), ([], False), (2, True), (0.0, False), ({}, False)])
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


def test_the_explanation_shows_how_a_word_was_read() -> None:
    explained = MATCH.explain("yes", True)
    assert explained.passed
    assert [(step.before, step.after) for step in explained.steps] == [('"yes"', "True")]
    assert MATCH.explain(False, True).reason == "False differs from the expected True."
