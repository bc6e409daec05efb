"""Drawing a run's progress and its controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from karenina_core.analysis import pass_rate, rate_sentence
from karenina_core.models import being_loaded
from karenina_core.runs import Progress, dollars, spent_in_words
from karenina_core.schemas import causes
from karenina_core.text import counted
from pages.components import frame, services
from pages.components.runs import controls as monitor_controls
from pages.components.runs import growth, squares
from pages.components.runs import traffic as monitor_traffic
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

_FINISHING = ":orange-badge[:material/pause: paused, calls in flight are finishing]"
_WAITING = ":orange-badge[:material/hourglass_top: running, waiting for the provider]"


def draw(progress: Progress) -> None:
    """Draw everything about a run's state."""
    st.markdown(_badge(progress))
    stopped = bool(progress.message) and progress.status in ("interrupted", "failed")
    if stopped:
        st.warning(plain(progress.message, 300), icon=":material/warning:")
    again = f", {progress.to_retry:,} of them to be tried again" if progress.to_retry else ""
    st.progress(progress.percent / 100, text=f"{progress.done:,} of {progress.total:,} evaluations{again}")
    _loading(progress)
    monitor_controls.draw(progress)
    _numbers(progress)
    growth.offer(progress)
    _causes(progress)
    if progress.message and not stopped:
        st.caption(plain(progress.message, 300))
    monitor_traffic.draw(progress)
    table = squares.results(progress)
    if progress.models:
        _models(progress, table)
    if table is not None:
        squares.draw(progress.run_id, table)
    if progress.recent:
        with st.expander("Latest evaluations", expanded=progress.active):
            for line in reversed(progress.recent[-12:]):
                st.caption(plain(line, 160))


def _loading(progress: Progress) -> None:
    """Say what is being loaded, where the run is under way in this process."""
    names = being_loaded() if progress.active and progress.ceiling is not None else []
    if names:
        st.caption(
            f":material/hourglass_top: {plain(', '.join(names), 120)} is being loaded into memory, once for the app. "
            "Evaluations that need it wait."
        )


def _badge(progress: Progress) -> str:
    errors = sum(progress.errors.values())
    if progress.status == "paused" and progress.in_flight:
        return _FINISHING
    if progress.status == "running" and monitor_traffic.is_held_up(progress):
        return _WAITING
    if progress.status == "completed" and errors:
        return f":orange-badge[:material/warning: completed with {counted(errors, 'error')}]"
    return _STATES.get(progress.status, progress.status)


def _causes(progress: Progress) -> None:
    if not progress.causes:
        return
    failed = sum(progress.errors.values())
    if not failed:
        st.caption(f"Not evaluated: {plain(causes.listed(progress.causes))}.")
        return
    those = "it" if failed == 1 else "these"
    if failed != progress.not_evaluated:
        those = f"{failed} of them"
    button = "" if progress.active else f" “{monitor_controls.resuming(progress)}” tries {those} again."
    st.warning(f"{plain(causes.listed(progress.causes))}.{button}", title="Not evaluated, by cause")
    if progress.active and progress.in_vain:
        st.error(
            "Pause or cancel the run and open one of them: the same cause would most likely spoil the others, and "
            "their calls may cost money.",
            title=f"Not one of the first {counted(progress.done, 'evaluation')} could be decided",
        )
    if st.button("See what was not evaluated", key="see_left_out", icon=":material/search:"):
        st.switch_page(frame.RESULTS, query_params={"run": progress.run_id, "show": "none"})


def _numbers(progress: Progress) -> None:
    with st.container(horizontal=True):
        st.metric("Pass", progress.passed)
        st.metric("Fail", progress.failed)
        st.metric("Not evaluated", progress.not_evaluated)
        st.metric(
            "Model replies",
            progress.calls,
            delta=f"{progress.cached_calls:,} known already" if progress.cached_calls else None,
            delta_color="off",
            delta_arrow="off",
            help="What the run needed from models under test and from judges. Replies that were known already are kept "
            "from earlier calls with the very same text, and cost nothing.",
        )
        if progress.calls_per_minute is not None:
            st.metric(
                "Calls per minute",
                f"{progress.calls_per_minute:.0f}",
                help="Requests sent to providers; one that is tried again counts again.",
            )
        _spending(progress)
        st.metric("Elapsed", _duration(progress.elapsed))
        if progress.status == "running" and progress.ceiling is not None:
            st.metric("Time left", "…" if progress.eta is None else _duration(progress.eta))


def _spending(progress: Progress) -> None:
    store = services.store()
    config, asked = store.runs.get(progress.run_id).config, progress.calls - progress.cached_calls
    st.metric(
        "Spend",
        spent_in_words(progress.cost, config, store.settings.prices(), asked),
        delta=None if config.max_cost is None else f"of at most {dollars(config.max_cost)}",
        delta_color="off",
        delta_arrow="off",
        help="What all model calls of the run cost, as far as their prices are known. Known replies cost nothing.",
    )


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 60} min" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


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
        text = f"{counts.passed} of {evaluated} right{left_out}"
        if not evaluated:
            text = f"none of {counts.not_evaluated} evaluated"
        st.progress(counts.passed / evaluated if evaluated else 0.0, text=f"{plain(model, 60)}: {text}")
