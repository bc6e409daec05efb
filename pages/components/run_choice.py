"""Choosing runs: what every page offers that looks at stored runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from karenina_core.runs import STATES, RunRow
from pages.components import forms, frame, services, state
from pages.components.text import distinct, local_time, short


def stored_runs(page: str) -> dict[str, RunRow]:
    """Return all runs, the newest first; where there is none, say where to get one and stop.

    Args:
        page: Begins the keys of widgets.
    """
    runs = {run.id: run for run in services.store().runs.all()}
    if not runs:
        words = "Nothing has run yet. Start with the demo, or configure a run of your own."
        frame.nothing(words, "Go to the demo", frame.HOME, f"{page}_home")
        st.stop()
    forms.refuse_lost("run", runs, "run")
    return runs


def choose_run(page: str, *, with_results: bool = False) -> str:
    """Draw the run selector and return the chosen run; stop where there is none such, and lead to one.

    Args:
        page: Begins the keys of widgets.
        with_results: Whether one without results will not do.
    """
    runs = stored_runs(page)
    chosen = str(state.selected("run", runs))
    picked = forms.select("Run", labels(runs), f"{page}_run_{chosen}", chosen=chosen)
    if picked != chosen:
        state.choose("run", picked)
        state.choose("row", None)
        st.rerun()
    if with_results and not runs[picked].done:
        frame.nothing("This run has no results yet.", "Open the monitor", frame.MONITOR, "empty_monitor", run=picked)
        st.stop()
    return picked


def choose_runs(page: str, runs: Mapping[str, RunRow], chosen: Sequence[str], **look: Any) -> list[str]:
    """Draw the choice of several runs and return it, or ask for one.

    Args:
        page: Begins the key of the widget.
        runs: What can be chosen.
        chosen: What is chosen so far.
        look: Further arguments of the widget.
    """
    look |= {"format_func": labels(runs).__getitem__, "key": f"{page}_runs_{'_'.join(chosen)}"}
    picked = st.multiselect("Runs", list(runs), list(chosen), **look)
    if not picked:
        st.info("Choose at least one run.", icon=":material/info:")
    return picked


def labels(runs: Mapping[str, RunRow]) -> Mapping[str, str]:
    """Return how runs are called where one of them is chosen, by id."""
    return distinct(
        runs, lambda key: f"{short(runs[key].name, 50)} · {local_time(runs[key].created)} · {STATES[runs[key].status]}"
    )
