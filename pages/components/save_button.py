"""A save button that takes along what is still being typed, and is out of use while there is nothing to save."""

from __future__ import annotations

import streamlit as st

NOTHING = "There is nothing to save: no edit has been made since the last time."

# A field reports its text when it is left. So whoever types and saves at once, by Ctrl+S or by a click, finds the
# button out of use for the moment in which the page learns of the text; it is pressed then for them.
_LEAVE_FIELD = """
const PATIENCE = 3000
const button = () => {
  const found = [...document.querySelectorAll('[class*="st-key-save_"] button')]
  return found.find((element) => element.offsetParent !== null)
}
const isField = (element) => element instanceof HTMLElement && element.matches("input, textarea")

const pressWhenReady = () => {
  const until = Date.now() + PATIENCE
  const look = () => {
    const found = button()
    if (found && !found.disabled) {
      found.click()
    } else if (Date.now() < until) {
      setTimeout(look, 50)
    }
  }
  look()
}

const within = (event, box) =>
  event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom

export default function () {
  const onKey = (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      const typing = isField(document.activeElement)
      const waits = button()?.disabled
      document.activeElement?.blur()
      if (typing && waits) {
        event.preventDefault()
        pressWhenReady()
      }
    }
  }
  const onPointer = (event) => {
    const found = button()
    if (found?.disabled && isField(document.activeElement) && within(event, found.getBoundingClientRect())) {
      document.activeElement.blur()
      pressWhenReady()
    }
  }
  document.addEventListener("keydown", onKey, true)
  document.addEventListener("pointerdown", onPointer, true)
  return () => {
    document.removeEventListener("keydown", onKey, true)
    document.removeEventListener("pointerdown", onPointer, true)
  }
}
"""
_leave_field = st.components.v2.component("karenina_leave_field", js=_LEAVE_FIELD)


def draw(label: str, key: str, *, edited: bool) -> bool:
    """Draw the primary button and return whether it, or Ctrl+S, was pressed. The page calls `include_typing` too.

    Args:
        label: Of the button.
        key: Of the button; begins with `save_`.
        edited: Whether there is anything to save.
    """
    return st.button(
        label,
        type="primary",
        icon=":material/save:",
        shortcut="Ctrl+S",
        key=key,
        disabled=not edited,
        help=None if edited else NOTHING,
    )


def include_typing() -> None:
    """Let Ctrl+S leave the field that is being typed in, before the button sees it; takes no visible place."""
    _leave_field(key="leave_field", height="content")
