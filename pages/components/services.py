"""The process-wide objects: one store, one runner, created here and nowhere else."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.redact import install_log_redaction
from karenina_core.runs import Drafter, DuplicateStartGuard, Engine, Progress, Scorer, Store, scored_at, wanted
from karenina_core.schemas import VerificationConfig
from pages.components import session_keys

_LATEST = "_latest_run"
_CLICKED = "_clicked"


@st.cache_resource(on_release=lambda store: store.close(), show_spinner=False)
def store() -> Store:
    """Return the store; its place comes from `KARENINA_DATABASE_URL`."""
    install_log_redaction()
    return Store.open()


@st.cache_resource(on_release=lambda runner: runner.close(), show_spinner=False)
def runner() -> Engine:
    """Return the runner: one background thread that survives reruns, reloads and page switches."""
    return Engine(store())


@st.cache_resource(on_release=lambda drafter: drafter.close(), show_spinner=False)
def drafter() -> Drafter:
    """Return what drafts templates in the background, across reruns, reloads and page switches."""
    return Drafter(runner())


@st.cache_resource(on_release=lambda scorer: scorer.close(), show_spinner=False)
def scorer() -> Scorer:
    """Return what scores stored runs in the background, across reruns, reloads and page switches."""
    return Scorer(runner())


def version(run_id: str) -> str:
    """Return a text that is another one whenever what is stored of a run's results is."""
    run, scored = store().runs.get(run_id), scored_at(store(), run_id)
    return f"{run.status} {run.done} {run.passed} {run.failed} {run.errors} {run.calls} {run.finished} {scored}"


@st.cache_data(ttl=5, show_spinner=False)
def notice_abandoned() -> None:
    """Mark the runs whose process has died as interrupted; looks every five seconds at the most."""
    store().runs.interrupt_abandoned()


def active_runs() -> list[Progress]:
    """Return where the runs stand that are under way in this process."""
    active = [run.id for run in store().runs.all() if run.active]
    return [progress for run_id in active if (progress := runner().progress(run_id)).active]


def note_click() -> None:
    """Note when whatever the page is drawn for was clicked; a page does so first of all."""
    st.session_state[_CLICKED] = time.monotonic()
    st.session_state.setdefault(_LATEST, DuplicateStartGuard())


def start_run(
    benchmark_id: str,
    benchmark: Benchmark,
    config: VerificationConfig,
    name: str,
    limit: int | None = None,
    question_ids: Sequence[str] | None = None,
) -> str:
    """Store a run, start it in the background with the keys of this session, and return its id.

    The second click of a double click begins no second run, which would be paid as well: it returns the first one's.

    Args:
        benchmark_id: Of the stored benchmark.
        benchmark: Its questions.
        config: Models and settings.
        name: For people.
        limit: At most this many questions, the first ones.
        question_ids: Only these questions.
    """
    # First whatever asks the session: there, and nowhere below, another click begins the page anew.
    keys = session_keys.source()
    latest: DuplicateStartGuard = st.session_state.setdefault(_LATEST, DuplicateStartGuard())
    clicked = float(st.session_state.get(_CLICKED, time.monotonic()))
    plan = wanted(benchmark, config, question_ids, limit)
    asked = (name, benchmark_id, store().benchmarks.row(benchmark_id).revision, config, plan.question_ids)
    with latest.lock:
        if (begun := latest.repeated(asked, clicked)) is not None:
            return begun
        run_id = store().runs.create(plan, name, benchmark_id=benchmark_id)
        runner().start(run_id, config, keys)
        latest.began(asked, run_id)
        return run_id
