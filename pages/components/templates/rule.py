"""The rule of a template field: the primitive, its parameters as its model lists them, its normalisers in order."""

from __future__ import annotations

from typing import Any

import streamlit as st

from karenina_core import patterns
from karenina_core.authoring import (
    Parameter,
    parameters_of,
    read_data,
    read_lines,
    set_parameter,
    set_rule,
    summary_of,
    write_data,
    write_lines,
)
from karenina_core.schemas import applicable, field_kind, rule_help, rule_title, suggest
from karenina_core.schemas.primitives import REGISTRY
from pages.components.drafts import Draft
from pages.components.templates import normalizers as template_normalizers
from pages.components.templates.state import Form, bound
from pages.components.text import plain, short

_FLAGS = [name for name in patterns.FLAGS if name != "LOCALE"]
_SMALL = ("bool", "int", "float", "choice")
_KIND_NAMES = {"list[str]": "lists", "literal": "options", "bool": "yes or no", "str": "texts", "date": "dates",
               "int": "numbers", "float": "numbers"}  # fmt: skip


def draw(draft: Draft, form: Form, place: int) -> None:
    """Draw the widgets of the rule of a field."""
    item = form.fields[place]
    rule = item.get("verify_with")
    name = str(rule["type"]) if rule else None
    kind = str(item.get("type"))
    options = [cls.__name__ for cls in applicable(kind)]
    options += [other for other in REGISTRY if other not in options]
    st.selectbox(
        "Rule",
        [*options, None],
        index=[*options, None].index(name),
        format_func=lambda other: _label(other, kind),
        help="What decides whether the extracted value is right. The rules made for the type come first.",
        **bound(draft, form, form.key(place, "rule", kind), lambda data, value: set_rule(data, place, value)),
    )
    if rule is None:
        st.caption("Without a rule the judge extracts the field, and it decides nothing.")
        return
    cls = REGISTRY[str(name)]
    st.caption(plain(summary_of(cls)), help=rule_help(cls.__name__))
    entries = parameters_of(cls)
    small = [entry for entry in entries if entry.kind in _SMALL]
    if small:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            for entry in small:
                _small(draft, form, place, entry)
    for entry in entries:
        if entry.kind == "normalizers":
            template_normalizers.draw(draft, form, place, entry)
        elif entry.kind not in _SMALL:
            _large(draft, form, place, entry)


def _label(name: str | None, kind: str) -> str:
    if name is None:
        return "None: it decides nothing"
    cls, natural = REGISTRY[name], suggest(kind)
    title = rule_title(name)
    if cls is natural:
        return f"{title} (suggested)"
    if field_kind(kind) in cls.applies_to or not cls.applies_to:
        return title
    return f"{title} (made for {_KIND_NAMES[cls.applies_to[0]]})"


def _title(entry: Parameter) -> str:
    return entry.name.replace("_", " ").capitalize() + (" (optional)" if entry.optional else "")


def _small(draft: Draft, form: Form, place: int, entry: Parameter) -> None:
    stored = form.fields[place]["verify_with"]
    rule, value = stored["type"], stored.get(entry.name)
    widget = {
        "help": entry.meaning or None,
        **bound(
            draft,
            form,
            form.key(place, "parameter", rule, entry.name),
            lambda data, typed: set_parameter(data, place, entry.name, typed),
        ),
    }
    if entry.kind == "bool":
        st.toggle(_title(entry), bool(value), **widget)
    elif entry.kind == "choice":
        at = entry.choices.index(value) if value in entry.choices else None
        st.selectbox(_title(entry), entry.choices, index=at, width=180, **widget)
    else:
        _number(entry, value, widget)


def _number(entry: Parameter, value: Any, widget: dict[str, Any]) -> None:
    whole = entry.kind == "int"
    kind: Any = int if whole else float
    st.number_input(
        _title(entry),
        value=None if value is None else kind(value),
        min_value=None if entry.least is None else kind(entry.least),
        max_value=None if entry.most is None else kind(entry.most),
        step=1 if whole else 0.01,
        format="%d" if whole else "%g",
        placeholder="none" if entry.optional else "",
        width=180,
        **widget,
    )


def _large(draft: Draft, form: Form, place: int, entry: Parameter) -> None:
    stored = form.fields[place]["verify_with"]
    rule, value = stored["type"], stored.get(entry.name)
    key = form.key(place, "parameter", rule, entry.name)
    title = _title(entry)
    if entry.kind == "text":
        blank = None if entry.optional else ""
        st.text_input(
            title,
            value or "",
            help=entry.meaning or None,
            **bound(draft, form, key, lambda data, typed: set_parameter(data, place, entry.name, typed or blank)),
        )
    elif entry.name == "flags":
        chosen = list(value or [])
        st.multiselect(
            title,
            [*_FLAGS, *(flag for flag in chosen if flag not in _FLAGS)],
            default=chosen,
            format_func=short,
            help=entry.meaning or None,
            **bound(draft, form, key, lambda data, typed: set_parameter(data, place, entry.name, list(typed))),
        )
    else:
        write, read = (write_lines, read_lines) if entry.kind == "texts" else (write_data, read_data)
        st.text_area(
            f"{title}, {'one a line' if entry.kind == 'texts' else 'as JSON'}",
            write(value),
            height=90,
            help=entry.meaning or None,
            **bound(draft, form, key, lambda data, typed: set_parameter(data, place, entry.name, read(typed))),
        )
