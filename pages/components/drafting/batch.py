"""Drafting the templates a benchmark lacks: by rule or with a model, and what became of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow, DraftBatch, clean_drafts, forget_batch, undo_drafts
from karenina_core.text import counted
from pages.components import feedback, forms, frame, live, services, sign_in
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.drafting import start as drafting
from pages.components.text import plain

_WAYS = {"rule": "By rule, without a model", "model": "With a model"}
_ENDS = {"cancelled": "was cancelled", "interrupted": "ended with the server", "failed": "stopped"}


def draw(row: BenchmarkRow) -> None:
    """Draw the section: a batch under way, what became of the last one, and how to draft more."""
    live.follow("drafts", lambda: _section(row.id), lambda: drafting.is_active(row.id))


def _section(benchmark_id: str) -> None:
    row = services.store().benchmarks.row(benchmark_id)
    benchmark = benchmark_choice.reading(row.id, row.revision)
    batch = services.drafter().batch(row.id)
    if batch is not None and batch.active:
        drafting.progress(batch)
    elif not len(benchmark):
        st.info("This benchmark has no questions yet. Import a table, or add the first one.", icon=":material/quiz:")
    else:
        if batch is not None:
            _outcome(row, benchmark, batch)
            st.subheader("Draft more" if benchmark.get_missing_templates() else "Draft again")
        _ask(row, benchmark, "primary" if batch is None else "secondary")


def _ask(row: BenchmarkRow, benchmark: Benchmark, rank: str) -> None:
    missing = benchmark.get_missing_templates()
    existing = len(benchmark) - len(missing)
    if missing:
        has = "has" if len(missing) == 1 else "have"
        st.markdown(f"{counted(len(missing), 'question')} of {len(benchmark)} {has} no template.")
    else:
        st.markdown("Every question has a template.")
    way = forms.segments("How", _WAYS, "draft_way", shown=True)
    replace = existing > 0 and st.checkbox(
        f"Also replace {counted(existing, 'existing template')}",
        key=f"draft_replace_{row.id}",
        help="Otherwise they stay as they are. Undoing the drafts brings back what they replaced.",
    )
    wanted = benchmark.get_question_ids() if replace else missing
    if not wanted:
        return
    label = f"Draft {counted(len(wanted), 'template')}"
    if way == "rule":
        st.caption(
            "Rules read the reference answer: yes or no, numbers with unit and tolerance, dates, names, lists, and "
            "choices that the question offers. They leave sentences to you, or to a model. Nothing leaves this "
            "computer."
        )
        if forms.button(f"{label} by rule", "rule", "draft_by_rule", type=rank):
            drafting.begin(row, wanted, None, replace_existing=replace)
        return
    st.caption(
        "The model plans what an answer must say and proposes fields with their descriptions. Code writes the "
        "template, checks it and tests it against near misses; what does not hold up is marked for review."
    )
    model = drafting.choose_model(row, "draft")
    if model is None:
        return
    agreed, max_cost = drafting.terms(row, benchmark, model, wanted, "draft", replace=replace)
    if forms.button(f"{label} with this model", "edit_note", "draft_with_model", type=rank, disabled=not agreed):
        drafting.begin(row, wanted, model, replace_existing=replace, max_cost=max_cost)


def _outcome(row: BenchmarkRow, benchmark: Benchmark, batch: DraftBatch) -> None:
    """Draw a batch that has ended: its counts, and what can be done about all of it."""
    who = f"Drafted by {plain(batch.model.id, 60)}" if batch.model else "Drafted by rule"
    st.markdown(f"**{who}** · {drafting.in_numbers(batch)}")
    if batch.status in _ENDS:
        st.warning(
            f"{plain(batch.message)} What is drafted stays; draft the others below.".strip(),
            title=f"The batch {_ENDS[batch.status]} after {batch.done} of {batch.total} questions",
        )
    for why, number in Counter(outcome.why for outcome in batch.of("none")).most_common(3):
        st.caption(f"{counted(number, 'question')} without a draft: {plain(why, 300)}")
    clean = clean_drafts(benchmark, batch.outcomes)
    _acts(row, benchmark, batch, clean)
    step = benchmark_choice.next_step(benchmark, benchmark_choice.checked(row.id, row.revision).states, batch)
    if not clean and step.page == frame.CONFIGURE:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**Next:** {step.standing}", width="content")
            frame.link_button(step.label, step.page, "draft_next", icon=step.icon, kind="primary", benchmark=row.id)
    # What is left to do is done in the list of questions, where the templates are edited.
    waiting = {"Needs review": ("drafts to review", batch.of("needs_review")), "Draft": ("undrafted", batch.of("none"))}
    with st.container(horizontal=True):
        for view, (what, outcomes) in waiting.items():
            if outcomes:
                label, key = f"Open the {len(outcomes)} {what}", f"draft_open_{view}"
                frame.link_button(label, frame.QUESTIONS, key, benchmark=row.id, only=view)


def _acts(row: BenchmarkRow, benchmark: Benchmark, batch: DraftBatch, clean: list[str]) -> None:
    drafted = sum(outcome.digest is not None for outcome in batch.outcomes)
    with st.container(horizontal=True):
        finish_help = (
            "Nothing was found against their drafts. Only finished questions take part in runs; those that need "
            "review stay as they are."
        )
        label = f"Mark {counted(len(clean), 'checked question')} finished"
        if clean and forms.button(label, "done_all", "draft_finish", type="primary", help=finish_help):
            benchmark_choice.finish(row, clean)
        if batch.failed and batch.model is not None:
            with st.popover(f"Retry {len(batch.failed)} failed", icon=":material/replay:"), frame.guard():
                failed = [name for name in batch.failed if name in benchmark]
                replace = any(benchmark.has_template(name) for name in failed)
                agreed, max_cost = drafting.terms(row, benchmark, batch.model, failed, "retry", replace=replace)
                if st.button("Try again", type="primary", key="draft_retry", disabled=not agreed):
                    options: dict[str, Any] = {"replace_existing": replace, "continues": True, "max_cost": max_cost}
                    drafting.begin(row, failed, batch.model, **options)
        undo_help = "Every question gets what it had before. Templates you have changed since stay."
        if drafted and forms.button(f"Undo {counted(drafted, 'draft')}", "undo", "draft_undo", help=undo_help):
            _undo(row, batch)
        if st.button("Close this list", type="tertiary", key="draft_close", help="The templates stay."):
            forget_batch(services.store(), row.id)
            st.rerun()


def _undo(row: BenchmarkRow, batch: DraftBatch) -> None:
    with frame.guard():
        undone = undo_drafts(services.store(), row.id, batch.outcomes, author=sign_in.person())
        forget_batch(services.store(), row.id)
        left = f" {counted(undone.left, 'template')} changed since then stayed." if undone.left else ""
        feedback.say(f"{counted(undone.restored, 'draft')} undone.{left}")
        st.rerun()
