"""Which questions take part: all that are ready, or some of them."""

from __future__ import annotations

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import TROUBLES, all_keywords, choose_questions, questions_of
from karenina_core.text import counted
from pages.components import run_choice, services
from pages.components.runs import configuration
from pages.components.text import short

_WAYS = {
    "all": "All that are ready",
    "search": "By keyword or search",
    "chosen": "Chosen one by one",
    "run": "From an earlier run",
}
_TROUBLES = {"fail": "wrong", "error": "stopped by an error", "not_evaluated": "not evaluated"}


def choose(benchmark_id: str, benchmark: Benchmark) -> list[str] | None:
    """Draw the choice and return the ids of the questions; None for all of them."""
    way = st.selectbox(
        "Questions",
        list(_WAYS),
        format_func=_WAYS.__getitem__,
        width=320,
        **configuration.field(f"questions_{benchmark_id}", "all", _WAYS),
    )
    if way == "all":
        return None
    ready = benchmark.get_finished_questions(ids_only=True)
    found = {"search": _search, "chosen": _one_by_one, "run": _from_run}[way](benchmark_id, benchmark)
    taking_part = len(set(found) & set(ready))
    st.caption(f"{counted(taking_part, 'question')} of the {len(ready)} that are ready.")
    return found


def _search(benchmark_id: str, benchmark: Benchmark) -> list[str]:
    words = all_keywords(benchmark)
    left, right = st.columns(2)
    with left:
        keywords = st.multiselect(
            "Keywords (any of them)",
            words,
            format_func=short,
            placeholder="Any" if words else "The questions have no keywords",
            **configuration.field(f"keywords_{benchmark_id}", [], words),
        )
    with right:
        search = st.text_input(
            "Search",
            type="search",
            placeholder="Text, answer, keyword or id",
            **configuration.field(f"search_{benchmark_id}", ""),
        )
    return choose_questions(benchmark, keywords=keywords, search=search)


def _one_by_one(benchmark_id: str, benchmark: Benchmark) -> list[str]:
    ready = benchmark.get_finished_questions(ids_only=True)
    chosen: list[str] = st.multiselect(
        "Questions to run",
        ready,
        format_func=lambda name: short(benchmark.get_question(name).question, 100),
        placeholder="Type to find a question",
        **configuration.field(f"chosen_{benchmark_id}", [], ready),
    )
    return chosen


def _from_run(benchmark_id: str, benchmark: Benchmark) -> list[str]:
    store = services.store()
    runs = {run.id: run for run in store.runs.all(benchmark_id=benchmark_id) if run.done}
    if not runs:
        st.info("This benchmark has no earlier run. Choose the questions in another way.", icon=":material/info:")
        return []
    labels = run_choice.labels(runs)
    left, right = st.columns(2)
    with left:
        run_id = st.selectbox(
            "Run",
            list(runs),
            format_func=labels.__getitem__,
            **configuration.field(f"of_run_{benchmark_id}", next(iter(runs)), runs),
        )
    with right:
        kinds = st.multiselect(
            "Questions that were",
            list(TROUBLES),
            format_func=_TROUBLES.__getitem__,
            **configuration.field(f"troubles_{benchmark_id}", ["fail", "error"], TROUBLES),
        )
    known = set(benchmark.get_question_ids())
    return [name for name in questions_of(store, run_id, kinds) if name in known]
