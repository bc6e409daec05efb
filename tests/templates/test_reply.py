"""The quick form of a judge's reply says and takes exactly what the pydantic class of the same fields does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.errors import InputError
from karenina_core.templates import Template, read_template
from karenina_core.templates.models import build_reply, judge_schema

TYPES = [
    "bool",
    "int",
    "float",
    "str",
    "Any",
    "list",
    "list[str]",
    "set[int]",
    "dict[str, float]",
    "tuple[int, ...]",
    "Optional[int]",
    "int | str",
    "Literal['a', 'b', None]",
    "Literal[1, 2]",
    "Literal[True]",
    "date",
]
VALUES = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=True) | st.sampled_from(["a", "1", "x"])
DATA = VALUES | st.lists(VALUES, max_size=3) | st.dictionaries(st.sampled_from(["k", "l"]), VALUES, max_size=2)


def template(first: str, second: str) -> Template:
    return read_template(f"""
class Answer(BaseAnswer):
    first: {first} = Field(description="The first")
    second: {second}

    def verify(self):
        return True
""")


@pytest.mark.parametrize("annotation", TYPES)
def test_the_schema_is_that_of_the_class(annotation: str) -> None:
    found = template(annotation, "str")
    assert found.judge_schema() == judge_schema(build_reply(found.spec, {}))


@given(st.sampled_from(TYPES), st.sampled_from(TYPES), DATA, DATA)
def test_a_reply_is_taken_as_the_class_takes_it(first: str, second: str, one: Any, other: Any) -> None:
    found, data = template(first, second), {"first": one, "second": other, "more": 1}
    form = build_reply(found.spec, {})
    try:
        wanted = form.model_validate(data)
    except ValueError:
        with pytest.raises(InputError, match="does not fit"):
            found.validate_reply(data)
    else:
        assert repr(found.validate_reply(data)) == repr({"first": wanted.first, "second": wanted.second})  # type: ignore[attr-defined]
