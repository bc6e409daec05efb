"""Questions: what is asked, what is true, and the template that decides."""

from __future__ import annotations

import streamlit as st

from pages.components import feedback, frame, save_button
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.drafting import start as drafting
from pages.components.questions import editor as question_editor
from pages.components.questions import grid as question_grid
from pages.components.questions import list as question_list

frame.begin(frame.QUESTIONS)

with frame.guard():
    feedback.show()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row = benchmark_choice.choose()
        benchmark = benchmark_choice.reading(row.id, row.revision)
        question_list.add(row, benchmark)
        question_list.deleted(row, benchmark)
        drafting.link(row, benchmark)
        many = question_list.many_at_once()
    if not len(benchmark):
        st.info("This benchmark has no questions yet. Add the first one above.", icon=":material/quiz:")
        st.stop()
    shown = question_list.filtered(row)
    if many:
        question_grid.draw(row, benchmark, shown)
    else:
        left, right = st.columns([40, 60], gap="medium")
        with left:
            question_id = question_list.choose(row, shown)
        with right:
            if question_id is not None:
                question_editor.draw(row, benchmark, question_id, shown)
    save_button.include_typing()
