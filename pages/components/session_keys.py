"""Keys a person types: in the memory of that person's session, and nowhere else."""

from __future__ import annotations

import os

import streamlit as st

from karenina_core.models import PROVIDERS, KeySource
from karenina_core.redact import hide

_HELD = "_session_keys"
_REFUSED = "_key_refused"
_SHORTEST = 8


class _Held:
    """Holds keys, and does not show them when it is printed."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<{len(self._values)} keys>"

    def __reduce__(self) -> str:
        raise TypeError("Keys are not written anywhere.")

    def names(self) -> frozenset[str]:
        return frozenset(self._values)

    def take(self, name: str, value: str) -> None:
        hide(value)
        self._values[name] = value

    def forget(self, name: str) -> None:
        self._values.pop(name, None)

    def source(self) -> KeySource:
        # A run keeps the keys it was started with, whatever becomes of the session.
        return dict(self._values).get


def source() -> KeySource:
    """Return the keys typed in this session, for a run that it starts."""
    return _held().source()


def state_of(name: str) -> str:
    """Say in words whether a key is there: typed in this session, in the environment, or not."""
    if name in _held().names():
        return "✓ typed in this session"
    return "✓ found" if os.environ.get(name) else "– not set"


def is_there(name: str) -> bool:
    """Say whether a call can find this key."""
    return name in _held().names() or bool(os.environ.get(name))


def draw() -> None:
    """Draw which keys there are, and a field to type one."""
    st.caption(
        "Keys are read from the environment when a call is made. One typed here serves the runs you start from this "
        "tab until it is closed, and is sent to its provider only. Keys are never stored, logged or shown."
    )
    titles = {provider.variables[0]: provider.title for provider in PROVIDERS}
    rows = [{"Provider": title, "Variable": name, "State": state_of(name)} for name, title in titles.items()]
    st.dataframe(rows, hide_index=True, alt="Provider keys", width="content")
    name = st.selectbox("Key of", list(titles), format_func=titles.__getitem__, key="key_of")
    with st.form("type_a_key", clear_on_submit=True, border=False):
        # Its own widget for every provider, so that a half-typed key never changes hands.
        st.text_input(f"{titles[name]} key", type="password", autocomplete="off", key=f"typed_{name}")
        st.form_submit_button("Use in this session", icon=":material/key:", on_click=_take, args=(name,))
    if st.session_state.pop(_REFUSED, False):
        st.warning("That is not a key: it is too short, or holds blanks.", title="Nothing was taken")
    if name in _held().names() and st.button("Forget the key", key="forget_key", icon=":material/delete:"):
        _held().forget(name)
        st.rerun()


def _take(name: str) -> None:
    value = str(st.session_state.get(f"typed_{name}") or "").strip()
    st.session_state[f"typed_{name}"] = ""  # the field forgets it before anything else is drawn
    if len(value) < _SHORTEST or not value.isascii() or not value.isprintable() or " " in value:
        st.session_state[_REFUSED] = True
    else:
        _held().take(name, value)


def _held() -> _Held:
    held: _Held = st.session_state.setdefault(_HELD, _Held())
    return held
