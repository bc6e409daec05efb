"""Scoring the stored answers of a run with a trait of the benchmark."""

from __future__ import annotations

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
from karenina_core.schemas import AnyTrait, ModelConfig, StoredTrait
from karenina_core.text import counted
from pages.components import frame, services, session_keys
from pages.components.rubrics.scope import Scope
from pages.components.text import distinct, plain, short
from pages.components.traits import judge as trait_judge
from pages.components.traits import sample as trait_sample
from pages.components.traits.values import kind_in_words

_ENDS = {
    "completed": ":green-badge[:material/check: completed]",
    "cancelled": ":gray-badge[:material/cancel: cancelled, what is scored stays]",
    "stopped": ":orange-badge[:material/payments: stopped]",
    "failed": ":red-badge[:material/error: stopped by an error]",
}


def draw(scope: Scope) -> None:
    """Draw the choice of run, trait and judge, what it takes, and the progress."""
    st.caption(
        "The stored answers of a run are assessed by one more trait. The models under test are not asked again, and "
        "the verdicts and traits that the run has stay as they are."
    )
    runs = [run for run in trait_sample.runs_of(scope) if not run.active]
    traits = {trait.name: trait for trait in scope.rubric.traits if not isinstance(trait, StoredTrait)}
    if not runs:
        st.info("No run has ended yet, so there is nothing to score.", icon=":material/info:")
        if st.button("Configure a run", type="primary", icon=":material/tune:", key="scoring_configure"):
            st.switch_page(frame.CONFIGURE, query_params={"benchmark": scope.benchmark_id})
        return
    if not traits:
        st.info("There is no trait to score with. Add one under “Traits”.", icon=":material/checklist:")
        return
    left, right = st.columns(2, gap="large")
    with left:
        run_id = trait_sample.choose_run(runs, "scoring_run")
    with right:
        named = distinct(traits, lambda key: f"{short(key, 60)} · {kind_in_words(traits[key])}")
        name = st.selectbox(
            "Trait",
            list(named),
            format_func=named.__getitem__,
            key=f"scoring_trait_{scope.draft_prefix}",
        )
    progress = services.scorer().progress(run_id)
    if progress is not None and progress.active:
        _live(run_id)
        return
    if progress is not None:
        _ended(progress)
    run = next(run for run in runs if run.id == run_id)
    if run.benchmark_id != scope.benchmark_id:
        st.caption(":material/info: This run belongs to another benchmark.")
    _terms(scope, run, traits[name])


def _terms(scope: Scope, run: RunRow, trait: AnyTrait) -> None:
    own = run.config.parsing_models
    judge = None
    asks = needs_judge(trait)
    if asks:
        judge = trait_judge.choose("scoring", own)
        if trait_judge.nobody(own):
            return
    max_cost = None
    if asks and any(model.is_provider for model in ([judge] if judge else own)):
        max_cost = st.number_input(
            "Spend at most (US dollars; empty for no limit)",
            min_value=0.01,
            value=1.0,
            key="scoring_max_cost",
            help="Scoring stops when this is spent; what is scored stays. Models without a known price do not count.",
            width=320,
        )
    question_ids = None if scope.question_id is None else (scope.question_id,)
    scoring = Scoring(run.id, trait, question_ids, judge, max_cost)
    rows = len(rows_to_score(services.store(), scoring))
    problem = _problem(run.id, f"{trait.model_dump_json()}{question_ids}{rows}", scoring)
    if problem:
        st.warning(plain(problem), title="It cannot be scored")
        return
    if not rows:
        st.caption(":material/check: Every result of this run has a value of this trait.")
        return
    st.markdown(f"**{counted(rows, 'result')} of {run.done:,} {'has' if rows == 1 else 'have'} no value of it yet.**")
    may = _may(scoring, judge, rows) if asks else True
    if st.button(
        f"Score {counted(rows, 'result')}", type="primary", icon=":material/play_arrow:", key="score", disabled=not may
    ):
        services.scorer().start(scoring, session_keys.source())
        trait_judge.forget_estimates()
        # Patterns and what the ledger knows are there at once.
        services.scorer().wait(run.id, 1.0)
        st.rerun()


@st.cache_data(show_spinner=False, max_entries=50)
def _problem(run_id: str, about: str, _scoring: Scoring) -> str:
    """Say why a trait cannot be added to a run; reading its benchmark takes a while where that is large."""
    try:
        check_definition(services.store(), _scoring)
    except KareninaError as error:
        return str(error)
    return ""


def _may(scoring: Scoring, judge: ModelConfig | None, rows: int) -> bool:
    named = judge.model_dump_json() if judge is not None else ""
    about = f"{scoring.run_id}{scoring.trait.model_dump_json()}{scoring.question_ids}{named}{rows}{scoring.max_cost}"
    return trait_judge.agreed("scoring", about, judge, lambda: estimate_scoring(services.store(), scoring).estimate)


def _live(run_id: str) -> None:
    @st.fragment(run_every=1)
    def live() -> None:
        progress = services.scorer().progress(run_id)
        if progress is None or not progress.active:
            st.rerun()
        st.progress(
            min(progress.done / progress.total, 1.0) if progress.total else 0.0,
            text=f"{progress.done} of {progress.total} results scored with {plain(progress.trait, 60)}",
        )
        st.caption(_numbers(progress))
        if st.button("Cancel", icon=":material/stop:", key="scoring_cancel", help="What is scored so far stays."):
            services.scorer().cancel(run_id)
            st.rerun()

    live()
    st.caption("You can leave this page; scoring goes on.")


def _ended(progress: ScoringProgress) -> None:
    with st.container(border=True):
        st.markdown(f"{_ENDS[progress.status]} **{plain(progress.trait, 60)}**: {_numbers(progress)}")
        if progress.message:
            st.warning(plain(progress.message, 600), title="Why" if progress.status != "completed" else "For example")
        if progress.scored and st.button("See results", icon=":material/bar_chart:", key="scoring_results"):
            st.switch_page(frame.RESULTS, query_params={"run": progress.run_id})


def _numbers(progress: ScoringProgress) -> str:
    parts = [f"{progress.scored} scored"]
    if progress.failed:
        parts.append(f"{progress.failed} without a value, to be tried again")
    if progress.left_out:
        parts.append(f"{progress.left_out} without an answer")
    if progress.calls:
        parts.append(f"{counted(progress.calls, 'call')}, {progress.cached} of them known already")
    if progress.cost:
        parts.append(f"{dollars(progress.cost)} spent")
    return plain(" · ".join(parts))
