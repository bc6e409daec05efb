"""Charts that are larger than the screen: their width, and their colours' meaning where the own legend is far away."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    import plotly.graph_objects as go

_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_SWATCH = (
    '<span style="white-space: nowrap"><span style="display: inline-block; width: .8em; height: .8em; '
    'margin-right: .35em; background: {colour}"></span>{words}</span>'
)


def keep(key: str, pixels: int) -> None:
    """Keep a chart as wide as it is, so that the container around it scrolls.

    Streamlit narrows a chart to its container; squares that overlap can be neither read nor clicked. Nothing but a
    number and the letters of the key becomes part of the page's style.

    Args:
        key: Of the chart.
        pixels: Its width.
    """
    name = re.sub(r"[^A-Za-z0-9_-]", "-", key)
    st.html(f"<style>.st-key-{name} {{ min-width: {int(pixels)}px; }}</style>")


def legend(figure: go.Figure) -> None:
    """Draw a coloured square and its words for every kind of mark that has one colour.

    Args:
        figure: Only what is a colour in hexadecimal, and escaped text, becomes part of the page.
    """
    shown = [
        _SWATCH.format(colour=trace.marker.color, words=html.escape(str(trace.name)))
        for trace in figure.data
        if trace.showlegend and _COLOUR.fullmatch(str(trace.marker.color))
    ]
    if shown:
        st.html(f'<div style="display: flex; flex-wrap: wrap; gap: .25rem 1rem">{"".join(shown)}</div>')
