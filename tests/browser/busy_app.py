"""An app whose callbacks and pages take their time, as on a busy server."""

from __future__ import annotations

import time

import streamlit as st

from pages.components import whole_input

whole_input.keep_whole()


def take(key: str) -> None:
    """Note a value, touching the state before and after a while."""
    taken = st.session_state.setdefault("taken", [])
    time.sleep(0.5)
    st.session_state["taken"] = [*taken, f"{key} {st.session_state[key]}"]


def note() -> None:
    """Note the last words."""
    st.session_state["noted"] = st.session_state["words"]


def typing() -> None:
    """Draw boxes and a button with callbacks; the page is busy for a second."""
    st.text(f"Taken: {', '.join(st.session_state.get('taken', []))}")
    st.text_input("First", key="first", on_change=take, args=("first",))
    st.text_input("Second", key="second", on_change=take, args=("second",))
    st.button("Press", key="press", on_click=take, args=("press",))
    st.text_input("Last words", key="words", on_change=note)
    time.sleep(1)
    st.text("All drawn")


def elsewhere() -> None:
    """Show what was typed on the page that was left."""
    st.text(f"Noted: {st.session_state.get('noted')}")
    st.text(f"Taken: {', '.join(st.session_state.get('taken', []))}")


st.navigation([st.Page(typing, title="Typing"), st.Page(elsewhere, title="Elsewhere")]).run()
