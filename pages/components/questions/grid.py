"""Many questions in one table: edited in place, looked over, and saved at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from karenina_core.benchmark import Benchmark, BulkReview, Change, apply_edits, keywords_of, review_edits, take_back
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import drafts, feedback, frame, save_button
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.drafts import Draft, Rows
from pages.components.questions import bulk as question_bulk
from pages.components.questions.list import SIGNS, Shown
from pages.components.text import plain, short
from pages.components.widgets import fingerprint

PAGE = 200
_FIELDS = {"question": "Question", "raw_answer": "Reference answer", "keywords": "Keywords", "finished": "Finished"}
_ROW_HEIGHT = 35
_MOST_ROWS = 14
_MOST_CHANGES = 200


def draw(row: BenchmarkRow, benchmark: Benchmark, shown: Shown) -> None:
    """Draw the table of the shown questions, and what its edits change."""
    draft = drafts.draft_of(draft_name(row.id), {"cells": {}})
    cells: Mapping[str, Mapping[str, Any]] = draft.values["cells"]
    review = review_edits(benchmark, _edits(cells))
    _bar(row, draft, benchmark, review)
    selected = [name for name in shown.ids if cells.get(name, {}).get("selected")]
    question_bulk.draw(row, shown, selected, lambda names: _forget_finished(draft, names))
    if not shown.ids:
        st.info("No question is in this view. Choose All, or clear the search.", icon=":material/search_off:")
    else:
        _table(benchmark, shown, draft)
    # Below the table, which therefore stays in its place when the first cell is edited.
    _warnings(draft, review)
    _changes(benchmark, review)


def draft_name(benchmark_id: str) -> str:
    """Return the name of the draft that holds the unsaved edits of the table."""
    return f"{benchmark_id}/grid"


def merged(rows: Rows, edits: Mapping[str, Any], cells: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the edited cells by question, with those of a table that shows some of them.

    Args:
        rows: What the table was given; each with its `id`.
        edits: What the widget reports.
        cells: The edited cells so far: new values by field, `was` with the values they replace, and `selected`.
    """
    found = {name: dict(cell) for name, cell in cells.items()}
    for at, changes in (edits.get("edited_rows") or {}).items():
        row = rows[int(at)]
        cell = found.setdefault(row["id"], {})
        for name, value in changes.items():
            if name == "selected":
                cell["selected"] = bool(value)
            elif name in _FIELDS:
                cell["was"] = {name: row[name], **cell.get("was", {})}
                cell[name] = _read(name, value)
    return found


def _read(name: str, value: Any) -> Any:
    if name == "finished":
        return bool(value)
    return keywords_of(value or []) if name == "keywords" else str(value or "")


def _edits(cells: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    edits = {name: {field: cell[field] for field in _FIELDS if field in cell} for name, cell in cells.items()}
    return {name: fields for name, fields in edits.items() if fields}


def _bar(row: BenchmarkRow, draft: Draft, benchmark: Benchmark, review: BulkReview) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        edited = bool(_edits(draft.values["cells"]))
        save = save_button.draw("Save", "save_grid", edited=bool(review.changes))
        if st.button("Discard edits", icon=":material/undo:", key="discard_grid", disabled=not edited):
            drafts.discard(draft.name)
            st.rerun()
        if review.changes:
            st.badge("Unsaved edits", icon=":material/edit:", color="orange")
        st.markdown(_summary(review), width="content")
    keep = st.checkbox(
        "Keep the ids of questions whose text changes",
        key="keep_ids_of_grid",
        disabled=not review.renamed,
        help="Runs made so far know a question by its id, which follows from the text. For typos and commas keep it: "
        "earlier results stay connected.",
    )
    if save:
        with frame.guard():
            _save(row, draft, review, keep)


def _summary(review: BulkReview) -> str:
    if not review.changes:
        return "Nothing is changed. Edit the cells, then save them all at once."
    said = f"**{counted(review.questions, 'question')}** {'changes' if review.questions == 1 else 'change'}"
    texts = len(review.renamed)
    return (
        f"{said}, {counted(texts, 'text')} {'changes its' if texts == 1 else 'change their'} identity."
        if texts
        else f"{said}."
    )


def _warnings(draft: Draft, review: BulkReview) -> None:
    for problem in review.problems:
        st.error(plain(problem), icon=":material/error:")
    if review.gone:
        st.warning(
            f"{counted(len(review.gone), 'edited question')} {'is' if len(review.gone) == 1 else 'are'} not in this "
            "benchmark any more; those edits are left out.",
            icon=":material/warning:",
        )
    cells = draft.values["cells"]
    overtaken = sum(_changed_elsewhere(change, cells[change.question_id]) for change in review.changes)
    if overtaken:
        st.warning(
            f"{counted(overtaken, 'edited value')} {'was' if overtaken == 1 else 'were'} changed elsewhere since you "
            "began. Saving writes your edits over it.",
            icon=":material/warning:",
        )


def _changed_elsewhere(change: Change, cell: Mapping[str, Any]) -> bool:
    return bool(cell.get("was", {}).get(change.field, change.before) != change.before)


def _changes(benchmark: Benchmark, review: BulkReview) -> None:
    if not review.changes:
        return
    with st.expander(f"What changes ({counted(len(review.changes), 'value')})", icon=":material/difference:"):
        st.dataframe(
            [
                {
                    "Question": short(benchmark.get_question(change.question_id).question, 60),
                    "What": _FIELDS[change.field],
                    "Before": _said(change.before),
                    "After": _said(change.after),
                }
                for change in review.changes[:_MOST_CHANGES]
            ],
            hide_index=True,
            alt="What changes",
            height="content" if len(review.changes) < 8 else 280,
        )
        if len(review.changes) > _MOST_CHANGES:
            st.caption(f"The first {_MOST_CHANGES} are shown.")


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return short(", ".join(value) if isinstance(value, list) else value, 200)


def _save(row: BenchmarkRow, draft: Draft, review: BulkReview, keep: bool) -> None:
    if not review.changes:
        feedback.say("There is nothing to save.")
        st.rerun()
    if review.problems:
        st.error("Nothing was saved. Correct what is named above first.", icon=":material/error:")
        return
    with benchmark_choice.changing(row.id) as benchmark:
        applied = apply_edits(benchmark, _edits(draft.values["cells"]), keep_ids=keep)

    def undo() -> None:
        with benchmark_choice.changing(row.id) as benchmark:
            left = take_back(benchmark, applied)
        if left:
            feedback.say(
                f"{counted(left, 'question')} changed since {'was' if left == 1 else 'were'} left as they are."
            )

    drafts.discard(draft.name)
    feedback.offer_undo(f"Saved **{counted(len(applied), 'question')}**", undo)
    st.rerun()


def _forget_finished(draft: Draft, names: Sequence[str]) -> None:
    """Drop unsaved marks of questions that were marked at once, and take back the selection."""
    cells = {name: dict(cell) for name, cell in draft.values["cells"].items()}
    for name in names:
        cell = cells.get(name, {})
        cell.pop("selected", None)
        if cell.pop("finished", None) is not None:
            cell["was"] = {field: value for field, value in cell["was"].items() if field != "finished"}
    draft.put("cells", {name: cell for name, cell in cells.items() if set(cell) - {"was", "selected"}})


def _table(benchmark: Benchmark, shown: Shown, draft: Draft) -> None:
    ids = _page(shown.ids)
    cells = draft.values["cells"]
    rows = [_row(benchmark, shown, name, cells.get(name, {})) for name in ids]
    given, key = draft.table("cells", rows, merged, fingerprint("/".join(ids)))
    words = sorted({*shown.index.keywords, *(word for row in given for word in row["keywords"])}, key=str.casefold)
    st.data_editor(
        given,
        hide_index=True,
        num_rows="fixed",
        key=key,
        on_change=draft.take_over,
        alt="Questions to edit",
        disabled=("state",),
        height="content" if len(ids) <= _MOST_ROWS else _MOST_ROWS * _ROW_HEIGHT,
        column_order=("selected", "state", "finished", "question", "raw_answer", "keywords"),
        column_config={
            "selected": st.column_config.CheckboxColumn("Select", width=80, help="For the buttons above the table."),
            "state": st.column_config.TextColumn("State", width=80),
            "finished": st.column_config.CheckboxColumn("Finished", width=95),
            "question": st.column_config.TextColumn("Question", width=300, required=True),
            "raw_answer": st.column_config.TextColumn("Reference answer", width=160, required=True),
            "keywords": st.column_config.MultiselectColumn(
                "Keywords", width=150, options=words, accept_new_options=True
            ),
        },
    )


def _page(ids: Sequence[str]) -> Sequence[str]:
    pages = math.ceil(len(ids) / PAGE)
    if pages <= 1:
        return ids
    page = st.pagination(pages, key=f"grid_page_{pages}")
    return ids[(page - 1) * PAGE : page * PAGE]


def _row(benchmark: Benchmark, shown: Shown, name: str, cell: Mapping[str, Any]) -> dict[str, Any]:
    question = benchmark.get_question(name)
    stored = {field: getattr(question, field) for field in _FIELDS}
    return {
        "id": name,
        "selected": bool(cell.get("selected")),
        "state": SIGNS[shown.index.questions[name].state.state],
        **{field: cell.get(field, value) for field, value in stored.items()},
    }
