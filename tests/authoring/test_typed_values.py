"""What a person types comes back as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.authoring import (
    read_data,
    read_lines,
    read_pairs,
    read_typed,
    write_data,
    write_lines,
    write_pairs,
    write_typed,
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
    [
        ("int", "23", 23),
        ("int", "about 23", "about 23"),
        ("int", "2.5", "2.5"),
        ("float", "6.02e23", 6.02e23),
        ("float", "", None),
        ("bool", "true", True),
        ("bool", "perhaps", "perhaps"),
        ("str", "23", "23"),
        ("list_str", "a\nb", ["a", "b"]),
        ("other", '{"a": 1}', {"a": 1}),
        ("other", "a: 1", "a: 1"),
    ],
)
def test_what_does_not_fit_the_type_stays_a_text(kind: str, typed: str, value: Any) -> None:
    assert read_typed(kind, typed) == value
