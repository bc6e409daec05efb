"""Monitor: how a run is doing, live; survives refresh and page switch."""

from __future__ import annotations

import streamlit as st

from pages.components import frame, services, state
from pages.components.results import data as results_data
from pages.components.runs import monitor, squares
from pages.components.text import distinct, local_time, plain, short

frame.begin(frame.MONITOR)

with frame.guard():
    runs = {run.id: run for run in services.store().runs.all()}
    if not runs:
        st.info("Nothing has run yet.", icon=":material/info:")
        if st.button("Configure a run", type="primary", icon=":material/tune:"):
            st.switch_page(frame.CONFIGURE)
        st.stop()
    chosen = state.selected("run", runs)
    results_data.say_unknown_run()
    labels = distinct(runs, lambda key: f"{short(runs[key].name)} · {local_time(runs[key].created)}")
    run_id = st.selectbox(
        "Run",
        list(runs),
        index=list(runs).index(chosen) if chosen else 0,
        format_func=labels.__getitem__,
        key=f"monitor_run_{chosen}",
    )
    if run_id != chosen:
        state.choose("run", run_id)
        st.rerun()
    st.subheader(plain(runs[run_id].name, 80))
    # Read before anything of the run is drawn: what happens while the page draws itself is noticed, not missed.
    before = services.store().runs.get(run_id)
    alive = services.runner().progress(run_id).active
    squares.open_clicked(run_id)

    @st.fragment(run_every=1 if alive else None)
    def live() -> None:
        """Draw the run; polls only while it is alive."""
        with frame.guard():
            progress = services.runner().progress(run_id)
            if progress.active and progress.ceiling is None:
                services.notice_abandoned()
                progress = services.runner().progress(run_id)
            if progress.active != alive or squares.clicked():
                st.rerun()
            monitor.draw(progress)

    live()

    @st.fragment(run_every=None if alive else 5)
    def notice() -> None:
        """Draw the run anew when another tab, or another process, has gone on with it; reads one row."""
        with frame.guard():
            if not alive and services.store().runs.get(run_id) != before:
                st.rerun()

    notice()
