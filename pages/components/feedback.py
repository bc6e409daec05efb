"""What a page says after an act, and how the last act is taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pages.components import frame

_MESSAGE = "_said"
_UNDO = "_undo"


@dataclass
class _Offer:
    message: str
    undo: Callable[[], None]
    here: bool
    place: tuple[object, ...] | None = None


def say(message: str) -> None:
    """Show a short confirmation when the page is next drawn.

    Args:
        message: Markdown; foreign parts through `plain`.
    """
    st.session_state[_MESSAGE] = message


def offer_undo(message: str, undo: Callable[[], None], *, here: bool = False) -> None:
    """Offer to take back what was just done, until it is done or dismissed.

    Args:
        message: What was done, as Markdown; foreign parts through `plain`.
        undo: Takes it back; the page is drawn anew afterwards.
        here: Whether the offer ends as soon as one looks at something else than after the act.
    """
    st.session_state[_UNDO] = _Offer(message, undo, here)


def show(*place: str | None) -> None:
    """Draw what the last act left to say.

    Args:
        *place: What the page shows, such as the ids in its link.
    """
    place_of_offer = st.container()  # always there, so that what is below does not move
    message = st.session_state.pop(_MESSAGE, None)
    if message:
        st.toast(message, icon=":material/check:")
    offer: _Offer | None = st.session_state.get(_UNDO)
    if offer is None:
        return
    now = (frame.visit(), *place)
    offer.place = offer.place or now
    if offer.here and offer.place != now:
        del st.session_state[_UNDO]
    else:
        with place_of_offer:
            _undo_bar(offer.message, offer.undo)


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
