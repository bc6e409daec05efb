"""A run's progress: where it stands, its numbers, its models, and its evaluations as squares that fill up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from karenina_core.analysis import FIGURES, pass_rate, questions, rate_sentence, rows_behind
from karenina_core.models import being_loaded
from karenina_core.runs import Progress, dollars
from karenina_core.schemas import failures_in_words
from karenina_core.text import counted
from pages.components import figure as page_figure
from pages.components import frame, services
from pages.components.answer import drawer as answer_drawer
from pages.components.results import table as results_table
from pages.components.runs import controls as run_controls
from pages.components.runs import growth
from pages.components.text import plain

if TYPE_CHECKING:
    import pandas as pd

_STATES = {
    "queued": ":blue-badge[:material/schedule: queued]",
    "running": ":blue-badge[:material/play_arrow: running]",
    "paused": ":orange-badge[:material/pause: paused]",
    "interrupted": ":orange-badge[:material/warning: interrupted, can be resumed]",
    "cancelled": ":gray-badge[:material/cancel: cancelled]",
    "completed": ":green-badge[:material/check: completed]",
    "failed": ":red-badge[:material/error: stopped by an error]",
}


def draw(progress: Progress) -> None:
    """Draw everything about a run's state."""
    st.markdown(_badge(progress))
    stopped = bool(progress.message) and progress.status in ("interrupted", "failed")
    if stopped:
        st.warning(plain(progress.message, 300), icon=":material/warning:")
    again = f", {progress.to_retry:,} of them to be tried again" if progress.to_retry else ""
    st.progress(progress.percent / 100, text=f"{progress.done:,} of {progress.total:,} evaluations{again}")
    names = being_loaded() if progress.active and progress.ceiling is not None else []
    if names:
        loading = f"{plain(', '.join(names), 120)} is being loaded into memory, once for the app."
        st.caption(f":material/hourglass_top: {loading} Evaluations that need it wait.")
    run_controls.draw(progress)
    _numbers(progress)
    growth.offer(progress)
    _causes(progress)
    if progress.message and not stopped:
        st.caption(plain(progress.message, 300))
    run_controls.traffic(progress)
    table = _results(progress)
    if progress.models:
        _models(progress, table)
    if table is not None:
        _squares(progress.run_id, table)
    if progress.recent:
        with st.expander("Latest evaluations", expanded=progress.active):
            for line in reversed(progress.recent[-12:]):
                st.caption(plain(line, 160))


def _badge(progress: Progress) -> str:
    errors = sum(progress.errors.values())
    if progress.status == "paused" and progress.in_flight:
        return ":orange-badge[:material/pause: paused, calls in flight are finishing]"
    if progress.status == "running" and run_controls.is_held_up(progress):
        return ":orange-badge[:material/hourglass_top: running, waiting for the provider]"
    if progress.status == "completed" and errors:
        return f":orange-badge[:material/warning: completed with {counted(errors, 'error')}]"
    return _STATES[progress.status]


def _causes(progress: Progress) -> None:
    failed, causes = sum(progress.errors.values()), plain(failures_in_words(progress.causes))
    if not progress.causes:
        return
    if not failed:
        st.caption(f"Not evaluated: {causes}.")
        return
    those = "it" if failed == 1 else "these"
    those = those if failed == progress.not_evaluated else f"{failed} of them"
    button = "" if progress.active else f" “{run_controls.resuming(progress)}” tries {those} again."
    st.warning(f"{causes}.{button}", title="Not evaluated, by cause")
    if progress.active and progress.in_vain:
        words = "Pause or cancel the run and open one of them: the others would most likely fail too and cost money."
        st.error(words, title=f"Not one of the first {counted(progress.done, 'evaluation')} could be decided")
    link = {"run": progress.run_id, "show": "none"}
    frame.link_button("See what was not evaluated", frame.RESULTS, "see_left_out", icon="search", **link)


def _numbers(progress: Progress) -> None:
    quiet: Any = {"delta_color": "off", "delta_arrow": "off"}
    with st.container(horizontal=True):
        st.metric("Pass", progress.passed)
        st.metric("Fail", progress.failed)
        st.metric("Not evaluated", progress.not_evaluated)
        known = f"{progress.cached_calls:,} known already" if progress.cached_calls else None
        about = "Of models under test and judges. Those known from earlier calls with the same text cost nothing."
        st.metric("Model replies", progress.calls, delta=known, help=about, **quiet)
        if progress.calls_per_minute is not None:
            about = "Requests sent to providers; one that is tried again counts again."
            st.metric("Calls per minute", f"{progress.calls_per_minute:.0f}", help=about)
        limit = services.store().runs.get(progress.run_id).config.max_cost
        results_table.spent(progress, None if limit is None else f"of at most {dollars(limit)}")
        st.metric("Elapsed", _duration(progress.elapsed))
        if progress.status == "running" and progress.ceiling is not None:
            st.metric("Time left", "…" if progress.eta is None else _duration(progress.eta))


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def _models(progress: Progress, table: pd.DataFrame | None) -> None:
    st.markdown("**Pass rate so far**" if progress.active else "**Pass rate**")
    if table is not None:
        for row in pass_rate(table.sort_values("answering_model"), "answering_model").to_dict("records"):
            share = row["rate"] if row["evaluated"] else 0.0
            st.progress(share, text=f"{plain(row['answering_model'], 60)}: {rate_sentence(row)}")
        return
    for model, counts in sorted(progress.models.items()):
        evaluated = counts.passed + counts.failed
        left_out = f" · {counts.not_evaluated} not evaluated" if counts.not_evaluated else ""
        text = f"{counts.passed} of {evaluated} right{left_out}" if evaluated else "none evaluated"
        st.progress(counts.passed / evaluated if evaluated else 0.0, text=f"{plain(model, 60)}: {text}")


# The squares, question by model

MOST = 500
"""A run with more evaluations is not read again every second; the page Results shows it."""
_CLICKED = "_square_clicked"
_TURN = "_square_turn"
_TALL = 420


def _results(progress: Progress) -> pd.DataFrame | None:
    """Return what is evaluated so far, one row each; None where there is nothing yet, or too much for every second."""
    if not 0 < progress.done <= MOST:
        return None
    counts = (progress.done, progress.passed, progress.failed, progress.to_retry, progress.calls)
    return _read(progress.run_id, f"{progress.status} {counts}")


@st.cache_resource(show_spinner=False, max_entries=8)
def _read(run_id: str, revision: str) -> pd.DataFrame:
    from karenina_core.analysis import stored_results

    return stored_results(services.store(), run_id)


def _squares(run_id: str, table: pd.DataFrame) -> None:
    spec = FIGURES["questions"]
    # One column per model from the first answer on: columns for every repeat would come and go.
    figure = questions(table, replicates=False)
    key = f"squares_{run_id}_{st.session_state.get(_TURN, 0)}"

    def note() -> None:
        mark = page_figure.mark_of(st.session_state[key])
        if mark:
            st.session_state[_CLICKED] = mark
            # A chart of another name has nothing chosen, so that the same square can be clicked again.
            st.session_state[_TURN] = st.session_state.get(_TURN, 0) + 1

    st.markdown(f"**{spec.question}**")
    page_figure.chart(figure, key, spec.question, on_select=note, tall=_TALL, live=True)
    st.caption(spec.reading)
    if _CLICKED in st.session_state:
        behind = [str(name) for name in rows_behind(table, st.session_state.pop(_CLICKED))["result_id"]]
        if behind:  # the first, where a square stands for several
            answer_drawer.open_drawer(run_id, behind[0], behind)
