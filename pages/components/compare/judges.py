"""Judges against each other, against people and against themselves."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from karenina_core.analysis import PEOPLE, UNDECIDED, Consistency, compare_agreement, interval, percent
from karenina_core.analysis.comparison import agreement
from karenina_core.text import counted
from pages.components import frame, state
from pages.components.answer import drawer as answer_drawer
from pages.components.compare import data as compare_data
from pages.components.compare import figure as compare_figure
from pages.components.compare import judge_data as compare_judge_data
from pages.components.compare.data import Stamp
from pages.components.compare.judge_data import Judged
from pages.components.runs import growth
from pages.components.text import plain, short

_LABELS = {
    "pass": "✓ pass",
    "fail": "✗ fail",
    "not_evaluated": "– not evaluated",
    "right": "✓ right",
    "wrong": "✗ wrong",
    "not_found": "∅ not found",
    "undecided": "– undecided",
}
_MOST = 200


def draw(stamp: Stamp) -> None:
    """Draw how far the judges of the runs agree."""
    if not _several(stamp):
        return
    level = st.segmented_control(
        "Level",
        ["Verdicts", "Fields"],
        default="Verdicts",
        required=True,
        key="level",
        bind="query-params",
        label_visibility="collapsed",
    )
    found = compare_judge_data.judged(stamp, level == "Fields")
    clicked = compare_figure.show(
        "agreement",
        "How far do the judges agree?",
        compare_agreement(found.pairs, found.raters, found.own),
        "κ is Cohen's kappa: 1 for full agreement, 0 for what chance gives. n counts the answers that both gave an "
        f"opinion of; below {agreement.FEW} there are too few for kappa, and the square says how many agree. "
        "On the diagonal: how often repeats got the same verdict. Click a square for the answers behind.",
        found.pairs,
    )
    _overall(found)
    if len(found.raters) > 1:
        _pair(found, clicked)
    _show_consistency(found.own)
    if PEOPLE not in found.raters:
        _no_reviews(stamp)


def _several(stamp: Stamp) -> bool:
    """Return whether there are two raters at least; say what to do when there is one."""
    found = compare_judge_data.judged(stamp, False)
    if len(found.raters) > 1 or (found.key[2] and PEOPLE in compare_judge_data.judged(stamp, True).raters):
        return True
    _one_judge(stamp, found.judges[0])
    _show_consistency(found.own)
    return False


def _one_judge(stamp: Stamp, judge: str) -> None:
    st.info(
        f"All answers were judged by {plain(short(judge))}, and nobody has reviewed one. Let a second judge read the "
        "same answers, or review some yourself, to see how far the verdicts can be trusted.",
        icon=":material/info:",
    )
    run_id = stamp[0][0]
    with st.container(horizontal=True):
        growth.ask_for(run_id, "Add a judge", "Judges", "compare_add_judge", type="primary", icon=":material/gavel:")
        if st.button("Review answers", icon=":material/rate_review:", key="compare_review"):
            state.choose("run", run_id)
            st.switch_page(frame.ANSWER, query_params={"run": run_id})


def _no_reviews(stamp: Stamp) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Nobody has reviewed an answer of this run yet. Reviews show how far judges agree with people.")
        if st.button("Review answers", icon=":material/rate_review:", key="compare_review"):
            state.choose("run", stamp[0][0])
            st.switch_page(frame.ANSWER, query_params={"run": stamp[0][0]})


def _overall(found: Judged) -> None:
    if len(found.judges) > 1 and not math.isnan(found.alpha):
        st.markdown(f"{counted(len(found.judges), 'judge')} taken together: Krippendorff's alpha {found.alpha:.2f}.")
    if PEOPLE in found.raters:
        st.caption(
            "People look at some answers and not at others, often at the failures: their agreement with a judge is "
            "that of the reviewed answers, not of all."
        )


def _pair(found: Judged, clicked: list[str] | None) -> None:
    """Draw the confusion of two raters, and the answers behind a cell of it."""
    raters = found.raters
    ordered = {f"{a}\n{b}": (a, b) for place, a in enumerate(raters) for b in raters[place + 1 :]}
    if clicked and clicked[0] != clicked[1]:
        st.session_state["compare_pair"] = "\n".join(sorted(clicked, key=raters.index))
    if st.session_state.get("compare_pair") not in ordered:
        st.session_state.pop("compare_pair", None)
    name = st.selectbox(
        "Two of them",
        list(ordered),
        format_func=lambda key: " and ".join(short(part) for part in ordered[key]),
        key="compare_pair",
    )
    a, b = ordered[name]
    table = compare_judge_data.cells(found, a, b)
    if table.empty:
        st.caption("They looked at no answer in common.")
        return
    event: Any = st.dataframe(
        {
            short(a): table["a_label"].map(_LABELS),
            f"{short(b)} ": table["b_label"].map(_LABELS),
            "Answers": table["n"],
            "": [_meeting(*labels) for labels in zip(table["a_label"], table["b_label"], strict=True)],
        },
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"compare_cells_{name}_{len(table)}",
        alt="How often which verdict of one met which of the other",
    )
    picked = event["selection"]["rows"]
    labels = (table["a_label"][picked[0]], table["b_label"][picked[0]]) if picked else (None, None)
    _behind(found, agreement.behind(found.ratings, a, b, *labels), a, b, bool(picked))


def _meeting(a: str, b: str) -> str:
    return "left out" if {a, b} & set(UNDECIDED) else "agree" if a == b else "differ"


def _behind(found: Judged, rows: pd.DataFrame, a: str, b: str, chosen: bool) -> None:
    what = "behind this cell" if chosen else "on which they differ"
    st.markdown(f"**{counted(len(rows), 'answer')} {what}**")
    if rows.empty:
        return
    tables = compare_data.tables(found.key[1])
    texts = tables.questions["question"]
    shown = _with_model(rows.head(_MOST), tables.results)
    event: Any = st.dataframe(
        {
            "Question": [short(texts.get(name, name)) for name in shown["question_id"]],
            "Field": shown["item"].map(short),
            "Model": shown["answering_model"].map(short),
            "Repeat": shown["replicate"],
            short(a): shown["a_label"].map(_LABELS),
            f"{short(b)} ": shown["b_label"].map(_LABELS),
        },
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"compare_behind_{hash(tuple(shown['a_result']))}",
        alt="The answers behind",
        column_config={
            "Field": None if (shown["item"] == "").all() else "Field",
            "Repeat": None if tables.results["replicate"].max() < 2 else "Repeat",
        },
    )
    if len(rows) > _MOST:
        st.caption(f"The first {_MOST} of {len(rows):,} are shown.")
    picked = event["selection"]["rows"]
    row = shown.iloc[picked[0]] if picked else None
    with st.container(horizontal=True):
        for name, side in ((a, "a_result"), (b, "b_result")):
            if name == PEOPLE:
                continue
            label = f"Open it as judged by {plain(short(name, 40))}"
            pressed = st.button(label, icon=":material/article:", disabled=row is None, key=f"compare_open_{side}")
            if pressed and row is not None:
                around = shown.loc[shown["run_id"] == row["run_id"], side]
                answer_drawer.open_drawer(str(row["run_id"]), str(row[side]), list(around.astype(str)))
    if row is None:
        st.caption("Choose a row to open its answer.")


def _with_model(rows: pd.DataFrame, results: pd.DataFrame) -> pd.DataFrame:
    names = ["run_id", "result_id", "answering_model", "replicate"]
    mine = results[results["result_id"].isin(set(rows["a_result"]))][names]
    return rows.merge(mine, left_on=["run_id", "a_result"], right_on=["run_id", "result_id"], how="left")


def _show_consistency(own: list[Consistency]) -> None:
    lines = [
        f"- {plain(short(item.judge))}: the same verdict on every repeat for {item.same} of "
        f"{counted(item.n, 'question')} ({percent(item.share)}, 95 % interval {interval(item.low, item.high)})"
        for item in own
        if item.n
    ]
    if lines:
        st.markdown("**Does a judge give repeats the same verdict?**")
        st.markdown("\n".join(lines))
        st.caption("A repeat is a new answer, so this is what a model and its judge do together.")
