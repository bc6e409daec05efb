"""Judges against each other, against people and against themselves."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from karenina_core import analysis
from karenina_core.analysis import PEOPLE, UNDECIDED, compare_agreement
from karenina_core.text import counted
from pages.components import forms, frame
from pages.components.answer import drawer as answer_drawer
from pages.components.compare import data as compare_data
from pages.components.compare.data import Judged, Stamp
from pages.components.compare.models import chart
from pages.components.text import plain, short
from pages.components.widgets import select_row

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
    """Draw how far the judges of the runs agree; where there is one only, what to do about it."""
    verdicts = compare_data.judged(stamp, False)
    if len(verdicts.raters) < 2 and not (verdicts.reviewed and PEOPLE in compare_data.judged(stamp, True).raters):
        _one_judge(stamp, verdicts)
        return
    level = forms.segments("Level", {name: name for name in ("Verdicts", "Fields")}, "level", bind="query-params")
    found = compare_data.judged(stamp, level == "Fields")
    clicked = chart(
        "agreement",
        "How far do the judges agree?",
        compare_agreement(found.pairs, found.raters, found.own),
        "κ is Cohen's kappa: 1 for full agreement, 0 for what chance gives. n counts the answers that both gave an "
        f"opinion of; below {analysis.FEW_RATINGS} there are too few for kappa, and the square says how many agree. "
        "On the diagonal: how often repeats got the same verdict. Click a square for the answers behind.",
        found.pairs,
    )
    if len(found.judges) > 1 and not math.isnan(found.alpha):
        st.markdown(f"{counted(len(found.judges), 'judge')} taken together: Krippendorff's alpha {found.alpha:.2f}.")
    if PEOPLE in found.raters:
        st.caption("People often review failures: their agreement with a judge is that of the reviewed answers only.")
    if len(found.raters) > 1:
        _pair(found, clicked)
    if PEOPLE not in found.raters:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("Nobody has reviewed an answer of this run yet. Reviews show how far judges agree with people.")
            _review_button(stamp)


def _one_judge(stamp: Stamp, found: Judged) -> None:
    judged = f"All answers were judged by {plain(short(found.judges[0]))}, and nobody has reviewed one."
    st.info(f"{judged} A second judge, or reviews, show how far the verdicts can be trusted.", icon=":material/info:")
    with st.container(horizontal=True):
        link = {"run": stamp[0][0]}
        frame.link_button("Add a judge to this run", frame.MONITOR, "compare_add_judge", kind="primary", **link)
        _review_button(stamp)


def _review_button(stamp: Stamp) -> None:
    frame.link_button("Review answers", frame.ANSWER, "compare_review", icon="rate_review", run=stamp[0][0])


def _pair(found: Judged, clicked: list[str] | None) -> None:
    """Draw the confusion of two raters, and the answers behind a cell of it."""
    raters = found.raters
    ordered = {f"{a}\n{b}": (a, b) for place, a in enumerate(raters) for b in raters[place + 1 :]}
    if clicked and clicked[0] != clicked[1]:
        st.session_state["compare_pair"] = "\n".join(sorted(clicked[:2], key=raters.index))
    if st.session_state.get("compare_pair") not in ordered:
        st.session_state.pop("compare_pair", None)
    names = {key: " and ".join(map(short, pair)) for key, pair in ordered.items()}
    name = st.selectbox("Two of them", list(names), format_func=names.__getitem__, key="compare_pair")
    a, b = ordered[name]
    table = analysis.label_pairs(found.ratings, a, b)
    if table.empty:
        st.caption("They looked at no answer in common.")
        return
    shown = {
        short(a): table["a_label"].map(_LABELS),
        f"{short(b)} ": table["b_label"].map(_LABELS),
        "Answers": table["n"],
        "": [_meeting(*labels) for labels in zip(table["a_label"], table["b_label"], strict=True)],
    }
    alt = "How often which verdict of one met which of the other"
    row = select_row(pd.DataFrame(shown), f"compare_cells_{name}_{len(table)}", alt=alt)
    labels = (None, None) if row is None else (table["a_label"][row], table["b_label"][row])
    _behind(found, analysis.ratings_behind(found.ratings, a, b, *labels), a, b, chosen=row is not None)


def _meeting(a: str, b: str) -> str:
    return "left out" if {a, b} & set(UNDECIDED) else "agree" if a == b else "differ"


def _behind(found: Judged, rows: pd.DataFrame, a: str, b: str, *, chosen: bool) -> None:
    st.markdown(f"**{counted(len(rows), 'answer')} {'behind this cell' if chosen else 'on which they differ'}**")
    if rows.empty:
        return
    tables = compare_data.tables(found.stamp)
    texts = tables.questions["question"]
    shown = _with_model(rows.head(_MOST), tables.results)
    cells = {
        "Question": [short(texts.get(name, name)) for name in shown["question_id"]],
        "Field": shown["item"].map(short),
        "Model": shown["answering_model"].map(short),
        "Repeat": shown["replicate"],
        short(a): shown["a_label"].map(_LABELS),
        f"{short(b)} ": shown["b_label"].map(_LABELS),
    }
    same = {"Field": bool((shown["item"] == "").all()), "Repeat": bool(tables.results["replicate"].max() < 2)}
    table = pd.DataFrame({name: values for name, values in cells.items() if not same.get(name)})
    place = select_row(table, f"compare_behind_{hash(tuple(shown['a_result']))}", alt="The answers behind")
    if len(rows) > _MOST:
        st.caption(f"The first {_MOST} of {len(rows):,} are shown.")
    row = None if place is None else shown.iloc[place]
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
