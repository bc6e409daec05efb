"""Compare: models, runs and judges against each other, and what can really be said. All choices are in the link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from karenina_core.analysis import MOST_ARMS, Arm, baselines, candidates
from karenina_core.runs import RunRow
from pages.components import forms, frame, run_choice, state
from pages.components.compare import data as compare_data
from pages.components.compare import judges as compare_judges
from pages.components.compare import models as compare_models
from pages.components.compare.data import Compared, Stamp
from pages.components.text import short

frame.begin(frame.COMPARE)

VIEWS = {
    "Models": compare_models.draw,
    "Questions": compare_models.draw_questions,
    "Keywords and fields": compare_models.draw_parts,
}
CHOSEN = ("a", "b", "arms")  # names in the link: baseline, candidate, and all that take part


def choose_runs(runs: Mapping[str, RunRow]) -> list[str]:
    """Draw the choice of runs and return it."""
    before = str(st.session_state.get("_runs") or "").split(",")
    chosen, lost = linked_runs(list(runs))
    if not any(name in st.query_params for name in CHOSEN):
        propose_anew(before, chosen)
    if lost:
        st.warning("A run in this link is not in this workspace, and is left out.", icon=":material/link_off:")
    picked = run_choice.choose_runs("compare", runs, chosen, help="Several models in one run, or several runs.")
    if picked != chosen:
        propose_anew(chosen, picked)
        state.choose("runs", ",".join(picked) or None)
        st.session_state["_runs_for"] = st.session_state.get("_run")
        st.rerun()
    return picked


def linked_runs(known: list[str]) -> tuple[list[str], bool]:
    """Return the runs of the link or the session, else the run that the other pages show, and whether one is lost."""
    run_id = state.recalled("run")
    wanted = st.query_params.get("runs")
    if wanted is None and "run" not in st.query_params and st.session_state.get("_runs_for") == run_id:
        wanted = st.session_state.get("_runs")
    ids = wanted.split(",") if wanted else [run_id or known[0]]
    found = [one for one in dict.fromkeys(ids) if one in known]
    lost = len(found) < len(set(ids))
    if wanted is None:
        found = found or known[:1]
    if found:
        state.choose("runs", ",".join(found))
    st.session_state["_runs_for"] = run_id
    return found, lost


def propose_anew(before: Sequence[str], now: Sequence[str]) -> None:
    """Forget what was compared when a run is joined by a revision of it: what became of its models is of interest."""
    known, added = set(before) & set(now), set(now) - set(before)
    if known and added and any(known & set(line) and added & set(line) for line in compare_data.lineages(now)):
        for name in CHOSEN:
            state.choose(name, None)


def choose_arms(runs: Stamp) -> Compared:
    """Draw the choice of models, baseline and candidate, of at least two arms, and return it."""
    labels = compare_data.labels(runs)
    arms = choose_models(labels)
    lineages = compare_data.lineages([run_id for run_id, _ in runs])
    left, middle, right = st.columns([5, 5, 1], vertical_alignment="bottom")
    baseline = linked_arm("a", baselines(arms, lineages))
    candidate = linked_arm("b", candidates(baseline, arms, lineages))
    with left:
        choose_side("Baseline", "a", baseline, arms, labels, exchanged=candidate)
    with middle:
        choose_side("Candidate", "b", candidate, [arm for arm in arms if arm != baseline], labels)
    if right.button("", icon=":material/swap_horiz:", help="Exchange baseline and candidate", key="compare_swap"):
        state.choose("a", candidate.id)
        state.choose("b", baseline.id)
        st.rerun()
    return Compared(runs, tuple(arms), baseline, candidate, compare_data.labels(runs, arms))


def linked_arm(name: str, arms: Sequence[Arm]) -> Arm:
    """Return the arm that is chosen; the first one where none is."""
    chosen = state.selected(name, [arm.id for arm in arms])
    return next(arm for arm in arms if arm.id == chosen)


def usual(arms: Sequence[Arm]) -> list[Arm]:
    """Return what is compared at first: all models, each as its run's first judge saw it."""
    first: dict[tuple[str, str], Arm] = {}
    for arm in arms:
        first.setdefault((arm.run_id, arm.answering_model), arm)
    found = list(first.values())[:MOST_ARMS]
    return found if len(found) > 1 else list(arms)[:MOST_ARMS]


def choose_models(labels: Mapping[Arm, str]) -> list[Arm]:
    """Draw which arms take part; two need no choice."""
    if len(labels) == 2:
        return list(labels)
    ids = {arm.id: arm for arm in labels}
    names = {arm.id: short(label) for arm, label in labels.items()}
    linked = [ids[name] for name in (st.query_params.get("arms") or "").split(",") if name in ids]
    chosen = [arm.id for arm in (linked if len(linked) > 1 else usual(list(labels)))]
    look: Any = {"max_selections": MOST_ARMS, "key": f"compare_arms_{'_'.join(chosen)}"}
    picked = st.multiselect("Models to compare", list(ids), chosen, format_func=names.__getitem__, **look)
    if len(picked) < 2:
        st.caption("A comparison takes two models at least; the choice before is still shown.")
    elif picked != chosen:
        state.choose("arms", ",".join(picked))
        st.rerun()
    return [ids[name] for name in chosen]


def choose_side(
    title: str, name: str, chosen: Arm, arms: Sequence[Arm], labels: Mapping[Arm, str], exchanged: Arm | None = None
) -> None:
    """Draw the choice of baseline or candidate; choosing what the other side has exchanges the two."""
    names = {arm.id: short(labels[arm]) for arm in arms}
    picked = forms.select(title, names, f"compare_{name}_{chosen.id}_{len(arms)}", chosen=chosen.id)
    if picked != chosen.id:
        if exchanged is not None and picked == exchanged.id:
            state.choose("b", chosen.id)
        state.choose(name, picked)
        st.rerun()


def nothing_to_compare(run_id: str, *, empty: bool) -> None:
    """Say what is missing for a comparison, and lead there."""
    if empty:
        words = "The chosen run has no results yet."
        frame.nothing(words, "Open the monitor", frame.MONITOR, "compare_monitor", run=run_id)
    else:
        words = "There is one model and one judge here, and a comparison takes two. Choose another run, or add one."
        frame.nothing(words, "Add a model to this run", frame.MONITOR, "compare_add_model", run=run_id)


with frame.guard():
    chosen_runs = choose_runs(run_choice.stored_runs("compare"))
    if not chosen_runs:
        st.stop()
    stamp = compare_data.stamp(chosen_runs)
    arm_count = len(compare_data.tables(stamp).counts)
    view = forms.segments("View", {name: name for name in (*VIEWS, "Judges")}, "compare", bind="query-params")
    if view == "Judges" and arm_count:
        compare_judges.draw(stamp)
    elif arm_count < 2:
        nothing_to_compare(chosen_runs[0], empty=not arm_count)
    else:
        compared = choose_arms(stamp)
        compare_models.sentence(compared)
        VIEWS.get(view, compare_models.draw)(compared)
