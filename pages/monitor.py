"""Monitor: how a run is doing, live; survives refresh and page switch."""

from __future__ import annotations

import streamlit as st

from pages.components import frame, live, run_choice, services
from pages.components.runs import monitor
from pages.components.text import plain

frame.begin(frame.MONITOR)

with frame.guard():
    run_id = run_choice.choose_run("monitor")
    st.subheader(plain(services.store().runs.get(run_id).name, 80))

    def draw() -> None:
        """Draw the run."""
        with frame.guard():
            progress = services.runner().progress(run_id)
            if progress.active and progress.ceiling is None:  # another process carries it out, or did
                services.notice_abandoned()
                progress = services.runner().progress(run_id)
            monitor.draw(progress)

    def is_active() -> bool:
        """Return whether the run is under way."""
        return services.runner().progress(run_id).active

    live.follow("monitor", draw, is_active, stamp=lambda: services.store().runs.get(run_id), idle=5)
