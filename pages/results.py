"""Results: what a run found, by model, field, question and trait."""

from __future__ import annotations

import streamlit as st

from pages.components import frame, run_choice
from pages.components.results import charts, run_diff
from pages.components.results import data as results_data
from pages.components.results import table as results_table

frame.begin(frame.RESULTS)

with frame.guard():
    data = results_data.frames(run_choice.choose_run("results", with_results=True))
    results_table.unfinished(data)
    scope = results_data.choose_scope(data)
    shown = results_data.shown(data, scope)
    results_table.totals(data, scope)
    results_table.sentences(data, scope)

    if not shown.empty:
        frame.part(charts.show)(data, scope)
    st.subheader("All evaluations")
    frame.part(results_table.listed)(data, shown, scope)
    st.subheader("What changed since another run")
    frame.part(run_diff.draw)(data)
    results_data.warm(data, charts.prepare)
