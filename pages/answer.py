"""Answer: one evaluation as a column of cells, from the prompt to the verdict."""

from __future__ import annotations

import streamlit as st

from pages.components import answer_cells, frame, results_data, services, state
from pages.components.text import plain, short

frame.begin(
    "Answer", "One question, one model, one judge: what went in, what came out, and why the verdict is what it is."
)

with frame.guard():
    run_id = results_data.choose_run("answer")
    if run_id is None:
        st.stop()
    frame_ = results_data.frames(run_id).results
    if frame_.empty:
        st.info("This run has no results yet.", icon=":material/info:")
        if st.button("Open the monitor", type="primary"):
            st.switch_page(frame.MONITOR, query_params={"run": run_id})
        st.stop()
    ids = list(frame_["result_id"])
    labels = {
        row.result_id: f"{results_data.SIGN[row.verdict]} {short(row.question, 60)}"
        + f" · {short(row.answering_model, 40)} · {short(row.parsing_model, 40)}"
        + (f" · repeat {row.replicate}" if frame_["replicate"].max() > 1 else "")
        for row in frame_.itertuples()
    }
    current = state.selected("row", ids) or ids[0]
    if state.unknown("row") and not state.unknown("run"):
        st.warning("The evaluation in this link is not in this run; showing the first.", icon=":material/link_off:")
    place = ids.index(current)

    picked = st.selectbox(
        f"Evaluation {place + 1} of {len(ids)}", ids, index=place, format_func=labels.get, key=f"answer_pick_{current}"
    )
    with st.container(horizontal=True):
        if st.button(
            "Previous", icon=":material/arrow_back:", shortcut="K", disabled=place == 0, key="answer_previous"
        ):
            picked = ids[place - 1]
        if st.button(
            "Next", icon=":material/arrow_forward:", shortcut="J", disabled=place == len(ids) - 1, key="answer_next"
        ):
            picked = ids[place + 1]
    if picked != current:
        state.choose("row", picked)
        st.rerun()
    result = services.store().result(run_id, current)
    if result is None:
        st.warning("This evaluation is no longer stored.")
        st.stop()
    st.subheader(plain(result.question.question, 400))
    answer_cells.verdict_line(result)
    answer_cells.question_link(run_id, result.question.id)
    answer_cells.prompt(result)
    answer_cells.response(result)
    answer_cells.judge(result)
    answer_cells.verdict(result)
    answer_cells.rubric(result)
    answer_cells.machine(result)
