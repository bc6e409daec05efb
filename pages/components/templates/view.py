"""How a template is run, what is wrong where it cannot be read, and its source with line numbers."""

from __future__ import annotations

import streamlit as st

from karenina_core.errors import TemplateError
from karenina_core.schemas.primitives import ExactMatch
from karenina_core.templates import FieldSpec, Template, TemplateSpec, read_template, write_template
from pages.components.text import plain, visible

_BADGES = {
    "built-in checks": ("green", ":material/verified:", "Rules of the workbench decide; no code of the template runs."),
    "own code, sandboxed": (
        "blue",
        ":material/code:",
        "The template's own methods run in a sandbox without files, network or clock.",
    ),
    "not runnable": ("orange", ":material/block:", "The template can be read but not run here."),
}


def status(source: str) -> Template | None:
    """Read a template source and show how it is run, or what is wrong and where; None where it cannot be read."""
    try:
        template = read_template(source)
    except TemplateError as error:
        _problem(source, error)
        return None
    color, icon, meaning = _BADGES.get(template.badge, ("gray", ":material/help:", ""))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(template.badge, color=color, icon=icon)  # type: ignore[arg-type]
        st.caption(meaning, help=f"Results name it by the hash of its source, {template.template_id[:8]}….")
    for warning in template.warnings:
        st.caption(f":material/info: {plain(warning)}")
    return template


def numbered(source: str) -> None:
    """Show a source with line numbers, on demand."""
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
