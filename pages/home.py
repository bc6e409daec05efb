"""Home: what this is, and the first click."""

from __future__ import annotations

import streamlit as st

from karenina_core.models import DEMO_JUDGE_NOTE
from pages.components import demo, frame, welcome
from pages.components.runs import recent
from pages.components.text import plain

frame.begin(frame.HOME)

with frame.guard():
    with st.container(horizontal=True):
        if st.button("Try the demo", type="primary", icon=":material/play_arrow:", key="home_demo"):
            demo.start_sample()
        if demo.live_available() and st.button(
            "Run the demo live, no key",
            icon=":material/memory:",
            key="home_live",
            help=f"A very small model on this computer answers and judges, in some minutes ({DEMO_JUDGE_NOTE}).",
        ):
            demo.start_live()
        if st.button("Bring your own questions", icon=":material/upload_file:", key="home_upload"):
            st.switch_page(frame.BENCHMARKS)
    st.caption(
        "The demo needs no key and no network. Its sample answers are written by the authors, not by a model, and "
        "judged like any others."
    )
    recordings = demo.real_recordings()
    if recordings:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("There is also a real recording of a small model:", width="content")
            for recording in recordings:
                if st.button(plain(recording.title), key=f"home_{recording.name}", icon=":material/history:"):
                    demo.start_recording(recording)

    if welcome.is_new():
        welcome.explain()
    recent.draw()
    if not welcome.is_new():
        welcome.benchmarks()
        welcome.explain()
