"""The normalisers of a rule: what is done to texts before they are compared, in this order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from karenina_core.authoring import FormData, Parameter, read_pairs, set_parameter, write_pairs
from karenina_core.schemas import NORMALIZER_WORDS, NORMALIZERS, SYNONYMS, code_name, normalize, title
from pages.components.drafts import Draft
from pages.components.templates.state import Form, bound, change
from pages.components.text import plain


def draw(draft: Draft, form: Form, place: int, entry: Parameter) -> None:
    """Draw the list of normalisers that a parameter of a field's rule holds."""
    rule = form.fields[place]["verify_with"]
    steps = list(rule.get(entry.name) or [])

    def store(changed: Sequence[Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
        return lambda data: set_parameter(data, place, entry.name, list(changed))

    def act(changed: Sequence[Any]) -> None:
        change(draft, store(changed), anew=True)

    st.markdown("Normalisers, in this order", help=entry.meaning or None)
    if not steps:
        st.caption("None: every character counts.")
    for at, step in enumerate(steps):
        _row(form, place, steps, at, act)
        if isinstance(step, dict):
            st.text_area(
                f"Synonyms of step {at + 1}: spelling = meaning, one a line",
                write_pairs(step.get("mapping")),
                height=90,
                help="The whole text is looked up once, as the steps before leave it.",
                **bound(
                    draft,
                    form,
                    form.key(place, rule["type"], at, "pairs"),
                    partial(_with_pairs, place=place, name=entry.name, steps=steps, at=at),
                ),
            )
    unused = [name for name in NORMALIZER_WORDS if name not in steps]
    st.selectbox(
        "Add a normaliser",
        unused,
        index=None,
        placeholder="Add a normaliser",
        label_visibility="collapsed",
        format_func=lambda name: f"{title(name)} ({name}): {NORMALIZER_WORDS[name].meaning}",
        **bound(
            draft,
            form,
            form.key(place, rule["type"], "add"),
            lambda data, name: (
                data
                if name is None
                else set_parameter(data, place, entry.name, [*steps, _first(name, form, place, steps)])
            ),
            anew=True,
        ),
    )


def _with_pairs(data: FormData, typed: str, *, place: int, name: str, steps: Sequence[Any], at: int) -> FormData:
    return set_parameter(data, place, name, [*steps[:at], {"mapping": read_pairs(typed)}, *steps[at + 1 :]])


def _row(form: Form, place: int, steps: Sequence[Any], at: int, act: Callable[[Sequence[Any]], None]) -> None:
    step = steps[at]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f"{at + 1} · {plain(title(step))}", width="stretch", help=f"In the template: {plain(code_name(step))}"
        )
        for label, icon, changed, possible in (
            ("Up", "arrow_upward", _swapped(steps, at, at - 1), at > 0),
            ("Down", "arrow_downward", _swapped(steps, at, at + 1), at + 1 < len(steps)),
            ("Remove", "close", [*steps[:at], *steps[at + 1 :]], True),
        ):
            st.button(
                label,
                icon=f":material/{icon}:",
                type="tertiary",
                key=form.key(place, "step", at, label),
                disabled=not possible,
                on_click=act,
                args=(changed,),
            )


def _swapped(steps: Sequence[Any], one: int, other: int) -> list[Any]:
    changed = list(steps)
    if 0 <= other < len(steps):
        changed[one], changed[other] = changed[other], changed[one]
    return changed


def _first(name: str, form: Form, place: int, steps: Sequence[Any]) -> Any:
    """Return a new step; a map of synonyms begins with the truth, as the steps before leave it."""
    if name != SYNONYMS:
        return name
    truth = form.fields[place].get("ground_truth")
    if not isinstance(truth, str) or not truth:
        return {"mapping": {}}
    seen = normalize(truth, [step for step in steps if isinstance(step, str) and step in NORMALIZERS])
    return {"mapping": {seen: seen}}
