"""Rubrics: the qualities of an answer that are assessed beside its verdict."""

from __future__ import annotations

import streamlit as st

from pages.components import feedback, frame, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.rubrics import coverage as rubric_coverage
from pages.components.rubrics import library as rubric_library
from pages.components.rubrics import scope as rubric_scope
from pages.components.rubrics import scoring as rubric_scoring
from pages.components.rubrics import traits as rubric_traits

frame.begin(frame.RUBRICS)

_VIEWS = {
    "traits": "Traits",
    "coverage": "Coverage",
    "library": "Library",
    "score": "Score a stored run",
}

with frame.guard():
    feedback.show()
    row = benchmark_choice.choose()
    benchmark = benchmark_choice.reading(row.id, row.revision)
    st.session_state["rubric_view"] = state.selected("view", _VIEWS)
    view = st.segmented_control(
        "View",
        list(_VIEWS),
        format_func=_VIEWS.__getitem__,
        required=True,
        key="rubric_view",
        label_visibility="collapsed",
        on_change=lambda: state.choose("view", st.session_state["rubric_view"]),
    )
    if view == "coverage":
        rubric_coverage.draw(row, benchmark)
        st.stop()
    labels = {"library": "Copy into the traits of", "score": "Score with a trait of"}
    scope = rubric_scope.choose(row, benchmark, labels.get(str(view), "Applies to"))
    if scope is None:
        st.info("This benchmark has no questions yet.", icon=":material/quiz:")
        if st.button("Go to questions", type="primary", icon=":material/quiz:", key="go_to_questions"):
            st.switch_page(frame.QUESTIONS, query_params={"benchmark": row.id})
    else:
        {"traits": rubric_traits.draw, "library": rubric_library.draw, "score": rubric_scoring.draw}[str(view)](scope)
