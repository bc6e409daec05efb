"""Traits kept in the store, and files of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.errors import InputError
from karenina_core.runs import Store, add_to_library, library, library_file, put_back, read_library, remove_from_library
from karenina_core.runs.traits import library as trait_library
from karenina_core.schemas import ManualRubricTrait, MetricRubricTrait, RubricTrait, StoredTrait

CLARITY = RubricTrait(name="Clarity", description="How clear?")
BH3 = ManualRubricTrait(name="BH3", pattern=r"\bBH3\b", case_sensitive=False)
LUNGS = MetricRubricTrait(name="Lungs", metrics=["precision"], tp_instructions=["asthma"])


def names(store: Store) -> list[str]:
    return [entry.trait.name for entry in library(store)]


def test_traits_are_kept_by_name_with_their_origin(any_store: Store) -> None:
    for trait in (LUNGS, CLARITY, BH3):
        add_to_library(any_store, trait, "Demo")
    assert names(any_store) == ["BH3", "Clarity", "Lungs"]
    assert library(any_store)[0].trait == BH3
    assert library(any_store)[0].origin == "Demo"


def test_the_same_trait_is_kept_once_and_another_of_its_name_beside_it(store: Store) -> None:
    first = add_to_library(store, CLARITY, "One")
    assert add_to_library(store, CLARITY, "Two") == first
    add_to_library(store, CLARITY.model_copy(update={"max_score": 10}))
    assert names(store) == ["Clarity", "Clarity"]


def test_removing_can_be_undone(store: Store) -> None:
    entry = add_to_library(store, CLARITY, "One")
    assert remove_from_library(store, entry.id) == entry
    assert names(store) == []
    put_back(store, entry)
    assert library(store) == [entry]


def test_what_is_gone_cannot_be_removed(store: Store) -> None:
    with pytest.raises(InputError, match="no longer"):
        remove_from_library(store, "nothing")


def test_a_trait_that_is_not_evaluated_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="cannot be kept"):
        add_to_library(store, StoredTrait(name="Old", kind="callable", rating={}))


def test_half_a_surrogate_pair_is_stored_as_a_sign_of_it(any_store: Store) -> None:
    entry = add_to_library(any_store, CLARITY.model_copy(update={"description": "a\ud800\0b"}))
    assert library(any_store) == [entry]
    assert remove_from_library(any_store, entry.id).trait.description == "a\ufffd\ufffdb"


TRAITS = st.lists(
    st.one_of(
        st.builds(RubricTrait, name=st.text("abc ", min_size=1).filter(str.strip), description=st.text("xyz\n")),
        st.builds(lambda words: ManualRubricTrait(name="P", pattern="|".join(words)), st.lists(st.text("ab"))),
        st.builds(
            lambda items: MetricRubricTrait(name="M", metrics=["recall"], tp_instructions=items),
            st.lists(st.text("abc", min_size=1), min_size=1),
        ),
    ),
    max_size=5,
)


@given(TRAITS)
def test_a_file_gives_back_what_was_written(traits: list[RubricTrait | ManualRubricTrait | MetricRubricTrait]) -> None:
    assert read_library(library_file(traits)) == traits


def test_a_plain_list_is_read_too() -> None:
    assert read_library(json.dumps([CLARITY.model_dump()])) == [CLARITY]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"a": 1}, "no trait library"),
        ({"format": "karenina-traits", "version": 2, "traits": []}, "newer version"),
        ([{"type": "llm", "name": "A"}, {"type": "regex", "name": "B", "pattern": "("}], "Trait 2 of the file"),
        ([{"type": "stored", "name": "A", "kind": "callable", "rating": {}}], "Trait 1 of the file"),
        ([{"type": "llm", "name": "A"}] * 2_001, "2,001 traits"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(content: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_library(json.dumps(content))


def test_a_file_of_slow_patterns_is_given_up_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trait_library, "MAX_SECONDS", -1.0)
    with pytest.raises(InputError, match="too long to check"):
        read_library(library_file([BH3, CLARITY]))
