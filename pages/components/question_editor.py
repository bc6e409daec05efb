"""The editor of one question: text, reference answer, template."""

from __future__ import annotations

from typing import Any

import streamlit as st

from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from karenina_core.runs import BenchmarkRow
from pages.components import benchmark_choice, drafts, feedback, frame, save_button, state, template_view
from pages.components.drafts import Draft
from pages.components.question_list import draft_name
from pages.components.text import plain, short
from pages.components.trait_values import kind_in_words


def draw(row: BenchmarkRow, benchmark: Benchmark, question_id: str) -> None:
    """Draw the editor of a question."""
    question = benchmark.get_question(question_id)
    draft = drafts.draft_of(draft_name(row.id, question_id), _values(question))
    _bar(row, question, draft)
    with frame.guard():
        _identity(question, draft)
        details, template, rubric = st.tabs(["Question", "Template", "Rubric"], key="question_tabs")
        with details:
            _details(benchmark, draft)
            _finished(row, question, draft)
        with template:
            _template(draft)
        with rubric:
            _rubric(row, benchmark, question)


def _values(question: BenchmarkQuestion) -> dict[str, Any]:
    return {
        "question": question.question,
        "raw_answer": question.raw_answer,
        "keywords": list(question.keywords),
        "answer_notes": question.answer_notes or "",
        "finished": question.finished,
        "answer_template": question.answer_template or "",
    }


def _bar(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        save = save_button.draw("Save", "save_question")
        if st.button("Discard edits", icon=":material/undo:", key="discard_edits", disabled=not draft.edits):
            drafts.discard(draft.name)
            st.rerun()
        if st.button("Delete", icon=":material/delete:", key="delete_question"):
            _delete(row, question)
        if draft.edits:
            st.badge("Unsaved edits", icon=":material/edit:", color="orange")
        else:
            st.caption("Saved")
    if draft.edits and draft.base != _values(question):
        st.warning(
            "Saving writes your edited fields over it. Discard your edits to see the stored version.",
            title="This question was changed elsewhere meanwhile",
        )
    if save:
        with frame.guard():
            _save(row, question, draft)


def _save(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft) -> None:
    if not draft.edits:
        feedback.say("There is nothing to save.")
        st.rerun()
    keep = bool(st.session_state.get(_keep_key(draft)))
    with benchmark_choice.changing(row.id) as benchmark:
        # Blank notes are no notes.
        edits = {name: None if (name, value) == ("answer_notes", "") else value for name, value in draft.edits.items()}
        new_id = benchmark.edit_question(question.id, keep_id=keep, **edits)
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


def _details(benchmark: Benchmark, draft: Draft) -> None:
    st.text_area("Question", **draft.text("question"), height=120, help="Sent to the model exactly as it is.")
    st.text_area(
        "Reference answer",
        **draft.text("raw_answer"),
        height=90,
        help="For people. Neither the model nor the judge sees it.",
    )
    known = {word for other in benchmark.get_all_questions() for word in other.keywords}
    st.multiselect(
        "Keywords",
        sorted(known | set(draft.values["keywords"])),
        **draft.choice("keywords"),
        format_func=short,
        accept_new_options=True,
        placeholder="Choose or type; for filtering only",
    )
    st.text_area(
        "Notes",
        **draft.text("answer_notes"),
        height=90,
        help="Edge cases and remarks, such as what else is acceptable. Never sent to a model under test.",
    )


def _finished(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft) -> None:
    st.toggle("Finished", **draft.text("finished"), help="Only finished questions take part in runs.")
    if not draft.values["finished"]:
        st.caption(":material/pause_circle: Will not run: it is not marked as finished.")
        return
    found = benchmark_choice.checked(row.id, row.revision).states[question.id]
    if draft.values["answer_template"] != (question.answer_template or ""):
        st.caption(":material/edit: Save to see whether it runs with the edited template.")
    elif question.finished and found.state == "issue":
        st.caption(f":material/error: {plain(found.reason)}")
    elif question.finished:
        st.caption(f":material/check_circle: Takes part in runs. {plain(found.reason)}")
    else:
        st.caption(":material/edit: Will take part in runs once saved.")


def _template(draft: Draft) -> None:
    source = st.text_area(
        "Template source",
        **draft.text("answer_template"),
        height=340,
        placeholder="class Answer(BaseAnswer): …",
        help="Python text of a class Answer. It is read, never executed. Press Ctrl+Enter to check what you typed.",
    )
    if not source.strip():
        st.info(
            "Without a template there is no verdict; only rubric traits are evaluated. "
            "Start from a skeleton and adapt it.",
            icon=":material/info:",
        )
        if st.button("Insert a skeleton", icon=":material/note_add:", key="insert_skeleton"):
            draft.put("answer_template", template_view.skeleton(draft.values["raw_answer"]))
            st.rerun()
        return
    template_view.check(source)


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
