"""Everything below the Template tab of a question: form and source, the linter, and ways to try the template out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from karenina_core.authoring import Finding, draft_by_rule, form_of, lint, lint_form, repair_all, repaired
from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.errors import TemplateError
from karenina_core.runs import BenchmarkRow
from karenina_core.schemas.primitives import ExactMatch
from karenina_core.templates import FieldSpec, Template, TemplateSpec, read_template, write_template
from karenina_core.text import counted
from pages.components import feedback, forms, services
from pages.components.drafting import start as drafting
from pages.components.drafts import Draft
from pages.components.templates import form as template_form
from pages.components.templates import trials as template_trials
from pages.components.templates.state import TEMPLATE, Form, change, form_for, put_source
from pages.components.text import plain, visible

_BADGES: dict[str, tuple[Any, str, str]] = {
    "built-in checks": ("green", ":material/verified:", "Rules of the workbench decide; no code of the template runs."),
    "own code, sandboxed": (
        "blue",
        ":material/code:",
        "The template's own methods run in a sandbox without files, network or clock.",
    ),
    "not runnable": ("orange", ":material/block:", "The template can be read but not run here."),
}


def draw(row: BenchmarkRow, benchmark: Benchmark, question: BenchmarkQuestion, draft: Draft) -> None:
    """Draw the editor of the template of a question; it edits the value `answer_template` of the draft."""
    source = draft.values[TEMPLATE]
    form = form_for(draft)
    with st.container():  # as in the form: what is below keeps its place
        template = _status(source) if source.strip() else None
        if not source.strip():
            _first_template(draft)
        drafting.one_question(row, benchmark, question, draft)
    context = _lint_context(row, draft)
    findings = _lint(draft, form, context)
    as_form, as_source = st.tabs(["Form", "Source"], key="template_views")
    with as_form:
        template_form.draw(draft, form, form_of(source), findings)
    with as_source:
        _source(draft, pending=form is not None and form.problem is not None)
    if findings or template is not None:
        _findings(draft, form, findings, context)
    if template is not None:
        template_trials.draw(draft, question.id, template)


def _status(source: str) -> Template | None:
    """Read a template source and show how it is run, or what is wrong and where; None where it cannot be read."""
    try:
        template = read_template(source)
    except TemplateError as error:
        where = f"Line {error.line}: " if error.line else ""
        body = plain(" ".join(part for part in (error.why, error.next) if part)) or " "
        st.error(body, title=plain(f"{where}{error.what}"))
        lines = source.splitlines()
        if error.line and error.line <= len(lines):
            st.code(visible(lines[error.line - 1].strip()) or " ", language="python")
        return None
    color, icon, meaning = _BADGES.get(template.badge, ("gray", ":material/help:", ""))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(template.badge, color=color, icon=icon)
        st.caption(meaning, help=f"Results name it by the hash of its source, {template.template_id[:8]}….")
    for warning in template.warnings:
        st.caption(f":material/info: {plain(warning)}")
    return template


def _first_template(draft: Draft) -> None:
    """Offer ways to begin where there is no template."""
    st.info(
        "Without a template there is no verdict; only rubric traits are evaluated. Begin with a first template and "
        "adapt it, add a field, or paste a source.",
        icon=":material/info:",
    )
    with st.container(horizontal=True):
        forms.button(
            "Draft from the reference answer", "auto_fix_high", "draft_by_rule", on_click=_draft_by_rule, args=(draft,)
        )
        forms.button(
            "Insert a skeleton",
            "note_add",
            "insert_skeleton",
            on_click=lambda: put_source(draft, lambda _: _skeleton(draft.values["raw_answer"])),
        )


def _draft_by_rule(draft: Draft) -> None:
    values = draft.values
    drafted = draft_by_rule(values["question"], values["raw_answer"], values.get("answer_notes") or None)
    if drafted.spec is None:
        feedback.say(drafted.why)
        return
    spec = drafted.spec
    put_source(draft, lambda _: write_template(spec), drafted.why)


def _skeleton(truth: str) -> str:
    """Return the source of a first template: one text field compared with the reference answer."""
    field = FieldSpec(
        name="answer",
        type="str",
        description="What the response gives as its answer, as short as it is written there",
        ground_truth=truth.strip(),
        verify_with=ExactMatch(normalize=["lowercase", "strip"]).to_dict(),
    )
    return write_template(TemplateSpec(fields=[field]))


def _source(draft: Draft, *, pending: bool) -> None:
    if pending:
        st.caption(
            ":material/edit_off: The form holds changes that are not in this source yet. Editing the source drops them."
        )
    source = st.text_area(
        "Template source",
        **draft.text(TEMPLATE),
        height=340,
        placeholder="class Answer(BaseAnswer): …",
        help="Python text of a class Answer. It is read, never executed. Press Ctrl+Enter to check what you typed.",
    )
    if source.strip():
        with st.expander("Source with line numbers", icon=":material/format_list_numbered:"):
            st.code(visible(source), language="python", line_numbers=True)


def _lint_context(row: BenchmarkRow, draft: Draft) -> dict[str, Any]:
    """Return what the linter looks at beside the template: question, reference answer, settings of the newest run."""
    context: dict[str, Any] = {"question": draft.values["question"], "reference_answer": draft.values["raw_answer"]}
    if "SemanticMatch" in draft.values[TEMPLATE]:
        runs = services.store().runs.all(benchmark_id=row.id)
        if runs:
            context["config"] = runs[0].config
    return context


def _lint(draft: Draft, form: Form | None, context: dict[str, Any]) -> list[Finding]:
    """Return the findings about the source, or about what was typed where that is not in the source yet."""
    if form is not None and form.problem:
        return lint_form(form.data, **context)
    source = draft.values[TEMPLATE]
    return lint(source, **context) if source.strip() else []


def _findings(draft: Draft, form: Form | None, findings: Sequence[Finding], context: dict[str, Any]) -> None:
    """Draw the findings by field, each with why, what to do, and its fix where there is one."""
    if not findings:
        st.caption(":material/check_circle: No problem was found in this template.")
        return
    fixable = sum(finding.fix is not None for finding in findings)
    summary = forms.severities_in_short(finding.severity for finding in findings)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{counted(len(findings), 'finding')}**: {summary}", width="stretch")
        if fixable > 1:
            act: dict[str, Any] = {"on_click": _fix_all, "args": (draft, form, context)}
            forms.button(f"Fix all {fixable}", "build", "template_fix_all", **act)
    for field in dict.fromkeys(finding.field for finding in findings):
        with st.container(border=True, gap="small"):
            st.markdown(f"**{plain(field, 60)}**" if field else "**The whole template**")
            for at, finding in enumerate(findings):
                if finding.field == field:
                    _finding(draft, form, finding, at)


def _finding(draft: Draft, form: Form | None, finding: Finding, at: int) -> None:
    line = f" Line {finding.line}." if finding.line else ""
    st.markdown(f"{forms.severity_badge(finding.severity)} {plain(finding.what)}")
    st.caption(f"{plain(finding.why)} {plain(finding.next)}{line}")
    if finding.fix is not None:
        act: dict[str, Any] = {"on_click": _fix, "args": (draft, form, finding)}
        forms.button(plain(finding.fix.label, 80), "build", f"template_fix_{finding.code}_{at}", **act)


def _fix(draft: Draft, form: Form | None, finding: Finding) -> None:
    if form is not None and form.problem:
        change(draft, lambda data: repaired(data, finding), anew=True)
    else:
        put_source(draft, lambda source: repaired(source, finding), "Fixed.")


def _fix_all(draft: Draft, form: Form | None, context: dict[str, Any]) -> None:
    if form is not None and form.problem:
        change(draft, lambda data: repair_all(data, **context).result, anew=True)
        if form.problem:
            return
    before = draft.values[TEMPLATE]
    repair = repair_all(before, **context)
    if repair.applied:
        put_source(draft, lambda source: repair.result)
        feedback.offer_undo(
            f"Fixed {counted(len(repair.applied), 'finding')}.", lambda: put_source(draft, lambda source: before)
        )
