"""What a form asks for a primitive follows from its model and its docstring."""

from __future__ import annotations

import pytest
from pydantic import Field

from karenina_core.authoring import Parameter, parameters_of, summary_of
from karenina_core.authoring.parameters import defaults_of
from karenina_core.schemas.primitives import (
    REGISTRY,
    ContainsAny,
    DateTolerance,
    ExactMatch,
    NumericRange,
    SemanticMatch,
    SetContainment,
    TracePrimitive,
    VerificationPrimitive,
)

BUILT_IN = [cls for cls in REGISTRY.values() if cls.__module__.startswith("karenina_core.")]


def named(rule: type[VerificationPrimitive] | type[TracePrimitive], name: str) -> Parameter:
    return next(item for item in parameters_of(rule) if item.name == name)


def test_all_eighteen_primitives_are_known() -> None:
    assert len(BUILT_IN) == 18


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


def test_lists_and_bounds_that_may_be_missing() -> None:
    assert named(ContainsAny, "substrings").kind == "texts"
    assert named(ExactMatch, "normalize").kind == "normalizers"
    least = named(NumericRange, "min")
    assert (least.kind, least.optional, least.required) == ("float", True, False)


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
