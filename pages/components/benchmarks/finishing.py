"""Marking the questions finished in which nothing is to be mended, so that they take part in runs."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import feedback, frame
from pages.components.benchmarks import choice as benchmark_choice


def draw(row: BenchmarkRow, benchmark: Benchmark, checked: Sequence[str]) -> None:
    """Say how many questions are unfinished, and draw the button for those that are checked.

    Args:
        row: The stored benchmark.
        benchmark: As it is stored.
        checked: The unfinished questions in which nothing is to be mended.
    """
    unfinished = len(benchmark) - benchmark.finished_count
    if not unfinished:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        are = "is" if unfinished == 1 else "are"
        st.markdown(f"{counted(unfinished, 'question')} of {len(benchmark)} {are} not finished, and left out of runs.")
        if checked and st.button(
            f"Mark {counted(len(checked), 'checked question')} finished",
            type="primary",
            icon=":material/done_all:",
            key="check_finish",
            help="A run can evaluate them, and nothing but hints was found in them. The others stay as they are.",
        ):
            finish(row, checked)


def finish(row: BenchmarkRow, question_ids: Sequence[str]) -> None:
    """Mark questions finished, offer to take it back, and draw the page anew."""

    def undo() -> None:
        with benchmark_choice.changing(row.id) as benchmark:
            benchmark.mark_unfinished_batch([name for name in question_ids if name in benchmark])

    with frame.guard():
        with benchmark_choice.changing(row.id) as benchmark:
            there = [name for name in question_ids if name in benchmark]
            benchmark.mark_finished_batch(there)
        feedback.offer_undo(f"Marked {counted(len(there), 'question')} finished.", undo)
        st.rerun()
