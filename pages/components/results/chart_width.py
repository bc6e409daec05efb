"""Charts that are wider than a narrow screen."""

from __future__ import annotations

import re

import streamlit as st


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
