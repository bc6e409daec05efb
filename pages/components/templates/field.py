"""The form of one template field: name, type, what the judge looks for, the truth, the rule, its weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from karenina_core.authoring import read_lines, set_name, set_type, set_value, write_lines
from karenina_core.schemas import read_date
from karenina_core.schemas.primitives import REGISTRY, TracePrimitive, VerificationPrimitive
from pages.components.drafts import Draft
from pages.components.templates import rule as template_rule
from pages.components.templates.state import Form, bound
from pages.components.templates.values import label_of, value_input, value_of
from pages.components.text import plain
from pages.components.widgets import fingerprint

TYPES = {
    "bool": "Yes or no (bool)",
    "int": "Whole number (int)",
    "float": "Number (float)",
    "str": "Text (str)",
    "list_str": "List of texts (list[str])",
    "literal": "One of several options (Literal)",
    "date": "Date (str)",
}


def draw(draft: Draft, form: Form, place: int, locked: Mapping[str, str]) -> None:
    """Draw the widgets of a field.

    Args:
        draft: The draft of the question.
        form: What was typed.
        place: Of the field.
        locked: Why the type of a field cannot be chosen, by field.
    """
    item = form.fields[place]
    names, types, weights = st.columns([5, 5, 3])
    with names:
        st.text_input(
            "Name",
            str(item.get("name") or ""),
            help="As in Python: letters, digits and underscores.",
            **bound(draft, form, form.key(place, "name"), lambda data, name: set_name(data, place, name)),
        )
    with types:
        _type(draft, form, place, locked)
    with weights:
        _weight(draft, form, place)
    st.text_area(
        "What the judge looks for",
        str(item.get("description") or ""),
        height=80,
        placeholder="One sentence on what to find in the response, without the truth",
        **_value(draft, form, place, "description", str),
    )
    if item.get("type") == "literal":
        _options(draft, form, place)
    if item.get("verify_with"):
        _truth(draft, form, place)
    template_rule.draw(draft, form, place)
    if not _reads_response(item):
        st.text_input(
            "Hint for the judge (optional)",
            str(item.get("extraction_hint") or ""),
            help="Extra help with this field, shown to the judge where the run says so. Never the truth.",
            **_value(draft, form, place, "extraction_hint", lambda text: text or None),
        )
    if item.get("options"):
        told = ", ".join(f"{name}={value!r}" for name, value in item["options"].items())
        st.caption(f":material/tune: Also set in the source: {plain(told, 300)}")


def _value(draft: Draft, form: Form, place: int, name: str, read: Any) -> dict[str, Any]:
    return bound(draft, form, form.key(place, name), lambda data, typed: set_value(data, place, name, read(typed)))


def _type(draft: Draft, form: Form, place: int, locked: Mapping[str, str]) -> None:
    item = form.fields[place]
    kind = str(item.get("type"))
    if kind not in TYPES:
        key = form.key(place, "locked")
        st.text_input("Type", str(item.get("annotation") or kind), disabled=True, key=key)
        st.caption(plain(locked.get(str(item.get("name")), "")))
        return
    st.selectbox(
        "Type",
        list(TYPES),
        index=list(TYPES).index(kind),
        format_func=lambda name: TYPES[name],
        **bound(
            draft, form, form.key(place, "type", _reads_dates(item)), lambda data, value: set_type(data, place, value)
        ),
    )


def _weight(draft: Draft, form: Form, place: int) -> None:
    item = form.fields[place]
    if item.get("verify_with") is None:
        return
    st.number_input(
        "Weight",
        value=float(item.get("weight", 1.0)),
        min_value=0.0,
        step=0.5,
        format="%g",
        help="Its share in the score of partly right answers. The verdict does not depend on it.",
        **_value(draft, form, place, "weight", float),
    )


def _options(draft: Draft, form: Form, place: int) -> None:
    st.text_area(
        "Options, one a line",
        write_lines(form.fields[place].get("literal_values") or []),
        height=90,
        help="The judge chooses one of them.",
        **_value(draft, form, place, "literal_values", read_lines),
    )


def _truth(draft: Draft, form: Form, place: int) -> None:
    item = form.fields[place]
    kind, value, rule = str(item.get("type")), item.get("ground_truth"), _class_of(item)
    reads = _reads_response(item)
    label = "Shall hold for the response" if reads else label_of(kind, "Ground truth")
    value_input(
        label,
        kind,
        value,
        item.get("literal_values") or [],
        words=("Yes, it shall hold", "No, it shall not hold") if reads else ("Yes (True)", "No (False)"),
        **bound(
            draft,
            form,
            form.key(place, "truth", kind, _shape(item)),
            lambda data, typed: set_value(data, place, "ground_truth", value_of(kind, typed)),
        ),
    )
    if rule is not None and issubclass(rule, VerificationPrimitive) and not rule.uses_ground_truth:
        st.caption(f"{rule.__name__} decides by its parameters; the truth is for people, N/A is usual.")
    elif kind == "date" and value not in (None, ""):
        _reading(item, value)


def _shape(item: Mapping[str, Any]) -> str:
    """Return what decides which widget shows the truth."""
    if item.get("type") == "literal":
        return fingerprint(repr(item.get("literal_values")))
    return type(item.get("ground_truth")).__name__ if item.get("type") in ("bool", "int", "float") else ""


def _reads_dates(item: Mapping[str, Any]) -> bool:
    return str((item.get("verify_with") or {}).get("type")).startswith("Date")


def _reading(item: Mapping[str, Any], value: Any) -> None:
    rule = item.get("verify_with") or {}
    read = read_date(value, rule.get("format"), bool(rule.get("dayfirst")))
    st.caption(f"Read as {plain(read)}" if read is not None else ":material/error: This cannot be read as a date.")


def _class_of(item: Mapping[str, Any]) -> Any:
    return REGISTRY.get(str((item.get("verify_with") or {}).get("type")))


def _reads_response(item: Mapping[str, Any]) -> bool:
    rule = _class_of(item)
    return rule is not None and issubclass(rule, TracePrimitive)
