"""Results: what a run found, by model, field, question and trait."""

from __future__ import annotations

import streamlit as st

from pages.components import charts, export, frame, results_data, state
from pages.components.text import plain

frame.begin("Results", "Rates are over evaluated answers; what was left out is always shown beside them.")

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

    for line in data.headlines:
        st.markdown(f"- {plain(line)}")
    for line in data.judges:
        st.caption(f":material/info: {plain(line)}")
    if data.left_out:
        with st.expander("Not evaluated: why"):
            for line in data.left_out:
                st.markdown(f"- {plain(line)}")
    verdicts = data.results["verdict"]
    with st.container(horizontal=True):
        st.metric("Evaluations", len(verdicts))
        st.metric("Pass", int((verdicts == "pass").sum()))
        st.metric("Fail", int((verdicts == "fail").sum()))
        st.metric("Not evaluated", int((verdicts == "not_evaluated").sum()))

    charts.show(run_id, data)

    st.subheader("All evaluations")
    shown = charts.filtered(data.results)
    st.caption(f"{len(shown)} of {len(data.results)} shown")
    if shown.empty:
        st.button("Clear filters", icon=":material/filter_alt_off:", key="clear_filters", on_click=charts.clear_filters)
    picked = charts.table(shown)
    with st.container(horizontal=True):
        if st.button(
            "Open the selected answer",
            type="primary",
            icon=":material/article:",
            disabled=picked is None,
            key="open_answer",
        ):
            state.choose("row", picked)
            st.switch_page(frame.ANSWER, query_params={"run": run_id, "row": str(picked)})
        export.buttons(run_id, len(data.results))
