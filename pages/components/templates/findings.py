"""What the linter says of a template, by field, each finding with why, what to do, and its fix where there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import streamlit as st

from karenina_core.authoring import (
    Finding,
    Severity,
    lint,
    lint_form,
    repair_all,
    repair_whole_form,
    repaired,
    repaired_form,
)
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import feedback, services
from pages.components.drafts import Draft
from pages.components.templates.state import TEMPLATE, Form, change, put_source
from pages.components.text import plain

_LEVELS: dict[Severity, tuple[str, str, str]] = {
    "error": ("red", ":material/error:", "error"),
    "warning": ("orange", ":material/warning:", "warning"),
    "hint": ("blue", ":material/lightbulb:", "hint"),
}


def known(row: BenchmarkRow, draft: Draft) -> dict[str, Any]:
    """Return what the linter is told beside the template: question, reference answer, how the newest run was set."""
    told: dict[str, Any] = {"question": draft.values["question"], "reference_answer": draft.values["raw_answer"]}
    if "SemanticMatch" in draft.values[TEMPLATE]:
        runs = services.store().runs.all(benchmark_id=row.id)
        if runs:
            told["config"] = runs[0].config
    return told


def look(draft: Draft, form: Form | None, told: dict[str, Any]) -> list[Finding]:
    """Return the findings about the source, or about what was typed where that is not in the source yet."""
    if form is not None and form.problem:
        return lint_form(form.data, **told)
    source = draft.values[TEMPLATE]
    return lint(source, **told) if source.strip() else []


def draw(draft: Draft, form: Form | None, findings: Sequence[Finding], told: dict[str, Any]) -> None:
    """Draw the findings."""
    if not findings:
        st.caption(":material/check_circle: Nothing speaks against this template.")
        return
    fixable = sum(finding.fix is not None for finding in findings)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{counted(len(findings), 'finding')}**: {_summary(findings)}", width="stretch")
        if fixable > 1:
            st.button(
                f"Fix all {fixable}",
                icon=":material/build:",
                key="template_fix_all",
                on_click=_fix_all,
                args=(draft, form, told),
            )
    groups = list(dict.fromkeys(finding.field for finding in findings))
    for field in groups:
        with st.container(border=True, gap="small"):
            st.markdown(f"**{plain(field, 60)}**" if field else "**The whole template**")
            for at, finding in enumerate(findings):
                if finding.field == field:
                    _finding(draft, form, finding, at)


def _summary(findings: Sequence[Finding]) -> str:
    count = Counter(finding.severity for finding in findings)
    return ", ".join(counted(count[level], noun) for level, (_, _, noun) in _LEVELS.items() if count[level])


def _finding(draft: Draft, form: Form | None, finding: Finding, at: int) -> None:
    color, icon, name = _LEVELS[finding.severity]
    place = f" Line {finding.line}." if finding.line else ""
    st.markdown(f":{color}-badge[{icon} {name}] {plain(finding.what)}")
    st.caption(f"{plain(finding.why)} {plain(finding.next)}{place}")
    if finding.fix is not None:
        st.button(
            plain(finding.fix.label, 80),
            icon=":material/build:",
            key=f"template_fix_{finding.code}_{at}",
            on_click=_fix,
            args=(draft, form, finding),
        )


def _fix(draft: Draft, form: Form | None, finding: Finding) -> None:
    if form is not None and form.problem:
        change(draft, lambda data: repaired_form(data, finding), anew=True)
    else:
        put_source(draft, lambda source: repaired(source, finding), "Fixed.")


def _fix_all(draft: Draft, form: Form | None, told: dict[str, Any]) -> None:
    if form is not None and form.problem:
        change(draft, lambda data: repair_whole_form(data, **told).result, anew=True)
        if form.problem:
            return
    before = draft.values[TEMPLATE]
    mended = repair_all(before, **told)
    if mended.applied:
        put_source(draft, lambda source: mended.result)
        feedback.offer_undo(
            f"Fixed {counted(len(mended.applied), 'finding')}.", lambda: put_source(draft, lambda source: before)
        )
