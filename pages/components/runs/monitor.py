"""Drawing a run's progress and its controls."""

from __future__ import annotations

import streamlit as st

from karenina_core.runs import Progress
from karenina_core.runs.quotes import spent_in_words
from karenina_core.schemas import causes
from pages.components import services
from pages.components.runs import controls as monitor_controls
from pages.components.runs import growth
from pages.components.runs import traffic as monitor_traffic
from pages.components.text import plain

_STATES = {
    "queued": ":blue-badge[:material/schedule: queued]",
    "running": ":blue-badge[:material/play_arrow: running]",
    "paused": ":orange-badge[:material/pause: paused]",
    "interrupted": ":orange-badge[:material/warning: interrupted]",
    "cancelled": ":gray-badge[:material/cancel: cancelled]",
    "completed": ":green-badge[:material/check: completed]",
    "failed": ":red-badge[:material/error: stopped by an error]",
}

_FINISHING = ":orange-badge[:material/pause: paused, calls in flight are finishing]"


def draw(progress: Progress) -> None:
    """Draw everything about a run's state."""
    finishing = progress.status == "paused" and progress.in_flight
    st.markdown(_FINISHING if finishing else _STATES.get(progress.status, progress.status))
    share = progress.done / progress.total if progress.total else 0.0
    st.progress(min(share, 1.0), text=f"{progress.done} of {progress.total} evaluations")
    monitor_controls.draw(progress)
    _numbers(progress)
    growth.offer(progress)
    _causes(progress)
    if progress.message:
        st.caption(plain(progress.message, 300))
    monitor_traffic.draw(progress)
    if progress.models:
        _models(progress)
    if progress.recent:
        with st.expander("Latest evaluations", expanded=progress.active):
            for line in reversed(progress.recent[-12:]):
                st.caption(plain(line, 160))


def _causes(progress: Progress) -> None:
    if not progress.causes:
        return
    failed = sum(progress.errors.values())
    if not failed:
        st.caption(f"Not evaluated: {plain(causes.listed(progress.causes))}.")
        return
    again = "it" if failed == 1 else "these"
    which = (
        f"Resume tries {again} again." if failed == progress.not_evaluated else f"Resume tries {failed} of them again."
    )
    st.warning(f"{plain(causes.listed(progress.causes))}. {which}", title="Not evaluated, by cause")


def _numbers(progress: Progress) -> None:
    with st.container(horizontal=True):
        st.metric("Pass", progress.passed)
        st.metric("Fail", progress.failed)
        st.metric("Not evaluated", progress.not_evaluated)
        st.metric("Model replies", progress.calls, help="What the run needed from models under test and from judges.")
        st.metric("From ledger", progress.cached_calls, help="How many of them were known already, and cost nothing.")
        if progress.calls_per_minute is not None:
            st.metric(
                "Calls per minute",
                f"{progress.calls_per_minute:.0f}",
                help="Requests sent to providers; one that is tried again counts again.",
            )
        st.metric("Spend", _spent(progress))
        st.metric("Elapsed", _duration(progress.elapsed))
        if progress.status == "running":
            st.metric("Time left", "…" if progress.eta is None else _duration(progress.eta))


def _spent(progress: Progress) -> str:
    store = services.store()
    asked = progress.calls - progress.cached_calls
    return spent_in_words(progress.cost, store.run(progress.run_id).config, store.prices(), asked)


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    return f"{whole // 60} min {whole % 60} s"


def _models(progress: Progress) -> None:
    st.markdown("**Pass rate so far**" if progress.active else "**Pass rate**")
    for model, counts in sorted(progress.models.items()):
        evaluated = counts.passed + counts.failed
        rate = counts.passed / evaluated if evaluated else 0.0
        left_out = f" · {counts.not_evaluated} not evaluated" if counts.not_evaluated else ""
        text = f"{plain(model, 60)}: {counts.passed} of {evaluated} right{left_out}"
        st.progress(rate, text=text)
