"""An export of results on its way in: as a run with its verdicts, or as questions and answers."""

from __future__ import annotations

from pathlib import PurePosixPath

import streamlit as st

from karenina_core.benchmark import Opened
from karenina_core.text import counted
from pages.components import feedback, frame, services, state
from pages.components.text import plain

_WAYS = {"run": "A run, with its verdicts", "answers": "Questions and answers, to be judged here"}


def opens_as_run(file: Opened) -> bool:
    """Draw what an export of results can become, and return whether it is to be opened as a run."""
    if file.format != "results":
        return False
    way = st.segmented_control(
        "Open it as", list(_WAYS), format_func=_WAYS.__getitem__, default="run", required=True, key="results_way"
    )
    return way == "run"


def draw(file: Opened) -> str | None:
    """Draw the form that stores the results as a run, and return its id once it is stored."""
    rows = file.content.get("results")
    st.markdown(f"{counted(len(rows) if isinstance(rows, list) else 0, 'evaluation')} with their evidence.")
    name = st.text_input("Run name", PurePosixPath(file.name).stem[:80], max_chars=80, key="results_name", width=420)
    if not st.button("Open as a run", type="primary", icon=":material/bar_chart:", key="results_open"):
        return None
    from karenina_core.analysis import import_run

    run_id = None
    with frame.guard(), st.spinner("Storing the results …", show_time=True):
        run_id = import_run(services.store(), file.content, name.strip() or "Imported results")
    if run_id is not None:
        state.choose("run", run_id)
        feedback.say(f"Opened **{plain(name, 60)}** as a run.")
    return run_id
