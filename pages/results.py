"""Results: what a run found, by model, field, question and trait."""

from __future__ import annotations

import streamlit as st

from pages.components import frame, run_choice
from pages.components.results import charts, run_diff
from pages.components.results import data as results_data
from pages.components.results import table as results_table

frame.begin(frame.RESULTS)

with frame.guard():
    data = results_data.frames(run_choice.choose_run("results", with_results=True))
    results_table.unfinished(data)
    scope = results_data.choose_scope(data)
    shown = results_data.shown(data, scope)
    results_table.totals(data, scope)
    results_table.sentences(data, scope)

    # Each is a fragment: what is done in one of them leaves the rest of the page alone.
    @st.fragment
    def figures() -> None:
        """Draw the charts."""
        with frame.guard():
            charts.show(data, scope)

    @st.fragment
    def evaluations() -> None:
        """Draw the list."""
        with frame.guard():
            results_table.listed(data, shown, scope)

    @st.fragment
    def changes() -> None:
        """Draw what is different from another run, once one is chosen."""
        with frame.guard():
            run_diff.draw(data)

    if not shown.empty:
        figures()
    st.subheader("All evaluations")
    evaluations()
    st.subheader("What changed since another run")
    changes()
    results_data.warm(data, charts.prepare)
