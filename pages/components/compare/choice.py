"""What is compared: runs, models, baseline and candidate, all kept in the link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from karenina_core.analysis import MOST_ARMS, Arm, baselines, candidates
from karenina_core.runs import RunRow
from pages.components import frame, state
from pages.components.compare import data as compare_data
from pages.components.compare.data import Compared, Stamp
from pages.components.runs import growth
from pages.components.text import distinct, local_time, short

_CHOSEN = ("a", "b", "arms")  # names in the link: baseline, candidate, and all that take part


def choose_runs(runs: Mapping[str, RunRow]) -> list[str]:
    """Draw the choice of runs and return it."""
    before = str(st.session_state.get("_runs") or "").split(",")
    chosen, unknown = _linked_runs(list(runs))
    if not any(name in st.query_params for name in _CHOSEN):
        _propose_anew(before, chosen)
    if unknown:
        st.warning("A run in this link is not in this workspace, and is left out.", icon=":material/link_off:")
    labels = distinct(runs, lambda key: f"{short(runs[key].name)} · {local_time(runs[key].created)}")
    picked = st.multiselect(
        "Runs",
        list(runs),
        default=chosen,
        format_func=labels.__getitem__,
        key=f"compare_runs_{'_'.join(chosen)}",
        help="One run with several models, or several runs over the same questions.",
    )
    if picked != chosen:
        _propose_anew(chosen, picked)
        state.choose("runs", ",".join(picked) or None)
        st.session_state["_runs_for"] = st.session_state.get("_run")
        st.rerun()
    return picked


def _propose_anew(before: Sequence[str], now: Sequence[str]) -> None:
    """Forget what was compared when a run is joined by a revision of it: what became of its models is of interest."""
    known, added = set(before) & set(now), set(now) - set(before)
    if known and added and any(known & set(family) and added & set(family) for family in compare_data.families(now)):
        for name in _CHOSEN:
            state.choose(name, None)


def _linked_runs(known: list[str]) -> tuple[list[str], bool]:
    """Return the runs of the link or the session, else the run that the other pages show, and whether one is lost."""
    wanted = st.query_params.get("runs")
    if wanted is None and "run" not in st.query_params and st.session_state.get("_runs_for") == _looked_at():
        wanted = st.session_state.get("_runs")
    ids = wanted.split(",") if wanted else [_looked_at() or known[0]]
    found = [run_id for run_id in dict.fromkeys(ids) if run_id in known]
    lost = len(found) < len(set(ids))
    found = found or known[:1]
    state.choose("runs", ",".join(found))
    st.session_state["_runs_for"] = _looked_at()
    return found, lost


def _looked_at() -> str | None:
    run_id = st.query_params.get("run") or st.session_state.get("_run")
    return str(run_id) if run_id else None


def choose_arms(stamp: Stamp) -> Compared:
    """Draw the choice of models, baseline and candidate, of at least two arms, and return it."""
    labels = compare_data.labels(stamp)
    by_id = {arm.id: arm for arm in labels}
    linked = [by_id[name] for name in (st.query_params.get("arms") or "").split(",") if name in by_id]
    arms = _models(linked if len(linked) > 1 else _usual(list(labels)), labels)
    families = compare_data.families([run_id for run_id, _ in stamp])
    left, middle, right = st.columns([5, 5, 1], vertical_alignment="bottom")
    baseline = _selected("a", baselines(arms, families))
    candidate = _selected("b", candidates(baseline, arms, families))
    others = [arm for arm in arms if arm != baseline]
    with left:
        _side("Baseline", "a", baseline, arms, labels, exchanged=candidate)
    with middle:
        _side("Candidate", "b", candidate, others, labels)
    with right:
        if st.button("", icon=":material/swap_horiz:", help="Exchange baseline and candidate", key="compare_swap"):
            state.choose("a", candidate.id)
            state.choose("b", baseline.id)
            st.rerun()
    return Compared(stamp, tuple(arms), baseline, candidate, compare_data.labels_of(stamp, arms))


def _selected(name: str, arms: Sequence[Arm]) -> Arm:
    """Return the arm that is chosen; the first one where none is."""
    chosen = state.selected(name, [arm.id for arm in arms])
    return next(arm for arm in arms if arm.id == chosen)


def _usual(arms: Sequence[Arm]) -> list[Arm]:
    """Return what is compared at first: all models, each as its run's first judge saw it."""
    first: dict[tuple[str, str], Arm] = {}
    for arm in arms:
        first.setdefault((arm.run_id, arm.answering_model), arm)
    usual = list(first.values())[:MOST_ARMS]
    return usual if len(usual) > 1 else list(arms)[:MOST_ARMS]


def _models(chosen: Sequence[Arm], labels: Mapping[Arm, str]) -> list[Arm]:
    """Draw which arms take part; two need no choice."""
    if len(labels) == 2:
        return list(labels)
    ids = {arm.id: arm for arm in labels}
    picked = st.multiselect(
        "Models to compare",
        list(ids),
        default=[arm.id for arm in chosen],
        format_func=lambda name: short(labels[ids[name]]),
        max_selections=MOST_ARMS,
        key=f"compare_arms_{'_'.join(arm.id for arm in chosen)}",
    )
    if [ids[name] for name in picked] != list(chosen):
        if len(picked) < 2:
            st.caption("A comparison takes two models at least; the choice before is still shown.")
            return list(chosen)
        state.choose("arms", ",".join(picked))
        st.rerun()
    return list(chosen)


def _side(
    title: str, name: str, chosen: Arm, arms: Sequence[Arm], labels: Mapping[Arm, str], exchanged: Arm | None = None
) -> None:
    ids = {arm.id: arm for arm in arms}
    picked = st.selectbox(
        title,
        list(ids),
        index=list(ids).index(chosen.id),
        format_func=lambda key: short(labels[ids[key]]),
        key=f"compare_{name}_{chosen.id}_{len(ids)}",
    )
    if picked != chosen.id:
        if exchanged is not None and picked == exchanged.id:
            state.choose("b", chosen.id)
        state.choose(name, picked)
        st.rerun()


def nothing_to_compare(runs: Sequence[str], arms: Sequence[Arm]) -> None:
    """Say what is missing for a comparison, and lead there."""
    if not arms:
        st.info("The chosen run has no results yet.", icon=":material/info:")
        if st.button("Open the monitor", type="primary", icon=":material/monitoring:", key="compare_monitor"):
            st.switch_page(frame.MONITOR, query_params={"run": runs[0]} if runs else {})
        return
    st.info(
        "There is one model and one judge here, and a comparison takes two. Choose another run above, or let a second "
        "model answer the same questions in this run.",
        icon=":material/info:",
    )
    growth.ask_for(runs[0], "Add a model", "Models", "compare_add_model", type="primary", icon=":material/add:")
