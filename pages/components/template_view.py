"""What an answer template does, shown while it is written."""

from __future__ import annotations

from typing import Any

import streamlit as st

from karenina_core.errors import TemplateError
from karenina_core.schemas.primitives import ExactMatch
from karenina_core.templates import FieldSpec, Template, TemplateSpec, read_template, write_template
from pages.components.text import plain, short, visible, visible_data

_BADGES = {
    "built-in checks": ("green", ":material/verified:", "Rules of the workbench decide; no code of the template runs."),
    "own code, sandboxed": (
        "blue",
        ":material/code:",
        "The template's own methods run in a sandbox without files, network or clock.",
    ),
    "not runnable": ("orange", ":material/block:", "The template can be read but not run here."),
}


def check(source: str) -> None:
    """Read a template source and show what it does, or what is wrong and where."""
    try:
        template = read_template(source)
    except TemplateError as error:
        _problem(source, error)
        return
    color, icon, meaning = _BADGES.get(template.badge, ("gray", ":material/help:", ""))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(template.badge, color=color, icon=icon)  # type: ignore[arg-type]
        st.caption(f"{meaning} Identity {template.template_id[:8]}.")
    for warning in template.warnings:
        st.caption(f":material/info: {plain(warning)}")
    st.dataframe(
        [_field(field, template.composition_strategy is None) for field in template.spec.fields],
        hide_index=True,
        alt="Fields of the template",
        height="content",
        column_config={"Description": st.column_config.TextColumn(width="large")},
    )
    _judge_view(template)
    _numbered(source)


def _field(field: FieldSpec, code_decides: bool) -> dict[str, Any]:
    truth, rule = ("in the code", "own code") if code_decides else ("–", "none, it decides nothing")
    if field.verify_with is not None:
        truth, rule = short(field.ground_truth, 60), _rule(field)
    return {
        "Field": short(field.name, 40),
        "Type": short(field.annotation or " | ".join(map(repr, field.literal_values)) or field.type, 40),
        "Truth": truth,
        "Rule": rule,
        "Description": short(field.description, 200),
    }


def _rule(field: FieldSpec) -> str:
    if field.primitive is not None:
        return short(repr(field.primitive), 80)
    parameters = dict(field.verify_with or {})
    name = parameters.pop("type")
    shown = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    return short(f"{name}({shown}), own code", 80)


def _judge_view(template: Template) -> None:
    with st.expander("What the judge sees", icon=":material/visibility:"):
        if not template.needs_judge:
            st.caption("Nothing: every field is decided from the text of the answer, so no judge is asked.")
            return
        st.caption("The question, the answer and this schema. Never the truth, the rules or the reference answer.")
        st.json(visible_data(template.judge_schema()), expanded=3)


def _numbered(source: str) -> None:
    with st.expander("Source with line numbers", icon=":material/format_list_numbered:"):
        st.code(visible(source), language="python", line_numbers=True)


def _problem(source: str, error: TemplateError) -> None:
    place = f"Line {error.line}: " if error.line else ""
    st.error(
        plain(" ".join(part for part in (error.why, error.next) if part)) or " ", title=plain(f"{place}{error.what}")
    )
    lines = source.splitlines()
    if error.line and error.line <= len(lines):
        st.code(visible(lines[error.line - 1].strip()) or " ", language="python")
    _numbered(source)


def skeleton(truth: str) -> str:
    """Return the source of a first template: one text field compared with the reference answer."""
    field = FieldSpec(
        name="answer",
        type="str",
        description="What the response gives as its answer, as short as it is written there",
        ground_truth=truth.strip(),
        verify_with=ExactMatch(normalize=["lowercase", "strip"]).to_dict(),
    )
    return write_template(TemplateSpec(fields=[field]))
