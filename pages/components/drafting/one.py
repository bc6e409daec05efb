"""Drafting the template of one question with a model, beside its editor."""

from __future__ import annotations

import streamlit as st

from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.runs import BenchmarkRow, DraftBatch, undo_drafts
from pages.components import feedback, frame, services, sign_in
from pages.components.drafting import model as drafting_model
from pages.components.drafting import progress as drafting_progress
from pages.components.drafting import start as drafting_start
from pages.components.drafts import Draft
from pages.components.text import plain

_SAID = "_one_draft"  # what became of the last draft, and of which question


def draw(row: BenchmarkRow, benchmark: Benchmark, question: BenchmarkQuestion, draft: Draft) -> None:
    """Draw the way to a template that a model drafts; it is stored, and can be taken back.

    Args:
        row: The benchmark.
        benchmark: Read from it.
        question: The question as it is stored.
        draft: What is in the editor; as long as something is unsaved there, no model is asked.
    """
    batch = services.drafter().batch(row.id, question.id)
    if batch is not None and batch.active:
        drafting_progress.draw(row.id, question.id)
        return
    if batch is not None:
        _outcome(row, question, batch)
    with st.popover("Draft with a model", icon=":material/edit_note:", key="one_model"), frame.guard():
        _with_model(row, benchmark, question, draft)
    said = st.session_state.get(_SAID)
    if said and said[0] == question.id:
        st.caption(plain(said[1], 600))


def _with_model(row: BenchmarkRow, benchmark: Benchmark, question: BenchmarkQuestion, draft: Draft) -> None:
    if draft.edits:
        st.caption("Save or discard your edits first: the model drafts from what is stored.")
        return
    has_one = benchmark.has_template(question.id)
    if has_one:
        st.caption("The question has a template. The draft replaces it; you can take that back.")
    model = drafting_model.choose(row, "one")
    if model is None:
        return
    agreed, max_cost = drafting_model.terms(row, benchmark, model, [question.id], "one", replace_existing=has_one)
    label = "Draft and replace" if has_one else "Draft"
    if st.button(label, type="primary", key="one_start", disabled=not agreed):
        st.session_state.pop(_SAID, None)
        drafting_start.begin(row, [question.id], model, replace_existing=has_one, alone=True, max_cost=max_cost)


def _outcome(row: BenchmarkRow, question: BenchmarkQuestion, batch: DraftBatch) -> None:
    """Say once what became of the model's draft, and offer to take it back."""
    services.drafter().forget(row.id, question.id)
    if batch.status == "failed" or not batch.outcomes:
        st.session_state[_SAID] = (question.id, batch.message or "Drafting was cancelled; nothing was changed.")
        return
    [outcome] = batch.outcomes
    if outcome.state == "none":
        st.session_state[_SAID] = (question.id, f"There is no draft. {outcome.why}")
        return
    review = " It needs review: " + " ".join(outcome.reasons) if outcome.reasons else ""
    st.session_state[_SAID] = (question.id, f"Drafted. {outcome.why}{review}")
    feedback.offer_undo(
        f"A template was drafted for **{plain(question.question, 60)}**.",
        lambda: _take_back(row.id, batch),
    )
    st.rerun()


def _take_back(benchmark_id: str, batch: DraftBatch) -> None:
    st.session_state.pop(_SAID, None)
    undo_drafts(services.store(), benchmark_id, batch.outcomes, author=sign_in.person())
