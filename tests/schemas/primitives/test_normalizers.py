"""Normalisers: what happens to texts before they are compared."""

from __future__ import annotations

import string
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from karenina_core.errors import InputError
from karenina_core.schemas import NORMALIZERS, normalize, quoted
from karenina_core.schemas.entities import normalizers as documented_path
from karenina_core.schemas.primitives import Step, SynonymMap
from karenina_core.schemas.primitives.normalizers import Normalizers, explain_normalization, followed


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("lowercase", "BCL-2", "bcl-2"),
        ("lowercase", "STRASSE", "strasse"),
        ("lowercase", "Straße", "straße"),
        ("casefold", "Straße", "strasse"),
        ("strip", " \t BCL2\u00a0\n", "BCL2"),
        ("remove_punctuation", "Bcl-2, (human)!", "Bcl2 human"),
        ("remove_punctuation", "“Bcl–2”", "“Bcl–2”"),
        ("collapse_whitespace", "  phase \n\t III ", "phase III"),
    ],
)
def test_each_normaliser(name: str, before: str, after: str) -> None:
    assert normalize(before, [name]) == after


def test_punctuation_is_that_of_the_standard_library() -> None:
    assert normalize(f"a{string.punctuation}b", ["remove_punctuation"]) == "ab"


def test_a_synonym_map_replaces_whole_texts_only() -> None:
    synonyms = SynonymMap(mapping={"bcl-2": "bcl2"})
    assert normalize("bcl-2", [synonyms]) == "bcl2"
    assert normalize("bcl-2 protein", [synonyms]) == "bcl-2 protein"
    assert normalize("BCL-2", [synonyms]) == "BCL-2"


def test_a_synonym_map_looks_up_once() -> None:
    assert normalize("a", [SynonymMap(mapping={"a": "b", "b": "c"})]) == "b"


def test_normalisers_are_applied_by_upstreams_names() -> None:
    assert documented_path.apply_normalizer("lowercase", " Bcl-2") == " bcl-2"
    assert documented_path.apply_normalizers(["lowercase", "strip"], " Bcl-2") == "bcl-2"
    with pytest.raises(InputError, match="not a normaliser"):
        documented_path.apply_normalizer("shout", "a")


def test_order_decides() -> None:
    synonyms = SynonymMap(mapping={"bcl-2": "bcl2"})
    assert normalize("Bcl-2", ["lowercase", synonyms]) == "bcl2"
    assert normalize("Bcl-2", [synonyms, "lowercase"]) == "bcl-2"


def test_accents_are_composed_whatever_the_normalisers() -> None:
    assert normalize("e\u0301", []) == "\u00e9"
    assert normalize("e.\u0301", ["remove_punctuation"]) == "\u00e9"
    assert normalize("e\u0301", [SynonymMap(mapping={"\u00e9": "found"})]) == "found"
    assert normalize("\u00e9", [SynonymMap(mapping={"e\u0301": "found"})]) == "found"


@given(st.text(), st.lists(st.sampled_from(sorted(NORMALIZERS))))
def test_the_result_is_always_composed(text: str, names: list[str]) -> None:
    assert unicodedata.is_normalized("NFC", normalize(text, names))


@given(st.text(), st.lists(st.sampled_from(sorted(NORMALIZERS))))
def test_the_steps_lead_to_the_result(text: str, names: list[str]) -> None:
    steps = explain_normalization(text, names)
    assert [step.label for step in steps if step.label != "Unicode NFC"] == names
    if steps and len(text) < 100:
        assert steps[-1].after == f'"{normalize(text, names)}"'


@given(st.text(), st.lists(st.sampled_from(sorted(NORMALIZERS))))
def test_following_a_text_gives_the_same_result_and_steps(text: str, names: list[str]) -> None:
    result, shown, steps = followed(text, names, "expected, ")
    assert result == normalize(text, names)
    assert shown == quoted(result)
    assert [(step.label.removeprefix("expected, "), step.before, step.after) for step in steps] == [
        *explain_normalization(text, names)
    ]


def test_the_steps_name_each_normaliser_in_order() -> None:
    synonyms = SynonymMap(mapping={"bcl-2": "bcl2"})
    assert explain_normalization("Bcl-2", ["lowercase", "strip", synonyms]) == (
        Step("lowercase", '"Bcl-2"', '"bcl-2"'),
        Step("strip", '"bcl-2"', '"bcl-2"'),
        Step("synonym", '"bcl-2"', '"bcl2"'),
    )


def test_composition_is_a_step_only_where_it_changes_something() -> None:
    assert explain_normalization("cafe\u0301", []) == (Step("Unicode NFC", '"cafe\u0301"', '"caf\u00e9"'),)
    assert explain_normalization("cafe", []) == ()


@pytest.mark.parametrize("normalizers", [["lower"], ["strip", ""], ["__class__"]])
def test_unknown_names_are_refused(normalizers: list[str | SynonymMap]) -> None:
    with pytest.raises(InputError, match=r"not a normaliser.*lowercase, strip"):
        normalize("text", normalizers)


def test_a_list_of_normalisers_takes_names_maps_and_plain_dicts() -> None:
    adapter = TypeAdapter(Normalizers)
    stored: list[Any] = ["lowercase", {"mapping": {"a": "b"}}]
    built = adapter.validate_python(stored)
    assert built == ["lowercase", SynonymMap(mapping={"a": "b"})]
    assert adapter.dump_python(built, mode="json") == stored
    assert adapter.validate_json(adapter.dump_json(built)) == built


@pytest.mark.parametrize("data", [{}, {"mapping": None}, {"mapping": {"a": 1}}, {"mapping": {}, "more": 1}])
def test_a_synonym_map_needs_texts(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SynonymMap(**data)


def test_a_synonym_map_does_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        SynonymMap(mapping={}).mapping = {"a": "b"}


def test_the_documented_import_path_leads_to_the_same_map() -> None:
    assert documented_path.SynonymMap is SynonymMap
    assert documented_path.NORMALIZERS is NORMALIZERS
