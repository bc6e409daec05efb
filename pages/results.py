"""Results: what a run found, by model, field, question and trait."""

from __future__ import annotations

import streamlit as st

from pages.components import frame
from pages.components.results import charts
from pages.components.results import data as results_data
from pages.components.results import filters as results_filters
from pages.components.results import overview as results_overview
from pages.components.results import run_diff as results_diff
from pages.components.results import table as results_table

frame.begin(frame.RESULTS)

with frame.guard():
    run_id = results_data.choose_run("results")
    if run_id is None:
        st.stop()
    data = results_data.frames(run_id)
    if data.results.empty:
        st.info("This run has no results yet.", icon=":material/info:")
        if st.button("Open the monitor", type="primary", icon=":material/monitoring:"):
            st.switch_page(frame.MONITOR, query_params={"run": run_id})
        st.stop()
    results_overview.unfinished(data)
    scope = results_filters.draw(data)
    shown = results_filters.shown(data, scope)
    results_overview.draw(data, scope)
    results_overview.sentences(data, scope)

    @st.fragment
    def figures() -> None:
        """Draw the charts; switching between them leaves the rest of the page alone."""
        with frame.guard():
            charts.show(data, scope)

    @st.fragment
    def evaluations() -> None:
        """Draw the list; turning its pages leaves the rest of the page alone."""
        with frame.guard():
            results_table.draw(data, shown, scope)

    @st.fragment
    def changes() -> None:
        """Draw what is different from another run, once one is chosen."""
        with frame.guard():
            results_diff.draw(data)

    if not shown.empty:
        figures()
    st.subheader("All evaluations")
    evaluations()
    st.subheader("What changed since another run")
    changes()
    results_data.warm(data, charts.prepare)
