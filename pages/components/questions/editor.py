"""The editor of one question: what is asked, its template, its rubric, everything about it, and its history."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from karenina_core.authoring import REVIEW_PROPERTY
from karenina_core.benchmark import UNFINISHED, Benchmark, BenchmarkQuestion, fields_of, form_of
from karenina_core.runs import BenchmarkRow
from pages.components import drafts, feedback, frame, save_button, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.benchmarks import finishing
from pages.components.drafts import Draft
from pages.components.questions import details as question_details
from pages.components.questions import history as question_history
from pages.components.questions.index import in_words
from pages.components.questions.list import Shown, draft_name
from pages.components.templates import editor as template_editor
from pages.components.text import plain, short
from pages.components.traits.values import kind_in_words

TABS = ("Question", "Template", "Rubric", "Few-shot", "Details", "History")


def draw(row: BenchmarkRow, benchmark: Benchmark, question_id: str, shown: Shown) -> None:
    """Draw the editor of a question.

    Args:
        row: The stored benchmark.
        benchmark: Its questions.
        question_id: The question.
        shown: The questions that are listed, to go from one to the next.
    """
    question = benchmark.get_question(question_id)
    draft = drafts.draft_of(draft_name(row.id, question_id), form_of(question))
    _bar(row, question, draft, shown.ids)
    with frame.guard():
        with st.container():  # what is below keeps its place when something appears here, and with it what is typed
            _last_step(row, question, draft)
            if question_id in shown.failures:
                st.caption(f":material/close: Failed for {plain(in_words(shown.failures[question_id]))}")
            _identity(question, draft)
            _review(row, question)
        details, template, rubric, examples, more, history = st.tabs(TABS, key="question_tabs")
        with details:
            question_details.asked(draft, shown.index.keywords)
            _finished(row, question, draft)
        with template:
            template_editor.draw(row, benchmark, question, draft)
        with rubric:
            _rubric(row, benchmark, question)
        with examples:
            question_details.examples(draft)
        with more:
            question_details.more(benchmark, question, draft)
        with history:
            question_history.draw(row, question, draft)


def _bar(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft, neighbours: Sequence[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        save = save_button.draw("Save", "save_question", edited=bool(draft.edits))
        if st.button("Discard edits", icon=":material/undo:", key="discard_edits", disabled=not draft.edits):
            drafts.discard(draft.name)
            st.rerun()
        if st.button("Delete", icon=":material/delete:", key="delete_question"):
            _delete(row, question)
    with st.container(horizontal=True, vertical_alignment="center"):
        _steps(question, neighbours)
        if draft.edits:
            st.badge("Unsaved edits", icon=":material/edit:", color="orange")
        else:
            st.caption(":material/check: Saved", width="content")
    if draft.edits and draft.base != form_of(question):
        st.warning(
            "Saving writes your edited fields over it. Discard your edits to see the stored version.",
            title="This question was changed elsewhere meanwhile",
        )
    if save:
        with frame.guard():
            _save(row, question, draft)


def _steps(question: BenchmarkQuestion, neighbours: Sequence[str]) -> None:
    place = neighbours.index(question.id) if question.id in neighbours else None
    # From a question that is not listed, the next one is the first of the list.
    targets = {"Previous": -1, "Next": 0} if place is None else {"Previous": place - 1, "Next": place + 1}
    for (name, target), icon in zip(targets.items(), ("arrow_upward", "arrow_downward"), strict=True):
        if st.button(
            name,
            type="tertiary",
            icon=f":material/{icon}:",
            key=f"{name.lower()}_question",
            help=f"{name} question of the list",
            disabled=not 0 <= target < len(neighbours),
        ):
            state.choose("q", neighbours[target])
            st.rerun()


def _save(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft) -> None:
    if not draft.edits:
        feedback.say("There is nothing to save.")
        st.rerun()
    keep = bool(st.session_state.get(_keep_key(draft)))
    fields = fields_of(draft.values, draft.edits)
    with benchmark_choice.changing(row.id) as benchmark:
        new_id = benchmark.edit_question(question.id, keep_id=keep, **fields)
    drafts.discard(draft.name)
    state.choose("q", new_id)
    feedback.say("Saved." if new_id == question.id else f"Saved. The question has the new id {new_id[:8]}….")
    st.rerun()


def _delete(row: BenchmarkRow, question: BenchmarkQuestion) -> None:
    with benchmark_choice.changing(row.id) as benchmark:
        removed = benchmark.take_question(question.id)

    def undo() -> None:
        with benchmark_choice.changing(row.id) as benchmark:
            benchmark.put_back(removed)
        state.choose("benchmark", row.id)
        state.choose("q", question.id)

    feedback.offer_undo(f"Deleted **{plain(question.question, 60)}**", undo)
    st.rerun()


def _keep_key(draft: Draft) -> str:
    return f"keep_id:{draft.name}"


def _identity(question: BenchmarkQuestion, draft: Draft) -> None:
    if draft.values["question"] == question.question:
        return
    st.warning(
        "Runs made so far know this question by its id, which follows from the text. "
        "With a new id their results no longer connect to it.",
        title="Changing the text changes the identity",
    )
    st.checkbox(
        f"Keep the id {short(question.id, 12)}",
        key=_keep_key(draft),
        help="For a typo or a comma: the meaning is the same, so earlier results stay connected.",
    )


def _review(row: BenchmarkRow, question: BenchmarkQuestion) -> None:
    reasons = (question.custom_metadata or {}).get(REVIEW_PROPERTY)
    if not reasons:
        return
    lines = [plain(line) for line in str(reasons).splitlines() if line.strip()]
    st.warning("\n".join(f"- {line}" for line in lines), title="Its template was drafted and needs your review")
    if st.button("I have looked at it", icon=":material/check:", key="reviewed"):
        with frame.guard():
            with benchmark_choice.changing(row.id) as benchmark:
                benchmark.remove_question_custom_property(question.id, REVIEW_PROPERTY)
            feedback.offer_undo("Taken off the list of drafts to review", lambda: _ask_again(row, question, reasons))
            st.rerun()


def _ask_again(row: BenchmarkRow, question: BenchmarkQuestion, reasons: object) -> None:
    with benchmark_choice.changing(row.id) as benchmark:
        benchmark.set_question_custom_property(question.id, REVIEW_PROPERTY, reasons)


def _finished(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft) -> None:
    st.toggle("Finished", **draft.text("finished"), help="Only finished questions take part in runs.")
    found = benchmark_choice.checked(row.id, row.revision).states[question.id]
    if draft.values["answer_template"] != (question.answer_template or ""):
        st.caption(":material/edit: Save to see whether it runs with the edited template.")
    elif draft.values["finished"] != question.finished:
        others = [] if found.state == "ready" else [reason for reason in found.obstacles if "marked as" not in reason]
        coming = draft.values["finished"] and not others
        st.caption(f":material/edit: {'Will take' if coming else 'Takes no'} part in runs once saved.")
        _obstacles(others)
    elif found.state == "ready":
        st.caption(f":material/check_circle: Takes part in runs. {plain(found.reason)}")
    else:
        _obstacles(found.obstacles)


def _last_step(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft) -> None:
    """Offer the one click that is missing before the question takes part in runs, on whatever tab one is."""
    found = benchmark_choice.checked(row.id, row.revision).states[question.id]
    if draft.edits or found.obstacles != (UNFINISHED,):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(":material/block: Left out of runs until you mark it finished.", width="content")
        if st.button("Mark it finished", icon=":material/done:", key="finish_question"):
            finishing.finish(row, [question.id])


def _obstacles(reasons: Sequence[str]) -> None:
    for reason in reasons:
        st.caption(f":material/block: Will not run: {plain(reason[:1].lower() + reason[1:])}")


def _rubric(row: BenchmarkRow, benchmark: Benchmark, question: BenchmarkQuestion) -> None:
    own, shared = benchmark.get_question_rubric(question.id), benchmark.get_global_rubric()
    traits = [(trait, "this question") for trait in (own.traits if own else ())]
    traits += [(trait, "all questions") for trait in (shared.traits if shared else ())]
    if traits:
        st.dataframe(
            [
                {"Trait": short(trait.name, 60), "Yields": kind_in_words(trait), "Applies to": scope}
                for trait, scope in traits
            ],
            hide_index=True,
            alt="Rubric traits of this question",
            height="content",
        )
    else:
        st.info("No rubric trait applies to this question.", icon=":material/info:")
    if st.button("Edit the rubric of this question", icon=":material/checklist:", key="edit_rubric"):
        st.switch_page(frame.RUBRICS, query_params={"benchmark": row.id, "scope": "question", "q": question.id})
