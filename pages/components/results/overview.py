"""The outcome of a run in a few numbers and sentences."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from karenina_core.analysis import interval, pass_rate, percent, rate_sentences
from karenina_core.runs import RunRow, spent_in_words
from karenina_core.text import counted
from pages.components import frame, services
from pages.components.results import data as results_data
from pages.components.results import filters as results_filters
from pages.components.results.data import Frames
from pages.components.results.filters import Scope
from pages.components.text import plain, unbroken

_MOST_MODELS = 5
_NOTICEABLE = 0.05  # seconds; recordings are read in less
_LOOKS = 5  # seconds between two looks at a run under way


def draw(data: Frames, scope: Scope) -> None:
    """Draw the numbers of what the filters keep."""
    row = _totals(data.run_id, data.revision, scope)
    run = services.store().runs.get(data.run_id)
    with st.container(horizontal=True):
        st.metric(
            "Pass rate",
            percent(row["rate"]) if row["evaluated"] else "–",
            delta=_spread(row),
            delta_color="off",
            delta_arrow="off",
            help="Right among the evaluated answers, with its 95 % interval. "
            "What was not evaluated counts on neither side.",
        )
        st.metric("Evaluations", f"{row['n']:,}")
        st.metric("Pass", f"{row['passed']:,}")
        st.metric("Fail", f"{row['failed']:,}")
        st.metric(
            "Not evaluated",
            f"{row['not_evaluated']:,}",
            delta=f"of these {counted(int(row['errors']), 'error')}" if row["errors"] else None,
            delta_color="off",
            delta_arrow="off",
        )
        if row["seconds"] >= _NOTICEABLE:
            about = "Of a whole evaluation, judge and rules included. Replies that were known already take no time."
            st.metric("Median time", f"{row['seconds']:.1f} s", help=about)
        st.metric(
            "Spend",
            spent_in_words(run.cost, run.config, services.store().settings.prices(), run.calls - run.cached_calls),
            help="What all model calls of the run cost, as far as their prices are known. Known replies cost nothing.",
        )


def sentences(data: Frames, scope: Scope) -> None:
    """Draw the same in words; where there are many models, the first figure says it."""
    lines = _headlines(data.run_id, data.revision, scope)
    if len(lines) <= _MOST_MODELS:
        st.markdown(unbroken("\n".join(f"- {plain(line)}" for line in lines)))
    for line in data.judges:
        st.caption(f":material/info: {plain(line)}")
    if data.left_out and not scope.narrow:
        with st.expander("Not evaluated: why"):
            for line in data.left_out:
                st.markdown(f"- {plain(line)}")


def unfinished(data: Frames) -> None:
    """Say of a run that has not come to its end how much of it is counted here, and when there is more."""
    run, here = services.store().runs.get(data.run_id), len(data.results)
    if here >= run.total:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f":material/warning: {here:,} of {run.total:,} evaluations are done and counted here. {_standing(run)}",
            width="content",
        )
        if st.button("Open the monitor", icon=":material/monitoring:", key="results_monitor"):
            st.switch_page(frame.MONITOR, query_params={"run": data.run_id})

    @st.fragment(run_every=_LOOKS)
    def look() -> None:
        """Look whether there is more; what is being read or filtered stays until somebody asks."""
        with frame.guard():
            more(data.run_id, here)

    if run.active:
        look()


def _standing(run: RunRow) -> str:
    if run.status == "running":
        return "The run goes on."
    waits = "" if run.status == "queued" else "is "
    return f"The run {waits}{plain(run.state.rstrip('.'), 120)}."


def more(run_id: str, here: int) -> None:
    """Offer to show what has come since the page was drawn; reads one row.

    Args:
        run_id: A run that was under way then.
        here: How many of its results the page shows.
    """
    run = services.store().runs.get(run_id)
    new = run.done - here
    if new <= 0 and run.active:
        return
    said = "" if run.active else f" {_standing(run)}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{counted(max(new, 0), 'more result')} since this page was opened.{said}", width="content")
        if st.button("Show them" if new > 0 else "Look again", icon=":material/refresh:", key="read_again"):
            results_data.read_again(run_id)
            st.rerun(scope="app")


def _spread(row: dict[str, float]) -> str | None:
    if not row["evaluated"]:
        return None
    few = ", too few to tell" if row["few"] else ""
    return f"{interval(row['low'], row['high'])}, n = {row['evaluated']:,}{few}"


@st.cache_data(show_spinner=False, max_entries=50)
def _headlines(run_id: str, revision: str, scope: Scope) -> list[str]:
    results = results_filters.shown(Frames(run_id, revision), scope)
    return [] if results.empty else rate_sentences(results)


@st.cache_data(show_spinner=False, max_entries=50)
def _totals(run_id: str, revision: str, scope: Scope) -> dict[str, float]:
    results: pd.DataFrame = results_filters.shown(Frames(run_id, revision), scope)
    if results.empty:
        counts = ("n", "passed", "failed", "evaluated", "not_evaluated", "errors", "seconds")
        return {**dict.fromkeys(counts, 0), "rate": math.nan}
    [row] = pass_rate(results, []).to_dict("records")
    return {**{str(name): value for name, value in row.items()}, "seconds": float(results["seconds"].median())}
