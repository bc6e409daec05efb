"""The editor of one question: what is asked, its template, its rubric, everything about it, and its history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from karenina_core.authoring import REVIEW_PROPERTY
from karenina_core.benchmark import UNFINISHED, Benchmark, BenchmarkQuestion, RemovedQuestion, fields_of, form_of
from karenina_core.runs import BenchmarkRow
from pages.components import conflicts, drafts, feedback, forms, frame, save_button, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.drafts import Draft
from pages.components.questions import history as question_history
from pages.components.questions.list import Shown, draft_name, failed_for
from pages.components.templates import editor as template_editor
from pages.components.text import local_time, plain, short
from pages.components.traits.form import yields

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
            _finish(row, question, draft)
            if question_id in shown.failures:
                st.caption(f":material/close: Failed for {plain(failed_for(shown.failures[question_id]))}")
            _identity(question, draft)
            _review(row, question)
        asked, template, rubric, examples, more, history = st.tabs(TABS, key="question_tabs")
        with asked:
            _asked(benchmark, draft)
            _finished(row, question, draft)
        with template:
            template_editor.draw(row, benchmark, question, draft)
        with rubric:
            _rubric(row, benchmark, question)
        with examples:
            st.caption(
                "Questions with their answers that show the answering model the form and detail you want. They are "
                "sent before the question where Configure has “Few-shot examples” on, and never to the judge."
            )
            _rows(draft, "few_shot_examples", "Few-shot examples", question="Example question", answer="Example answer")
        with more:
            _details(question, draft)
        with history:
            question_history.draw(row, question, draft)


# The bar: save, discard, delete, and the way to the next question.


def _bar(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft, neighbours: Sequence[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        save = save_button.draw("Save", "save_question", edited=bool(draft.edits))
        if forms.button("Discard edits", "undo", "discard_edits", disabled=not draft.edits):
            drafts.discard(draft.name)
            st.rerun()
        if forms.button("Delete", "delete", "delete_question"):
            _delete(row, question)
    with st.container(horizontal=True, vertical_alignment="center"):
        _steps(question, neighbours)
        if draft.edits:
            st.badge("Unsaved edits", icon=":material/edit:", color="orange")
        else:
            st.caption(":material/check: Saved", width="content")
    met = conflicts.of_draft(draft, form_of(question), lambda name: question_history.name_of(name).capitalize())
    conflicts.draw(met)
    if save and not met:
        with frame.guard():
            _save(row, question, draft)


def _steps(question: BenchmarkQuestion, neighbours: Sequence[str]) -> None:
    # From a question that is not listed, the next one is the first of the list.
    place = neighbours.index(question.id) if question.id in neighbours else -0.5
    steps = (("Previous", "arrow_upward", int(place - 1)), ("Next", "arrow_downward", int(place + 1)))
    for name, icon, target in steps:
        options = {"help": f"{name} question of the list", "disabled": not 0 <= target < len(neighbours)}
        if forms.button(name, icon, f"{name.lower()}_question", type="tertiary", **options):
            state.choose("q", neighbours[target])
            st.rerun()


def _save(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft) -> None:
    if not draft.edits:
        feedback.say("There is nothing to save.")
        st.rerun()
    fields = fields_of(draft.values, draft.edits)
    with benchmark_choice.changing(row.id, row.revision) as benchmark:
        new_id = benchmark.edit_question(question.id, keep_id=bool(st.session_state.get(_keep_key(draft))), **fields)
    drafts.discard(draft.name)
    state.choose("q", new_id)
    feedback.say("Saved." if new_id == question.id else f"Saved. The question has the new id {new_id[:8]}….")
    st.rerun()


def _delete(row: BenchmarkRow, question: BenchmarkQuestion) -> None:
    removed: list[RemovedQuestion] = []

    def delete(benchmark: Benchmark) -> str:
        removed.append(benchmark.take_question(question.id))
        return f"Deleted **{plain(question.question, 60)}**"

    benchmark_choice.apply(row, delete, lambda it: it.put_back(removed[0]), benchmark=row.id, q=question.id)


# What a person should know before anything else.


def _finish(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft) -> None:
    """Offer the one click that is missing before the question takes part in runs, on whatever tab one is."""
    where = benchmark_choice.checked(row.id, row.revision).states[question.id]
    if not draft.edits and where.obstacles == (UNFINISHED,):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(":material/block: Left out of runs until you mark it finished.", width="content")
            if forms.button("Mark finished", "done", "finish_question"):
                benchmark_choice.finish(row, [question.id])


def _keep_key(draft: Draft) -> str:
    return f"keep_id:{draft.name}"


def _identity(question: BenchmarkQuestion, draft: Draft) -> None:
    if draft.values["question"] != question.question:
        st.warning(
            "Earlier runs know this question by its id, which follows from the text. "
            "With a new id their results no longer connect to it.",
            title="Changing the text changes the identity",
        )
        keep_help = "For a typo or a comma: the meaning is the same, so earlier results stay connected."
        st.checkbox(f"Keep the id {short(question.id, 12)}", key=_keep_key(draft), help=keep_help)


def _review(row: BenchmarkRow, question: BenchmarkQuestion) -> None:
    reasons = (question.custom_metadata or {}).get(REVIEW_PROPERTY)
    if not reasons:
        return
    lines = [plain(line) for line in str(reasons).splitlines() if line.strip()]
    st.warning("\n".join(f"- {line}" for line in lines), title="Its template was drafted and needs your review")
    if forms.button("I have reviewed it", "check", "reviewed"):

        def mark(benchmark: Benchmark) -> str:
            benchmark.remove_question_custom_property(question.id, REVIEW_PROPERTY)
            return "Marked as reviewed"

        benchmark_choice.apply(
            row, mark, lambda it: it.set_question_custom_property(question.id, REVIEW_PROPERTY, reasons)
        )


# The tabs.


def _asked(benchmark: Benchmark, draft: Draft) -> None:
    st.text_area("Question", **draft.text("question"), height=120, help="Sent to the model exactly as it is.")
    answer_help = "For people. Neither the model nor the judge sees it."
    st.text_area("Reference answer", **draft.text("raw_answer"), height=90, help=answer_help)
    known = {word for question in benchmark for word in question.keywords}
    st.multiselect(
        "Keywords",
        sorted({*known, *draft.values["keywords"]}, key=str.casefold),
        **draft.choice("keywords"),
        format_func=short,
        accept_new_options=True,
        placeholder="Choose or type; for filtering only",
    )
    notes_help = "Edge cases and remarks, such as what else is acceptable. Never sent to a model under test."
    st.text_area("Notes", **draft.text("answer_notes"), height=90, help=notes_help)


def _finished(row: BenchmarkRow, question: BenchmarkQuestion, draft: Draft) -> None:
    st.toggle("Finished", **draft.text("finished"), help="Only finished questions take part in runs.")
    where = benchmark_choice.checked(row.id, row.revision).states[question.id]
    ready, obstacles = where.state == "ready", () if where.state == "ready" else where.obstacles
    if draft.values["answer_template"] != (question.answer_template or ""):
        st.caption(":material/edit: Save to see whether it runs with the edited template.")
        return
    if draft.values["finished"] != question.finished:
        obstacles = tuple(reason for reason in obstacles if reason != UNFINISHED)
        coming = draft.values["finished"] and not obstacles
        st.caption(f":material/edit: {'Will take' if coming else 'Takes no'} part in runs once saved.")
    elif ready:
        st.caption(f":material/check_circle: Takes part in runs. {plain(where.reason)}")
    for reason in obstacles:
        st.caption(f":material/block: Will not run: {plain(reason[:1].lower() + reason[1:])}")


def _rubric(row: BenchmarkRow, benchmark: Benchmark, question: BenchmarkQuestion) -> None:
    own, shared = benchmark.get_question_rubric(question.id), benchmark.get_global_rubric()
    rows = [
        {"Trait": short(trait.name, 60), "Yields": yields(trait), "Applies to": scope}
        for rubric, scope in ((own, "this question"), (shared, "all questions"))
        for trait in (rubric.traits if rubric else ())
    ]
    if rows:
        forms.table(rows, "Rubric traits of this question")
    else:
        st.info("No rubric trait applies to this question.", icon=":material/info:")
    label = "Edit the rubric of this question"
    frame.link_button(label, frame.RUBRICS, "edit_rubric", benchmark=row.id, scope="question", q=question.id)


def _details(question: BenchmarkQuestion, draft: Draft) -> None:
    with st.container(horizontal=True):
        st.text_input("Author", **draft.text("author_name"))
        st.text_input("E-mail", **draft.text("author_email"))
        st.text_input("Affiliation", **draft.text("author_affiliation"))
    st.text_input(
        "Other details of the author (JSON)",
        **draft.text("author_more"),
        placeholder='{"orcid": "0000-0001-2345-6789"}',
        help="What else the file says about the author. It is stored as it is.",
    )
    st.markdown("**Sources of the answer**")
    _rows(draft, "sources", "Sources", name="Title or citation", url="Link", more="Other (JSON)")
    st.text_input(
        "Workspace path",
        **draft.text("workspace_path"),
        placeholder="For agents: a folder such as task_01, below the workspace root",
        help="Relative to the workspace root, which is set where the benchmark is run and is not part of the file.",
    )
    st.markdown("**Custom metadata**")
    st.caption("A value is a text, or JSON: 5, true, null, [1, 2]. In double quotes it is always a text.")
    _rows(draft, "custom_metadata", "Custom metadata", name="Name", value="Value")
    created, changed = local_time(question.date_created), local_time(question.date_modified)
    later = "" if question.date_modified == question.date_created else f", changed {plain(changed)}"
    st.caption(f"Id {plain(question.id)} · created {plain(created)}{later}")


def _rows(draft: Draft, of: str, alt: str, **titles: str) -> None:
    """Draw the table that edits a value which is a list of rows."""
    import pandas as pd

    rows, key = draft.table(of)
    columns: dict[str, Any] = {name: st.column_config.TextColumn(title) for name, title in titles.items()}
    st.data_editor(
        pd.DataFrame(rows, columns=list(columns), dtype="str"),
        hide_index=True,
        num_rows="dynamic",
        key=key,
        on_change=draft.take_over,
        alt=alt,
        height="content",
        column_config=columns,
    )
