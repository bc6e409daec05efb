"""What goes into a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import streamlit as st

from karenina_core.analysis import AnswerChoice, Options
from pages.components import frame, services, state
from pages.components.text import distinct, local_time, short

_ANSWERS: dict[AnswerChoice, str] = {
    "none": "No answers",
    "failures": "What did not pass",
    "all": "All answers",
}
_MOST_RUNS = 8


@dataclass(frozen=True)
class Wanted:
    """The choices of the form."""

    title: str
    author: str
    options: Options


def choose_runs() -> list[str]:
    """Draw the selector and return the chosen runs, or say what to do when there is none."""
    runs = {run.id: run for run in services.store().runs.all()}
    if not runs:
        st.info("Nothing has run yet. A report is made from a run.", icon=":material/info:")
        if st.button("Go to the demo", type="primary", icon=":material/play_arrow:", key="report_home"):
            st.switch_page(frame.HOME)
        return []
    chosen = state.selected("run", runs) or next(iter(runs))
    if state.unknown("run"):
        st.warning("The run in this link is not in this workspace; showing the newest.", icon=":material/link_off:")
    labels = distinct(runs, lambda key: f"{short(runs[key].name)} · {local_time(runs[key].created)}")
    picked = st.multiselect(
        "Runs",
        list(runs),
        default=[chosen],
        format_func=labels.__getitem__,
        max_selections=_MOST_RUNS,
        key=f"report_runs_{chosen}",
        help="Several runs stand one after the other in the report.",
    )
    if not picked:
        st.info("Choose at least one run.", icon=":material/info:")
    return picked


def choose() -> Wanted:
    """Draw the form of the report."""
    title = st.text_input("Title", key="report_title", placeholder="The name of the run", max_chars=200)
    author = st.text_input("Author", key="report_author", placeholder="Nobody is named", max_chars=200)
    answers = st.segmented_control(
        "Texts of answers",
        list(get_args(AnswerChoice)),
        format_func=_ANSWERS.__getitem__,
        default="failures",
        required=True,
        key="report_answers",
        help="Leave them out when the answers are confidential. At most 200 are shown; the data files hold all.",
    )
    figures = st.toggle(
        "Interactive figures",
        value=True,
        key="report_figures",
        help="They bring Plotly's library into the file, 5 MB. Without them the file has about 50 KB and no script.",
    )
    templates = st.toggle("Sources of the answer templates", value=True, key="report_templates")
    return Wanted(title.strip(), author.strip(), Options(answers or "failures", figures, templates))
