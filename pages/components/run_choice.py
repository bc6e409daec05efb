"""Choosing runs: what every page offers that looks at stored runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from karenina_core.runs import STATES, RunRow
from pages.components import forms, frame, services, state
from pages.components.text import distinct, local_time, short


def stored_runs(page: str) -> dict[str, RunRow]:
    """Return all runs, the newest first; where there is none, say where to get one.

    Args:
        page: Begins the keys of widgets.
    """
    runs = {run.id: run for run in services.store().runs.all()}
    if not runs:
        st.info("Nothing has run yet. Start with the demo, or configure a run of your own.", icon=":material/info:")
        frame.link_button("Go to the demo", frame.HOME, f"{page}_home", icon="play_arrow", kind="primary")
    return runs


def choose_run(page: str) -> str | None:
    """Draw the run selector and return the chosen run; None, with the way to one, where there is none such."""
    runs = stored_runs(page)
    if not runs or forms.lost("run", runs, "run"):
        return None
    chosen = state.selected("run", runs) or next(iter(runs))
    picked = forms.select("Run", _labels(runs), f"{page}_run_{chosen}", chosen=chosen)
    if picked != chosen:
        state.choose("run", picked)
        state.choose("row", None)
        st.rerun()
    return picked


def choose_runs(page: str, runs: Mapping[str, RunRow], chosen: Sequence[str], **look: Any) -> list[str]:
    """Draw the choice of several runs and return it, or ask for one.

    Args:
        page: Begins the key of the widget.
        runs: What can be chosen.
        chosen: What is chosen so far.
        look: Further arguments of the widget.
    """
    look |= {"format_func": _labels(runs).__getitem__, "key": f"{page}_runs_{'_'.join(chosen)}"}
    picked = st.multiselect("Runs", list(runs), list(chosen), **look)
    if not picked:
        st.info("Choose at least one run.", icon=":material/info:")
    return picked


def _labels(runs: Mapping[str, RunRow]) -> Mapping[str, str]:
    return distinct(
        runs, lambda key: f"{short(runs[key].name)} · {local_time(runs[key].created)} · {STATES[runs[key].status]}"
    )
