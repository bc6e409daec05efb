"""Report: hand a colleague one file."""

from __future__ import annotations

import streamlit as st

from pages.components import frame
from pages.components.report import files as report_files
from pages.components.report import options as report_options

frame.begin(frame.REPORT)

with frame.guard():
    run_ids = report_options.choose_runs()
    if not run_ids:
        st.stop()
    left, right = st.columns([40, 60], gap="medium")
    with left:
        wanted = report_options.choose()
    with right:
        report_files.preview(run_ids)
    report_files.reports(run_ids, wanted)
    report_files.data(run_ids)
