"""The answer a trait is tried on: typed, or one of a stored run."""

from __future__ import annotations

import streamlit as st

from karenina_core.pipeline import Sample
from karenina_core.runs import RunAnswer, RunAnswers, RunRow, run_answers
from pages.components import services
from pages.components.drafts import Draft
from pages.components.rubrics.scope import Scope
from pages.components.text import distinct, local_time, plain, short

_WAYS = {"typed": "Type an answer", "stored": "Take a stored answer"}
_RUN = "_trait_run"
_EXCERPT = 2_000


def choose(scope: Scope, draft: Draft) -> Sample | None:
    """Draw the choice of one answer and return it; None while there is none."""
    runs = runs_of(scope)
    way = "typed"
    if runs:
        way = str(
            st.segmented_control(
                "Answer",
                list(_WAYS),
                format_func=_WAYS.__getitem__,
                default="typed",
                required=True,
                key="trait_sample_way",
            )
        )
    return _stored(scope, runs) if way == "stored" else _typed(scope, draft)


def _typed(scope: Scope, draft: Draft) -> Sample | None:
    question = scope.question
    if not question:
        question = st.text_input("Question (optional)", key=f"{draft.name}:tried_question")
    answer = st.text_area(
        "Answer to try it on", key=f"{draft.name}:tried_answer", height=110, placeholder="Paste an answer."
    )
    return Sample(question or "(no question)", answer, scope.question_id or "") if answer.strip() else None


def _stored(scope: Scope, runs: list[RunRow]) -> Sample | None:
    run_id = choose_run(runs, "trait_sample_run")
    found = answers(run_id, scope)
    if not found.answers:
        st.caption("This run has no answer to it.")
        return None
    named = distinct(range(len(found.answers)), lambda number: label(found.answers[number]))
    place = st.selectbox(
        "Stored answer",
        list(named),
        format_func=named.__getitem__,
        key=f"trait_sample_answer_{run_id}_{scope.question_id}",
    )
    answer = found.answers[place]
    st.caption(f"**{plain(answer.question, 300)}**")
    with st.container(border=True, height=160):
        st.markdown(plain(answer.text, _EXCERPT))
    return answer.sample


def label(answer: RunAnswer) -> str:
    """Return an answer as an entry of a list."""
    again = f" · repeat {answer.replicate}" if answer.replicate > 1 else ""
    return f"{short(answer.model, 40)}{again} · {short(answer.question, 60)} · {short(answer.text, 60)}"


def runs_of(scope: Scope) -> list[RunRow]:
    """Return the runs with answers, those of the benchmark first."""
    runs = [run for run in services.store().runs.all() if run.done]
    return sorted(runs, key=lambda run: run.benchmark_id != scope.benchmark_id)


def choose_run(runs: list[RunRow], key: str) -> str:
    """Draw the choice of a run and return its id; the choice is shared by the places that ask for one."""
    rows = {run.id: run for run in runs}
    last = st.session_state.get(_RUN)
    names = list(rows)
    named = distinct(names, lambda name: f"{short(rows[name].name, 60)} · {local_time(rows[name].created)}")
    chosen = st.selectbox(
        "Run",
        names,
        index=names.index(last) if last in rows else 0,
        format_func=named.__getitem__,
        key=key,
    )
    st.session_state[_RUN] = chosen
    return str(chosen)


def answers(run_id: str, scope: Scope) -> RunAnswers:
    """Return the answers of a run that the rubric is about."""
    run = services.store().runs.get(run_id)
    return _answers(run_id, scope.question_id, f"{run.status} {run.done} {run.finished}")


@st.cache_data(show_spinner="Reading the answers", max_entries=8)
def _answers(run_id: str, question_id: str | None, version: str) -> RunAnswers:
    return run_answers(services.store(), run_id, None if question_id is None else [question_id])
