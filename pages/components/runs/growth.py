"""A run at its end: the questions a try left out, traits that failed, and more of everything for the same run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from karenina_core.runs import Plan, Progress, failed_guards, failed_traits, revisions, top_up, wanted, widened
from karenina_core.schemas import ModelConfig
from karenina_core.text import counted
from pages.components import forms, frame, services, session_keys, state
from pages.components.runs import model_editor, spending
from pages.components.text import plain, short

_STATE = "_growth"
_FIXED = "This run re-verifies the answers of another run, and takes no answers of its own."


@dataclass
class _Growth:
    """What a person has put together to add to a run; the arguments of `widened` and `top_up`."""

    answering_models: list[ModelConfig] = field(default_factory=list)
    judges: list[ModelConfig] = field(default_factory=list)
    replicates: int | None = None
    question_ids: list[str] = field(default_factory=list)


def offer(progress: Progress) -> None:
    """Draw what can be done with a run that is not under way."""
    if progress.active:
        return
    run_id = progress.run_id
    if services.store().runs.get(run_id).parent_run:
        _lead_to_original(run_id)
        return
    plan = _plan(run_id)
    with frame.guard():
        _continue_try(progress, plan)
        _retry_parts(run_id, plan)
        about = "Further models, judges, repeats or questions, as part of the same run. What it has stays."
        if forms.button("Add to this run", "library_add", "grow", help=about):
            st.session_state[_STATE] = _Growth()
            st.session_state.setdefault("growth_section", "Models")
            _dialog(run_id)


def _lead_to_original(run_id: str) -> None:
    """Say why nothing can be added to a revision, and lead to the run that takes it."""
    first = revisions(services.store(), run_id)[0].run
    st.caption(f"{_FIXED} Models, judges, repeats and questions are added to the run it comes from.")
    if first.id != run_id and st.button("Open the original run", key="grow_original", icon=":material/history:"):
        state.choose("run", first.id)
        st.rerun(scope="app")


def _plan(run_id: str) -> Plan:
    run = services.store().runs.get(run_id)
    return _read_plan(run_id, run.snapshot, run.config_hash, run.total)


@st.cache_resource(show_spinner=False, max_entries=2)
def _read_plan(run_id: str, snapshot: str, config_hash: str, total: int) -> Plan:
    """Read what a run wants, once for as long as it wants the same; for looking at only."""
    return services.store().runs.plan(run_id)


def _continue_try(progress: Progress, plan: Plan) -> None:
    """Offer the questions that a finished try left out, as part of the same run."""
    if progress.status != "completed":
        return
    wider = wanted(plan.benchmark, plan.config)
    more = len(set(wider.question_ids) - set(plan.question_ids))
    if not more or set(plan.question_ids) - set(wider.question_ids):
        return
    with st.container(border=True):
        st.markdown(f"**This run has {counted(len(plan.question_ids), 'question')} of {len(wider.question_ids)}.**")
        st.caption(f"{counted(wider.rows - plan.rows, 'evaluation')} more.")
        agreed = spending.confirm(spending.expected(wider, progress.run_id), wider.config, "widen")
        label, about = f"Continue with the other {counted(more, 'question')}", "Nothing is asked twice."
        if forms.button(label, "playlist_add", "widen", disabled=not agreed, help=about):
            services.store().runs.widen(progress.run_id, wider)
            services.runner().start(progress.run_id, keys=session_keys.source())
            st.rerun()


def _retry_parts(run_id: str, plan: Plan) -> None:
    """Offer to try traits and checks of the answer again that failed, without asking for anything else."""
    store = services.store()
    traits, checks = set(failed_traits(store, run_id, plan)), set(failed_guards(store, run_id, plan))
    rows = len(traits | checks)
    if not rows:
        return
    what = " or ".join([*(["traits"] if traits else []), *(["checks of the answer"] if checks else [])])
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        with st.container():
            st.markdown(f"**{counted(rows, 'evaluation')} {'has' if rows == 1 else 'have'} {what} that failed.**")
            st.caption("The judge could not be asked, or its reply did not fit. Answers and extractions stay.")
        if st.button("Try those again", key="once_more", icon=":material/replay:"):
            services.runner().resume(run_id, keys=session_keys.source())
            st.rerun()


@st.dialog("Add to this run", position="right", width="medium")
def _dialog(run_id: str) -> None:
    plan, growth = _plan(run_id), st.session_state[_STATE]
    section = st.segmented_control("What", list(_SECTIONS), required=True, key="growth_section")
    _SECTIONS[section or "Models"](growth, plan)
    st.divider()
    with frame.guard():
        wider = widened(plan, **vars(growth))
        if wider.rows == plan.rows and not any(model.manual_traces is not None for model in growth.answering_models):
            st.caption(f"The run has {counted(plan.rows, 'evaluation')}. Nothing is added yet.")
            return
        st.markdown(f"**{plan.rows:,} → {counted(wider.rows, 'evaluation')}: {_listed(plan, wider)}**")
        agreed = spending.confirm(spending.expected(wider, run_id), wider.config, "growth")
        if forms.button("Add and run", "play_arrow", "growth_run", type="primary", disabled=not agreed):
            config = top_up(services.store(), run_id, **vars(growth))
            services.runner().start(run_id, config, session_keys.source())
            st.rerun()


def _models(role: str, added: list[ModelConfig], present: list[ModelConfig], plan: Plan) -> None:
    st.caption(f"In the run: {plain(', '.join(model.id for model in present), 300)}")
    for number, model in enumerate(added):
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{plain(model.id, 60)}**")
            if st.button("Remove", key=f"growth_remove_{role}_{number}", icon=":material/delete:"):
                del added[number]
                st.rerun(scope="fragment")
    if model_editor.form(role, added, plan.benchmark, present):
        st.rerun(scope="fragment")


def _repeats(growth: _Growth, plan: Plan) -> None:
    least = plan.config.replicate_count
    growth.replicates = int(st.number_input("Repeats, in all", least, 100, growth.replicates or least))


def _questions(growth: _Growth, plan: Plan) -> None:
    present = set(plan.question_ids)
    ready = [name for name in plan.benchmark.get_finished_questions(ids_only=True) if name not in present]
    if not ready:
        st.caption("Every finished question takes part already.")
        return
    names = {name: short(plan.benchmark.get_question(name).question, 100) for name in ready}
    growth.question_ids = st.multiselect(
        "Further questions", ready, growth.question_ids, format_func=names.__getitem__, select_all=True
    )


_SECTIONS: dict[str, Callable[[_Growth, Plan], None]] = {
    "Models": lambda growth, plan: _models("answering", growth.answering_models, plan.config.answering_models, plan),
    "Judges": lambda growth, plan: _models("judge", growth.judges, plan.config.parsing_models, plan),
    "Repeats": _repeats,
    "Questions": _questions,
}


def _listed(before: Plan, after: Plan) -> str:
    old, new = before.config, after.config
    parts = [
        (len(new.answering_models) - len(old.answering_models), "model"),
        (len(new.parsing_models) - len(old.parsing_models), "judge"),
        (new.replicate_count - old.replicate_count, "repeat"),
        (len(after.question_ids) - len(before.question_ids), "question"),
    ]
    return ", ".join(f"{counted(number, noun)} more" for number, noun in parts if number)
