"""Rubrics: the qualities of an answer that are assessed beside its verdict."""

from __future__ import annotations

import streamlit as st

from pages.components import benchmark_choice, feedback, frame, rubric_scope, rubric_traits, save_button

frame.begin("Rubrics", "Traits describe the quality of an answer. They never change whether it is right or wrong.")

with frame.guard():
    feedback.show()
    row = benchmark_choice.choose()
    benchmark = benchmark_choice.reading(row.id, row.revision)
    scope = rubric_scope.choose(row, benchmark)
    if scope is None:
        st.info("This benchmark has no questions yet.", icon=":material/quiz:")
        if st.button("Go to questions", type="primary", icon=":material/quiz:", key="go_to_questions"):
            st.switch_page(frame.QUESTIONS, query_params={"benchmark": row.id})
        st.stop()
    left, right = st.columns([45, 55], gap="large")
    with left:
        chosen = rubric_traits.choose(scope)
    with right:
        if chosen is None:
            st.info(
                "This rubric has no traits yet. Add one with “Add trait”."
                if scope.question_id
                else "No trait applies to all questions yet. Add one with “Add trait”; "
                "single questions can have traits of their own, shown under “One question”.",
                icon=":material/checklist:",
            )
        else:
            rubric_traits.edit(scope, chosen)
            save_button.include_typing()
