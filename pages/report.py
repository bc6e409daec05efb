"""Report: hand a colleague one file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from karenina_core.analysis import FORMATS, AnswerChoice, ReportOptions
from pages.components import frame, run_choice, services, state
from pages.components.results import data as results_data
from pages.components.text import plain, short, unbroken, visible
from pages.components.widgets import download

frame.begin(frame.REPORT)

REPORTS = ("html", "markdown", "latex")
MOST_RUNS = 8
ANSWERS: dict[AnswerChoice, str] = {"none": "No answers", "failures": "What did not pass", "all": "All answers"}


def choose_options() -> tuple[str, str, ReportOptions]:
    """Draw the form of the report; return title, author and options."""
    title = st.text_input("Title", key="report_title", placeholder="The name of the run", max_chars=200)
    author = st.text_input("Author", key="report_author", placeholder="Nobody is named", max_chars=200)
    about = "Leave them out when the answers are confidential. At most 200 are shown; the data files hold all."
    look: Any = {"default": "failures", "required": True, "key": "report_answers", "help": about}
    answers = st.segmented_control("Texts of answers", list(ANSWERS), format_func=ANSWERS.__getitem__, **look)
    about = "They bring Plotly's library into the file, 5 MB. Without them the file has about 50 KB and no script."
    figures = st.toggle("Interactive figures", value=True, key="report_figures", help=about)
    templates = st.toggle("Sources of the answer templates", value=True, key="report_templates")
    return title.strip(), author.strip(), ReportOptions(answers or "failures", figures, templates)


def preview(run_ids: Sequence[str]) -> None:
    """Show the sentences the report begins with, ready to be copied."""
    lines = [line for run_id in run_ids for line in results_data.frames(run_id).sentences.headlines]
    with st.container(border=True):
        st.markdown("**What it says of the models**")
        st.markdown(unbroken("\n".join(f"- {plain(line)}" for line in lines)))
        with st.expander("Copy as text", icon=":material/content_copy:"):
            st.code(visible("\n".join(lines)), language=None, wrap_lines=True)
        st.caption("Then figures, tables, the answers you choose, and what it takes to run it again.")


def offer_reports(run_ids: Sequence[str], title: str, author: str, options: ReportOptions) -> None:
    """Offer the report in every format."""

    def written(name: str) -> Any:
        from karenina_core import analysis

        write: Any = {"html": analysis.as_html, "markdown": analysis.as_markdown, "latex": analysis.as_latex}[name]
        return write(analysis.report_of_runs(services.store(), run_ids, options, title=title, author=author))

    st.subheader("The report")
    with st.container(horizontal=True):
        for name in REPORTS:
            kind = FORMATS[name]
            look = {"type": "primary" if name == "html" else "secondary", "key": f"report_{name}"}
            file = f"report-{run_ids[0]}.{kind.ending}"
            download(f"{kind.label}: {kind.purpose}", partial(written, name), file, kind.mime, **look)


def offer_data(run_ids: Sequence[str]) -> None:
    """Offer the data of every run."""
    store = services.store()
    formats = {name: kind for name, kind in FORMATS.items() if name not in REPORTS}
    st.subheader("The data")
    st.caption("Every evaluation, whatever the report shows. Nothing in these files runs when they are opened.")
    st.caption(" · ".join(f"{kind.label}: {kind.purpose}" for kind in formats.values()))
    for run_id in run_ids:
        if len(run_ids) > 1:
            st.markdown(f"**{plain(short(store.runs.get(run_id).name))}**")
        with st.container(horizontal=True):
            for name, kind in formats.items():
                content, file = partial(kind.content, store, run_id, ReportOptions()), f"results-{run_id}.{kind.ending}"
                download(kind.label, content, file, kind.mime, help=kind.purpose, key=f"data_{name}_{run_id}")


with frame.guard():
    runs = run_choice.stored_runs("report")
    linked = str(state.selected("run", runs))
    about = "Several runs stand one after the other in the report."
    chosen = run_choice.choose_runs("report", runs, [linked], max_selections=MOST_RUNS, help=about)
    if not chosen:
        st.stop()
    left, right = st.columns([40, 60], gap="medium")
    with left:
        wanted = choose_options()
    with right:
        preview(chosen)
    offer_reports(chosen, *wanted)
    offer_data(chosen)
