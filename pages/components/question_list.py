"""The list of questions of a benchmark, and adding one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow
from karenina_core.schemas.entities.question import question_id as id_of
from pages.components import benchmark_choice, drafts, feedback, frame, state
from pages.components.picker import pick
from pages.components.text import plain, short

_VIEWS = {"All": None, "Ready": "ready", "Draft": "draft", "Issues": "issue"}
SIGNS = {"ready": "✓ ready", "draft": "○ draft", "issue": "! issue"}


def draft_name(benchmark_id: str, question_id: str) -> str:
    """Return the name of the draft of a question."""
    return f"{benchmark_id}/question/{question_id}"


def choose(row: BenchmarkRow, benchmark: Benchmark) -> str | None:
    """Draw the list and return the id of the chosen question."""
    ids = benchmark.get_question_ids()
    chosen = state.selected("q", ids)
    _add(row, benchmark)
    if not ids:
        return None
    search = st.text_input(
        "Search",
        type="search",
        live=True,
        key="question_search",
        placeholder="Text, answer, keyword or id",
        label_visibility="collapsed",
    )
    states = {name: found.state for name, found in benchmark_choice.checked(row.id, row.revision).states.items()}
    view = st.segmented_control(
        "View", list(_VIEWS), default="All", required=True, key="question_view", label_visibility="collapsed"
    )
    wanted = _VIEWS[view or "All"]
    shown = [name for name in ids if (wanted in (None, states[name])) and _matches(benchmark, name, search)]
    count = Counter(states.values())
    st.caption(
        f"{len(shown)} of {len(ids)} shown · {count['ready']} ready · {count['draft']} draft · "
        f"{count['issue']} with an issue"
    )
    if not shown:
        st.info("No question is in this view. Choose All, or clear the search.", icon=":material/search_off:")
        return chosen
    return _table(row, benchmark, shown, states, chosen)


def _table(
    row: BenchmarkRow, benchmark: Benchmark, shown: list[str], states: Mapping[str, str], chosen: str | None
) -> str | None:
    edited = set(drafts.unsaved(f"{row.id}/question/"))
    rows = [
        {
            "State": SIGNS[states[name]] + (" ✎" if draft_name(row.id, name) in edited else ""),
            "Question": short(benchmark.get_question(name).question, 120),
        }
        for name in shown
    ]
    columns = {"State": st.column_config.TextColumn(width=80), "Question": st.column_config.TextColumn(width="large")}
    picked = pick("question_table", shown, rows, chosen, alt="Questions", most=16, columns=columns)
    if picked != chosen:
        state.choose("q", picked)
    return picked


def _matches(benchmark: Benchmark, name: str, search: str) -> bool:
    question = benchmark.get_question(name)
    text = "\n".join([question.question, question.raw_answer, *question.keywords, name])
    return search.strip().casefold() in text.casefold()


def _add(row: BenchmarkRow, benchmark: Benchmark) -> None:
    number = len(benchmark)  # part of the keys: the form is empty again once a question is added
    with (
        st.popover("Add question", icon=":material/add:", width="stretch", key=f"new_question_{number}"),
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
