"""The small card in the sidebar that follows a person while a run is alive."""

from __future__ import annotations

import streamlit as st

from pages.components import services
from pages.components.text import plain


def show() -> None:
    """Show progress of the runs of this process; polls only while one is alive."""
    if not services.active_runs():
        return

    @st.fragment(run_every=1)
    def card() -> None:
        alive = services.active_runs()
        for progress in alive:
            st.progress(progress.done / max(progress.total, 1), text=plain(progress.name, 40))
            st.caption(f"{progress.status} · {progress.done} of {progress.total}")
        if st.button("Open monitor", key="job_card_open", icon=":material/monitoring:", width="stretch") and alive:
            st.session_state["_run"] = alive[0].run_id
            st.switch_page("pages/monitor.py", query_params={"run": alive[0].run_id})
        if not alive:
            st.rerun()

    card()
