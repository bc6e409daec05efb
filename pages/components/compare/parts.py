"""Where baseline and candidate differ: by keyword and by template field."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from karenina_core.analysis.comparison.parts import Parts, parts_frame
from karenina_core.analysis.comparison.words import level_text, points
from karenina_core.analysis.spreadsheet import frame_to_csv
from karenina_core.analysis.summary import percent
from pages.components.compare import data as compare_data
from pages.components.compare.data import Compared
from pages.components.text import short

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
        f"Percentage points, candidate minus baseline, {_interval(parts, part)}; questions that share a "
        f"{part} are taken together. What is beyond chance is corrected for all {part}s together; where a finding is "
        "close and its interval says otherwise, the test decides."
    )
    st.download_button(
        "Download as CSV",
        lambda: frame_to_csv(table),
        file_name=f"compare-{part}s.csv",
        mime="text/csv",
        key=f"compare_download_{part}s",
        icon=":material/download:",
        on_click="ignore",
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
            "Finding": table["finding"].map(_FINDINGS),
            "Difference": table["difference"].map(points),
            "From": table["joint_low"].map(points),
            "To": table["joint_high"].map(points),
            "Baseline": table["baseline_rate"].map(percent),
            "Candidate": table["candidate_rate"].map(percent),
            "Questions": table["questions"],
            "Better on": table["better"],
            "Worse on": table["worse"],
        }
    )
