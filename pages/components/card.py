"""A framed entry of a list: its name, its buttons beside that or below it where the page is narrow, and a caption."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def card(name: str, about: str, told: str = "") -> DeltaGenerator:
    """Draw an entry and return the place of its buttons.

    Args:
        name: As Markdown; foreign parts through `plain`.
        about: The caption, likewise.
        told: What has just been found out about it, likewise; blank for nothing.
    """
    with st.container(border=True):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(name, width="content")
            buttons = st.container(horizontal=True, width="content")
        st.caption(about)
        if told:
            st.markdown(told)
    return buttons
