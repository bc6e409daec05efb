"""What is done to many questions at once, without opening them: marks, and deleting. Each can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from karenina_core.benchmark import apply_edits, take_back
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import feedback, frame
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.questions.list import Shown

Done = Callable[[Sequence[str]], None]


def draw(row: BenchmarkRow, shown: Shown, selected: Sequence[str], done: Done) -> None:
    """Draw the buttons; they act on the selected questions, or on all that are shown where none is selected.

    Args:
        row: The benchmark.
        shown: The shown questions.
        selected: Those that are selected among them.
        done: Called with the questions that were acted on.
    """
    names = list(selected or shown.ids)
    scope = f"the {len(selected)} selected" if selected else f"all {len(shown.ids)} shown"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"For {scope}:", width="content")
        if st.button("Mark finished", icon=":material/check_circle:", key="mark_finished", disabled=not names):
            _mark(row, names, True, done)
        if st.button("Mark not finished", icon=":material/pause_circle:", key="mark_unfinished", disabled=not names):
            _mark(row, names, False, done)
        if st.button(
            "Delete",
            icon=":material/delete:",
            key="delete_selected",
            disabled=not selected,
            help="Deletes the selected questions; it can be undone." if selected else "Select questions first.",
        ):
            _delete(row, list(selected), done)


def _mark(row: BenchmarkRow, names: Sequence[str], finished: bool, done: Done) -> None:
    with frame.guard():
        with benchmark_choice.changing(row.id) as benchmark:
            applied = apply_edits(benchmark, {name: {"finished": finished} for name in names})

        def undo() -> None:
            with benchmark_choice.changing(row.id) as benchmark:
                take_back(benchmark, applied)

        done(names)
        word = "finished" if finished else "not finished"
        if applied:
            feedback.offer_undo(f"Marked **{counted(len(applied), 'question')}** as {word}", undo)
        else:
            feedback.say(f"All {len(names)} were marked as {word} already.")
        st.rerun()


def _delete(row: BenchmarkRow, names: Sequence[str], done: Done) -> None:
    with frame.guard():
        with benchmark_choice.changing(row.id) as benchmark:
            removed = [benchmark.take_question(name) for name in names]

        def undo() -> None:
            with benchmark_choice.changing(row.id) as benchmark:
                # The place of each was counted without those taken before it.
                for question in reversed(removed):
                    benchmark.put_back(question)

        done(names)
        feedback.offer_undo(f"Deleted **{counted(len(removed), 'question')}**", undo)
        st.rerun()
