"""Field types and specs."""

from __future__ import annotations

import ast
from datetime import date
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import ValidationError

from karenina_core.errors import TemplateError
from karenina_core.templates import FieldSpec, Scope, TemplateSpec
from karenina_core.templates.annotation import Shape, read_shape


def shape(text: str, **scope: Any) -> Shape:
    return read_shape(ast.parse(text, mode="eval").body, Scope(**scope))


@pytest.mark.parametrize(
    ("written", "canonical", "python"),
    [
        ("str", "str", str),
        ("List[str]", "list[str]", list[str]),
        ("list", "list[Any]", list[Any]),
        ("Optional[int]", "int | None", int | None),
        ("Union[int, str, None]", "int | str | None", int | str | None),
        ("None | bool", "bool | None", bool | None),
        ("Optional[Optional[int]]", "int | None", int | None),
        ("Union[int]", "int", int),
        ("Dict[str, float]", "dict[str, float]", dict[str, float]),
        ("dict", "dict[str, Any]", dict[str, Any]),
        ("Set[str]", "set[str]", set[str]),
        ("Tuple[int, ...]", "tuple[int, ...]", tuple[int, ...]),
        ("Literal['I', 2, True, None]", 'Literal["I", 2, True, None]', Literal["I", 2, True, None]),
        ("Literal['a', 'a']", 'Literal["a"]', Literal["a"]),
        ("'list[\"str\"]'", "list[str]", list[str]),
        ("date", "date", date),
        ("tuple[int, str]", "tuple[int, str]", tuple[int, str]),
        ("dict[int, UUID]", "dict[int, UUID]", dict[int, UUID]),
        ("Annotated[StrictInt, 'remark']", "int", int),
        ("frozenset[Decimal]", "set[Decimal]", set[Decimal]),
        ("Any", "Any", Any),
    ],
)
def test_types_have_one_spelling(written: str, canonical: str, python: Any) -> None:
    found = shape(written)
    assert found.text == canonical
    assert found.python({}) == python
    assert shape(canonical) == found


def test_own_types_are_known() -> None:
    phase = shape("list[Phase]", choices={"Phase": ("I", "II")})
    assert phase.text == 'list[Literal["I", "II"]]'
    site = shape("Optional[Site]", models={"Site"})
    assert (site.text, site.names, site.optional) == ("Site | None", {"union", "Site", "none"}, True)
    alias = shape("Sites", aliases={"Sites": Shape("list", (Shape("model", model="Site"),))})
    assert alias.python({"Site": date}) == list[date]


@pytest.mark.parametrize(
    "written",
    ["f()", "int.real", "list[int, str]", "Optional[int, str]", "dict[float, str]", "dict[str]", "tuple[f()]",
     "Literal[1.5]", "Literal[[1]]", "Annotated[int]", "Annotated[int, f()]", "Annotated[int, f]", "'x y'",
     "'" + "(" * 3000 + "'", "Unknown", "type", "[int]"],
)  # fmt: skip
def test_everything_else_is_refused(written: str) -> None:
    with pytest.raises(TemplateError) as caught:
        shape(written)
    assert caught.value.code == "type"


@pytest.mark.parametrize(
    ("written", "optional"), [("int", False), ("int | None", True), ("Any", True), ("list[None]", False)]
)
def test_whether_null_is_a_value(written: str, optional: bool) -> None:
    assert shape(written).optional is optional


EXACT = {"type": "ExactMatch"}


def field(**settings: Any) -> FieldSpec:
    return FieldSpec.model_validate({"name": "x", "description": "d", "verify_with": EXACT, **settings})


def test_the_rule_is_completed() -> None:
    assert field().verify_with == {"type": "ExactMatch", "normalize": ["lowercase", "strip"]}


def test_a_date_is_a_text_that_a_date_rule_compares() -> None:
    assert field(type="str", verify_with={"type": "DateMatch"}).type == "date"
    assert field(type="date").type == "str"


def test_what_another_kind_of_field_needs_is_dropped() -> None:
    item = field(literal_values=["a"], annotation="int", is_trace=True)
    assert (item.literal_values, item.annotation, item.is_trace) == ([], None, False)
    assert FieldSpec(name="x", ground_truth="a", weight=3) == FieldSpec(name="x")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"name": "1x"}, "not a field name"),
        ({"name": "class"}, "not a field name"),
        ({"name": "_x"}, "not a field name"),
        ({"name": "correct"}, "reserved"),
        ({"name": "verify"}, "reserved"),
        ({"name": "model_fields"}, "reserved"),
        ({"description": " "}, "needs a description"),
        ({"weight": -1}, "greater than or equal to 0"),
        ({"weight": float("inf")}, "finite number"),
        ({"ground_truth": float("nan")}, "not finite"),
        ({"ground_truth": object()}, "not a plain value"),
        ({"ground_truth": {1: 2}}, "keys must be texts"),
        ({"ground_truth": "\ud800"}, "surrogate"),
        ({"ground_truth": 2**2000}, "too large"),
        ({"verify_with": {"type": "Mine"}}, "no verification primitive"),
        ({"verify_with": {"type": "RegexMatch", "pattern": "("}}, "not valid"),
        ({"verify_with": {"type": "TraceContains", "substring": "a"}}, "must be typed bool"),
        (
            {"type": "bool", "verify_with": {"type": "TraceContains", "substring": "a"}, "options": {"ge": 0}},
            "takes no further options",
        ),
        ({"type": "literal"}, "values it may have"),
        ({"type": "other"}, "needs a type"),
        ({"options": {"alias": "y"}}, "unknown field option"),
        ({"options": {"ge": "a"}}, "must be a number"),
        ({"options": {"max_length": True}}, "whole number"),
        ({"options": {"pattern": 1}}, "must be text"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_a_field_that_cannot_work_is_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        field(**settings)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"fields": [field(), field()]}, "defined twice"),
        ({"fields": [field(weight=0)]}, "weight above 0"),
        ({"fields": [field()], "verify_strategy": {"type": "field_check", "field_name": "y"}}, "no verified field"),
        ({"fields": [field(type="other", annotation="open('f')")]}, "not a type"),
        ({"fields": [field(type="other", annotation="Site")]}, "not a type"),
        ({"fields": [field(type="other", annotation="-" * 19_000)]}, "not a type"),
    ],
)
def test_a_template_that_cannot_work_is_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        TemplateSpec.model_validate(settings)
