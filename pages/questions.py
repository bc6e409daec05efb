"""Questions: what is asked, what is true, and the template that decides."""

from __future__ import annotations

import streamlit as st

from pages.components import benchmark_choice, feedback, frame, question_editor, question_list, save_button

frame.begin("Questions", "Write what is asked and what is true. Only finished questions take part in runs.")

with frame.guard():
    feedback.show()
    row = benchmark_choice.choose()
    benchmark = benchmark_choice.reading(row.id, row.revision)
    left, right = st.columns([40, 60], gap="medium")
    with left:
        question_id = question_list.choose(row, benchmark)
    with right:
        if question_id is None:
            st.info("This benchmark has no questions yet. Add the first one on the left.", icon=":material/quiz:")
        else:
            question_editor.draw(row, benchmark, question_id)
            save_button.include_typing()
