"""Home: what this is, and the first click."""

from __future__ import annotations

import streamlit as st

from karenina_core.models.local.judge import DEMO_JUDGE_NOTE
from pages.components import demo, frame, services, state
from pages.components.text import plain

frame.begin("Karenina Workbench", "Ask models questions, let a judge read the answers, let code decide.")

with frame.guard():
    with st.container(horizontal=True):
        if st.button("Try the demo", type="primary", icon=":material/play_arrow:", key="home_demo"):
            demo.start_sample()
        if st.button("Upload a benchmark", icon=":material/upload_file:", key="home_upload"):
            st.switch_page(frame.BENCHMARKS)
        if demo.live_available() and st.button(
            "Run it live, no key",
            icon=":material/memory:",
            key="home_live",
            help=f"A very small model on this computer answers and judges ({DEMO_JUDGE_NOTE}).",
        ):
            demo.start_live()
    st.caption(
        "The demo needs no key and no network: sample answers written by the authors go through all 13 stages. "
        "They are not output of a model."
    )
    recordings = demo.real_recordings()
    if recordings:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("There is also a real recording of a small model:")
            for recording in recordings:
                if st.button(plain(recording.title), key=f"home_{recording.name}", icon=":material/history:"):
                    demo.start_recording(recording)

    st.subheader("How it works")
    for column, (icon, title, text) in zip(
        st.columns(3),
        [
            (":material/chat:", "1 · The model answers", "It gets the bare question and replies in free text."),
            (
                ":material/fact_check:",
                "2 · A judge extracts",
                "It fills in the template's fields. It never sees the truth.",
            ),
            (
                ":material/rule:",
                "3 · Code decides",
                "Rules compare each field with the truth: same values, same verdict.",
            ),
        ],
        strict=True,
    ):
        with column.container(border=True, height="stretch"):
            st.markdown(f"{icon} **{title}**")
            st.write(text)

    st.subheader("Recent runs")
    store = services.store()
    if any(run.active for run in store.runs()):
        # The process that carried one out may have died since.
        store.interrupt_abandoned()
    runs = store.runs()[:8]
    if not runs:
        st.info("No runs yet. Start with the demo, or upload a benchmark.", icon=":material/info:")
    for run in runs:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            with st.container():
                st.markdown(f"**{plain(run.name, 60)}** · {plain(run.benchmark_name, 60)}")
                when = str(run.created)[:16].replace("T", " ")
                st.caption(
                    f"{plain(run.state, 120)} · {run.done} of {run.total} done · ✓ {run.passed} pass · "
                    f"✗ {run.failed} fail · – {run.not_evaluated} not evaluated · {when}"
                )
            if st.button("Results", key=f"home_results_{run.id}", icon=":material/bar_chart:"):
                state.choose("run", run.id)
                st.switch_page(frame.RESULTS, query_params={"run": run.id})
            if (run.status != "completed" or run.errors) and st.button(
                "Monitor", key=f"home_monitor_{run.id}", icon=":material/monitoring:"
            ):
                state.choose("run", run.id)
                st.switch_page(frame.MONITOR, query_params={"run": run.id})
