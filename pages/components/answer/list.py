"""Which evaluations of a run one walks through, and which of them is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from karenina_core.schemas import latest_reviews
from pages.components import forms, services, state
from pages.components.results.data import SIGN
from pages.components.text import short

_CHOSEN = "_answer_ids"
_PLACE = "_answer_place"
_MOST = 500  # entries of the selector
ALL, UNREVIEWED, DISAGREED, FROM_LIST = "All", "Not reviewed", "Disagreed", "From the list"
_VERDICTS = {"Failures": "fail", "Passes": "pass", "Not evaluated": "not_evaluated"}


class Row(NamedTuple):
    """One evaluation as the list shows it."""

    result_id: str
    verdict: str
    question: str
    models: str


def remember(run_id: str, ids: Sequence[str]) -> None:
    """Let the answer page walk through these evaluations, such as those a table shows."""
    st.session_state[_CHOSEN] = (run_id, list(ids))


def rows(run_id: str) -> list[Row]:
    """Return the evaluations of a run as it stands now."""
    return _rows(run_id, services.version(run_id))


@st.cache_data(show_spinner=False, max_entries=4)
def _rows(run_id: str, version: str) -> list[Row]:
    stored = services.store().results.rows(run_id)
    repeated = any(row["replicate"] > 1 for row in stored)
    found = []
    for row in stored:
        models = f"{short(row['answering_model'], 40)} · {short(row['parsing_model'], 40)}"
        models += f" · repeat {row['replicate']}" if repeated else ""
        found.append(Row(row["result_id"], row["verdict"], short(row["question"], 80), models))
    return found


def choose(run_id: str, known: list[Row]) -> str | None:
    """Draw quick views, search, selector and the ways to the next and the previous one; return the id chosen."""
    everything = [row.result_id for row in known]
    forms.refuse_lost("row", everything, "evaluation")
    wanted = state.recalled("row") if state.recalled("row") in everything else None
    shown = _filtered(run_id, known, wanted)
    ids = [row.result_id for row in shown]
    st.caption(f"{len(ids):,} of {len(known):,} evaluations")
    if not ids:
        st.info("No evaluation is like that. Choose another view.", icon=":material/filter_alt_off:")
        return None
    # One that left the list, because it was just reviewed, makes room for the one after it.
    _, place = st.session_state.get(_PLACE, (None, 0))
    place = ids.index(wanted) if wanted in ids else 0 if wanted is None else min(place, len(ids) - 1)
    picked = _walk(shown, place)
    st.session_state[_PLACE] = (run_id, ids[picked]), picked
    state.choose("row", ids[picked])
    if picked != place:
        st.rerun()
    return ids[picked]


def _filtered(run_id: str, known: list[Row], wanted: str | None) -> list[Row]:
    """Draw quick views and search, and return what they leave; one that was come to from elsewhere is among it."""
    chosen_run, chosen = st.session_state.get(_CHOSEN, ("", []))
    views = [ALL, *_VERDICTS, UNREVIEWED, DISAGREED, *([FROM_LIST] if chosen_run == run_id else [])]
    view, words = st.session_state.get("answer_view"), str(st.session_state.get("answer_search") or "")
    if view not in views:
        walked = FROM_LIST in views and (wanted is None or wanted in chosen)
        view = st.session_state["answer_view"] = FROM_LIST if walked else ALL
    before, _ = st.session_state.get(_PLACE, (None, 0))
    is_new = wanted is not None and before != (run_id, wanted)
    if is_new and all(row.result_id != wanted for row in _held(run_id, known, str(view), words)):
        st.session_state["answer_view"], st.session_state["answer_search"] = ALL, ""
    left, right = st.columns([72, 28], vertical_alignment="bottom")
    view = left.segmented_control("Walk through", views, key="answer_view", required=True, wrap=True)
    words = right.text_input("Search in questions", key="answer_search")
    return _held(run_id, known, str(view), words)


def _held(run_id: str, known: list[Row], view: str, search: str) -> list[Row]:
    """Return what a view and a search leave."""
    reviews = latest_reviews(services.store().annotations.all(run_id)) if view in (UNREVIEWED, DISAGREED) else {}
    if view == FROM_LIST:
        by_id = {row.result_id: row for row in known}
        _, chosen = st.session_state[_CHOSEN]
        known = [by_id[result_id] for result_id in chosen if result_id in by_id]  # in the order they had there
    elif view == UNREVIEWED:
        known = [row for row in known if row.result_id not in reviews]
    elif view == DISAGREED:
        known = [row for row in known if row.result_id in reviews and not reviews[row.result_id].agrees]
    elif view in _VERDICTS:
        known = [row for row in known if row.verdict == _VERDICTS[view]]
    words = search.casefold().split()
    return [row for row in known if all(word in row.question.casefold() for word in words)]


def _walk(shown: list[Row], place: int) -> int:
    first = max(0, min(place - _MOST // 2, len(shown) - _MOST))
    window, here = shown[first : first + _MOST], shown[place].result_id
    names = {row.result_id: f"{SIGN[row.verdict]} {row.question} · {row.models}" for row in window}
    # By id: a place would be another one's as soon as the list is.
    picked = forms.select(f"Evaluation {place + 1} of {len(shown)}", names, f"answer_pick_{here}", chosen=here)
    target = first + list(names).index(picked)
    back, on = {"shortcut": "K", "disabled": place == 0}, {"shortcut": "J", "disabled": place == len(shown) - 1}
    with st.container(horizontal=True):
        if forms.button("Previous", "arrow_back", "answer_previous", **back):
            target = place - 1
        if forms.button("Next", "arrow_forward", "answer_next", **on):
            target = place + 1
    return target
