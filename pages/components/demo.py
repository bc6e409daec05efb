"""Starting the bundled demo from a page."""

from __future__ import annotations

import streamlit as st

from karenina_core import demo
from karenina_core.demo import live_available
from karenina_core.schemas import VerificationConfig
from pages.components import services, state

__all__ = ["live_available", "real_recordings", "start_live", "start_recording", "start_sample"]

_NAME = "Biomedical demo"


def real_recordings() -> list[demo.BundledRecording]:
    """Return the bundled recordings that a model really produced."""
    return [item for item in demo.recordings() if item.kind == "recording"]


def start_sample() -> None:
    """Run the sample answers and go to the monitor."""
    _start(demo.demo_config(), "Demo with sample answers")


def start_live() -> None:
    """Run the demo with the model on this computer and go to the monitor."""
    _start(demo.live_config(), "Demo, live on this computer")


def start_recording(recording: demo.BundledRecording) -> None:
    """Replay a real recording and go to the monitor."""
    _start(demo.replay_config(recording.name), recording.title)


def _start(config: VerificationConfig, run_name: str) -> None:
    store = services.store()
    benchmark = demo.demo_benchmark()
    known = [row.id for row in store.benchmarks.all() if row.name == benchmark.name]
    benchmark_id = known[0] if known else store.benchmarks.save(benchmark)
    run_id = services.start_run(benchmark_id, benchmark, config, run_name)
    state.choose("benchmark", benchmark_id)
    state.choose("run", run_id)
    st.switch_page("pages/monitor.py", query_params={"run": run_id})
