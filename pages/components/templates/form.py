"""The form of a template: its fields in a list, the chosen one below, and how they make the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from karenina_core.authoring import (
    Composition,
    Finding,
    FormData,
    FormView,
    add_field,
    composition_of,
    form_data,
    move_field,
    remove_field,
    set_composition,
    verified_names,
)
from karenina_core.errors import InputError, KareninaError
from karenina_core.schemas import condition_from_dict, quoted, rule_in_words
from karenina_core.templates import write_condition
from pages.components import forms
from pages.components.drafts import Draft
from pages.components.templates import field as template_field
from pages.components.templates.state import Form, change, take_back
from pages.components.text import plain, short
from pages.components.widgets import fingerprint, pick

ALT = "Fields of the template"
_SIGN = ""  # the column of signs has no title
_COLUMNS = {_SIGN: st.column_config.TextColumn(width=30, help="✗ error, ! warning, · hint of the checks below")}
_KINDS = {
    "all_of": "All of them are right",
    "any_of": "At least one is right",
    "at_least_n": "At least so many are right",
    "nested": "As nested in the source",
}


def draw(draft: Draft, form: Form | None, view: FormView, findings: Sequence[Finding]) -> None:
    """Draw the form, or the fields to read and why they cannot be changed here.

    Args:
        draft: The draft of the question.
        form: What was typed; None for a source that cannot be read.
        view: How the form shows the source.
        findings: What the linter says, marked in the list.
    """
    if form is None or not view.editable:
        _read_only(view)
        return
    # Each in a place of its own: a box that moves to another place loses what is being typed in it.
    with st.container():
        if form.problem:
            _not_in_source(form)
    with st.container():
        if form.fields:
            _list(form, findings)
    _bar(form)
    if form.fields:
        form.chosen = min(form.chosen, len(form.fields) - 1)
        with form.drawing():
            with st.container(border=True, key=form.key("field", form.chosen)):
                template_field.draw(form, form.chosen, view.locked)
            _composition(form)


def _read_only(view: FormView) -> None:
    st.info(plain(view.reason or ""), title="The form only shows this template", icon=":material/lock:")
    if view.spec is not None:
        own = not view.spec.verified
        forms.table([_row(item, own_code=own) for item in form_data(view.spec)["fields"]], ALT, most=100)


def _not_in_source(form: Form) -> None:
    with st.container(border=True):
        st.markdown(":material/edit_off: **What you typed is not in the source yet.**")
        st.caption(f"{plain(form.problem)} It stays here until it is complete; the source is unchanged.")
        forms.button("Take it back", "undo", "template_take_back", on_click=take_back, args=(form.draft,))


def _list(form: Form, findings: Sequence[Finding]) -> None:
    ids = [str(place) for place in range(len(form.fields))]
    rows = [{_SIGN: _sign(item, findings), **_row(item)} for item in form.fields]
    chosen = pick(f"template_fields_{form.generation}", ids, rows, str(form.chosen), alt=ALT, most=8, columns=_COLUMNS)
    form.chosen = int(chosen or 0)


def _sign(item: Mapping[str, Any], findings: Sequence[Finding]) -> str:
    severities = {finding.severity for finding in findings if finding.field == str(item.get("name"))}
    return next((sign for name, (sign, *_) in forms.SEVERITIES.items() if name in severities), "")


def _row(item: Mapping[str, Any], *, own_code: bool = False) -> dict[str, str]:
    rule, truth = item.get("verify_with"), item.get("ground_truth")
    return {
        "Field": short(item.get("name"), 40),
        "Type": short(_type_of(item), 40),
        "Truth": short(truth if isinstance(truth, str) else quoted(truth), 60)
        if rule
        else ("in the code" if own_code else "–"),
        "Rule": short(_rule_of(item, own_code), 80),
        "Description": short(item.get("description") or "", 200),
    }


def _type_of(item: Mapping[str, Any]) -> str:
    if item.get("type") == "literal":
        return " | ".join(map(quoted, item.get("literal_values") or [])) or "one of several options"
    if item.get("type") == "list_str":
        return "list[str]"
    return str(item.get("annotation") or item.get("type"))


def _rule_of(item: Mapping[str, Any], own_code: bool) -> str:
    rule = item.get("verify_with")
    if rule is None:
        return "own code" if own_code else "none, it decides nothing"
    if item.get("own_rule"):
        parameters = ", ".join(f"{key}={value!r}" for key, value in rule.items() if key != "type")
        return f"{rule['type']}({parameters}), own code"
    return rule_in_words(rule)


def _bar(form: Form) -> None:
    place, last, answer = form.chosen, len(form.fields) - 1, form.draft.values["raw_answer"]
    acts: dict[str, tuple[str, Any, int, bool]] = {
        "Add field": ("add", lambda data: add_field(data, answer), last + 1, True),
        "Move up": ("arrow_upward", lambda data: move_field(data, place, place - 1), place - 1, place > 0),
        "Move down": ("arrow_downward", lambda data: move_field(data, place, place + 1), place + 1, place < last),
        "Remove field": ("delete", lambda data: remove_field(data, place), max(0, place - (place == last)), True),
    }
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for label, (icon, edit, choose, possible) in list(acts.items())[: 4 if form.fields else 1]:
            forms.button(
                label,
                icon,
                f"template_{label.lower().replace(' ', '_')}",
                type="secondary" if label == "Add field" else "tertiary",
                disabled=not possible,
                on_click=change,
                args=(form.draft, edit),
                kwargs={"anew": True, "choose": choose},
            )


def _composition(form: Form) -> None:
    """Draw how the results of several fields make the verdict; nothing where one field or none decides."""
    names, now = verified_names(form.data), _composition_now(form.data)
    if len(names) < 2 and not form.data.get("verify_strategy"):
        return
    nested = now.kind == "nested"
    options = [kind for kind in _KINDS if nested or kind != "nested"]

    # What counts is read when a widget is changed; other changes may come first.
    def with_kind(data: FormData, kind: str) -> FormData:
        now = _composition_now(data)
        return data if kind == "nested" else set_composition(data, kind, now.fields, now.n)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "The answer is right when",
            options,
            index=options.index(now.kind),
            format_func=_KINDS.__getitem__,
            width=280,
            **form.bind(with_kind, "composition"),
        )
        if now.kind == "at_least_n":
            most = max(len(now.fields), now.n, 1)
            bound = form.bind(
                lambda data, n: set_composition(data, now.kind, _composition_now(data).fields, int(n or 1)),
                "composition",
                "n",
                most,
            )
            st.number_input("How many", value=now.n, min_value=1, max_value=most, step=1, width=140, **bound)
    if nested:
        condition = _condition(form)
        st.caption(f"{condition} A nested composition is edited in the source; choosing another one replaces it.")
        return
    st.multiselect(
        "Fields that count",
        list(dict.fromkeys([*names, *now.fields])),
        default=list(now.fields),
        format_func=lambda name: short(name, 40),
        help="Leave it empty to count all of them.",
        **form.bind(
            lambda data, fields: set_composition(data, now.kind, fields, _composition_now(data).n),
            "composition",
            "fields",
            fingerprint(repr(names)),
        ),
    )


def _composition_now(data: FormData) -> Composition:
    try:
        return composition_of(data)
    except InputError:
        return Composition("nested", ())  # `_condition` says what it is


def _condition(form: Form) -> str:
    try:
        return plain(write_condition(condition_from_dict(form.data["verify_strategy"])), 500)
    except (KareninaError, ValueError):
        return "It is not complete."
