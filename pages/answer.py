"""Answer: one evaluation as a column of cells, from the prompt to the verdict and what people say about it."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.components import feedback, frame, services, state
from pages.components.answer import cause as answer_cause
from pages.components.answer import cells as answer_cells
from pages.components.answer import list as answer_list
from pages.components.answer import notebook as answer_notebook
from pages.components.answer import reverify as answer_reverify
from pages.components.answer import scratch as answer_scratch
from pages.components.answer import tools as answer_tools
from pages.components.answer import triage as answer_triage
from pages.components.results import data as results_data
from pages.components.text import plain

frame.begin(frame.ANSWER)

LOOKS = {"answer": "One answer", "triage": "Triage", "rules": "Gentler rules"}


def one_answer(run_id: str, above: DeltaGenerator) -> None:
    """Draw one evaluation with everything that can be done about it, and above all what the last act left to say."""
    result_id = answer_list.choose(run_id, answer_list.rows(run_id))
    with above:
        feedback.show(run_id, "answer", result_id)
    if result_id is None:
        return
    stored = services.store().results.get(run_id, result_id)
    scratch = answer_scratch.of(run_id, stored)
    st.subheader(plain(stored.question.question, 400))
    answer_scratch.banner(scratch)
    shown = stored
    with frame.guard():
        shown = answer_scratch.current(scratch)
    answer_cells.verdict_line(shown)
    if not scratch.edits:
        answer_cause.line(run_id, stored)
    with st.container(horizontal=True):
        answer_cells.question_link(run_id, stored.question.id)
        answer_notebook.button(run_id, shown)
    answer_cells.show(
        run_id, shown, "page", answer_tools.tools(scratch), by_hand=scratch.values is not None and shown is not stored
    )


with frame.guard():
    run_id = results_data.choose_run("answer")
    above = st.container()
    if run_id is None:
        st.stop()
    if not services.store().runs.get(run_id).done:
        st.info("This run has no results yet.", icon=":material/info:")
        if st.button("Open the monitor", type="primary"):
            st.switch_page(frame.MONITOR, query_params={"run": run_id})
        st.stop()
    answer_reverify.draw(run_id)
    look = state.selected("look", LOOKS) or "answer"
    chosen = st.segmented_control(
        "Look at",
        list(LOOKS),
        default=look,
        format_func=lambda name: LOOKS[name],
        key=f"answer_look_{look}",
        label_visibility="collapsed",
        required=True,
    )
    if chosen != look:
        state.choose("look", chosen)
        st.rerun()
    if look == "answer":
        one_answer(run_id, above)
    else:
        with above:
            feedback.show(run_id, look)
        {"triage": answer_triage.board, "rules": answer_triage.relaxed_rules}[look](run_id)
