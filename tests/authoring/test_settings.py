"""Which settings of a rule are worth sliding over."""

from __future__ import annotations

from typing import Any

import pytest

from karenina_core.authoring import StoredAnswer, adjustable, settings_of, what_if
from karenina_core.templates import FieldSpec, TemplateSpec
from tests.authoring.linter.cases import LOWER, day, exact, items, number, similar, trace

RATIO = number(0.72, "float", type="NumericTolerance", tolerance=0.01, mode="absolute")


@pytest.mark.parametrize(
    ("item", "names"),
    [
        (RATIO, ["tolerance"]),
        (number(5, type="NumericRange", min=1), ["min", "max"]),
        (trace(True, type="TraceLength", max=50, unit="words"), ["min", "max"]),
        (similar(), ["threshold"]),
        (items(mode="overlap"), ["min_overlap"]),
        (items(mode="exact"), []),
        (exact(*LOWER), []),
    ],
)
def test_numbers_that_have_an_effect_can_be_adjusted(item: FieldSpec, names: list[str]) -> None:
    assert [entry.name for entry in adjustable(item)] == names


def test_tolerances_reach_as_far_as_the_answers_do() -> None:
    stored = [StoredAnswer({"amount": value}) for value in (0.72, 0.92, 5000, None, "0.82")]
    found = settings_of(RATIO, "tolerance", stored)
    assert found[0] == 0 and 0.01 in found
    assert 0.2 <= found[-1] < 1
    assert found == sorted(set(found)) and len(found) <= 60


def test_every_answer_passes_at_some_length() -> None:
    item = trace(True, type="TraceLength", max=10, unit="words")
    stored = [StoredAnswer({}, "word " * count) for count in (5, 300)]
    curve = what_if(TemplateSpec(fields=[item]), item.name, "max", settings_of(item, "max", stored), stored)
    assert curve.points[-1].passed == 2


@pytest.mark.parametrize(
    ("item", "parameter"),
    [
        (RATIO, "tolerance"),
        (number(0, "float", type="NumericTolerance", tolerance=0.1, mode="relative"), "tolerance"),
        (number(7, type="NumericRange"), "min"),
        (number(10**300, type="NumericTolerance", tolerance=1, mode="absolute"), "tolerance"),
        (day(type="DateTolerance", tolerance=2, unit="hours"), "tolerance"),
        (similar(), "threshold"),
        (items(mode="overlap"), "min_overlap"),
        (trace(True, type="TraceRegex", pattern="x"), "count_min"),
        (trace(False, type="TraceLength"), "min"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value.verify_with["type"]),
)
@pytest.mark.parametrize("stored", [[], [StoredAnswer({"amount": 1e308, "approved": "May 2016"}, "x x")]])
def test_all_settings_are_possible(item: FieldSpec, parameter: str, stored: list[Any]) -> None:
    found = settings_of(item, parameter, stored)
    curve = what_if(TemplateSpec(fields=[item]), item.name, parameter, found, stored)
    assert found and all(point.problem is None for point in curve.points)
