"""The form of a template: its fields in a list, the chosen one below, and how they make the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from karenina_core.authoring import Finding, FormView, add_field, form_data, move_field, remove_field
from karenina_core.schemas import quoted, rule_in_words
from pages.components.drafts import Draft
from pages.components.templates import composition as template_composition
from pages.components.templates import field as template_field
from pages.components.templates.state import Form, change, take_back
from pages.components.text import plain, short
from pages.components.widgets import pick

ALT = "Fields of the template"
_SIGNS = {"error": "✗", "warning": "!", "hint": "·"}
_SIGN = ""
_COLUMNS = {_SIGN: st.column_config.TextColumn(width=30, help="✗ error, ! warning, · hint of the checks below")}


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
            _not_in_source(draft, form)
    with st.container():
        if form.fields:
            _list(form, findings)
    _bar(draft, form)
    if form.fields:
        form.chosen = min(form.chosen, len(form.fields) - 1)
        with form.drawing():
            with st.container(border=True, key=form.key("field", form.chosen)):
                template_field.draw(draft, form, form.chosen, view.locked)
            template_composition.draw(draft, form)


def _read_only(view: FormView) -> None:
    reason = plain(view.reason or "")
    st.info(f"{reason}", title="The form only shows this template", icon=":material/lock:")
    if view.spec is None:
        return
    own = not view.spec.verified
    fields = form_data(view.spec)["fields"]
    rows = [_row(item, [], decided="own code" if own else "none") for item in fields]
    for row in rows:
        del row[_SIGN]
    st.dataframe(rows, hide_index=True, alt=ALT, height="content")


def _not_in_source(draft: Draft, form: Form) -> None:
    with st.container(border=True):
        st.markdown(":material/edit_off: **What you typed is not in the source yet.**")
        st.caption(f"{plain(form.problem)} It is kept here until it is complete; the source stays as it was.")
        st.button("Take it back", icon=":material/undo:", key="template_take_back", on_click=take_back, args=(draft,))


def _list(form: Form, findings: Sequence[Finding]) -> None:
    ids = [str(place) for place in range(len(form.fields))]
    rows = [_row(item, findings) for item in form.fields]
    chosen = pick(f"template_fields_{form.generation}", ids, rows, str(form.chosen), alt=ALT, most=8, columns=_COLUMNS)
    form.chosen = int(chosen or 0)


def _row(item: Mapping[str, Any], findings: Sequence[Finding], decided: str = "none") -> dict[str, str]:
    rule = item.get("verify_with")
    name = str(item.get("name"))
    grave = Counter(finding.severity for finding in findings if finding.field == name)
    sign = next((_SIGNS[level] for level in ("error", "warning", "hint") if grave[level]), "")
    truth = item.get("ground_truth")
    shown = "in the code" if decided == "own code" else "–"
    return {
        _SIGN: sign,
        "Field": short(name, 40),
        "Type": short(_type_of(item), 40),
        "Truth": shown if not rule else short(truth if isinstance(truth, str) else quoted(truth), 60),
        "Rule": short(_rule_of(item, decided), 80),
        "Description": short(item.get("description") or "", 200),
    }


def _type_of(item: Mapping[str, Any]) -> str:
    if item.get("type") == "literal":
        return " | ".join(map(quoted, item.get("literal_values") or [])) or "one of several options"
    if item.get("type") == "list_str":
        return "list[str]"
    return str(item.get("annotation") or item.get("type"))


def _rule_of(item: Mapping[str, Any], decided: str) -> str:
    rule = item.get("verify_with")
    if rule is None:
        return "own code" if decided == "own code" else "none, it decides nothing"
    if item.get("own_rule"):
        parameters = ", ".join(f"{key}={value!r}" for key, value in rule.items() if key != "type")
        return f"{rule['type']}({parameters}), own code"
    return rule_in_words(rule)


def _bar(draft: Draft, form: Form) -> None:
    place, last = form.chosen, len(form.fields) - 1
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Add field",
            icon=":material/add:",
            key="template_add_field",
            on_click=change,
            args=(draft, lambda data: add_field(data, draft.values["raw_answer"])),
            kwargs={"anew": True, "choose": last + 1},
        )
        if not form.fields:
            return
        for label, icon, to in (("Move up", "arrow_upward", place - 1), ("Move down", "arrow_downward", place + 1)):
            st.button(
                label,
                icon=f":material/{icon}:",
                type="tertiary",
                key=f"template_{label.lower().replace(' ', '_')}",
                disabled=not 0 <= to <= last,
                on_click=change,
                args=(draft, lambda data, to=to: move_field(data, place, to)),
                kwargs={"anew": True, "choose": to},
            )
        st.button(
            "Remove field",
            icon=":material/delete:",
            type="tertiary",
            key="template_remove_field",
            on_click=change,
            args=(draft, lambda data: remove_field(data, place)),
            kwargs={"anew": True, "choose": max(0, place - (place == last))},
        )
