"""Rubrics: the qualities of an answer that are assessed beside its verdict."""

from __future__ import annotations

import streamlit as st

from pages.components import feedback, forms, frame
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.rubrics import coverage as rubric_coverage
from pages.components.rubrics import library as rubric_library
from pages.components.rubrics import scope as rubric_scope
from pages.components.rubrics import scoring as rubric_scoring
from pages.components.rubrics import traits as rubric_traits

frame.begin(frame.RUBRICS)

# Title of a view, what draws it, and what its scope is called.
_VIEWS = {
    "traits": ("Traits", rubric_traits.draw, "Applies to"),
    "coverage": ("Coverage", None, ""),
    "library": ("Library", rubric_library.draw, "Copy into the traits of"),
    "score": ("Score a stored run", rubric_scoring.draw, "Score with a trait of"),
}

with frame.guard():
    feedback.show()
    row = benchmark_choice.choose()
    benchmark = benchmark_choice.reading(row.id, row.revision)
    titles = {name: title for name, (title, _, _) in _VIEWS.items()}
    view = forms.linked("view", "View", titles, few=True, label_visibility="collapsed")
    _, draw, label = _VIEWS[str(view)]
    if draw is None:
        rubric_coverage.draw(row, benchmark)
        st.stop()
    scope = rubric_scope.choose(row, benchmark, label)
    if scope is None:
        benchmark_choice.no_questions(row)
    else:
        draw(scope)
