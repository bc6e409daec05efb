"""The choice of one model for a job of its own, such as drafting or assessing a trait."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st


def choose(
    label: str, named: Mapping[str, str], kept: str, key: str, add: tuple[str, Callable[[], None]]
) -> str | None:
    """Draw the choice and the button that adds a model; return what is chosen, None where there is nothing.

    Args:
        label: What is chosen.
        named: The choices, and how each is shown.
        kept: Name in the session under which the choice is kept from one place to the next.
        key: Begins the keys of the widgets.
        add: Label of the button, and what it does.
    """
    chosen: str | None = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if named:
            names, last = list(named), str(st.session_state.get(kept))
            chosen = st.selectbox(
                label,
                names,
                index=names.index(last) if last in named else 0,
                format_func=named.__getitem__,
                key=f"{key}_{len(names)}",
                width=320,
            )
            st.session_state[kept] = chosen
        title, act = add
        if st.button(title, icon=":material/add:", key=f"{key}_add"):
            act()
    return chosen
