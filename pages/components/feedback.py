"""What a page says after an act, and how the last act is taken back."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.components import frame

_SAID = "_said"
_UNDO = "_undo"


def say(message: str) -> None:
    """Show a short confirmation when the page is next drawn.

    Args:
        message: Markdown; foreign parts through `plain`.
    """
    st.session_state[_SAID] = message


def offer_undo(message: str, undo: Callable[[], None]) -> None:
    """Offer to take back what was just done, until it is done or dismissed.

    Args:
        message: What was done, as Markdown; foreign parts through `plain`.
        undo: Takes it back; the page is drawn anew afterwards.
    """
    st.session_state[_UNDO] = (message, undo)


def show() -> None:
    """Draw what the last act left to say."""
    said = st.session_state.pop(_SAID, None)
    if said:
        st.toast(said, icon=":material/check:")
    if _UNDO in st.session_state:
        _undo_bar(*st.session_state[_UNDO])


def _undo_bar(message: str, undo: Callable[[], None]) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="undo_bar"):
        st.markdown(message, width="stretch")
        if st.button("Undo", icon=":material/undo:", key="undo"):
            with frame.guard():
                undo()
                del st.session_state[_UNDO]
                st.rerun()
        if st.button("Dismiss", type="tertiary", key="undo_dismiss"):
            del st.session_state[_UNDO]
            st.rerun()
