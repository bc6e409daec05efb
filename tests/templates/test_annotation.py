"""Field types: read into a closed set, written back in one spelling, built as real types."""

from __future__ import annotations

import ast
from datetime import date
from typing import Any, Literal

import pytest

from karenina_core.errors import TemplateError
from karenina_core.templates import Scope
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
    assert (site.text, site.models, site.optional) == ("Site | None", frozenset({"Site"}), True)
    alias = shape("Sites", aliases={"Sites": Shape("list", (Shape("model", model="Site"),))})
    assert alias.python({"Site": date}) == list[date]


@pytest.mark.parametrize(
    "written",
    ["f()", "int.real", "list[int, str]", "Optional[int, str]", "dict[int, str]", "dict[str]", "tuple[int, str]",
     "Literal[1.5]", "Literal[[1]]", "Annotated[int, 1]", "'x y'", "'" + "(" * 3000 + "'", "Unknown", "type", "[int]"],
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
