"""Where baseline and candidate differ: by keyword and by template field."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from karenina_core.analysis import Parts, level_text, parts_frame, percent, points
from karenina_core.text import counted
from pages.components.compare import data as compare_data
from pages.components.compare import figure as compare_figure
from pages.components.compare.data import Compared
from pages.components.text import plain, short

_FINDINGS = {
    "better": "▲ better beyond chance",
    "worse": "▼ worse beyond chance",
    "open": "= no difference can be told",
    "too_few": "? too few disagreements to tell",
}


def draw(compared: Compared) -> None:
    """Draw both tables."""
    _show(compare_data.keyword_parts(compared), "keyword", "On which subjects do they differ?")
    _show(compare_data.field_parts(compared), "field", "Which facts does one get right and the other not?")


def _show(parts: Parts, part: str, question: str) -> None:
    st.markdown(f"**{question}**")
    if not parts:
        st.caption(f"No {part} can be compared.")
        return
    table = parts_frame(parts, part)
    st.dataframe(_readable(table, part), hide_index=True, alt=question)
    st.caption(
        f"{_merged(parts, part)} Differences are percentage points, candidate minus baseline, "
        f"{_interval(parts, part)}. What is beyond chance is corrected for all {part}s together; where a finding is "
        "close and its interval says otherwise, the test decides."
    )
    compare_figure.download(f"{part}s", lambda: table)


def _merged(parts: Parts, part: str) -> str:
    """Say which lines are made of several questions, and that these need not ask for the same thing."""
    several = {name: pair.questions for name, pair in parts.items() if pair.questions > 1}
    if not several:
        return f"Every {part} stands in one question only."
    name, most = max(several.items(), key=lambda item: item[1])
    apart = " A question with several keywords counts under each." if part == "keyword" else ""
    return (
        f"Questions that share a {part} are taken together, also where it stands for something else in each of them: "
        f"{len(several)} of {counted(len(parts), part)} {'comes' if len(several) == 1 else 'come'} from several "
        f"questions, {plain(short(name, 60))} from {most}.{apart}"
    )


def _interval(parts: Parts, part: str) -> str:
    together = max(pair.pairs for pair in parts.values())
    if together < 2:
        return "with its 95 % interval"
    return (
        f"with intervals that hold for all {together} {part}s together 95 % of the time ({level_text(together)} each)"
    )


def _readable(table: pd.DataFrame, part: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            part.capitalize(): table[part].map(short),
            "From questions": table["questions"],
            "Finding": table["finding"].map(_FINDINGS),
            "Difference": table["difference"].map(points),
            "From": table["joint_low"].map(points),
            "To": table["joint_high"].map(points),
            "Baseline": table["baseline_rate"].map(percent),
            "Candidate": table["candidate_rate"].map(percent),
            "Better on": table["better"],
            "Worse on": table["worse"],
        }
    )
