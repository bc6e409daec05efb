"""Which trait touches which question."""

from __future__ import annotations

from typing import Any

import streamlit as st

from karenina_core.benchmark import Benchmark, Coverage, TraitReach
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import forms, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.text import distinct, plain, short
from pages.components.widgets import pick

_COLUMNS = 12  # traits with a column of their own; more would not be readable
_PAGE = 100  # questions
_SIGNS = {"global": "●", "own": "◆", "": "–"}
_KINDS = {"llm": "judged", "regex": "pattern", "metric": "metric", "stored": "not evaluated"}


@st.cache_resource(max_entries=8, show_spinner=False)
def _coverage(benchmark_id: str, revision: int) -> Coverage:
    return benchmark_choice.reading(benchmark_id, revision).trait_coverage()


def draw(row: BenchmarkRow, benchmark: Benchmark) -> None:
    """Draw every trait with its reach, and the questions with their traits."""
    coverage = _coverage(row.id, row.revision)
    total, untouched = len(coverage.own), len(coverage.untouched)
    if not total:
        benchmark_choice.no_questions(row)
        return
    if not coverage.reaches:
        st.info(
            f"No trait touches any of the {counted(total, 'question')}. Add the first under “Traits”.",
            icon=":material/checklist:",
        )
        return
    rest = f"{counted(untouched, 'question')} of {total:,} without any trait" if untouched else "every question has one"
    st.markdown(f"**{counted(len(coverage.reaches), 'trait')}, {rest}.**")
    replaced = any(reach.replaced for reach in coverage.reaches)
    share = st.column_config.ProgressColumn(min_value=0, max_value=1, format="percent")
    rows = [_reach_row(reach, total, replaced) for reach in coverage.reaches]
    forms.table(rows, "Traits and the questions they touch", columns={"Share": share})
    _questions(benchmark, coverage)


def _reach_row(reach: TraitReach, total: int, replaced: bool) -> dict[str, Any]:
    return {
        "Trait": short(reach.name, 80),
        "Kind": _KINDS[reach.kind],
        "Belongs to": "all questions" if reach.scope == "global" else "single questions",
        "Questions": reach.questions,
        "Share": reach.questions / total,
        **({"Replaced in": reach.replaced} if replaced else {}),
    }


def _questions(benchmark: Benchmark, coverage: Coverage) -> None:
    untouched = frozenset(coverage.untouched)
    texts = {name: benchmark.get_question(name).question for name in coverage.own}
    traits = list(dict.fromkeys(reach.name for reach in coverage.reaches))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sought = forms.search("coverage_search", "Text of the question", width=240)
        names = {"": "Any trait"} | distinct(traits, short)  # type: ignore[operator]
        only = forms.select("Touched by", names, "coverage_trait", width=240)
    fitting = {
        name: text
        for name, text in texts.items()
        if (not only or coverage.touch(name, only)) and sought.casefold() in text.casefold()
    }
    shown = forms.viewed(
        "coverage",
        {name: name for name in fitting},
        {
            "All": lambda name: True,
            "No trait": untouched.__contains__,
            "Traits of its own": coverage.own.__getitem__,
            "Replaces a shared trait": coverage.replaced,
        },
    )
    st.caption(
        f"{len(shown):,} of {len(texts):,} questions shown. "
        "● touched by a trait of all questions, ◆ by one of its own, – not touched."
    )
    if not shown:
        return
    if not only and len(traits) > _COLUMNS:
        st.caption(f"The first {_COLUMNS} of {len(traits)} traits have a column; choose another under “Touched by”.")
    labels = distinct([only] if only else traits[:_COLUMNS], lambda name: short(name, 24))

    def cells(name: str) -> dict[str, Any]:
        signs = {label: _SIGNS[coverage.touch(name, trait)] for trait, label in labels.items()}
        return {"Question": short(texts[name], 120), "Traits": len(coverage.names(name)), **signs}

    ids = forms.paged(list(shown), _PAGE, "coverage_page")
    last = st.session_state.get("_coverage_question")
    chosen = last if last in ids else None
    columns = forms.widths(Question="large")
    alt = "Questions and their traits"
    chosen = pick("coverage_questions", ids, [cells(name) for name in ids], chosen, alt=alt, columns=columns)
    st.session_state["_coverage_question"] = chosen
    if chosen and forms.button(f"Edit the traits of “{plain(texts[chosen], 60)}”", "edit", "coverage_edit"):
        for name, value in (("view", "traits"), ("scope", "question"), ("q", chosen)):
            state.choose(name, value)
        st.rerun()
