"""A form for one field's truth and the settings of its rule; what it does not know it leaves alone."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import streamlit as st

from karenina_core.schemas import NORMALIZERS, title
from karenina_core.templates import FieldSpec
from pages.components.text import plain, short

_SYNONYMS = "the synonyms it has"


def edit(item: FieldSpec, key: str) -> FieldSpec:
    """Draw the form and return the field as it says.

    Args:
        item: A field with a built-in rule.
        key: Goes before the keys of widgets.

    Raises:
        ValueError: The settings contradict each other.
    """
    rule = dict(item.verify_with or {})
    truth = _truth(item, f"{key}_truth")
    primitive = item.primitive
    assert primitive is not None
    for name, described in type(primitive).model_fields.items():
        if name in rule:
            rule[name] = _setting(name, rule[name], described.annotation, f"{key}_{name}")
    return FieldSpec.model_validate({**item.model_dump(), "verify_with": rule, "ground_truth": truth})


def _truth(item: FieldSpec, key: str) -> Any:
    """Draw the truth where the rule uses one."""
    truth = item.ground_truth
    if not item.is_trace and not getattr(item.primitive, "uses_ground_truth", True):
        return truth
    match item.type:
        case "bool" if isinstance(truth, bool):
            return st.selectbox("Truth", [True, False], index=0 if truth else 1, key=key, format_func=_yes_or_no)
        case "int" if isinstance(truth, int):
            return st.number_input("Truth", value=truth, step=1, key=key)
        case "float" if isinstance(truth, int | float):
            return st.number_input("Truth", value=float(truth), format="%.10g", key=key)
        case "str" | "date" if isinstance(truth, str):
            return st.text_input("Truth", value=truth, key=key)
        case "literal" if truth in item.literal_values:
            return st.selectbox(
                "Truth",
                item.literal_values,
                index=item.literal_values.index(truth),
                key=key,
                format_func=lambda value: short(value, 80),
            )
        case "list_str" if isinstance(truth, list):
            text = st.text_area("Truth, one item on each line", value="\n".join(map(str, truth)), key=key)
            return [line.strip() for line in text.splitlines() if line.strip()]
    st.caption("The truth of this field can be changed in the template's source.")
    return truth


def _setting(name: str, value: Any, kind: Any, key: str) -> Any:
    title = name.replace("_", " ").capitalize()
    if name == "normalize":
        return _normalizers(value, key)
    choices = _choices(kind)
    if choices and value in choices:
        return st.selectbox(title, choices, index=choices.index(value), key=key)
    if isinstance(value, bool):
        return st.checkbox(title, value=value, key=key)
    numbers = {part for part in (kind, *get_args(kind)) if part in (int, float)}
    if numbers == {int}:
        return st.number_input(title, value=value, step=1, key=key)
    if float in numbers:
        return st.number_input(title, value=None if value is None else float(value), format="%.10g", key=key)
    if isinstance(value, str):
        return st.text_input(title, value=value, key=key)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        text = st.text_area(f"{title}, one on each line", value="\n".join(value), key=key)
        return [line for line in text.splitlines() if line.strip()]
    st.caption(f"{title}: {plain(value, 200)}")
    return value


def _normalizers(value: list[Any], key: str) -> list[Any]:
    """Draw the chain of normalisers; a synonym map in it keeps its place among those that stay."""
    named = {(f"{_SYNONYMS} ({place})" if isinstance(part, dict) else part): part for place, part in enumerate(value)}
    options = [*NORMALIZERS, *(name for name in named if name not in NORMALIZERS)]
    chosen = st.multiselect(
        "Normalisers, in their order",
        options,
        default=list(named),
        key=key,
        format_func=lambda name: title(name) if name in NORMALIZERS else name,
        help="In the template: " + "; ".join(f"{title(name)} is `{name}`" for name in NORMALIZERS) + ".",
    )
    return [named.get(name, name) for name in chosen]


def _choices(kind: Any) -> list[Any]:
    return list(get_args(kind)) if get_origin(kind) is Literal else []


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"
