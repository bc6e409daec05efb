"""Traits as form values and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.schemas import ManualRubricTrait, MetricRubricTrait, RubricTrait
from pages.components.traits.form import NEW, trait_of, values_of, yields

TRAITS = [
    RubricTrait(name="Clarity", description="How clear?", min_score=0, max_score=3, higher_is_better=False),
    RubricTrait(name="Polite", kind="binary", summary="Courtesy", higher_is_better=None),
    RubricTrait(name="Tone", kind="literal", classes={"formal": "as: in a journal", "casual": ""}),
    ManualRubricTrait(name="BH3", pattern=r"\bBH3\b", case_sensitive=False, invert=True),
    MetricRubricTrait(name="Lungs", metrics=["accuracy"], tp_instructions=["a", "b"], tn_instructions=["c"]),
    MetricRubricTrait(name="Found", metrics=["f1"], tp_instructions=["a"], fp_instructions=["x"]),
]


@pytest.mark.parametrize("trait", TRAITS, ids=lambda trait: trait.name)
def test_a_trait_goes_through_the_form_unchanged(trait: RubricTrait) -> None:
    assert trait_of(trait.type, values_of(trait), trait) == trait


@given(st.text("ab \n:", max_size=12), st.integers(-5, 5), st.integers(6, 9))
def test_any_description_and_bounds_go_through_the_form(description: str, low: int, high: int) -> None:
    values = NEW["llm"] | {"name": "T", "description": description, "min_score": low, "max_score": high}
    trait = trait_of("llm", values)
    assert isinstance(trait, RubricTrait)
    assert (trait.description or "") == description.strip()
    assert values_of(trait)["max_score"] == high


@pytest.mark.parametrize("kind", NEW)
def test_an_empty_form_is_refused(kind: str) -> None:
    with pytest.raises(ValueError):
        trait_of(kind, NEW[kind])


def test_a_trait_says_what_it_yields() -> None:
    assert [yields(trait) for trait in TRAITS] == [
        "score 0–3",
        "yes / no",
        "one of 2 classes",
        "pattern, inverted",
        "accuracy",
        "f1",
    ]
