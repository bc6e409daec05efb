"""One chart of the Compare page: its question, the figure, how to read it, and the same numbers as a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from karenina_core.analysis import frame_to_csv
from pages.components.headings import headings
from pages.components.text import legible


def show(name: str, question: str, drawing: Any, reading: str, table: pd.DataFrame) -> list[str] | None:
    """Draw a chart and return what a new click on a mark stands for.

    Args:
        name: Names the widgets and the download.
        question: What the chart answers; its title.
        drawing: The figure.
        reading: How to read it.
        table: The numbers it shows.

    Returns:
        The mark's `customdata`, once for every click; None otherwise.
    """
    st.markdown(f"**{question}**")
    event: Any = st.plotly_chart(
        drawing,
        key=f"compare_figure_{name}",
        on_select="rerun",
        selection_mode="points",
        config={"displaylogo": False, "modeBarButtons": [["toImage"]]},
        alt=question,
    )
    st.caption(reading)
    with st.expander("The numbers as a table", on_change="rerun", key=f"compare_numbers_{name}") as numbers:
        if numbers.open:
            alt = f"Data of: {question}"
            st.dataframe(legible(table), hide_index=True, alt=alt, column_config=headings(table))
            download(name, lambda: table)
    points = event["selection"]["points"]
    clicked = list(points[0]["customdata"]) if points and points[0].get("customdata") else None
    seen, st.session_state[f"_compare_clicked_{name}"] = st.session_state.get(f"_compare_clicked_{name}"), clicked
    return clicked if clicked != seen else None


def download(name: str, table: Callable[[], pd.DataFrame]) -> None:
    """Draw the button that gives numbers of the Compare page as a CSV file.

    Args:
        name: Names the button and the file.
        table: Returns the numbers; called when somebody wants them.
    """
    st.download_button(
        "Download as CSV",
        lambda: frame_to_csv(table()),
        file_name=f"compare-{name}.csv",
        mime="text/csv",
        key=f"compare_download_{name}",
        icon=":material/download:",
        on_click="ignore",
    )
