"""Traits kept in the store, files of them, and a pattern over stored answers."""

from __future__ import annotations

import json
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.errors import InputError
from karenina_core.pipeline import Sample
from karenina_core.runs import (
    RunAnswer,
    Store,
    add_to_library,
    library,
    library_file,
    put_back,
    read_library,
    remove_from_library,
    search_answers,
)
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
    ("content", "message"),
    [
        ({"a": 1}, "no trait library"),
        ({"format": "karenina-traits", "version": 2, "traits": []}, "newer version"),
        ([{"type": "llm", "name": "A"}, {"type": "regex", "name": "B", "pattern": "("}], "Trait 2 of the file"),
        ([{"type": "stored", "name": "A", "kind": "callable", "rating": {}}], "Trait 1 of the file"),
        ([{"type": "llm", "name": "A"}] * 2_001, "2,001 traits"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(content: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_library(json.dumps(content))


def test_a_file_of_slow_patterns_is_given_up_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karenina_core.runs.traits.MAX_SECONDS", -1.0)
    with pytest.raises(InputError, match="too long to check"):
        read_library(library_file([BH3, CLARITY]))


def answers(*texts: str) -> list[RunAnswer]:
    return [RunAnswer(str(number), Sample("?", text, "q", f"m{number % 2}")) for number, text in enumerate(texts)]


def test_matches_are_counted_by_model() -> None:
    report = search_answers(ManualRubricTrait(name="T", pattern="ab"), answers("ab ab", "x", "ab"))
    assert [(item.spans, item.passes) for item in report.searched] == [
        (((0, 2), (3, 5)), True),
        ((), False),
        (((0, 2),), True),
    ]
    assert {model: len(items) for model, items in report.by_model().items()} == {"m0": 2, "m1": 1}


def test_case_and_inversion_count() -> None:
    trait = ManualRubricTrait(name="T", pattern="ab", case_sensitive=False, invert=True)
    assert [item.passes for item in search_answers(trait, answers("AB", "x")).searched] == [False, True]


def test_a_pattern_that_hangs_ends_the_search_with_the_reason() -> None:
    report = search_answers(ManualRubricTrait(name="T", pattern="(a|a)+$"), answers("a", "a" * 40 + "b", "a"))
    assert (len(report.searched), report.total) == (1, 3)
    assert "took too long" in report.problem


def test_many_answers_share_one_budget() -> None:
    ticks = count(step=3)
    report = search_answers(ManualRubricTrait(name="T", pattern="a"), answers(*"aaaa"), clock=lambda: next(ticks))
    assert (len(report.searched), report.problem) == (1, "The search was stopped after 5 s.")
