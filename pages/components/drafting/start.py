"""Drafting templates from a page: which model, what that takes, starting it, and how far it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import streamlit as st

from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.runs import BenchmarkRow, DraftBatch, estimate_templates, undo_drafts
from karenina_core.schemas import ModelConfig, VerificationConfig
from karenina_core.text import counted
from pages.components import feedback, forms, frame, live, services, session_keys, sign_in
from pages.components.drafts import Draft
from pages.components.runs import configuration, model_editor, spending
from pages.components.text import plain

_ROLE = "drafting"  # the role under which the form adds models
_RESULT = "_one_draft"  # what became of the last draft of one question, and of which one
_SOON = 1.0  # seconds; few questions are drafted within it, and need no progress bar


class Terms(NamedTuple):
    """On which terms a model may draft.

    Attributes:
        agreed: Whether it may begin.
        max_cost: US dollars that may be spent; None without a bound.
    """

    agreed: bool
    max_cost: float | None


def link(row: BenchmarkRow, benchmark: Benchmark) -> None:
    """Draw the way to the drafts of a benchmark; there is none where every question has a template."""
    batch = services.drafter().batch(row.id)
    missing = len(benchmark.get_missing_templates())
    if batch is not None and batch.active:
        label = f"Drafting templates: {batch.done} of {batch.total}"
    elif missing:
        label = f"Draft {counted(missing, 'missing template')}"
    elif batch is not None:
        label = "Drafted templates"
    else:
        return
    frame.link_button(label, frame.BENCHMARKS, "open_drafting", icon="edit_note", benchmark=row.id, do="draft")


def choose_model(row: BenchmarkRow, key: str) -> ModelConfig | None:
    """Draw the choice of the model that drafts; None where there is none to choose.

    Args:
        row: The benchmark.
        key: Begins the keys of the widgets.
    """
    default = model_editor.default_models()
    last = services.drafter().batch(row.id)
    roles = {_ROLE: [], "judge": default, "answering": default}
    first, *others = ([*configuration.models(role, list(models))] for role, models in roles.items())
    models = [*first, *([last.model] if last and last.model else []), *chain(*others)]
    missing = "Add the model that is to draft; it is asked once for each question."
    return model_editor.choose_one(_ROLE, "Model that drafts", models, f"{key}_model", missing=missing)[0]


def terms(
    row: BenchmarkRow, benchmark: Benchmark, model: ModelConfig, question_ids: Sequence[str], key: str, *, replace: bool
) -> Terms:
    """Draw what drafting takes from its provider, and return the terms; a model on this computer needs none."""
    batch = services.drafter().batch(row.id)
    started = batch.started if batch else ""
    about = f"{model.model_dump_json()}{row.id}{row.revision}{list(question_ids)}{replace}{started}"
    options: dict[str, Any] = {"question_ids": question_ids, "force_regenerate": replace, "store": services.store()}
    estimate = spending.worked_out("drafts", about, lambda: estimate_templates(benchmark, model, **options))
    if estimate is None:
        return Terms(True, None)
    max_cost = spend_at_most("Drafting", "drafted", f"{key}_max_cost")
    config = VerificationConfig(answering_models=[model], parsing_models=[model], max_cost=max_cost)
    what = "drafting may spend money, and sends questions, reference answers and notes to this provider"
    return Terms(spending.confirm(estimate, config, key, what), max_cost)


def spend_at_most(work: str, finished: str, key: str) -> float | None:
    """Draw the limit in US dollars for a piece of work; None for no limit."""
    return st.number_input(
        "Spend at most (US dollars; empty for no limit)",
        min_value=0.01,
        value=1.0,
        key=key,
        help=f"{work} stops when this is spent; what is {finished} stays. Models without a known price do not count.",
        width=320,
    )


def begin(
    row: BenchmarkRow, question_ids: Sequence[str], model: ModelConfig | None, *, alone: bool = False, **options: Any
) -> None:
    """Start a batch with the keys of this session, give it a moment, and draw the page anew.

    Args:
        row: The benchmark.
        question_ids: What to draft.
        model: That drafts; None for the rules.
        alone: Whether it is the draft of one question, beside its editor.
        **options: `replace_existing`, `continues` and `max_cost` of the drafter.
    """
    with frame.guard():
        drafter = services.drafter()
        options |= {"keys": session_keys.source(), "author": sign_in.person(), "alone": alone}
        drafter.start(row.id, model, question_ids=question_ids, **options)
        with st.spinner("Drafting …"):
            drafter.wait(row.id, question_ids[0] if alone else None, timeout=_SOON)
        st.rerun()


def progress(batch: DraftBatch, question_id: str | None = None) -> None:
    """Draw a batch under way.

    Args:
        batch: The batch.
        question_id: The question, for a draft made alone.
    """
    who = plain(batch.model.id, 60) if batch.model else "the rules"
    cancel = partial(services.drafter().cancel, batch.benchmark_id, question_id)
    live.progress(batch.done, batch.total, f"drafted by {who}", in_numbers(batch), "draft_cancel", cancel)


def in_numbers(batch: DraftBatch) -> str:
    """Return the counts, the pace and the account of a batch in one line."""
    left = batch.seconds_left
    parts = [
        f"✓ {len(batch.of('checked'))} checked",
        f"! {len(batch.of('needs_review'))} to review",
        f"– {len(batch.of('none'))} without a draft",
        f"{batch.waiting} being saved" if batch.waiting else "",
        f"{batch.per_minute:.0f} per minute" if batch.per_minute is not None else "",
        "" if left is None else f"about {left:.0f} s left" if left < 90 else f"about {left / 60:.0f} min left",
    ]
    if batch.model is not None:
        parts.append(f"{batch.calls} calls")
        if batch.model.is_provider:
            parts.append("spend unknown" if batch.cost is None and batch.calls else f"${batch.cost or 0:.4f} spent")
    return plain(" · ".join(part for part in parts if part))


def one_question(row: BenchmarkRow, benchmark: Benchmark, question: BenchmarkQuestion, draft: Draft) -> None:
    """Draw the way to a template that a model drafts; it is stored, and can be undone.

    Args:
        row: The benchmark.
        benchmark: Read from it.
        question: The question as it is stored.
        draft: What is in the editor; as long as something is unsaved there, no model is asked.
    """
    batch = services.drafter().batch(row.id, question.id)
    if batch is not None and batch.active:
        live.follow("one_draft", lambda: _follow_one(row, question.id), lambda: is_active(row.id, question.id))
        return
    if batch is not None:
        _result(row, question, batch)
    with st.popover("Draft with a model", icon=":material/edit_note:", key="one_model"), frame.guard():
        _ask_model(row, benchmark, question, draft)
    result = st.session_state.get(_RESULT)
    if result and result[0] == question.id:
        st.caption(plain(result[1], 600))


def is_active(benchmark_id: str, question_id: str | None = None) -> bool:
    """Return whether a batch is under way; of one question, where that is given."""
    batch = services.drafter().batch(benchmark_id, question_id)
    return batch is not None and batch.active


def _follow_one(row: BenchmarkRow, question_id: str) -> None:
    batch = services.drafter().batch(row.id, question_id)
    if batch is not None and batch.active:
        progress(batch, question_id)
    elif forms.button("The draft is done: show it", "edit_note", "one_show", type="primary"):
        st.rerun()


def _ask_model(row: BenchmarkRow, benchmark: Benchmark, question: BenchmarkQuestion, draft: Draft) -> None:
    if draft.edits:
        st.caption("Save or discard your edits first: the model drafts from what is stored.")
        return
    replace = benchmark.has_template(question.id)
    if replace:
        st.caption("The question has a template. The draft replaces it; you can undo that.")
    model = choose_model(row, "one")
    if model is None:
        return
    agreed, max_cost = terms(row, benchmark, model, [question.id], "one", replace=replace)
    label = "Draft and replace" if replace else "Draft"
    if st.button(label, type="primary", key="one_start", disabled=not agreed):
        st.session_state.pop(_RESULT, None)
        begin(row, [question.id], model, replace_existing=replace, alone=True, max_cost=max_cost)


def _result(row: BenchmarkRow, question: BenchmarkQuestion, batch: DraftBatch) -> None:
    """Say once what became of the model's draft, and offer to undo it."""
    services.drafter().forget(row.id, question.id)
    if batch.status == "failed" or not batch.outcomes:
        st.session_state[_RESULT] = (question.id, batch.message or "Drafting was cancelled; nothing was changed.")
        return
    [outcome] = batch.outcomes
    if outcome.state == "none":
        st.session_state[_RESULT] = (question.id, f"There is no draft. {outcome.why}")
        return
    review = " It needs review: " + " ".join(outcome.reasons) if outcome.reasons else ""
    st.session_state[_RESULT] = (question.id, f"Drafted. {outcome.why}{review}")

    def undo() -> None:
        st.session_state.pop(_RESULT, None)
        undo_drafts(services.store(), row.id, batch.outcomes, author=sign_in.person())

    feedback.offer_undo(f"A template was drafted for **{plain(question.question, 60)}**.", undo)
    st.rerun()
