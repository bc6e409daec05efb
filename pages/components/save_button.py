"""A save button whose Ctrl+S takes along what is still being typed."""

from __future__ import annotations

import streamlit as st

# A shortcut alone fires without leaving the focused field, whose text would then be missing from what is saved.
_LEAVE_FIELD = """
export default function () {
  const leave = (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      document.activeElement?.blur()
    }
  }
  document.addEventListener("keydown", leave, true)
  return () => document.removeEventListener("keydown", leave, true)
}
"""
_leave_field = st.components.v2.component("karenina_leave_field", js=_LEAVE_FIELD)


def draw(label: str, key: str) -> bool:
    """Draw the primary button and return whether it, or Ctrl+S, was pressed. The page calls `include_typing` too."""
    return st.button(label, type="primary", icon=":material/save:", shortcut="Ctrl+S", key=key)


def include_typing() -> None:
    """Let Ctrl+S leave the field that is being typed in, before the button sees it; takes no visible place."""
    _leave_field(key="leave_field", height="content")
