"""Scoring the stored answers of a run with a trait of the benchmark."""

from __future__ import annotations

from functools import partial

import streamlit as st

from karenina_core.errors import KareninaError
from karenina_core.pipeline import needs_judge
from karenina_core.runs import (
    RunRow,
    Scoring,
    ScoringProgress,
    check_definition,
    dollars,
    estimate_scoring,
    rows_to_score,
)
from karenina_core.schemas import AnyTrait, StoredTrait
from karenina_core.text import counted
from pages.components import forms, frame, live, services, session_keys
from pages.components.drafting import start as drafting
from pages.components.rubrics.scope import Scope
from pages.components.text import distinct, plain, short
from pages.components.traits import inputs
from pages.components.traits.form import yields

_ENDS = {
    "completed": ":green-badge[:material/check: completed]",
    "cancelled": ":gray-badge[:material/cancel: cancelled, what is scored stays]",
    "stopped": ":orange-badge[:material/payments: stopped]",
    "failed": ":red-badge[:material/error: stopped by an error]",
}


def draw(scope: Scope) -> None:
    """Draw the choice of run, trait and judge, what it takes, and the progress."""
    st.caption(
        "One more trait is assessed on the stored answers of a run. The models under test are not asked again, and "
        "the verdicts and traits that the run has stay as they are."
    )
    runs = [run for run in inputs.runs_of(scope) if not run.active]
    traits = {trait.name: trait for trait in scope.rubric.traits if not isinstance(trait, StoredTrait)}
    if not runs:
        st.info("No run has ended yet, so there is nothing to score.", icon=":material/info:")
        benchmark = {"benchmark": scope.benchmark_id}
        frame.link_button("Configure a run", frame.CONFIGURE, "scoring_configure", kind="primary", **benchmark)
        return
    if not traits:
        st.info("There is no trait to score with. Add one under “Traits”.", icon=":material/checklist:")
        return
    left, right = st.columns(2, gap="large")
    with left:
        run_id = inputs.choose_run(runs, "scoring_run")
    with right:
        labels = distinct(traits, lambda name: f"{short(name, 60)} · {yields(traits[name])}")
        trait = traits[forms.select("Trait", labels, f"scoring_trait_{scope.draft_prefix}")]
    live.follow("scoring", lambda: _state(scope, run_id, trait), lambda: _is_active(run_id))


def _is_active(run_id: str) -> bool:
    progress = services.scorer().progress(run_id)
    return progress is not None and progress.active


def _state(scope: Scope, run_id: str, trait: AnyTrait) -> None:
    progress = services.scorer().progress(run_id)
    with frame.guard():
        if progress is not None and progress.active:
            words = f"results scored with {plain(progress.trait, 60)}"
            cancel = partial(services.scorer().cancel, run_id)
            live.progress(progress.done, progress.total, words, _in_numbers(progress), "scoring_cancel", cancel)
            return
        if progress is not None:
            _result(progress)
        run = services.store().runs.get(run_id)
        if run.benchmark_id != scope.benchmark_id:
            st.caption(":material/info: This run belongs to another benchmark.")
        _terms(scope, run, trait)


def _terms(scope: Scope, run: RunRow, trait: AnyTrait) -> None:
    own, asks = run.config.parsing_models, needs_judge(trait)
    judge = max_cost = None
    if asks:
        judge, anybody = inputs.choose_judge("scoring", own)
        if not anybody:
            return
        if any(model.is_provider for model in ([judge] if judge else own)):
            max_cost = drafting.spend_at_most("Scoring", "scored", "scoring_max_cost")
    question_ids = None if scope.question_id is None else (scope.question_id,)
    scoring = Scoring(run.id, trait, question_ids, judge, max_cost)
    rows = len(rows_to_score(services.store(), scoring))
    about = f"{run.id}{trait.model_dump_json()}{question_ids}{rows}"
    problem = _problem(about, scoring)
    if problem:
        st.warning(plain(problem), title="It cannot be scored")
        return
    if not rows:
        st.caption(":material/check: Every result of this run has a value of this trait.")
        return
    has = "has" if rows == 1 else "have"
    st.markdown(f"**{counted(rows, 'result')} of {run.done:,} {has} no value of it yet.**")
    about += f"{judge.model_dump_json() if judge else ''}{max_cost}"
    may = not asks or inputs.agreed("scoring", about, judge, lambda: estimate_scoring(services.store(), scoring))
    label = f"Score {counted(rows, 'result')}"
    if forms.button(label, "play_arrow", "score", type="primary", disabled=not may):
        services.scorer().start(scoring, session_keys.source())
        inputs.forget_estimates()
        # Patterns and what the ledger knows are there at once.
        services.scorer().wait(run.id, 1.0)
        st.rerun()


@st.cache_data(show_spinner=False, max_entries=50)
def _problem(about: str, _scoring: Scoring) -> str:
    """Say why a trait cannot be added to a run; reading its benchmark takes a while where that is large."""
    try:
        check_definition(services.store(), _scoring)
    except KareninaError as error:
        return str(error)
    return ""


def _result(progress: ScoringProgress) -> None:
    with st.container(border=True):
        st.markdown(f"{_ENDS[progress.status]} **{plain(progress.trait, 60)}**: {_in_numbers(progress)}")
        if progress.message:
            st.warning(plain(progress.message, 600), title="Why" if progress.status != "completed" else "For example")
        if progress.scored:
            frame.link_button("See results", frame.RESULTS, "scoring_results", run=progress.run_id)


def _in_numbers(progress: ScoringProgress) -> str:
    parts = [
        f"{progress.scored} scored",
        f"{progress.failed} without a value, to be tried again" if progress.failed else "",
        f"{progress.left_out} without an answer" if progress.left_out else "",
        f"{counted(progress.calls, 'call')}, {progress.cached} of them known already" if progress.calls else "",
        f"{dollars(progress.cost)} spent" if progress.cost else "",
    ]
    return plain(" · ".join(part for part in parts if part))
