from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.models import numbers
from karenina_core.models.clients.demo_judge import (
    MAX_ITEMS,
    MAX_STRING,
    bounded,
    describe,
    grounded,
    messages,
    phrases,
    without_repetitions,
)


def nullable(kind: dict[str, Any], description: str = "") -> dict[str, Any]:
    return {"anyOf": [kind, {"type": "null"}], "description": description}


def narrowed(field: dict[str, Any], response: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"x": field}, "required": ["x"]}
    field_schema: dict[str, Any] = grounded(schema, response)["properties"]["x"]
    return field_schema


def test_numbers_are_limited_to_those_in_the_response() -> None:
    assert narrowed(nullable({"type": "integer"}), "23 pairs, forty-six in all, 2.5 each") == {"enum": [23, 46]}
    assert narrowed(nullable({"type": "number"}), "2.5 mg") == {"enum": [2.5]}


def test_a_number_that_is_not_there_is_null() -> None:
    assert narrowed(nullable({"type": "integer"}), "Many.") == {"type": "null"}


def test_texts_are_limited_to_phrases_of_the_response() -> None:
    assert narrowed(nullable({"type": "string"}), "It targets the BCL2 protein.") == {
        "enum": ["targets", "targets the BCL2", "BCL2", "BCL2 protein", "protein"]
    }


def test_classes_are_limited_to_those_that_occur() -> None:
    field = nullable({"enum": ["solid", "liquid", "gas"], "type": "string"})
    assert narrowed(field, "It is a Gas, not gasoline.") == {"enum": ["gas"]}
    assert narrowed(field, "Plasma.") == {"enum": ["solid", "liquid", "gas"]}


def test_lists_are_short() -> None:
    field = nullable({"type": "array", "items": {"type": "string"}})
    assert narrowed(field, "red, blue") == {"type": "array", "items": {"enum": ["red", "blue"]}, "maxItems": MAX_ITEMS}


def test_nested_objects_are_followed_by_reference() -> None:
    schema = {
        "$defs": {"Dose": {"type": "object", "properties": {"mg": {"type": "integer"}}}},
        "type": "object",
        "properties": {"dose": nullable({"$ref": "#/$defs/Dose"}, "The dose")},
    }
    assert grounded(schema, "100 mg")["properties"]["dose"]["properties"] == {"mg": {"enum": [100]}}
    assert describe(schema) == "- dose (object): The dose\n- dose.mg (whole number): "


def test_an_object_without_known_fields_is_left_out() -> None:
    assert narrowed(nullable({"type": "object", "additionalProperties": True}), "x") == {"type": "null"}


def test_a_schema_that_contains_itself_comes_to_an_end() -> None:
    node = {"type": "object", "properties": {"next": nullable({"$ref": "#/$defs/Node"})}}
    schema = {"$defs": {"Node": node}, **node}
    assert grounded(schema, "x")["type"] == "object"
    assert describe(schema).count("next") > 1


def test_endless_lists_and_texts_get_a_limit() -> None:
    schema = {"type": "array", "items": {"type": "string"}}
    assert bounded(schema) == {
        "maxItems": MAX_ITEMS,
        "type": "array",
        "items": {"maxLength": MAX_STRING, "type": "string"},
    }
    assert bounded({"type": "array", "maxItems": 3}) == {"type": "array", "maxItems": 3}
    assert bounded({"type": "string", "enum": ["a"]}) == {"type": "string", "enum": ["a"]}


def test_items_are_kept_once() -> None:
    assert without_repetitions('{"x": ["a", "b", "a"]}') == '{"x": ["a", "b"]}'
    assert without_repetitions("{broken") == "{broken"


def test_the_prompt_holds_six_examples_and_the_task() -> None:
    schema = {"properties": {"legs": nullable({"type": "integer"}, "Number of legs")}}
    prompt = messages(schema, "How many legs?", "Eight.")
    assert [message["role"] for message in prompt] == ["user", "assistant"] * 6 + ["user"]
    assert prompt[-1]["content"].splitlines()[:4] == [
        "Question: How many legs?",
        "Response: Eight.",
        "Fields:",
        "- legs (whole number): Number of legs",
    ]
    assert all(json.loads(message["content"]) for message in prompt if message["role"] == "assistant")


@given(st.text(max_size=200))
def test_phrases_stand_in_the_text(text: str) -> None:
    assert all(phrase in text for phrase in phrases(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("23 pairs", [23]),
        ("1,234 and 2.5", [1234, 2.5]),
        ("-3 degrees", [-3]),
        ("forty-six", [46]),
        ("Two hundred and six bones", [206]),
        ("one million two hundred thousand", [1_200_000]),
        ("five, six or seven", [5, 6, 7]),
        ("twenty thirty", [20, 30]),
        ("BCL2 and H1N1", []),
        ("someone often", []),
        ("100%", [100]),
        ("in 1928.", [1928]),
    ],
)
def test_numbers_are_found_in_digits_and_words(text: str, found: list[float]) -> None:
    assert numbers(text) == found


@given(st.integers(0, 10**15))
def test_every_whole_number_is_found(value: int) -> None:
    assert numbers(f"There are {value} of {value:,}.") == [value, value]


@given(st.text(max_size=100))
def test_no_text_breaks_the_search_for_numbers(text: str) -> None:
    assert all(isinstance(value, int | float) for value in numbers(text))
