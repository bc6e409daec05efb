"""Monitor: how a run is doing, live; survives refresh and page switch."""

from __future__ import annotations

import streamlit as st

from pages.components import frame, run_choice, services
from pages.components.runs import monitor
from pages.components.text import plain

frame.begin(frame.MONITOR)

with frame.guard():
    chosen = run_choice.choose_run("monitor")
    if chosen is None:
        st.stop()
    run_id: str = chosen
    # Read before anything of the run is drawn: what happens while the page draws itself is noticed, not missed.
    before = services.store().runs.get(run_id)
    alive = services.runner().progress(run_id).active
    st.subheader(plain(before.name, 80))
    monitor.open_clicked(run_id)

    @st.fragment(run_every=1 if alive else None)
    def live() -> None:
        """Draw the run; polls only while it is alive."""
        with frame.guard():
            progress = services.runner().progress(run_id)
            if progress.active and progress.ceiling is None:
                services.notice_abandoned()
                progress = services.runner().progress(run_id)
            if progress.active != alive or monitor.clicked():
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
