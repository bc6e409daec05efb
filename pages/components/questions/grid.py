"""Many questions in one table: edited in place, looked over, and saved at once; marked and deleted together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from karenina_core.benchmark import (
    Benchmark,
    BulkReview,
    RemovedQuestion,
    apply_edits,
    keywords_of,
    review_edits,
    take_back,
)
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import conflicts, drafts, feedback, forms, frame, save_button
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.conflicts import Conflict
from pages.components.drafts import Draft, Rows
from pages.components.questions.list import SIGNS, Shown, nothing_shown
from pages.components.text import plain, short
from pages.components.widgets import ROW_HEIGHT, fingerprint

PAGE = 200
_FIELDS = {"question": "Question", "raw_answer": "Reference answer", "keywords": "Keywords", "finished": "Finished"}
_MOST_ROWS = 14
_MOST_CHANGES = 200

Cells = Mapping[str, dict[str, Any]]
"""Edited cells by question: new values by field, `was` with the values they replace, and `selected`."""


def draw(row: BenchmarkRow, benchmark: Benchmark, shown: Shown) -> None:
    """Draw the table of the shown questions, and what its edits change."""
    draft = drafts.draft_of(f"{row.id}/grid", {"cells": {}})
    cells: Cells = draft.values["cells"]
    review = review_edits(benchmark, _edits(cells))
    met = _conflicts(benchmark, draft, review)
    _bar(row, draft, review, met)
    conflicts.draw(met)
    _bulk(row, shown, draft)
    if not shown.ids:
        nothing_shown()
    else:
        _table(benchmark, shown, draft)
    # Below the table, which therefore stays in its place when the first cell is edited.
    _warnings(review)
    _changes(benchmark, review)


def merged(rows: Rows, edits: Mapping[str, Any], cells: Cells) -> dict[str, Any]:
    """Return the edited cells, with those of a table that shows some of the questions.

    Args:
        rows: What the table was given; each with its `id`.
        edits: What the widget reports.
        cells: The edited cells so far.
    """
    every = {name: dict(cell) for name, cell in cells.items()}
    for at, changes in (edits.get("edited_rows") or {}).items():
        row = rows[int(at)]
        cell = every.setdefault(row["id"], {})
        for name, value in changes.items():
            if name == "selected":
                cell["selected"] = bool(value)
            elif name in _FIELDS:
                cell["was"] = {name: row[name], **cell.get("was", {})}
                cell[name] = _read(name, value)
    return every


def _read(name: str, value: Any) -> Any:
    if name == "finished":
        return bool(value)
    return keywords_of(value or []) if name == "keywords" else str(value or "")


def _edits(cells: Cells) -> dict[str, dict[str, Any]]:
    edits = {name: {field: cell[field] for field in _FIELDS if field in cell} for name, cell in cells.items()}
    return {name: fields for name, fields in edits.items() if fields}


def _conflicts(benchmark: Benchmark, draft: Draft, review: BulkReview) -> list[Conflict]:
    """Return the edited values that were saved elsewhere since."""
    cells: Cells = draft.values["cells"]

    def settle(name: str, field: str, stored: Any, mine: bool) -> None:
        cell = cells[name] | {"was": {**cells[name].get("was", {}), field: stored}}
        draft.put("cells", {**cells, name: cell if mine else cell | {field: stored}})

    return [
        Conflict(
            f"{_FIELDS[change.field]} · {short(benchmark.get_question(change.question_id).question, 100)}",
            change.before,
            change.after,
            partial(settle, change.question_id, change.field, change.before),
        )
        for change in review.changes
        if cells[change.question_id].get("was", {}).get(change.field, change.before) != change.before
    ]


def _bar(row: BenchmarkRow, draft: Draft, review: BulkReview, met: Sequence[Conflict]) -> None:
    changes, texts = review.questions, len(review.renamed)
    with st.container(horizontal=True, vertical_alignment="center"):
        save = save_button.draw("Save", "save_grid", edited=bool(review.changes))
        if forms.button("Discard edits", "undo", "discard_grid", disabled=not _edits(draft.values["cells"])):
            drafts.discard(draft.name)
            st.rerun()
        if review.changes:
            st.badge("Unsaved edits", icon=":material/edit:", color="orange")
            identity = f", {texts} of them with a new identity" if texts else ""
            st.markdown(f"**{counted(changes, 'question')}** changed{identity}.", width="content")
        else:
            st.markdown("Nothing is changed. Edit the cells, then save them all at once.", width="content")
    keep = st.checkbox(
        "Keep the ids of questions whose text changes",
        key="keep_ids_of_grid",
        disabled=not review.renamed,
        help="Earlier runs know a question by its id, which follows from the text. For typos and commas keep it: "
        "earlier results stay connected.",
    )
    if save and not met:
        with frame.guard():
            _save(row, draft, review, keep)


def _save(row: BenchmarkRow, draft: Draft, review: BulkReview, keep: bool) -> None:
    if not review.changes:
        feedback.say("There is nothing to save.")
        st.rerun()
    if review.problems:
        st.error("Nothing was saved. Correct what is named below first.", icon=":material/error:")
        return
    with benchmark_choice.changing(row.id, row.revision) as benchmark:
        applied = apply_edits(benchmark, _edits(draft.values["cells"]), keep_ids=keep)

    def undo() -> None:
        with benchmark_choice.changing(row.id) as benchmark:
            left = take_back(benchmark, applied)
        if left:
            feedback.say(f"{counted(left, 'question')} edited since then left unchanged.")

    drafts.discard(draft.name)
    feedback.offer_undo(f"Saved **{counted(len(applied), 'question')}**", undo)
    st.rerun()


def _bulk(row: BenchmarkRow, shown: Shown, draft: Draft) -> None:
    """Draw buttons for the selected questions, or for all that are shown where none is selected."""
    cells: Cells = draft.values["cells"]
    selected = [name for name in shown.ids if cells.get(name, {}).get("selected")]
    names = list(selected or shown.ids)
    with st.container(horizontal=True, vertical_alignment="center"):
        scope = f"the {len(selected)} selected" if selected else f"all {len(shown.ids)} shown"
        st.caption(f"For {scope}:", width="content")
        if forms.button("Mark finished", "check_circle", "mark_finished", disabled=not names):
            _mark(row, draft, names, True)
        if forms.button("Mark not finished", "pause_circle", "mark_unfinished", disabled=not names):
            _mark(row, draft, names, False)
        delete_help = "Deletes the selected questions; it can be undone." if selected else "Select questions first."
        if forms.button("Delete", "delete", "delete_selected", disabled=not selected, help=delete_help):
            _delete(row, draft, selected)


def _mark(row: BenchmarkRow, draft: Draft, names: Sequence[str], finished: bool) -> None:
    word = "finished" if finished else "not finished"
    stored = benchmark_choice.reading(row.id, row.revision)
    if all(stored.get_question(name).finished == finished for name in names):
        feedback.say(f"All {len(names)} were marked as {word} already.")
        st.rerun()
    applied: list[Any] = []

    def mark(benchmark: Benchmark) -> str:
        applied.extend(apply_edits(benchmark, {name: {"finished": finished} for name in names}))
        return f"Marked **{counted(len(applied), 'question')}** as {word}"

    benchmark_choice.apply(row, mark, lambda it: take_back(it, applied), then=lambda: _forget_marks(draft, names))


def _delete(row: BenchmarkRow, draft: Draft, names: Sequence[str]) -> None:
    removed: list[RemovedQuestion] = []

    def delete(benchmark: Benchmark) -> str:
        removed.extend(benchmark.take_question(name) for name in names)
        return f"Deleted **{counted(len(removed), 'question')}**"

    def restore(benchmark: Benchmark) -> None:
        # The place of each was counted without those removed before it.
        for question in reversed(removed):
            benchmark.put_back(question)

    benchmark_choice.apply(row, delete, restore, then=lambda: _forget_marks(draft, names))


def _forget_marks(draft: Draft, names: Sequence[str]) -> None:
    """Drop unsaved marks and the selection of questions that were acted on at once."""
    cells = {name: dict(cell) for name, cell in draft.values["cells"].items()}
    for name in names:
        cell = cells.get(name, {})
        cell.pop("selected", None)
        if cell.pop("finished", None) is not None:
            cell["was"] = {field: value for field, value in cell["was"].items() if field != "finished"}
    draft.put("cells", {name: cell for name, cell in cells.items() if set(cell) - {"was", "selected"}})


def _table(benchmark: Benchmark, shown: Shown, draft: Draft) -> None:
    ids = forms.paged(shown.ids, PAGE, "grid_page")
    cells = draft.values["cells"]
    rows = [_row(benchmark, shown, name, cells.get(name, {})) for name in ids]
    given, key = draft.table("cells", rows, merged, fingerprint("/".join(ids)))
    words = {word for question in benchmark for word in question.keywords} | {
        word for row in given for word in row["keywords"]
    }
    text, tick = st.column_config.TextColumn, st.column_config.CheckboxColumn
    keywords = st.column_config.MultiselectColumn
    st.data_editor(
        given,
        hide_index=True,
        num_rows="fixed",
        key=key,
        on_change=draft.take_over,
        alt="Questions to edit",
        disabled=("state",),
        height="content" if len(ids) <= _MOST_ROWS else _MOST_ROWS * ROW_HEIGHT,
        column_order=("selected", "state", "finished", "question", "raw_answer", "keywords"),
        column_config={
            "selected": tick("Select", width=80, help="For the buttons above the table."),
            "state": text("State", width=80),
            "finished": tick("Finished", width=95),
            "question": text("Question", width=300, required=True),
            "raw_answer": text("Reference answer", width=160, required=True),
            "keywords": keywords(
                "Keywords", width=150, options=sorted(words, key=str.casefold), accept_new_options=True
            ),
        },
    )


def _row(benchmark: Benchmark, shown: Shown, name: str, cell: Mapping[str, Any]) -> dict[str, Any]:
    question = benchmark.get_question(name)
    return {
        "id": name,
        "selected": bool(cell.get("selected")),
        "state": SIGNS[shown.questions[name].state.state],
        **{field: cell.get(field, getattr(question, field)) for field in _FIELDS},
    }


def _warnings(review: BulkReview) -> None:
    for problem in review.problems:
        st.error(plain(problem), icon=":material/error:")
    if review.gone:
        gone = counted(len(review.gone), "edited question")
        st.warning(f"Left out, because deleted in the meantime: {gone}.", icon=":material/warning:")


def _changes(benchmark: Benchmark, review: BulkReview) -> None:
    if not review.changes:
        return
    with st.expander(f"What changes ({counted(len(review.changes), 'value')})", icon=":material/difference:"):
        rows = [
            {
                "Question": short(benchmark.get_question(change.question_id).question, 60),
                "What": _FIELDS[change.field],
                "Before": _in_words(change.before),
                "After": _in_words(change.after),
            }
            for change in review.changes[:_MOST_CHANGES]
        ]
        forms.table(rows, "What changes", most=8)
        if len(review.changes) > _MOST_CHANGES:
            st.caption(f"The first {_MOST_CHANGES} are shown.")


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return short(", ".join(value) if isinstance(value, list) else value, 200)
