"""Drawing a run's progress and its controls."""

from __future__ import annotations

import streamlit as st

from karenina_core.runs import Progress
from pages.components import frame, services
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


def draw(progress: Progress) -> None:
    """Draw everything about a run's state."""
    st.markdown(_STATES.get(progress.status, progress.status))
    share = progress.done / progress.total if progress.total else 0.0
    st.progress(min(share, 1.0), text=f"{progress.done} of {progress.total} evaluations")
    _numbers(progress)
    _controls(progress)
    if progress.errors:
        causes = ", ".join(
            f"{count} × {plain(category.replace('_', ' '))}" for category, count in progress.errors.items()
        )
        st.warning(f"{causes}. Resume tries these again.", title="Not evaluated, by cause")
    if progress.message:
        st.caption(plain(progress.message, 300))
    if progress.models:
        _models(progress)
    if progress.recent:
        with st.expander("Latest evaluations", expanded=progress.active):
            for line in reversed(progress.recent[-12:]):
                st.caption(plain(line, 160))


def _numbers(progress: Progress) -> None:
    with st.container(horizontal=True):
        st.metric("Pass", progress.passed)
        st.metric("Fail", progress.failed)
        st.metric("Not evaluated", progress.not_evaluated)
        st.metric(
            "Model calls", progress.calls, help="Answered from the ledger, for free, among them: see the next number."
        )
        st.metric("From ledger", progress.cached_calls)
        st.metric("Spend", _money(progress.cost))
        st.metric("Elapsed", _duration(progress.elapsed))
        if progress.active:
            st.metric("Time left", "…" if progress.eta is None else _duration(progress.eta))


def _money(cost: float | None) -> str:
    if cost is None:
        return "unknown"
    return f"${cost:.4f}" if cost else "nothing"


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    return f"{whole // 60} min {whole % 60} s"


def _controls(progress: Progress) -> None:
    runner, run_id = services.runner(), progress.run_id
    with st.container(horizontal=True):
        if progress.status == "running" and st.button("Pause", key="pause", icon=":material/pause:"):
            runner.pause(run_id)
            st.rerun(scope="fragment")
        if progress.status == "paused" and st.button("Continue", key="continue", icon=":material/play_arrow:"):
            runner.resume(run_id)
            st.rerun(scope="fragment")
        if progress.active and st.button(
            "Cancel", key="cancel", icon=":material/stop:", help="Stops spending at once; what is done stays."
        ):
            runner.cancel(run_id)
            st.rerun()
        resumable = not progress.active and (progress.done < progress.total or progress.errors)
        if resumable and st.button(
            "Resume",
            key="resume",
            icon=":material/replay:",
            help="Finishes what is missing and tries failed evaluations again; answered calls are not asked twice.",
        ):
            runner.resume(run_id)
            st.rerun()
        if progress.done and st.button("See results", key="see_results", type="primary", icon=":material/bar_chart:"):
            st.switch_page(frame.RESULTS, query_params={"run": run_id})


def _models(progress: Progress) -> None:
    st.markdown("**Pass rate so far**" if progress.active else "**Pass rate**")
    for model, counts in sorted(progress.models.items()):
        evaluated = counts.passed + counts.failed
        rate = counts.passed / evaluated if evaluated else 0.0
        left_out = f" · {counts.not_evaluated} not evaluated" if counts.not_evaluated else ""
        text = f"{plain(model, 60)}: {counts.passed} of {evaluated} right{left_out}"
        st.progress(rate, text=text)
