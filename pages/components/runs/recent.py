"""The runs of late, each with how it stands and the way to it; drawn anew by itself while anything goes on."""

from __future__ import annotations

import streamlit as st

from karenina_core.runs import RunRow
from pages.components import frame, services, state
from pages.components.text import local_time, plain
from pages.components.widgets import card

_MOST = 8


def draw() -> None:
    """Draw the list; looks every second while a run is under way, and otherwise whether one was begun elsewhere."""
    st.subheader("Recent runs")
    under_way = _under_way()

    @st.fragment(run_every=1 if under_way else 5)
    def live() -> None:
        with frame.guard():
            if under_way:
                services.notice_abandoned()
            if _under_way() != under_way:
                st.rerun()
            runs = services.store().runs.all()[:_MOST]
            if not runs:
                st.info("No runs yet. Start with the demo, or bring your own questions.", icon=":material/info:")
            for run in runs:
                _draw(run)

    live()


def _under_way() -> bool:
    return any(run.active for run in services.store().runs.all())


def _draw(run: RunRow) -> None:
    benchmark = "" if run.benchmark_name == run.name else f" · {plain(run.benchmark_name, 60)}"
    stands = (
        f"{plain(run.state, 120)} · {run.done:,} of {run.total:,} done · ✓ {run.passed:,} pass · "
        f"✗ {run.failed:,} fail · – {run.not_evaluated:,} not evaluated · {plain(local_time(run.created))}"
    )
    with card(f"**{plain(run.name, 60)}**{benchmark}", stands):
        if st.button("Results", key=f"home_results_{run.id}", icon=":material/bar_chart:"):
            state.choose("run", run.id)
            st.switch_page(frame.RESULTS, query_params={"run": run.id})
        if (run.status != "completed" or run.errors) and st.button(
            "Monitor", key=f"home_monitor_{run.id}", icon=":material/monitoring:"
        ):
            state.choose("run", run.id)
            st.switch_page(frame.MONITOR, query_params={"run": run.id})
