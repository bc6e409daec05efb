"""Widgets for values of template fields: the one that fits the type, and a plain text box for what does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from karenina_core.authoring import is_number, is_whole, read_typed, write_typed
from karenina_core.schemas import quoted
from pages.components.text import short

_EXACT = 2**53 - 1  # whole numbers a browser holds exactly
_TALL, _WIDE = 90, 60  # height of a box of lines; characters from which a text gets one


def value_input(
    label: str,
    kind: str,
    value: Any,
    choices: Sequence[Any] = (),
    *,
    words: tuple[str, str] = ("Yes (True)", "No (False)"),
    **widget: Any,
) -> Any:
    """Draw the widget for a value of some type; `value_of` turns what it returns into the value.

    Args:
        label: Of the widget.
        kind: A type of a template field, such as `int`.
        value: The value it starts with, of whatever type.
        choices: What a `literal` may be.
        words: How True and False are called.
        **widget: Further arguments of the widget: `key`, `help`, `on_change`.
    """
    if kind == "bool" and (value is None or isinstance(value, bool)):
        return _choice(label, [True, False], value, {True: words[0], False: words[1]}, widget)
    if kind == "literal":
        known = any(type(item) is type(value) and item == value for item in choices)
        options = [*choices, *([] if known or value in (None, "") else [value])]
        names = {} if known else {value: f"{short(value, 60)} (none of the options)"} if _hashable(value) else {}
        return _choice(label, options, value, names, widget)
    if kind == "int" and (value is None or (is_whole(value) and abs(value) <= _EXACT)):
        return st.number_input(label, value=value, step=1, **widget)
    if kind == "float" and (value is None or (is_number(value) and abs(value) <= _EXACT)):
        return st.number_input(label, value=None if value is None else float(value), step=0.01, format="%g", **widget)
    text = write_typed(kind, value)
    if kind in ("list_str", "other") or "\n" in text or len(text) > _WIDE:
        return st.text_area(label, text, height=_TALL, **widget)
    return st.text_input(label, text, **widget)


def value_of(kind: str, typed: Any) -> Any:
    """Return the value that a widget of `value_input` holds."""
    return read_typed(kind, typed) if isinstance(typed, str) and kind != "literal" else typed


def label_of(kind: str, label: str) -> str:
    """Return a label that says how to type a value of some type."""
    return {"list_str": f"{label}, one a line", "other": f"{label}, as JSON"}.get(kind, label)


def _choice(label: str, options: Sequence[Any], value: Any, names: Mapping[Any, str], widget: Mapping[str, Any]) -> Any:
    at = next((at for at, item in enumerate(options) if type(item) is type(value) and item == value), None)
    return st.selectbox(
        label,
        options,
        index=at,
        placeholder="Choose",
        format_func=lambda item: names.get(item) or (short(item, 60) if isinstance(item, str) else quoted(item)),
        **widget,
    )


def _hashable(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)
