"""A metric trait without any model: a person marks what an answer names, and sees what follows."""

from __future__ import annotations

import streamlit as st

from karenina_core.pipeline import evaluate, marked, named_in
from karenina_core.schemas import MetricRubricTrait
from pages.components.drafts import Draft
from pages.components.rubrics.scope import Scope
from pages.components.text import distinct, plain
from pages.components.traits import chips as trait_chips
from pages.components.traits import sample as trait_sample
from pages.components.traits.values import lines
from pages.components.widgets import fingerprint


def draw(scope: Scope, trait: MetricRubricTrait, draft: Draft) -> None:
    """Draw the items to mark, the chips and the arithmetic."""
    sample = trait_sample.choose(scope, draft)
    text = sample.response if sample else ""
    st.caption(
        "Marked at first is what stands in the answer word for word. Correct it: an answer may use other words, or "
        "name an item only to rule it out."
        if text
        else "Mark what an answer would name, and see what follows."
    )
    # Other items or another answer begin anew.
    key = fingerprint(f"{draft.name}{trait.model_dump_json()}{text}")
    found = named_in(trait, text)
    if trait.evaluation_mode == "full_matrix":
        positive, negative = _classes(trait, found, key)
    else:
        positive, negative = _named(trait, found, key), []
    values, part = evaluate(trait, marked(positive, negative))
    trait_chips.draw(part, list(values))


def _named(trait: MetricRubricTrait, found: list[str], key: str) -> list[str]:
    items = list(dict.fromkeys([*trait.tp_instructions, *trait.fp_instructions]))
    named = _marked("The answer names", items, found, f"hand_named_{key}")
    others = st.text_area("Other items it names, one per line", height=80, key=f"hand_others_{key}")
    return [*named, *lines(others)]


def _classes(trait: MetricRubricTrait, found: list[str], key: str) -> tuple[list[str], list[str]]:
    items = list(dict.fromkeys([*trait.tp_instructions, *trait.tn_instructions]))
    named = [item for item in found if item in trait.tp_instructions]
    positive = _marked("The answer puts in the positive class", items, named, f"hand_positive_{key}")
    left = [item for item in items if item not in positive]
    named = [item for item in found if item in trait.tn_instructions]
    rest = f"hand_negative_{key}_{fingerprint('/'.join(left))}"
    return positive, _marked("It puts in the negative class", left, named, rest)


def _marked(label: str, items: list[str], found: list[str], key: str) -> list[str]:
    """Draw items to mark, those found in the answer marked at first; return the marked ones."""
    return st.pills(
        label,
        items,
        format_func=distinct(items, lambda item: plain(item, 60)).__getitem__,
        selection_mode="multi",
        wrap=True,
        default=[item for item in found if item in items],
        key=key,
    )
