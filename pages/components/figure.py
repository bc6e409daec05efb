"""A figure on a page: the chart, the mark that was clicked, and the same numbers as a table and as a file."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from karenina_core.analysis import frame_to_csv
from pages.components.text import legible, short
from pages.components.widgets import download

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

TALL = 760  # pixels; what is taller scrolls by itself
_NARROW = 320  # pixels that a figure has on the screen of a telephone
_MOST_ROWS = 1_000
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_SWATCH = (
    '<span style="white-space: nowrap"><span style="display: inline-block; width: .8em; height: .8em; '
    'margin-right: .35em; background: {colour}"></span>{words}</span>'
)


def chart(
    figure: go.Figure, key: str, question: str, *, on_select: Any = "rerun", tall: int = TALL, live: bool = False
) -> list[Any] | None:
    """Draw a figure, and return the `customdata` of the mark that is chosen; None without one.

    What is taller or wider than the screen scrolls in a box, with the meaning of its colours above.

    Args:
        figure: What is drawn.
        key: Of the chart.
        question: What the figure answers; its name for people who cannot see it.
        on_select: Called when a mark is clicked.
        tall: Pixels from which the figure scrolls.
        live: Whether it is drawn every second: it has no tools, and its own legend makes room for the one above.
    """
    height, width = figure.layout.height or 0, figure.layout.width
    least = int(width or (figure.layout.meta or {}).get("least_width", 0))
    boxed = height > tall or least > _NARROW
    if boxed:
        _legend(figure)
        if live:
            figure.update_layout(showlegend=False)
    with st.container(height=min(height + 40, tall) if boxed and height else "content", border=boxed):
        if least > _NARROW:
            _keep_width(key, least)
        event: Any = st.plotly_chart(
            figure,
            width=int(width) if width else "stretch",
            key=key,
            on_select=on_select,
            selection_mode="points",
            config={"displayModeBar": False} if live else {"displaylogo": False, "modeBarButtons": [["toImage"]]},
            alt=question,
        )
    return mark_of(event)


def mark_of(event: Any) -> list[Any] | None:
    """Return the `customdata` of the mark that a chart reports as chosen; None without one."""
    points = event["selection"]["points"]
    return list(points[0]["customdata"]) if points and points[0].get("customdata") else None


def numbers(
    name: str,
    question: str,
    table: Callable[[], pd.DataFrame],
    file_name: str,
    rows: Callable[[], pd.DataFrame] | None = None,
) -> None:
    """Offer the numbers behind a figure as a table and as files; nothing is worked out before somebody looks.

    Args:
        name: Of the figure.
        question: What it answers.
        table: Returns its numbers.
        file_name: Of the download, with `{}` for what it holds, `numbers` or `rows`.
        rows: Returns the rows that the numbers are made of.
    """
    with st.expander("The numbers as a table", on_change="rerun", key=f"numbers_{name}") as shown:
        if not shown.open:
            return
        found = table()
        if len(found) > _MOST_ROWS:
            st.caption(f"The first {_MOST_ROWS:,} of {len(found):,} rows; the download holds all of them.")
        alt, look = f"Data of: {question}", headings(found)
        st.dataframe(legible(found.head(_MOST_ROWS)), hide_index=True, alt=alt, column_config=look)
        with st.container(horizontal=True):
            csv("These numbers as CSV", lambda: found, file_name.format("numbers"), f"download_numbers_{name}")
            if rows is not None:
                csv("The rows behind them as CSV", rows, file_name.format("rows"), f"download_rows_{name}")


def csv(label: str, table: Callable[[], pd.DataFrame], file_name: str, key: str) -> None:
    """Draw a button that gives a table as a CSV file."""
    download(label, lambda: frame_to_csv(table()), file_name, "text/csv", key=key)


def _keep_width(key: str, pixels: int) -> None:
    """Keep a chart as wide as it is, so that the container around it scrolls.

    Streamlit narrows a chart to its container; squares that overlap can be neither read nor clicked. Nothing but a
    number and the letters of the key becomes part of the page's style.
    """
    name = re.sub(r"[^A-Za-z0-9_-]", "-", key)
    st.html(f"<style>.st-key-{name} {{ min-width: {int(pixels)}px; }}</style>")


def _legend(figure: go.Figure) -> None:
    """Draw a coloured square and its words for every kind of mark; only colours and escaped text reach the page."""
    shown = [
        _SWATCH.format(colour=trace.marker.color, words=html.escape(str(trace.name)))
        for trace in figure.data
        if trace.showlegend and _COLOUR.fullmatch(str(trace.marker.color))
    ]
    if shown:
        st.html(f'<div style="display: flex; flex-wrap: wrap; gap: .25rem 1rem">{"".join(shown)}</div>')


_WORDS: Mapping[str, str] = {
    "a": "One judge",
    "always": "All tries right",
    "answering_model": "Model",
    "b": "Other judge",
    "best": "None better for less",
    "corrected": "p, corrected",
    "cost": "Cost in US dollars",
    "errors": "Technical failures",
    "evaluated": "Decided",
    "failed": "Wrong",
    "few": "Too few to tell",
    "first": "One trait",
    "fn": "False negatives",
    "fp": "False positives",
    "high": "Interval: to",
    "k": "Tries",
    "kappa": "Cohen's kappa",
    "low": "Interval: from",
    "macro": "Mean of the questions",
    "micro": "Over all items",
    "n": "Number",
    "once": "One try right",
    "pairs": "Tested together",
    "parsing_model": "Judge",
    "passed": "Right",
    "rate": "Share right",
    "sd": "Standard deviation",
    "second": "Other trait",
    "ties": "Groups",
    "tn": "True negatives",
    "tp": "True positives",
}
"""What the columns of number tables are called on a page; the data and its downloads keep the names that code knows."""


def headings(table: pd.DataFrame) -> dict[str, Any]:
    """Return the column configuration that shows plain headings, with the names of the download as help."""
    return {
        name: st.column_config.Column(_heading(name), help=f"`{name}` in the download")
        for name in table.columns
        if isinstance(name, str) and name.isidentifier()
    }


def _heading(name: str) -> str:
    stem, _, end = name.rpartition("_")
    if stem and end in ("low", "high"):
        return f"{_heading(stem)}: {'from' if end == 'low' else 'to'}"
    return _WORDS.get(name) or short(name.replace("_", " ").capitalize())
