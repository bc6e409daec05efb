"""What changed since another run: verdicts, and what changed them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from karenina_core.analysis import CHANGE_CAUSE_WORDS, CHANGE_WORDS, MOVED, ChangeCause, RunDiff, run_diff
from karenina_core.runs import ChangedTemplates, RunRow, template_differences
from karenina_core.text import counted
from pages.components import forms, services, state
from pages.components.answer import side_by_side
from pages.components.answer.side_by_side import Side
from pages.components.results import data as results_data
from pages.components.results.data import VERDICTS, Frames
from pages.components.text import distinct, local_time, plain, short, visible
from pages.components.widgets import pick

_EXPLAINED = 1_000
_LISTED = 200
_TEMPLATES = 20


class _Changes(NamedTuple):
    diff: RunDiff
    causes: Mapping[str, ChangeCause]
    moved: pd.DataFrame


def draw(data: Frames) -> None:
    """Draw the choice of another run and, once there is one, what is different."""
    now = services.store().runs.get(data.run_id)
    others = _others(now)
    if not others:
        st.caption("There is no other run of these questions to compare with.")
        return
    wanted = st.query_params.get("since")
    st.session_state["since"] = wanted if wanted in others else None
    names = distinct(others, lambda name: _label(others[name], now))
    look: Any = {"placeholder": "Choose an earlier run, or another revision", "label_visibility": "collapsed"}
    look["on_change"] = lambda: state.choose("since", st.session_state["since"])
    label, known = "What changed since", list(names)
    since = st.selectbox(label, known, index=None, format_func=names.__getitem__, key="since", **look)
    if since is None:
        return
    before = results_data.frames(since)
    if before.results.empty:
        st.info("That run has no results yet.", icon=":material/info:")
        return
    changes = _compare(before, data)
    st.markdown(f"**{plain(run_diff.sentence(changes.diff))}**")
    for old, new in changes.diff.renamed.items():
        st.caption(f"{plain(old)} of the earlier run is compared with {plain(new)}.")
    _causes(changes)
    _settings(others[since], now)
    _templates(since, data.run_id)
    _rows(since, data.run_id, changes)


@st.cache_resource(show_spinner="Comparing the runs", max_entries=6)
def _compare(before: Frames, after: Frames) -> _Changes:
    diff = run_diff.diff_runs(before.results, after.results)
    moved = diff.rows[diff.rows["change"].isin(MOVED)]
    some = moved.head(_EXPLAINED)
    first, second = (services.store().runs.get(data.run_id).settings for data in (before, after))
    changed = run_diff.changed_models(first, second, diff.renamed)
    earlier = results_data.stored(before.run_id, some["before_id"])
    now = results_data.stored(after.run_id, some["after_id"])
    return _Changes(diff, run_diff.causes_of(some, earlier, now, changed), moved)


def _others(now: RunRow) -> dict[str, RunRow]:
    """Return the runs of the same benchmark, the one this run was derived from first."""
    same = [run for run in services.store().runs.all() if run.id != now.id and run.benchmark_name == now.benchmark_name]
    same.sort(key=lambda run: run.id != now.parent_run)
    return {run.id: run for run in same}


def _label(run: RunRow, now: RunRow) -> str:
    origin = " · this run comes from it" if run.id == now.parent_run else ""
    return f"{short(run.name)} · {local_time(run.created)}{origin}"


def _causes(found: _Changes) -> None:
    """Show how many verdicts changed by which cause."""
    if found.moved.empty:
        return
    tallied = run_diff.tally(found.causes, found.moved)
    changes = [change for change in CHANGE_WORDS if any(kind == change for kind, _ in tallied)]
    table = [
        {"What changed it": words, **{CHANGE_WORDS[change]: tallied.get((change, cause), 0) for change in changes}}
        for cause, words in CHANGE_CAUSE_WORDS.items()
        if any(kind == cause for _, kind in tallied)
    ]
    st.dataframe(table, hide_index=True, alt="Changed verdicts by cause", width="content")
    st.caption("The cause is the first difference on the way: prompt and settings, answer, extraction, rules.")
    if len(found.moved) > _EXPLAINED:
        st.caption(f"Causes are known for the first {_EXPLAINED:,} of {len(found.moved):,} changed verdicts.")


def _settings(before: RunRow, after: RunRow) -> None:
    changed = run_diff.changed_settings(before.settings, after.settings)
    if not changed:
        st.caption("Both runs have the same settings.")
        return
    with st.expander(f"{counted(len(changed), 'setting')} different"):
        rows = [{"Setting": short(row.name), "Before": short(row.before), "Now": short(row.after)} for row in changed]
        forms.table(rows, "Different settings", most=20)


def _templates(before: str, after: str) -> None:
    changed = _changed_templates(before, after)
    if not changed.total:
        st.caption("Both runs have the same templates.")
        return
    with st.expander(f"{counted(changed.total, 'template')} different"):
        for question, diff in list(changed.differences.items())[:_TEMPLATES]:
            st.markdown(plain(question, 200))
            st.code(visible(diff), language="diff", wrap_lines=True)
        if changed.total > _TEMPLATES:
            st.caption(f"The first {_TEMPLATES} of {changed.total:,} are shown.")


@st.cache_data(show_spinner=False, max_entries=6)
def _changed_templates(before: str, after: str) -> ChangedTemplates:
    return template_differences(services.store(), before, after)


def _rows(before: str, after: str, found: _Changes) -> None:
    """List the rows of one change, and show the chosen one on both sides."""
    counts = found.diff.counts
    offered = [change for change, number in counts.items() if number]
    if not offered:
        return
    offered.sort(key=lambda name: name not in MOVED)
    titles: dict[str, str] = {name: f"{CHANGE_WORDS[name].capitalize()} {counts[name]:,}" for name in offered}
    change = forms.segments("Show", titles, f"diff_change_{before}_{after}")
    rows = found.diff.rows[found.diff.rows["change"] == change]
    if len(rows) > _LISTED:
        st.caption(f"The first {_LISTED} of {len(rows):,} are listed.")
    rows = rows.head(_LISTED)
    cells = [
        {
            "Question": short(row.question),
            "Model": short(row.answering_model),
            "Before": VERDICTS[str(row.before)],
            "Now": VERDICTS[str(row.after)],
            "Cause": CHANGE_CAUSE_WORDS[found.causes[str(row.after_id)]] if row.after_id in found.causes else "",
        }
        for row in rows.itertuples()
    ]
    ids = [str(name) for name in rows["after_id"]]
    chosen = pick(f"diff_{change}", ids, cells, st.session_state.get("_diff_row"), alt="Results of both runs", most=8)
    st.session_state["_diff_row"] = chosen
    if chosen not in ids:
        st.caption("Tick a row to see both answers.")
        return
    row = rows.iloc[ids.index(chosen)]
    first, second = (
        Side(title, run_id, str(row[column]), among=list(rows[column].dropna().astype(str)))
        for title, run_id, column in (("Before", before, "before_id"), ("Now", after, "after_id"))
    )
    side_by_side.draw((first, second), "diff")
