"""A form for what the judge might have extracted."""

from __future__ import annotations

from typing import Any

import streamlit as st

from karenina_core.files import read_json
from karenina_core.templates import FieldSpec, Template
from pages.components.text import input_label, short

_NOTHING = "nothing found"


def form(template: Template, values: dict[str, Any], key: str) -> dict[str, Any] | None:
    """Draw a field for every value; return what was typed when it was sent off, otherwise None.

    Args:
        template: What the judge fills in.
        values: What it found.
        key: Of the form.

    Raises:
        InputError: Something typed is not readable as JSON where it has to be.
    """
    with st.form(key, border=False):
        typed = {item.name: _field(item, values.get(item.name), f"{key}_{item.name}") for item in template.spec.judged}
        st.caption("An empty field means that the judge found nothing.")
        if not st.form_submit_button("Decide by these values", icon=":material/gavel:"):
            return None
    return {item.name: _read(item, typed[item.name]) for item in template.spec.judged}


def _field(item: FieldSpec, value: Any, key: str) -> Any:
    title = input_label(item.name, 60)
    if item.type in ("bool", "literal"):
        options = [None, *([True, False] if item.type == "bool" else item.literal_values)]
        place = options.index(value) if value in options else 0
        return st.selectbox(title, options, index=place, key=key, format_func=_choice)
    if item.type == "list_str":
        text = "\n".join(map(str, value)) if isinstance(value, list) else ""
        return st.text_area(f"{title}, one item on each line", value=text, key=key)
    if item.type == "other":
        return st.text_area(f"{title}, as JSON", value="" if value is None else _json(value), key=key)
    return st.text_input(title, value="" if value is None else str(value), key=key)


def _choice(value: Any) -> str:
    if value is None:
        return _NOTHING
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else short(value, 80)


def _read(item: FieldSpec, typed: Any) -> Any:
    if not isinstance(typed, str) or item.type in ("bool", "literal"):
        return typed
    text = typed.strip()
    if not text:
        return None
    match item.type:
        case "int" | "float":
            return _number(text)
        case "list_str":
            return [line.strip() for line in typed.splitlines() if line.strip()]
        case "other":
            return read_json(text)
    return typed


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text  # what is no number is refused by the field, in its own words


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
