"""The natural primitive of each type of field."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, Optional, get_args

import pytest

from karenina_core.schemas import NATURAL, applicable, field_kind, suggest
from karenina_core.schemas.primitives import (
    BooleanMatch,
    DateMatch,
    ExactMatch,
    FieldKind,
    LiteralMatch,
    NumericExact,
    SetContainment,
    VerificationPrimitive,
)


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
