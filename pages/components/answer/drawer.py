"""One evaluation beside the page one is on: its cells to read, and the way to the page where they can be changed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.components import frame, services
from pages.components.answer import cells as answer_cells
from pages.components.answer import list as answer_list
from pages.components.text import plain


def open_drawer(run_id: str, result_id: str, among: Sequence[str] = ()) -> None:
    """Show an evaluation over the present page.

    Call it once for an act of the user, such as a click on a mark; drawing the page again closes it.

    Args:
        run_id: The run.
        result_id: The result in it.
        among: The list it was chosen from, which the answer page then walks through; all of the run when empty.
    """
    if among:
        answer_list.remember(run_id, among)
    _drawer(run_id, result_id)


@st.dialog("Answer", width="large")
def _drawer(run_id: str, result_id: str) -> None:
    with frame.guard():
        result = services.store().results.get(run_id, result_id)
        st.markdown(f"**{plain(result.question.question, 400)}**")
        answer_cells.verdict_line(result)
        answer_cells.fault_line(run_id, result)
        label, link = "Open the answer, to edit and review it", {"run": run_id, "row": result_id, "look": "answer"}
        frame.link_button(label, frame.ANSWER, "drawer_open_answer", kind="primary", **link)
        answer_cells.show(run_id, result, key="drawer")
