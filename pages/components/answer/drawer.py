"""One evaluation beside the page one is on: its cells to read, and the way to the page where they can be changed."""

from __future__ import annotations

import streamlit as st

from pages.components import frame, services, state
from pages.components.answer import cells as answer_cells
from pages.components.text import plain


def open_drawer(run_id: str, result_id: str) -> None:
    """Show an evaluation over the present page.

    Call it once for an act of the user, such as a click on a mark; drawing the page again closes it.

    Args:
        run_id: The run.
        result_id: The result in it.
    """
    _drawer(run_id, result_id)


@st.dialog("Answer", width="large")
def _drawer(run_id: str, result_id: str) -> None:
    with frame.guard():
        result = services.store().result(run_id, result_id)
        st.markdown(f"**{plain(result.question.question, 400)}**")
        answer_cells.verdict_line(result)
        if st.button(
            "Open the answer, to edit and review it",
            type="primary",
            icon=":material/article:",
            key="drawer_open_answer",
        ):
            state.choose("row", result_id)
            st.switch_page(frame.ANSWER, query_params={"run": run_id, "row": result_id})
        answer_cells.show(run_id, result, key="drawer")
