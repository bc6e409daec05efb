"""Primitives of equal content are built once, and are nobody's but their owner's."""

from __future__ import annotations

import math

from karenina_core.schemas.primitives import ExactMatch, NumericRange, primitive_from_dict, stored_form

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
