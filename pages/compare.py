"""Compare: models, runs and judges against each other, and what can really be said."""

from __future__ import annotations

import streamlit as st

from pages.components import frame, services
from pages.components.compare import choice as compare_choice
from pages.components.compare import data as compare_data
from pages.components.compare import judges as compare_judges
from pages.components.compare import models as compare_models
from pages.components.compare import parts as compare_parts
from pages.components.compare import questions as compare_questions

frame.begin(frame.COMPARE)

VIEWS = {"Models": compare_models, "Questions": compare_questions, "Keywords and fields": compare_parts}

with frame.guard():
    runs = {run.id: run for run in services.store().runs.all()}
    if not runs:
        st.info("Nothing has run yet, so there is nothing to compare.", icon=":material/info:")
        if st.button("Go to the demo", type="primary", icon=":material/play_arrow:", key="compare_home"):
            st.switch_page(frame.HOME)
        st.stop()
    chosen = compare_choice.choose_runs(runs)
    if not chosen:
        st.info("Choose at least one run.", icon=":material/info:")
        st.stop()
    stamp = compare_data.stamp(chosen)
    arms = list(compare_data.tables(stamp).counts)
    view = st.segmented_control(
        "View",
        [*VIEWS, "Judges"],
        default="Models",
        required=True,
        key="compare",
        bind="query-params",
        label_visibility="collapsed",
    )
    if view == "Judges" and arms:
        compare_judges.draw(stamp)
    elif len(arms) < 2:
        compare_choice.nothing_to_compare(chosen, arms)
    else:
        compared = compare_choice.choose_arms(stamp)
        compare_models.sentence(compared)
        VIEWS.get(view or "Models", compare_models).draw(compared)
