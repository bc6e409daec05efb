"""A question as a form, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.benchmark import Benchmark, BenchmarkQuestion, fields_of, form_of
from karenina_core.benchmark.editing import text_of_value, value_of_text
from karenina_core.errors import InputError

WHOLE: dict[str, Any] = {
    "raw_answer": "BCL2",
    "keywords": ["oncology", "drugs"],
    "answer_notes": "Accept Bcl-2.",
    "author": {"@type": "Person", "name": "Ada", "email": "ada@example.org", "affiliation": {"name": "Lab"}},
    "sources": [{"@type": "ScholarlyArticle", "name": "A paper", "url": "https://example.org"}, {"doi": 7}],
    "few_shot_examples": [{"question": "1+1?", "answer": "2"}],
    "workspace_path": "task_01",
    "custom_metadata": {"difficulty": "hard", "level": 5, "code": "007", "tags": ["a", 1, None], "on": True},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def question(**fields: Any) -> BenchmarkQuestion:
    benchmark = Benchmark.create("One")
    return benchmark.get_question(benchmark.add_question("What is the target?", **{"raw_answer": "x", **fields}))


def read(edits: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return fields_of({**form_of(question(**fields)), **edits}, edits)


def test_a_form_that_nobody_touched_says_nothing() -> None:
    assert fields_of(form_of(question(**WHOLE)), ()) == {}


def test_a_whole_form_read_back_is_the_same_question() -> None:
    whole = question(**WHOLE)
    form = form_of(whole)
    benchmark = Benchmark.create("Other")
    name = benchmark.add_question("x", "y")
    benchmark.update_question(name, **fields_of(form, form))
    again = benchmark.get_question(name)
    names = ["question", "finished", "answer_template", *WHOLE]
    assert {field: getattr(again, field) for field in names} == {field: getattr(whole, field) for field in names}


def test_what_the_form_has_no_place_for_is_shown_as_json() -> None:
    form = form_of(question(**WHOLE))
    assert (form["author_name"], form["author_affiliation"]) == ("Ada", "")
    assert form["author_more"] == '{"@type": "Person", "affiliation": {"name": "Lab"}}'
    assert form["sources"][1] == {"name": "", "url": "", "more": '{"doi": 7}'}


def test_an_author_keeps_what_is_unknown_when_the_name_changes() -> None:
    author = read({"author_name": "Grace"}, **WHOLE)["author"]
    assert author == {**WHOLE["author"], "name": "Grace"}


def test_a_new_author_is_a_person() -> None:
    assert read({"author_email": " a@b.org "})["author"] == {"@type": "Person", "email": "a@b.org"}


def test_an_emptied_author_is_none() -> None:
    blank = {"author_name": "", "author_email": "", "author_affiliation": "", "author_more": " "}
    assert read(blank, **WHOLE)["author"] is None


def test_blank_optional_texts_are_none() -> None:
    assert read({"answer_notes": " ", "workspace_path": ""}, **WHOLE) == {"answer_notes": None, "workspace_path": None}


def test_blank_rows_are_left_out() -> None:
    rows = [{"name": None, "url": " ", "more": None}, {"name": "A book", "url": None, "more": ""}]
    assert read({"sources": rows})["sources"] == [{"name": "A book"}]
    assert read({"few_shot_examples": [{"question": "", "answer": None}]})["few_shot_examples"] is None


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ({"author_more": "orcid 7"}, "other details of the author are no JSON"),
        ({"author_more": "[1]"}, "no JSON object"),
        ({"sources": [{"name": "a"}, {"name": "b", "more": "{"}]}, "other details of source 2"),
        ({"few_shot_examples": [{"question": "1+1?", "answer": " "}]}, "example 1 has no answer"),
        ({"few_shot_examples": [{"question": None, "answer": "2"}]}, "example 1 has no question"),
        ({"custom_metadata": [{"name": "", "value": "x"}]}, "a value and no name"),
        ({"custom_metadata": [{"name": "a", "value": "x"}, {"name": "a ", "value": "y"}]}, "'a' is there twice"),
        ({"custom_metadata": [{"name": "a", "value": '{"b": '}]}, "begins like JSON"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(edits: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(edits)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("0.5", 0.5),
        ("true", True),
        ("null", None),
        ('"5"', "5"),
        ("[1, 2]", [1, 2]),
        ("five", "five"),
        ("", ""),
    ],
)
def test_a_value_is_json_where_it_reads_as_such_and_text_otherwise(text: str, value: object) -> None:
    assert value_of_text(text) == value


@pytest.mark.parametrize("text", ["NaN", "Infinity", "007", "a: b", " x "])
def test_what_only_resembles_json_stays_a_text(text: str) -> None:
    assert value_of_text(text) == text


@given(JSON)
def test_every_json_value_survives_being_shown(value: object) -> None:
    assert value_of_text(text_of_value(value)) == value
    assert type(value_of_text(text_of_value(value))) is type(value)
