"""The data behind the Explore pages, read once per state of a run."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from karenina_core.schemas.results import VerificationResult
from pages.components import frame, services, state
from pages.components.text import short

SIGN = {"pass": "✓", "fail": "✗", "not_evaluated": "–"}


@dataclass(frozen=True)
class Frames:
    """The tables of one run."""

    results: pd.DataFrame
    fields: pd.DataFrame
    traits: pd.DataFrame
    headlines: list[str]
    left_out: list[str]
    judges: list[str]


def choose_run(page: str) -> str | None:
    """Draw the run selector and return the chosen run, or say what to do when there is none."""
    runs = {run.id: run for run in services.store().runs()}
    if not runs:
        st.info("Nothing has run yet.", icon=":material/info:")
        if st.button("Go to the demo", type="primary", icon=":material/play_arrow:", key=f"{page}_home"):
            st.switch_page(frame.HOME)
        return None
    chosen = state.selected("run", runs) or next(iter(runs))
    say_unknown_run()
    picked = st.selectbox(
        "Run",
        list(runs),
        index=list(runs).index(chosen),
        format_func=lambda key: (
            f"{short(runs[key].name)} · {str(runs[key].created)[:16].replace('T', ' ')} · {runs[key].status}"
        ),
        key=f"{page}_run_{chosen}",
    )
    if picked != chosen:
        state.choose("run", picked)
        state.choose("row", None)
        st.rerun()
    return picked


def say_unknown_run() -> None:
    """Say it when the link names a run that does not exist."""
    if state.unknown("run"):
        st.warning("The run in this link is not in this workspace; showing the newest.", icon=":material/link_off:")


def frames(run_id: str) -> Frames:
    """Return the tables of a run as it stands now."""
    run = services.store().run(run_id)
    return _frames(run_id, f"{run.status} {run.done} {run.passed} {run.failed}")


@st.cache_data(show_spinner=False, max_entries=20)
def _frames(run_id: str, version: str) -> Frames:
    from karenina_core.analysis.frames import fields_frame, results_frame, traits_frame
    from karenina_core.analysis.summary import judge_sentences, left_out_sentences, model_sentences

    results = stored(run_id)
    return Frames(
        results_frame(results),
        fields_frame(results),
        traits_frame(results),
        model_sentences(results),
        left_out_sentences(results),
        judge_sentences(results),
    )


def stored(run_id: str) -> list[VerificationResult]:
    """Return all results of a run."""
    return list(services.store().results(run_id))
