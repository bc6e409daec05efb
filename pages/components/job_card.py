"""The small card in the sidebar that follows a person while a run, or the drafting of templates, is under way."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from karenina_core.errors import InputError
from karenina_core.runs import DraftBatch, Progress
from pages.components import services
from pages.components.text import plain


def show() -> None:
    """Show what is under way in this process; polls only while something is."""
    if not services.active_runs() and not services.drafter().active():
        return

    @st.fragment(run_every=1)
    def card() -> None:
        runs, batches = services.active_runs(), services.drafter().active()
        _runs(runs)
        _drafts(batches)
        if not runs and not batches:
            st.rerun()

    card()


def _runs(alive: Sequence[Progress]) -> None:
    for progress in alive:
        st.progress(progress.percent / 100, text=plain(progress.name, 40))
        spent = f" · ${progress.cost:.4f}" if progress.cost else ""
        st.caption(f"{progress.status} · {progress.done:,} of {progress.total:,}{spent}")
        _buttons(progress)


def _buttons(progress: Progress) -> None:
    run_id, runner = progress.run_id, services.runner()
    with st.container(horizontal=True):
        if st.button("Open monitor", key=f"job_card_open_{run_id}", icon=":material/monitoring:"):
            st.session_state["_run"] = run_id
            st.switch_page("pages/monitor.py", query_params={"run": run_id})
        if (
            progress.status == "running"
            and progress.ceiling is not None
            and st.button("Pause", key=f"job_card_pause_{run_id}", icon=":material/pause:")
        ):
            # It may have come to its end meanwhile.
            with suppress(InputError):
                runner.pause(run_id)
            st.rerun()


def _drafts(alive: Sequence[DraftBatch]) -> None:
    for batch in alive:
        st.progress(min(batch.done / max(batch.total, 1), 1.0), text="Drafting templates")
        st.caption(f"{batch.done} of {batch.total}")
    if alive and st.button("Open drafts", key="job_card_drafts", icon=":material/edit_note:", width="stretch"):
        link = {"benchmark": alive[0].benchmark_id, "do": "draft"}
        st.switch_page("pages/benchmarks.py", query_params=link)
