"""What changed since another run: verdicts, and what changed them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd
import streamlit as st

from karenina_core.analysis import CAUSE_WORDS, CHANGE_WORDS, MOVED, Cause, RunDiff, readable, run_diff
from karenina_core.differences import side_by_side
from karenina_core.runs import ChangedTemplates, RunRow, template_differences
from karenina_core.schemas import VerificationResult
from karenina_core.text import counted
from pages.components import services, state
from pages.components.answer import drawer as answer_drawer
from pages.components.compare import answers as compare_answers
from pages.components.results import data as results_data
from pages.components.results.data import Frames
from pages.components.results.table import VERDICTS
from pages.components.text import distinct, local_time, plain, short, visible
from pages.components.widgets import pick

_EXPLAINED = 1_000
_LISTED = 200
_TEMPLATES = 20
_LONGEST = 10_000


def draw(data: Frames) -> None:
    """Draw the choice of another run and, once there is one, what is different."""
    now = services.store().runs.get(data.run_id)
    others = _others(now)
    if not others:
        st.caption("There is no other run of these questions to compare with.")
        return
    wanted = st.query_params.get("since")
    st.session_state["since"] = wanted if wanted in others else None
    since = st.selectbox(
        "What changed since",
        list(others),
        index=None,
        placeholder="Choose an earlier run, or another revision",
        format_func=distinct(others, lambda name: _named(others[name], now)).__getitem__,
        key="since",
        label_visibility="collapsed",
        on_change=lambda: state.choose("since", st.session_state["since"]),
    )
    if since is None:
        return
    before = results_data.frames(since)
    if before.results.empty:
        st.info("That run has no results yet.", icon=":material/info:")
        return
    found = _found((since, before.revision), (data.run_id, data.revision))
    st.markdown(f"**{plain(run_diff.sentence(found.diff))}**")
    for old, new in found.diff.renamed.items():
        st.caption(f"{plain(old)} of the earlier run is compared with {plain(new)}.")
    _causes(found)
    _settings(others[since], now)
    _templates(since, data.run_id)
    _rows(since, data.run_id, found)


class _Found(NamedTuple):
    diff: RunDiff
    causes: Mapping[str, Cause]
    moved: pd.DataFrame


@st.cache_resource(show_spinner="Comparing the runs", max_entries=6)
def _found(before: tuple[str, str], after: tuple[str, str]) -> _Found:
    diff = run_diff.diff_runs(Frames(*before).results, Frames(*after).results)
    moved = diff.rows[diff.rows["change"].isin(MOVED)]
    some = moved.head(_EXPLAINED)
    first, second = (services.store().runs.get(run_id).settings for run_id in (before[0], after[0]))
    changed = run_diff.changed_models(first, second, diff.renamed)
    results = (results_data.stored(before[0], some["before_id"]), results_data.stored(after[0], some["after_id"]))
    return _Found(diff, run_diff.causes_of(some, *results, changed), moved)


def _others(now: RunRow) -> dict[str, RunRow]:
    """Return the runs of the same benchmark, the one this run was derived from first."""
    same = [run for run in services.store().runs.all() if run.id != now.id and run.benchmark_name == now.benchmark_name]
    same.sort(key=lambda run: run.id != now.parent_run)
    return {run.id: run for run in same}


def _named(run: RunRow, now: RunRow) -> str:
    origin = " · this run comes from it" if run.id == now.parent_run else ""
    return f"{short(run.name)} · {local_time(run.created)}{origin}"


def _causes(found: _Found) -> None:
    """Show how many verdicts changed by which cause."""
    if found.moved.empty:
        return
    tallied = run_diff.tally(found.causes, found.moved)
    changes = [change for change in CHANGE_WORDS if any(kind == change for kind, _ in tallied)]
    table = [
        {"What changed it": words, **{CHANGE_WORDS[change]: tallied.get((change, cause), 0) for change in changes}}
        for cause, words in CAUSE_WORDS.items()
        if any(kind == cause for _, kind in tallied)
    ]
    st.dataframe(table, hide_index=True, alt="Changed verdicts by cause", width="content")
    st.caption(
        "The first thing on the way to a verdict that is different: prompt and settings, the answer, the extraction, "
        "the rules."
    )
    if len(found.moved) > _EXPLAINED:
        st.caption(f"The first {_EXPLAINED:,} of {len(found.moved):,} changed verdicts were looked into.")


def _settings(before: RunRow, after: RunRow) -> None:
    changed = run_diff.changed_settings(before.settings, after.settings)
    if not changed:
        st.caption("Both runs have the same settings.")
        return
    with st.expander(f"{counted(len(changed), 'setting')} different"):
        rows = [{"Setting": short(row.name), "Before": short(row.before), "Now": short(row.after)} for row in changed]
        st.dataframe(rows, hide_index=True, alt="Different settings")


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
            st.caption(f"The first {_TEMPLATES} of {changed.total:,} are shown; the download holds {_held(changed)}.")
            st.download_button(
                "All differences as a text",
                lambda: "\n".join(f"# {question}\n{diff}\n" for question, diff in changed.differences.items()),
                file_name=f"templates-{before}-{after}.diff",
                mime="text/x-diff",
                icon=":material/download:",
                on_click="ignore",
            )


@st.cache_data(show_spinner=False, max_entries=6)
def _changed_templates(before: str, after: str) -> ChangedTemplates:
    return template_differences(services.store(), before, after)


def _held(changed: ChangedTemplates) -> str:
    held = len(changed.differences)
    return "all of them" if held == changed.total else f"the first {held:,}, and the others were not compared"


def _rows(before: str, after: str, found: _Found) -> None:
    """List the rows of one change, and show the chosen one on both sides."""
    counts = found.diff.counts
    offered = [change for change, number in counts.items() if number]
    change = st.segmented_control(
        "Show",
        offered,
        default=next((name for name in offered if name in MOVED), offered[0]) if offered else None,
        required=True,
        format_func=lambda name: f"{CHANGE_WORDS[name].capitalize()} {counts[name]:,}",
        key=f"diff_change_{before}_{after}",
        label_visibility="collapsed",
    )
    if change is None:
        return
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
            "Cause": CAUSE_WORDS[found.causes[str(row.after_id)]] if row.after_id in found.causes else "",
        }
        for row in rows.itertuples()
    ]
    ids = [str(name) for name in rows["after_id"]]
    chosen = pick(f"diff_{change}", ids, cells, st.session_state.get("_diff_row"), alt="Results of both runs", most=8)
    st.session_state["_diff_row"] = chosen
    if chosen in ids:
        row = rows.iloc[ids.index(chosen)]
        _pair(rows, (before, str(row["before_id"])), (after, str(row["after_id"])))
    else:
        st.caption("Tick a row to see both answers.")


def _pair(listed: pd.DataFrame, before: tuple[str, str], after: tuple[str, str]) -> None:
    """Show the answers of both runs beside each other, with the words that only one of them has."""
    results = [services.store().results.get(*side) for side in (before, after)]
    texts = [result.raw_llm_response for result in results]
    same = texts[0] == texts[1]
    if same and texts[0]:
        with st.expander("Both runs have the same answer"):
            st.markdown(plain(texts[0], _LONGEST))
    marked = None if same or None in texts else side_by_side(texts[0] or "", texts[1] or "")
    for place, column in enumerate(st.columns(2)):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{('Before', 'Now')[place]}** · {VERDICTS[results[place].verdict]}")
            if marked:
                st.markdown(compare_answers.marked_up(marked[place], ("orange", "blue")[place]))
            elif not same:
                st.markdown(plain(texts[place] or "There is no answer.", _LONGEST))
            _fields(results[place])
            if st.button("Open this answer", icon=":material/article:", key=f"diff_open_{place}"):
                around = listed[("before_id", "after_id")[place]].dropna().astype(str)
                answer_drawer.open_drawer(*(before, after)[place], list(around))
    if marked:
        st.caption("Bold on a coloured ground: the places where the texts differ.")


def _fields(result: VerificationResult) -> None:
    if result.failure:
        st.caption(plain(result.failure.reason))
    signs = {True: "✓", False: "✗", None: "–"}
    for item in result.template.fields if result.template else ():
        found, expected = readable(item.extracted) or "nothing found", readable(item.expected) or "–"
        st.caption(f"{signs[item.result]} {plain(item.name)}: {plain(found, 120)}, expected {plain(expected, 120)}")
