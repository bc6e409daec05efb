"""Which questions are shown, the table to choose one from, and adding one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow
from karenina_core.schemas.entities.question import question_id as id_of
from pages.components import drafts, feedback, frame, services, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.questions import index as question_index
from pages.components.questions.index import FAILING, VIEWS, Failures, Index, Listed
from pages.components.text import distinct, local_time, plain, short
from pages.components.widgets import pick

SIGNS = {"ready": "✓ ready", "draft": "○ draft", "issue": "! issue"}
_WAYS = {"list": "One by one", "grid": "Many at once"}
PAGE = 100
"""Rows of the table at once; more would be sent anew with every change of the list."""


@dataclass(frozen=True)
class Shown:
    """The questions of the chosen view that match the search.

    Attributes:
        index: All questions.
        ids: Those that are shown, in the order of the benchmark.
        view: The chosen view.
        failures: What failed in the chosen run; empty in other views.
    """

    index: Index
    ids: Sequence[str]
    view: str
    failures: Failures


def draft_name(benchmark_id: str, question_id: str) -> str:
    """Return the name of the draft of a question."""
    return f"{benchmark_id}/question/{question_id}"


def many_at_once() -> bool:
    """Draw the choice of how to edit, and return whether it is the table of many questions."""
    if st.session_state.get("question_way") not in _WAYS:
        st.session_state["question_way"] = "grid" if state.recalled("edit") == "grid" else "list"
    way = st.segmented_control(
        "Edit",
        list(_WAYS),
        format_func=_WAYS.__getitem__,
        required=True,
        key="question_way",
        label_visibility="collapsed",
    )
    state.choose("edit", "grid" if way == "grid" else None)
    return way == "grid"


def filtered(row: BenchmarkRow) -> Shown:
    """Draw search and views, and return the questions they leave."""
    found = question_index.index(row.id, row.revision)
    with st.container(horizontal=True, vertical_alignment="center"):
        search = _search()
        view = _view(found)
    failures = _failures(row, found) if view == FAILING else {}
    ids = question_index.shown(found, view, search, failures)
    counts = found.counts
    said = [
        f"{len(ids)} of {len(found.questions)} shown",
        f"{counts['Ready']} ready",
        f"{counts['Draft']} draft",
        f"{counts['Issues']} with an issue",
        *([f"{counts['Needs review']} to review"] if counts["Needs review"] else []),
    ]
    st.caption(" · ".join(said))
    return Shown(found, ids, view, failures)


def choose(row: BenchmarkRow, shown: Shown) -> str | None:
    """Draw the table and return the id of the chosen question."""
    chosen = state.selected("q", shown.index.questions)
    if not shown.ids:
        st.info("No question is in this view. Choose All, or clear the search.", icon=":material/search_off:")
        return chosen
    ids = _page(shown.ids, chosen)
    edited = set(drafts.unsaved(f"{row.id}/question/"))
    rows = [_row(shown.index.questions[name], shown, draft_name(row.id, name) in edited) for name in ids]
    columns = {
        "State": st.column_config.TextColumn(width=90),
        "Failed": st.column_config.TextColumn(width=70),
        # The whole text stands beside the list; where more follows, the list scrolls.
        "Question": st.column_config.TextColumn(width="large" if len(rows[0]) > 2 else 180),
    }
    picked = pick("question_table", ids, rows, chosen, alt="Questions", most=16, columns=columns)
    if picked != chosen:
        state.choose("q", picked)
    return picked


def _search() -> str:
    # Set only while the browser does not know the field: later, it would write over what is being typed.
    if "question_search" not in st.session_state:
        st.session_state["question_search"] = state.recalled("find") or ""
    search = st.text_input(
        "Search",
        type="search",
        live=True,
        key="question_search",
        placeholder="Text, answer, keyword or id",
        label_visibility="collapsed",
        width=320,
    )
    state.choose("find", search or None)
    return search


def _view(found: Index) -> str:
    if st.session_state.get("question_view") not in VIEWS:
        wanted = state.recalled("only")
        st.session_state["question_view"] = wanted if wanted in VIEWS else VIEWS[0]
    with st.container():  # directly in a row it would be cut off on a narrow screen instead of wrapped
        view = st.segmented_control("View", VIEWS, required=True, key="question_view", label_visibility="collapsed")
    state.choose("only", None if view in (None, VIEWS[0]) else view)
    return view or VIEWS[0]


def _failures(row: BenchmarkRow, found: Index) -> Failures:
    runs = {run.id: run for run in services.store().runs.all(benchmark_id=row.id) if run.done}
    if not runs:
        st.info("This benchmark has no run with results yet. Configure one first.", icon=":material/info:")
        if st.button("Go to Configure", icon=":material/tune:", key="go_to_configure"):
            st.switch_page(frame.CONFIGURE, query_params={"benchmark": row.id})
        return {}
    if st.session_state.get("failing_run") not in runs:
        st.session_state["failing_run"] = state.selected("failing", runs)
    labels = distinct(runs, lambda key: f"{short(runs[key].name, 50)} · {local_time(runs[key].created)}")
    chosen = st.selectbox(
        "Failing in",
        list(runs),
        format_func=labels.__getitem__,
        key="failing_run",
        width=420,
    )
    state.choose("failing", chosen)
    run = runs[chosen]
    failed = question_index.failures(run.id, (run.done, run.passed, run.failed, run.not_evaluated))
    gone = sum(name not in found.questions for name in failed)
    if gone:
        st.caption(
            f"{gone} more {'question' if gone == 1 else 'questions'} failed in this run that this benchmark no longer "
            "has, or has with another text."
        )
    return failed


def _page(ids: Sequence[str], chosen: str | None) -> Sequence[str]:
    if len(ids) <= PAGE:
        return ids
    pages = math.ceil(len(ids) / PAGE)
    place = ids.index(chosen) // PAGE + 1 if chosen in ids else 1
    # Part of the key: another question, chosen by a link or an undo, is looked up where it is.
    page = st.pagination(pages, default=place, key=f"question_page_{pages}_{chosen}")
    return ids[(page - 1) * PAGE : page * PAGE]


def _row(item: Listed, shown: Shown, edited: bool) -> Mapping[str, str]:
    signs = [SIGNS[item.state.state], *(["⚑"] if item.review else []), *(["✎"] if edited else [])]
    failed = shown.failures.get(item.id)
    return {
        "State": " ".join(signs),
        **({"Failed": question_index.total(failed)} if failed else {}),
        "Question": item.text,
        **({"For": question_index.in_words(failed)} if failed else {}),
        **({"Why": short(_why(item, shown.view), 300)} if shown.view in ("Draft", "Issues", "Needs review") else {}),
    }


def _why(item: Listed, view: str) -> str:
    return item.review if view == "Needs review" else " ".join(item.state.obstacles)


def add(row: BenchmarkRow, benchmark: Benchmark) -> None:
    """Draw the way to one more question."""
    number = len(benchmark)  # part of the keys: the form is empty again once a question is added
    with (
        st.popover("Add question", icon=":material/add:", key=f"new_question_{number}"),
        st.form(f"new_question_form_{number}", border=False),
        frame.guard(),
    ):
        text = st.text_area("New question", height=110, placeholder="Exactly what the model is asked")
        answer = st.text_area("Its reference answer", height=80, placeholder="For people; no model ever sees it")
        if not st.form_submit_button("Add as draft"):
            return
        if id_of(text) in benchmark:
            state.choose("q", benchmark.get_question(id_of(text)).id)
            feedback.say("This question is in the benchmark already; here it is.")
            st.rerun()
        with benchmark_choice.changing(row.id) as changed:
            added = changed.add_question(text, raw_answer=answer, finished=False)
        state.choose("q", added)
        feedback.say(f"Added **{plain(text, 50)}** as a draft.")
        st.rerun()
