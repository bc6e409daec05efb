"""`LiteralMatch`: the same category, of the same type."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from pydantic import ValidationError

from karenina_core.schemas.primitives import LiteralMatch


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


def test_parameters_are_refused() -> None:
    with pytest.raises(ValidationError):
        LiteralMatch(values=["I"])  # type: ignore[call-arg]


def test_the_explanation_names_both_categories() -> None:
    assert LiteralMatch().explain("II", "III").reason == '"II" is not the expected category "III".'
    assert LiteralMatch().explain("III", "III").reason == '"III" is the expected category "III".'
    assert LiteralMatch().explain(None, "III").reason == "Nothing was extracted, which never passes."
