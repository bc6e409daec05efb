"""What became of a batch of drafts: question by question, with what can be done about all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow, DraftBatch, Outcome, clean_drafts, digest_of, forget_batch, undo_drafts
from karenina_core.text import counted
from pages.components import feedback, frame, services, sign_in, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.benchmarks import finishing, next_step
from pages.components.drafting import model as drafting_model
from pages.components.drafting import progress as drafting_progress
from pages.components.drafting import start as drafting_start
from pages.components.text import plain, short, visible
from pages.components.widgets import pick

_VIEWS = {"all": "All", "checked": "Checked", "needs_review": "To review", "none": "Without a draft"}
_SIGNS = {"checked": "✓ checked", "needs_review": "! needs review", "none": "– no draft"}
_BADGES = {
    "checked": ":green-badge[:material/check: checked]",
    "needs_review": ":orange-badge[:material/error: needs review]",
    "none": ":gray-badge[:material/remove: no draft]",
}
_ENDS = {"cancelled": "was cancelled", "interrupted": "ended with the server", "failed": "stopped"}


def draw(row: BenchmarkRow, benchmark: Benchmark, batch: DraftBatch) -> None:
    """Draw the batch: its counts, what can be done about all of it, and every question."""
    who = f"Drafted by {plain(batch.model.id, 60)}" if batch.model else "Drafted by rule"
    st.markdown(f"**{who}** · {drafting_progress.in_numbers(batch)}")
    if batch.status in _ENDS:
        st.warning(
            f"{plain(batch.message)} What is drafted stays; draft again below for the others.".strip(),
            title=f"The batch {_ENDS[batch.status]} after {batch.done} of {batch.total} questions",
        )
    _without(batch)
    _acts(row, benchmark, batch)
    _next(row, benchmark, batch)
    if batch.outcomes:
        _list(row, benchmark, batch.outcomes)


def _without(batch: DraftBatch) -> None:
    """Say why some questions have no draft, the most frequent reasons first."""
    for why, number in Counter(outcome.why for outcome in batch.of("none")).most_common(3):
        st.caption(f"{counted(number, 'question')} without a draft: {plain(why, 300)}")


def _acts(row: BenchmarkRow, benchmark: Benchmark, batch: DraftBatch) -> None:
    clean = clean_drafts(benchmark, batch.outcomes)
    drafted = [outcome for outcome in batch.outcomes if outcome.digest is not None]
    with st.container(horizontal=True):
        if clean and st.button(
            f"Mark the {counted(len(clean), 'checked question')} finished",
            type="primary",
            icon=":material/done_all:",
            key="draft_finish",
            help="Nothing was found against their drafts. Only finished questions take part in runs; those that need "
            "review stay as they are.",
        ):
            finishing.finish(row, clean)
        if batch.failed and batch.model is not None:
            with st.popover(f"Try the {len(batch.failed)} failed again", icon=":material/replay:"), frame.guard():
                _retry(row, benchmark, batch)
        if drafted and st.button(
            f"Take {counted(len(drafted), 'draft')} back", icon=":material/undo:", key="draft_undo",
            help="Every question gets what it had before. Templates you have changed since stay.",
        ):  # fmt: skip
            _undo(row, batch)
        if st.button("Close this list", type="tertiary", key="draft_close", help="The templates stay."):
            forget_batch(services.store(), row.id)
            st.rerun()


def _next(row: BenchmarkRow, benchmark: Benchmark, batch: DraftBatch) -> None:
    """Lead on to the run where nothing of the batch waits to be marked finished."""
    states = benchmark_choice.checked(row.id, row.revision).states
    step = next_step.next_step(benchmark, states, batch)
    if clean_drafts(benchmark, batch.outcomes) or step.page != frame.CONFIGURE:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Next:** {step.standing}", width="content")
        if st.button(step.label, type="primary", icon=f":material/{step.icon}:", key="draft_next"):
            st.switch_page(step.page, query_params={"benchmark": row.id})


def _retry(row: BenchmarkRow, benchmark: Benchmark, batch: DraftBatch) -> None:
    assert batch.model is not None
    failed = [name for name in batch.failed if name in benchmark]
    replaces = any(benchmark.has_template(name) for name in failed)
    agreed, max_cost = drafting_model.terms(row, benchmark, batch.model, failed, "retry", replace_existing=replaces)
    if st.button("Try again", type="primary", key="draft_retry", disabled=not agreed):
        drafting_start.begin(row, failed, batch.model, replace_existing=replaces, continues=True, max_cost=max_cost)


def _undo(row: BenchmarkRow, batch: DraftBatch) -> None:
    with frame.guard():
        undone = undo_drafts(services.store(), row.id, batch.outcomes, author=sign_in.person())
        forget_batch(services.store(), row.id)
        left = f" {counted(undone.left, 'template')} changed since stayed." if undone.left else ""
        feedback.say(f"Took {counted(undone.restored, 'draft')} back.{left}")
        st.rerun()


def _list(row: BenchmarkRow, benchmark: Benchmark, outcomes: Sequence[Outcome]) -> None:
    views = {name: [outcome for outcome in outcomes if name in ("all", outcome.state)] for name in _VIEWS}
    view = st.segmented_control(
        "View",
        list(views),
        default="all",
        required=True,
        format_func=lambda name: f"{_VIEWS[name]} {len(views[name])}",
        key="draft_view",
        label_visibility="collapsed",
    )
    shown = views[view or "all"]
    if not shown:
        st.caption("None.")
        return
    left, right = st.columns([60, 40], gap="medium")
    with left:
        by_id = {outcome.question_id: outcome for outcome in shown}
        chosen = st.session_state.get("_drafted")
        rows = [_row(benchmark, outcome) for outcome in shown]
        columns = {
            "State": st.column_config.TextColumn(width=110),
            "Question": st.column_config.TextColumn(width=260),
            "Finished": st.column_config.CheckboxColumn(width=80),
        }
        first = chosen if chosen in by_id else next(iter(by_id))
        picked = pick("drafted_table", list(by_id), rows, first, alt="Drafted templates", most=12, columns=columns)
        st.session_state["_drafted"] = picked
    with right:
        _detail(row, benchmark, by_id[picked or first])


def _row(benchmark: Benchmark, outcome: Outcome) -> dict[str, object]:
    if outcome.question_id not in benchmark:
        return {"State": "– deleted", "Question": outcome.question_id, "Finished": False}
    question = benchmark.get_question(outcome.question_id)
    return {
        "State": "✎ edited since" if _is_edited(benchmark, outcome) else _SIGNS[outcome.state],
        "Question": short(question.question, 120),
        "Finished": question.finished,
    }


def _is_edited(benchmark: Benchmark, outcome: Outcome) -> bool:
    return outcome.digest is not None and digest_of(benchmark.get_template(outcome.question_id)) != outcome.digest


def _detail(row: BenchmarkRow, benchmark: Benchmark, outcome: Outcome) -> None:
    if outcome.question_id not in benchmark:
        st.caption("The question is not in the benchmark any more.")
        return
    question = benchmark.get_question(outcome.question_id)
    with st.container(border=True):
        edited = _is_edited(benchmark, outcome)
        badge = ":blue-badge[:material/edit: edited since]" if edited else _BADGES[outcome.state]
        st.markdown(f"{badge} {plain(question.question, 300)}")
        st.caption(f"Reference answer: {plain(question.raw_answer, 200)}")
        if outcome.why:
            st.markdown(plain(outcome.why, 500))
        if outcome.reasons:
            st.markdown("\n".join(f"- {plain(reason, 300)}" for reason in outcome.reasons))
        if st.button("Open in the editor", icon=":material/edit:", key="draft_open"):
            state.choose("q", question.id)
            st.switch_page(frame.QUESTIONS, query_params={"benchmark": row.id, "q": question.id})
        if question.answer_template:
            with st.expander("Template", icon=":material/code:"):
                st.code(visible(question.answer_template), language="python")
