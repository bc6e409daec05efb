"""What a trait is tried on and by whom: one answer, a run, a judge, and the agreement to what asking takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from karenina_core.pipeline import Sample
from karenina_core.runs import Estimate, RunAnswers, RunRow, run_answers
from karenina_core.schemas import ModelConfig, VerificationConfig
from pages.components import forms, run_choice, services
from pages.components.drafts import Draft
from pages.components.rubrics.scope import Scope
from pages.components.runs import configuration, model_editor, spending
from pages.components.text import distinct, plain, short

_RUN = "_trait_run"
_ESTIMATES = "traits"
_EXCERPT = 2_000  # characters


def choose_sample(scope: Scope, draft: Draft) -> Sample | None:
    """Draw the choice of one answer, typed or stored, and return it; None while there is none."""
    runs = runs_of(scope)
    ways = {"typed": "Type an answer", "stored": "Use a stored answer"}
    if runs and forms.segments("Answer", ways, "trait_sample_way", shown=True) == "stored":
        return _stored_sample(scope, runs)
    question = scope.question or st.text_input("Question (optional)", key=f"{draft.name}:tried_question")
    key = f"{draft.name}:tried_answer"
    answer = st.text_area("Answer to try it on", key=key, height=110, placeholder="Paste an answer.")
    return Sample(question or "(no question)", answer, scope.question_id or "") if answer.strip() else None


def _stored_sample(scope: Scope, runs: list[RunRow]) -> Sample | None:
    run_id = choose_run(runs, "trait_sample_run")
    answers = answers_of(run_id, scope).answers
    if not answers:
        st.caption("This run has no answer to it.")
        return None
    labels = distinct(range(len(answers)), lambda number: _label(answers[number].sample))
    answer = answers[forms.select("Stored answer", labels, f"trait_sample_answer_{run_id}_{scope.question_id}")].sample
    st.caption(f"**{plain(answer.question, 300)}**")
    with st.container(border=True, height=160):
        st.markdown(plain(answer.response, _EXCERPT))
    return answer


def _label(answer: Sample) -> str:
    repeat = f" · repeat {answer.replicate}" if answer.replicate > 1 else ""
    return f"{short(answer.answering_model, 40)}{repeat} · {short(answer.question, 60)} · {short(answer.response, 60)}"


def runs_of(scope: Scope) -> list[RunRow]:
    """Return the runs with answers, those of the benchmark first."""
    runs = [run for run in services.store().runs.all() if run.done]
    return sorted(runs, key=lambda run: run.benchmark_id != scope.benchmark_id)


def choose_run(runs: list[RunRow], key: str) -> str:
    """Draw the choice of a run and return its id; the places that ask for one share the choice."""
    labels = run_choice.labels({run.id: run for run in runs})
    st.session_state[_RUN] = forms.select("Run", labels, key, chosen=st.session_state.get(_RUN))
    return str(st.session_state[_RUN])


def answers_of(run_id: str, scope: Scope) -> RunAnswers:
    """Return the answers of a run that the rubric is about."""
    run = services.store().runs.get(run_id)
    return _answers(run_id, scope.question_id, f"{run.status} {run.done} {run.finished}")


@st.cache_data(show_spinner="Reading the answers", max_entries=8)
def _answers(run_id: str, question_id: str | None, version: str) -> RunAnswers:
    return run_answers(services.store(), run_id, None if question_id is None else [question_id])


def choose_judge(key: str, own: Sequence[ModelConfig] = ()) -> tuple[ModelConfig | None, bool]:
    """Draw the choice of a judge.

    Args:
        key: Begins the keys of the widgets.
        own: The judges of a run, which may each assess their own results. They can be asked only where none of them
            repeats what was prepared or recorded.

    Returns:
        The judge, None for the run's own judges; and whether anybody can be asked.
    """
    models = [*configuration.models("judge", model_editor.default_models()), *own]
    each = "Each result's own judge" if own and all(map(model_editor.can_be_asked, own)) else ""
    missing = "Add the model that is to judge. Recordings and prepared answers cannot assess anything new."
    return model_editor.choose_one("judge", "Judge", models, f"{key}_judge", missing=missing, own=each)


def agreed(key: str, about: str, judge: ModelConfig | None, estimate: Callable[[], Estimate | None]) -> bool:
    """Draw what asking takes, and return whether it may begin; an estimate is worked out once.

    Args:
        key: Begins the keys of the widgets.
        about: Everything the estimate depends on, beside the prices and the ledger.
        judge: Who is asked.
        estimate: Works it out.
    """
    known = spending.worked_out(_ESTIMATES, about, estimate)
    if known is not None and not known.calls:
        st.markdown(spending.sentence(known))
        return True
    models = [judge] if judge is not None else [ModelConfig(interface="local")]
    return spending.confirm(known, VerificationConfig(answering_models=models, parsing_models=models), key)


def forget_estimates() -> None:
    """Work estimates out anew, because the ledger knows more now."""
    spending.forget(_ESTIMATES)
