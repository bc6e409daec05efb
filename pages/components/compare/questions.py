"""Question by question: where baseline and candidate differ, and their answers side by side."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from karenina_core.analysis import match, outcome, percent
from karenina_core.text import counted
from pages.components import state
from pages.components.compare import answers as compare_answers
from pages.components.compare import data as compare_data
from pages.components.compare import figure as compare_figure
from pages.components.compare.data import Compared
from pages.components.text import short
from pages.components.widgets import pick

_OUTCOMES = {
    "better": "▲ better",
    "worse": "▼ worse",
    "both_right": "✓ both right",
    "both_wrong": "✗ both wrong",
    "both_partly": "≈ both partly",
}
MOST_ROWS = 1_000
_VIEWS = {"differ": "Where they differ", **_OUTCOMES, "all": "All"}
_KEPT = {"differ": ("better", "worse"), **{name: (name,) for name in _OUTCOMES}, "all": tuple(_OUTCOMES)}


def draw(compared: Compared) -> None:
    """Draw the table of questions, and the answers of the chosen one."""
    table = _table(compared)
    if table.empty:
        st.info("No question has a verdict on both sides.", icon=":material/info:")
        return
    shown = _filtered(compared, table)
    st.caption(f"{len(shown)} of {counted(len(table), 'matched question')} shown")
    if shown.empty:
        st.info("No question is like that. Choose another view above.", icon=":material/info:")
        return
    if len(shown) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} are listed. Search to see others.")
    question = _pick(shown.head(MOST_ROWS))
    compare_figure.download("questions", table.reset_index)
    if question is None:
        st.caption("Choose a question to see both answers side by side.")
    else:
        compare_answers.draw(compared, question)


def _table(compared: Compared) -> pd.DataFrame:
    found = compare_data.tables(compared.stamp)
    questions = match(found.counts, compared.baseline, compared.candidate).questions
    rates = zip(questions["baseline_rate"], questions["candidate_rate"], strict=True)
    table = questions.assign(outcome=[outcome(*pair) for pair in rates])
    return found.questions[["question"]].join(table, how="inner")


def _filtered(compared: Compared, table: pd.DataFrame) -> pd.DataFrame:
    counts = table["outcome"].value_counts()
    numbers = {name: int(counts.reindex(kept, fill_value=0).sum()) for name, kept in _KEPT.items()}
    views = [name for name in _VIEWS if numbers[name] or name in ("differ", "all")]
    left, right = st.columns([72, 28], vertical_alignment="bottom")
    with left:
        view = st.segmented_control(
            "Questions",
            views,
            default="differ",
            required=True,
            format_func=lambda name: f"{_VIEWS[name]} {numbers[name]}",
            key=f"compare_outcome_{compared.baseline.id}_{compared.candidate.id}",
            label_visibility="collapsed",
            wrap=True,
        )
    with right:
        search = st.text_input("Search in questions", type="search", key="compare_search")
    shown = table[table["outcome"].isin(_KEPT[view or "differ"])]
    if search:
        shown = shown[shown["question"].str.contains(search, case=False, regex=False)]
    return shown.sort_values("difference", kind="stable")


def _pick(shown: pd.DataFrame) -> str | None:
    ids = [str(name) for name in shown.index]
    linked = st.query_params.get("q")
    chosen = pick(
        "compare_questions",
        ids,
        [_cells(row) for row in shown.to_dict("records")],
        linked if linked in ids else None,
        alt="Questions compared",
        most=10,
        columns={"Question": st.column_config.TextColumn(width="large")},
    )
    if chosen != linked:
        state.choose("q", chosen)
    return chosen


def _cells(row: dict[Any, Any]) -> dict[str, str]:
    return {
        "": _OUTCOMES[row["outcome"]],
        "Question": short(row["question"]),
        "Baseline": _share(row, "baseline"),
        "Candidate": _share(row, "candidate"),
    }


def _share(row: dict[Any, Any], side: str) -> str:
    evaluated, passed = row[f"{side}_evaluated"], row[f"{side}_passed"]
    if evaluated == 1:
        return "✓ right" if passed else "✗ wrong"
    return f"{passed} of {evaluated} ({percent(passed / evaluated)})"
