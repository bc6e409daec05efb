from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from karenina_core.runs.store.database import clean, clean_json, clean_text, to_json

any_text = st.text(st.characters(exclude_categories=()))
json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


def test_nul_and_lone_surrogates_become_replacement_characters() -> None:
    assert clean_text("a\0b\ud800c😀") == "a\ufffdb\ufffdc😀"


def test_nan_and_infinities_become_null() -> None:
    assert clean({"a": math.nan, "b": [math.inf, -math.inf, 1.5]}) == {"a": None, "b": [None, None, 1.5]}


def test_keys_are_cleaned_too() -> None:
    assert clean({"a\0": (1, 2)}) == {"a\ufffd": [1, 2]}


@given(json_like)
def test_everything_clean_is_strict_json_in_utf8(value: Any) -> None:
    text = to_json(value)
    assert "\0" not in text
    assert json.loads(text.encode("utf-8")) == clean(value)


@given(json_like)
def test_cleaning_twice_changes_nothing(value: Any) -> None:
    assert clean(clean(value)) == clean(value)


@given(st.dictionaries(any_text, any_text, max_size=4))
def test_typed_data_is_cleaned_alike_in_keys_and_values(value: dict[str, str]) -> None:
    assert json.loads(clean_json(TypeAdapter(dict[str, str]), value)) == clean(value)
