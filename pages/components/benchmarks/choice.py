"""Which stored benchmark a Build page works on, and how it is read and changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st

from karenina_core.benchmark import Benchmark, Problem, QuestionState, question_states
from karenina_core.runs import BenchmarkRow
from pages.components import drafts, frame, services, sign_in, state
from pages.components.text import distinct, short

_KEY = "benchmark_choice"


def choose() -> BenchmarkRow:
    """Draw the benchmark selector; where there is none, draw the way to one and stop."""
    rows = {row.id: row for row in services.store().benchmarks.all()}
    chosen = state.selected("benchmark", rows)
    if chosen is None:
        st.info("There is no benchmark in this workspace yet. Upload one, or add the demo.", icon=":material/info:")
        if st.button("Go to benchmarks", type="primary", icon=":material/folder_open:", key="go_to_benchmarks"):
            st.switch_page(frame.BENCHMARKS)
        st.stop()
    st.session_state[_KEY] = chosen
    labels = distinct(rows, lambda key: _label(rows[key]))
    st.selectbox(
        "Benchmark",
        list(labels),
        format_func=labels.__getitem__,
        key=_KEY,
        on_change=lambda: state.choose("benchmark", st.session_state[_KEY]),
        width=420,
    )
    return rows[chosen]


def _label(row: BenchmarkRow) -> str:
    return f"{short(row.name, 60)} · {short(row.version, 20)}"


@st.cache_resource(max_entries=8, show_spinner=False)
def reading(benchmark_id: str, revision: int) -> Benchmark:
    """Return a stored benchmark to read from. It is shared: change it through `changing` only."""
    return services.store().benchmarks.load(benchmark_id)


@dataclass(frozen=True)
class Checked:
    """What is known of the state of a benchmark: its problems, and where every question stands."""

    problems: list[Problem]
    states: dict[str, QuestionState]


@st.cache_resource(max_entries=8, show_spinner=False)
def checked(benchmark_id: str, revision: int) -> Checked:
    """Return the problems of a stored benchmark."""
    benchmark = reading(benchmark_id, revision)
    problems = benchmark.check()
    return Checked(problems, question_states(benchmark, problems))


@contextmanager
def changing(benchmark_id: str) -> Iterator[Benchmark]:
    """Give a fresh copy of a stored benchmark and save it at the end; an error saves nothing.

    The history of its questions notes who saves. Where a question gets another id, its drafts go along.
    """
    store = services.store()
    revision = store.benchmarks.row(benchmark_id).revision
    benchmark = store.benchmarks.load(benchmark_id)
    yield benchmark
    renamed = list(benchmark.renamed)
    store.benchmarks.save(benchmark, benchmark_id, expected_revision=revision, author=sign_in.person())
    for old, new in renamed:
        for kind in ("question", "trait"):
            drafts.move(f"{benchmark_id}/{kind}/{old}", f"{benchmark_id}/{kind}/{new}")
        drafts.rekey(f"{benchmark_id}/grid", old, new)
