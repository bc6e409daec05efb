"""What keys of widgets are made of: a fingerprint of what they depend on, or a number that no other one has.

A widget keeps what it shows as long as its key stays; where it is to begin anew, it gets another key.
"""

from __future__ import annotations

import hashlib

import streamlit as st

_NUMBER = "_widget_number"


def fingerprint(text: str, digits: int = 16) -> str:
    """Return the first hexadecimal digits of a text's hash; equal texts have the same, others practically never.

    Args:
        text: Any text, also one that no file could hold.
        digits: At most 64.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def next_number() -> int:
    """Return a number that this session has not had before."""
    number = int(st.session_state.get(_NUMBER, 0)) + 1
    st.session_state[_NUMBER] = number
    return number
