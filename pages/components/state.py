"""Which benchmark and run a session looks at: in the link, and kept when the page changes."""

from __future__ import annotations

from collections.abc import Container, Iterable

import streamlit as st


def selected(name: str, valid: Iterable[str] | None = None) -> str | None:
    """Return the chosen id of `name` (`benchmark`, `run`, `q`, ...), from the link or this session.

    The choice is written back to both, so that the link can be shared and survives a page switch.

    Args:
        name: Parameter name in the link.
        valid: Known ids; another one is dropped, and the first of them taken, unless `is_lost` is asked before.
    """
    known = list(valid) if valid is not None else None
    value = recalled(name)
    if known is not None and value not in known:
        value = known[0] if known else None
    choose(name, value)
    return value


def recalled(name: str) -> str | None:
    """Return what the link or this session says of `name`, as it is; writes nothing."""
    value = st.query_params.get(name) or st.session_state.get(f"_{name}")
    return None if value is None else str(value)


def is_lost(name: str, valid: Container[str]) -> bool:
    """Return whether a link led here that names an id that does not exist.

    What this session chose itself, and has deleted or renamed since, is no such link.
    """
    linked = st.query_params.get(name)
    return linked is not None and linked not in valid and linked != st.session_state.get(f"_{name}")


def remember(name: str, value: str | None) -> None:
    """Remember a choice in this session only, as for the page one is about to go to."""
    st.session_state[f"_{name}"] = value


def choose(name: str, value: str | None) -> None:
    """Remember a choice in the link and in this session."""
    remember(name, value)
    if value is None:
        if name in st.query_params:
            del st.query_params[name]
    elif st.query_params.get(name) != value:
        st.query_params[name] = value
