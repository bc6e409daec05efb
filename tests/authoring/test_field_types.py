"""What a person types comes back as it was; what forms ask for; what a reference answer suggests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from karenina_core.authoring import (
    Parameter,
    parameters_of,
    read_data,
    read_lines,
    read_pairs,
    read_typed,
    suggest_rule,
    suggest_type,
    summary_of,
    write_data,
    write_lines,
    write_pairs,
    write_typed,
)
from karenina_core.authoring.field_types import defaults_of
from karenina_core.errors import InputError
from karenina_core.schemas.primitives import (
    REGISTRY,
    DateTolerance,
    ExactMatch,
    SemanticMatch,
    SetContainment,
    TracePrimitive,
    VerificationPrimitive,
)

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(TEXT, max_size=4))
def test_any_list_of_texts_comes_back(items: list[str]) -> None:
    assert read_lines(write_lines(items)) == items


@given(st.dictionaries(TEXT, TEXT, max_size=4))
def test_any_map_of_synonyms_comes_back(mapping: dict[str, str]) -> None:
    assert read_pairs(write_pairs(mapping)) == mapping


@given(st.none() | st.booleans() | st.integers(-(2**60), 2**60) | FINITE | TEXT | st.lists(TEXT, max_size=3))
def test_any_plain_value_comes_back(value: Any) -> None:
    assert read_data(write_data(value)) == value


@given(st.sampled_from(["int", "float"]), st.integers(-(2**60), 2**60))
def test_a_number_comes_back_in_its_type(kind: str, value: int) -> None:
    assert read_typed(kind, write_typed(kind, value)) == value


def test_lines_are_trimmed_and_blank_ones_left_out() -> None:
    assert read_lines(" BCL2 \n\n MCL1") == ["BCL2", "MCL1"]
    assert write_lines(["BCL2", "MCL1"]) == "BCL2\nMCL1"


def test_what_a_line_cannot_say_is_json() -> None:
    assert write_lines([" BCL2 "]) == '[" BCL2 "]'
    assert write_lines([1, 2]) == "[1, 2]"
    assert write_pairs({"a=b": "c"}) == '{"a=b": "c"}'


@pytest.mark.parametrize(
    ("kind", "typed", "value"),
    [("int", "23", 23), ("int", "about 23", "about 23"), ("int", "2.5", "2.5"), ("float", "6.02e23", 6.02e23),
     ("float", "", None), ("bool", "true", True), ("bool", "perhaps", "perhaps"), ("str", "23", "23"),
     ("list_str", "a\nb", ["a", "b"]), ("other", '{"a": 1}', {"a": 1}), ("other", "a: 1", "a: 1")],
)  # fmt: skip
def test_what_does_not_fit_the_type_stays_a_text(kind: str, typed: str, value: Any) -> None:
    assert read_typed(kind, typed) == value


BUILT_IN = [cls for cls in REGISTRY.values() if cls.__module__.startswith("karenina_core.")]


def named(rule: type[VerificationPrimitive] | type[TracePrimitive], name: str) -> Parameter:
    return next(item for item in parameters_of(rule) if item.name == name)


@pytest.mark.parametrize("rule", BUILT_IN, ids=lambda rule: rule.__name__)
def test_every_parameter_of_a_primitive_has_a_widget_and_a_meaning(rule: type[VerificationPrimitive]) -> None:
    entries = parameters_of(rule)
    assert [entry.name for entry in entries] == list(rule.model_fields)
    assert all(entry.kind != "data" and entry.meaning for entry in entries)
    assert summary_of(rule).endswith(".")


def test_bounds_choices_and_defaults_are_those_of_the_model() -> None:
    tolerance, unit = named(DateTolerance, "tolerance"), named(DateTolerance, "unit")
    assert (tolerance.kind, tolerance.least, tolerance.required) == ("int", 0, True)
    assert (unit.kind, unit.choices, unit.default) == ("choice", ("days", "hours", "minutes"), "days")
    threshold = named(SemanticMatch, "threshold")
    assert (threshold.kind, threshold.least, threshold.most, threshold.default) == ("float", 0, 1, 0.85)


def test_a_meaning_of_several_lines_is_one_text() -> None:
    meaning = named(SetContainment, "mode").meaning
    assert meaning.startswith("`exact`: the same items.") and meaning.endswith("at least `min_overlap` in common.")


def test_a_parameter_of_any_other_type_is_asked_for_as_data() -> None:
    class Near(VerificationPrimitive):
        """Passes when it is near."""

        weights: dict[str, float] = Field(default_factory=dict)

    [entry] = parameters_of(Near)
    assert (entry.kind, entry.default, entry.meaning) == ("data", {}, "")


def test_defaults_are_nobody_elses() -> None:
    defaults_of(ExactMatch)["normalize"].append("casefold")
    assert defaults_of(ExactMatch) == {"type": "ExactMatch", "normalize": ["lowercase", "strip"]}


@pytest.mark.parametrize(
    ("answer", "kind"),
    [("Yes", "bool"), ("No, it is inhibited.", "bool"), ("False.", "bool"), ("23 pairs", "int"), ("5 to 10", "int"),
     ("0.72", "float"), ("2.5 to 3", "float"), ("April 11, 2016", "date"), ("2016-04-11", "date"),
     ("CLL, SLL and AML", "list_str"), ("BCL2 (B-cell lymphoma 2)", "str"), ("None of them", "str"),
     ("April 2016", "str"), ("", "str")],
)  # fmt: skip
def test_the_type_a_reference_answer_asks_for(answer: str, kind: str) -> None:
    assert suggest_type(answer) == kind


def test_a_type_without_a_natural_rule() -> None:
    with pytest.raises(InputError, match="no natural rule"):
        suggest_rule(dict[str, int])


# Pairs of each with each would keep a page waiting for minutes.
@pytest.mark.parametrize(
    ("answer", "kind"),
    [("a, " * 70_000, "list_str"), ("," * 200_000, "str"), ("(," * 100_000, "list_str"),
     ("a" + " " * 200_000 + "b", "str"), ("a\n" * 100_000, "list_str")],
)  # fmt: skip
def test_long_reference_answers_are_read_in_one_go(answer: str, kind: str) -> None:
    assert suggest_type(answer) == kind
