"""Everything below the Template tab of a question: form and source, the linter, and ways to try the template out."""

from __future__ import annotations

import streamlit as st

from karenina_core.authoring import draft_by_rule, form_of
from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.runs import BenchmarkRow
from karenina_core.templates import write_template
from pages.components import feedback
from pages.components.drafting import one as drafting_one
from pages.components.drafts import Draft
from pages.components.templates import explain as template_explain
from pages.components.templates import findings as template_findings
from pages.components.templates import form as template_form
from pages.components.templates import judge as template_judge
from pages.components.templates import self_test as template_self_test
from pages.components.templates import view as template_view
from pages.components.templates import what_if as template_what_if
from pages.components.templates.state import TEMPLATE, form_for, put_source

_TRIALS = {
    "Explain": template_explain.draw,
    "Near misses": template_self_test.draw,
    "What if": template_what_if.draw,
    "Judge's view": template_judge.draw,
}


def draw(row: BenchmarkRow, benchmark: Benchmark, question: BenchmarkQuestion, draft: Draft) -> None:
    """Draw the editor of the template of a question; it edits the value `answer_template` of the draft."""
    source = draft.values[TEMPLATE]
    form = form_for(draft)
    with st.container():  # as in the form: what is below keeps its place
        template = template_view.status(source) if source.strip() else None
        if not source.strip():
            _begin(draft)
        drafting_one.draw(row, benchmark, question, draft)
    told = template_findings.known(row, draft)
    findings = template_findings.look(draft, form, told)
    as_form, as_source = st.tabs(["Form", "Source"], key="template_views")
    with as_form:
        template_form.draw(draft, form, form_of(source), findings)
    with as_source:
        _source(draft, pending=form is not None and form.problem is not None)
    if findings or template is not None:
        template_findings.draw(draft, form, findings, told)
    if template is None:
        return
    trial = st.segmented_control("Try it out", list(_TRIALS), key="template_trial")
    if trial:
        _TRIALS[trial](draft, question.id, template)


def _begin(draft: Draft) -> None:
    """Offer ways to begin where there is no template."""
    st.info(
        "Without a template there is no verdict; only rubric traits are evaluated. Begin with a first template and "
        "adapt it, add a field, or paste a source.",
        icon=":material/info:",
    )
    with st.container(horizontal=True):
        st.button(
            "Draft from the reference answer",
            icon=":material/auto_fix_high:",
            key="draft_by_rule",
            on_click=_draft_by_rule,
            args=(draft,),
        )
        st.button(
            "Insert a skeleton",
            icon=":material/note_add:",
            key="insert_skeleton",
            on_click=lambda: put_source(draft, lambda _: template_view.skeleton(draft.values["raw_answer"])),
        )


def _draft_by_rule(draft: Draft) -> None:
    values = draft.values
    drafted = draft_by_rule(values["question"], values["raw_answer"], values.get("answer_notes") or None)
    if drafted.spec is None:
        feedback.say(drafted.why)
        return
    spec = drafted.spec
    put_source(draft, lambda _: write_template(spec), drafted.why)


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
        template_view.numbered(source)
