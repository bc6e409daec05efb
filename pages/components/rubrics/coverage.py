"""Which trait touches which question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from karenina_core.benchmark import Benchmark, Coverage, TraitReach
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import frame, state
from pages.components.benchmarks.choice import reading
from pages.components.text import distinct, plain, short
from pages.components.widgets import pick

_QUICK = {"all": "All", "none": "No trait", "own": "Traits of its own", "replaced": "Replaces a shared trait"}
_PICKED = "_coverage_question"
_COLUMNS = 12  # traits with a column of their own; more would not be readable
_PAGE = 100  # questions
_SIGNS = {"global": "●", "own": "◆", "": "–"}
_KINDS = {"llm": "judged", "regex": "pattern", "metric": "metric", "stored": "kept, not evaluated"}


@st.cache_resource(max_entries=8, show_spinner=False)
def _coverage(benchmark_id: str, revision: int) -> Coverage:
    return reading(benchmark_id, revision).trait_coverage()


def draw(row: BenchmarkRow, benchmark: Benchmark) -> None:
    """Draw every trait with its reach, and the questions with their traits."""
    coverage = _coverage(row.id, row.revision)
    total = len(coverage.own)
    if not total:
        st.info("This benchmark has no questions yet.", icon=":material/quiz:")
        if st.button("Go to questions", type="primary", icon=":material/quiz:", key="go_to_questions"):
            st.switch_page(frame.QUESTIONS, query_params={"benchmark": row.id})
        return
    if not coverage.reaches:
        st.info(
            f"No trait touches any of the {counted(total, 'question')}. Add the first under “Traits”.",
            icon=":material/checklist:",
        )
        return
    untouched = len(coverage.untouched)
    said = f"{counted(untouched, 'question')} of {total:,} without any trait" if untouched else "every question has one"
    st.markdown(f"**{counted(len(coverage.reaches), 'trait')}, {said}.**")
    _traits(coverage.reaches, total)
    _questions(row, benchmark, coverage)


def _traits(reaches: tuple[TraitReach, ...], total: int) -> None:
    replaced = any(reach.replaced for reach in reaches)
    st.dataframe(
        [
            {
                "Trait": short(reach.name, 80),
                "Kind": _KINDS[reach.kind],
                "Belongs to": "all questions" if reach.scope == "global" else "single questions",
                "Questions": reach.questions,
                "Share": reach.questions / total,
                **({"Replaced in": reach.replaced} if replaced else {}),
            }
            for reach in reaches
        ],
        hide_index=True,
        alt="Traits and the questions they touch",
        height="content" if len(reaches) <= 10 else 380,
        column_config={"Share": st.column_config.ProgressColumn(min_value=0, max_value=1, format="percent")},
    )


def _questions(row: BenchmarkRow, benchmark: Benchmark, coverage: Coverage) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container():  # directly in a row it would be cut off on a narrow screen instead of wrapped
            quick = st.segmented_control(
                "Questions",
                list(_QUICK),
                format_func=_QUICK.__getitem__,
                default="all",
                required=True,
                key="coverage_quick",
            )
        sought = st.text_input("Search", key="coverage_search", placeholder="Text of the question", width=240)
        names = list(dict.fromkeys(reach.name for reach in coverage.reaches))
        named = distinct(names, short)
        only = st.selectbox(
            "Touched by",
            names,
            index=None,
            placeholder="Any trait",
            format_func=named.__getitem__,
            key="coverage_trait",
            width=240,
        )
    untouched = frozenset(coverage.untouched)
    fits: dict[str, Callable[[str], object]] = {
        "all": lambda name: True,
        "none": untouched.__contains__,
        "own": coverage.own.__getitem__,
        "replaced": coverage.replaced,
    }
    shown = [
        name
        for name in coverage.own
        if fits[str(quick)](name)
        and (only is None or coverage.touch(name, only))
        and sought.casefold() in benchmark.get_question(name).question.casefold()
    ]
    st.caption(
        f"{len(shown):,} of {len(coverage.own):,} questions shown. "
        "● touched by a trait of all questions, ◆ by one of its own, – not touched."
    )
    if not shown:
        return
    pages = -(-len(shown) // _PAGE)
    page = st.pagination(pages, key=f"coverage_page_{pages}") if pages > 1 else 1
    some = shown[(page - 1) * _PAGE : page * _PAGE]
    columns = [only] if only is not None else names[:_COLUMNS]
    if only is None and len(names) > _COLUMNS:
        st.caption(f"The first {_COLUMNS} of {len(names)} traits have a column; choose another under “Touched by”.")
    labels = distinct(columns, lambda name: short(name, 24))
    last = st.session_state.get(_PICKED)
    picked = st.session_state[_PICKED] = pick(
        "coverage_questions",
        some,
        [_row(benchmark, coverage, name, labels) for name in some],
        last if last in some else None,
        alt="Questions and their traits",
        columns={"Question": st.column_config.TextColumn(width="large")},
    )
    if picked is not None and st.button(
        f"Edit the traits of “{plain(benchmark.get_question(picked).question, 60)}”",
        icon=":material/edit:",
        key="coverage_edit",
    ):
        for name, value in (("view", "traits"), ("scope", "question"), ("q", picked)):
            state.choose(name, value)
        st.rerun()


def _row(benchmark: Benchmark, coverage: Coverage, name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "Question": short(benchmark.get_question(name).question, 120),
        "Traits": len(coverage.names(name)),
        **{label: _SIGNS[coverage.touch(name, trait)] for trait, label in labels.items()},
    }
