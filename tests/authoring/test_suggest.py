"""Types for reference answers, and rules for types."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from karenina_core.authoring import suggest_rule, suggest_type
from karenina_core.errors import InputError


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("Yes", "bool"),
        ("No, it is inhibited.", "bool"),
        ("False.", "bool"),
        ("23 pairs", "int"),
        ("5 to 10", "int"),
        ("0.72", "float"),
        ("2.5 to 3", "float"),
        ("April 11, 2016", "date"),
        ("2016-04-11", "date"),
        ("CLL, SLL and AML", "list_str"),
        ("BCL2 (B-cell lymphoma 2)", "str"),
        ("None of them", "str"),
        ("April 2016", "str"),
        ("", "str"),
    ],
)
def test_the_type_a_reference_answer_asks_for(answer: str, kind: str) -> None:
    assert suggest_type(answer) == kind


@pytest.mark.parametrize(
    ("annotation", "rule"),
    [
        (bool, "BooleanMatch"),
        ("str", "ExactMatch"),
        (int, "NumericExact"),
        ("float", "NumericExact"),
        (list[str], "SetContainment"),
        ("list_str", "SetContainment"),
        (Literal["I", "II"], "LiteralMatch"),
        ("date", "DateMatch"),
        (str | None, "ExactMatch"),
    ],
)
def test_the_rule_a_type_asks_for(annotation: Any, rule: str) -> None:
    assert suggest_rule(annotation)["type"] == rule


def test_a_measured_number_gets_a_tolerance() -> None:
    assert suggest_rule("float", 0.72)["type"] == "NumericTolerance"
    assert suggest_rule("float", 3.0)["type"] == "NumericExact"


def test_texts_are_compared_without_case() -> None:
    assert suggest_rule(list[str])["normalize"] == suggest_rule(str)["normalize"] == ["lowercase", "strip"]


def test_a_type_without_a_natural_rule() -> None:
    with pytest.raises(InputError, match="no natural rule"):
        suggest_rule(dict[str, int])


# Pairs of each with each would keep a page waiting for minutes.
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("a, " * 70_000, "list_str"),
        ("," * 200_000, "str"),
        ("(," * 100_000, "list_str"),
        ("a" + " " * 200_000 + "b", "str"),
        ("a\n" * 100_000, "list_str"),
    ],
)
def test_long_reference_answers_are_read_in_one_go(answer: str, kind: str) -> None:
    assert suggest_type(answer) == kind
