"""Drafting the templates a benchmark lacks: by rule or with a model, and what became of it."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import services
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.drafting import model as drafting_model
from pages.components.drafting import outcome as drafting_outcome
from pages.components.drafting import progress as drafting_progress
from pages.components.drafting import start as drafting_start

Rank = Literal["primary", "secondary"]
_WAYS = {"rule": "By rule, without a model", "model": "With a model"}


def draw(row: BenchmarkRow) -> None:
    """Draw the section: how to draft, a batch under way, or what became of the last one."""
    benchmark = benchmark_choice.reading(row.id, row.revision)
    batch = services.drafter().batch(row.id)
    if batch is not None and batch.active:
        drafting_progress.draw(row.id)
        return
    if not len(benchmark):
        st.info("This benchmark has no questions yet. Import a table, or add the first one.", icon=":material/quiz:")
        return
    if batch is not None:
        drafting_outcome.draw(row, benchmark, batch)
        st.subheader("Draft more" if benchmark.get_missing_templates() else "Draft again")
    _ask(row, benchmark, "secondary" if batch is not None else "primary")


def _ask(row: BenchmarkRow, benchmark: Benchmark, rank: Rank) -> None:
    missing = benchmark.get_missing_templates()
    existing = len(benchmark) - len(missing)
    if missing:
        st.markdown(f"{counted(len(missing), 'question')} of {len(benchmark)} {_has(len(missing))} no template.")
    else:
        st.markdown("Every question has a template.")
    way = st.segmented_control(
        "How", list(_WAYS), format_func=_WAYS.__getitem__, default="rule", required=True, key="draft_way"
    )
    replaces = existing > 0 and st.checkbox(
        f"Replace the {counted(existing, 'template')} there {'is' if existing == 1 else 'are'}, too",
        key=f"draft_replace_{row.id}",
        help="Otherwise they stay as they are. What is replaced comes back when you take the drafts back.",
    )
    wanted = benchmark.get_question_ids() if replaces else missing
    if not wanted:
        return
    if way == "model":
        _with_model(row, benchmark, wanted, bool(replaces), rank)
        return
    st.caption(
        "Rules read the reference answer: yes or no, numbers with unit and tolerance, dates, names, lists, and choices "
        "that the question offers. Sentences they leave to you, or to a model. Nothing leaves this computer."
    )
    if st.button(_label(wanted, "by rule"), type=rank, icon=":material/rule:", key="draft_by_rule"):
        drafting_start.begin(row, wanted, None, replace_existing=bool(replaces))


def _with_model(row: BenchmarkRow, benchmark: Benchmark, wanted: list[str], replaces: bool, rank: Rank) -> None:
    st.caption(
        "The model plans what an answer must say and proposes fields with their descriptions. Code writes the "
        "template, checks it and tests it against near misses; what does not hold up is marked for review."
    )
    model = drafting_model.choose(row, "draft")
    if model is None:
        return
    agreed, max_cost = drafting_model.terms(row, benchmark, model, wanted, "draft", replace_existing=replaces)
    if st.button(
        _label(wanted, "with this model"), type=rank, icon=":material/edit_note:", key="draft_with_model",
        disabled=not agreed,
    ):  # fmt: skip
        drafting_start.begin(row, wanted, model, replace_existing=replaces, max_cost=max_cost)


def _label(wanted: list[str], how: str) -> str:
    return f"Draft {counted(len(wanted), 'template')} {how}"


def _has(number: int) -> str:
    return "has" if number == 1 else "have"
