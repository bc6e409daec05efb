"""Home: what this is, the first click, and where one left off."""

from __future__ import annotations

import streamlit as st

from karenina_core import demo
from karenina_core.models import DEMO_JUDGE_NOTE
from karenina_core.runs import RunRow
from karenina_core.schemas import VerificationConfig
from karenina_core.text import counted
from pages.components import forms, frame, live, services, state
from pages.components.text import local_time, plain
from pages.components.widgets import card

frame.begin(frame.HOME)

MOST_RUNS, MOST_BENCHMARKS = 8, 3
STEPS = (
    (":material/chat:", "1 · The model answers", "It gets the bare question and replies in free text."),
    (":material/fact_check:", "2 · A judge extracts", "It fills in the template's fields. It never sees the truth."),
    (":material/rule:", "3 · Code decides", "Rules compare each field with the truth: same values, same verdict."),
)


def start_demo(config: VerificationConfig, name: str) -> None:
    """Run the demo and go to the monitor."""
    store, benchmark = services.store(), demo.demo_benchmark()
    known = [row.id for row in store.benchmarks.all() if row.name == benchmark.name]
    benchmark_id = known[0] if known else store.benchmarks.save(benchmark)
    run_id = services.start_run(benchmark_id, benchmark, config, name)
    state.remember("benchmark", benchmark_id)
    frame.go(frame.MONITOR, run=run_id)


def first_clicks() -> None:
    """Draw the ways to begin."""
    with st.container(horizontal=True):
        if st.button("Try the demo", type="primary", icon=":material/play_arrow:", key="home_demo"):
            start_demo(demo.demo_config(), "Demo with sample answers")
        about = f"A very small model on this computer answers and judges, in some minutes ({DEMO_JUDGE_NOTE})."
        if demo.live_available() and forms.button("Run the demo live, no key", "memory", "home_live", help=about):
            start_demo(demo.live_config(), "Demo, live on this computer")
        frame.link_button("Bring your own questions", frame.BENCHMARKS, "home_upload", icon="upload_file")
    st.caption("The demo needs no key and no network. Its sample answers are written by the authors, not by a model.")
    recordings = [item for item in demo.recordings() if item.kind == "recording"]
    if recordings:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("There is also a real recording of a small model:", width="content")
            for recording in recordings:
                if st.button(plain(recording.title), key=f"home_{recording.name}", icon=":material/history:"):
                    start_demo(demo.replay_config(recording.name), recording.title)


def how_it_works() -> None:
    """Draw how an answer comes to its verdict."""
    st.subheader("How it works")
    for column, (icon, title, text) in zip(st.columns(len(STEPS)), STEPS, strict=True):
        with column.container(border=True, height="stretch"):
            st.markdown(f"{icon} **{title}**")
            st.write(text)


def recent_benchmarks() -> None:
    """Draw the benchmarks that were changed last, each with the way to its questions."""
    st.subheader("Recent benchmarks")
    for row in services.store().benchmarks.all()[:MOST_BENCHMARKS]:
        finished = f"{row.finished_count:,} finished · changed {plain(local_time(row.modified))}"
        with card(f"**{plain(row.name, 60)}**", f"{counted(row.question_count, 'question')} · {finished}"):
            frame.link_button("Questions", frame.QUESTIONS, f"home_questions_{row.id}", benchmark=row.id)
            if row.finished_count:
                frame.link_button("Configure a run", frame.CONFIGURE, f"home_configure_{row.id}", benchmark=row.id)


def any_active() -> bool:
    """Return whether a run is under way, here or elsewhere."""
    return any(run.active for run in services.store().runs.all())


def recent_runs() -> None:
    """Draw the latest runs; looks every second while one is under way, and else whether one was begun elsewhere."""
    st.subheader("Recent runs")

    def cards() -> None:
        with frame.guard():
            if any_active():
                services.notice_abandoned()
            runs = latest()
            if not runs:
                st.info("No runs yet. Start with the demo, or bring your own questions.", icon=":material/info:")
            for run in runs:
                run_card(run)

    def latest() -> list[RunRow]:
        return services.store().runs.all()[:MOST_RUNS]

    live.follow("recent_runs", cards, any_active, stamp=latest, idle=5)


def run_card(run: RunRow) -> None:
    """Draw how a run stands, and the ways to it."""
    benchmark = "" if run.benchmark_name == run.name else f" · {plain(run.benchmark_name, 60)}"
    stands = (
        f"{plain(run.state, 120)} · {run.done:,} of {run.total:,} done · ✓ {run.passed:,} pass · "
        f"✗ {run.failed:,} fail · – {run.not_evaluated:,} not evaluated · {plain(local_time(run.created))}"
    )
    with card(f"**{plain(run.name, 60)}**{benchmark}", stands):
        frame.link_button("Results", frame.RESULTS, f"home_results_{run.id}", run=run.id)
        if run.status != "completed" or run.errors:
            frame.link_button("Monitor", frame.MONITOR, f"home_monitor_{run.id}", run=run.id)


with frame.guard():
    first_clicks()
    is_new = not services.store().benchmarks.all()
    if is_new:
        how_it_works()
    recent_runs()
    if not is_new:
        recent_benchmarks()
        how_it_works()
