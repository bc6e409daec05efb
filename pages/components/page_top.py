"""A page begins at its top: Streamlit leaves the next one where the last one was scrolled to."""

from __future__ import annotations

import streamlit as st

_TO_TOP = """
export default function ({ data }) {
  const main = document.querySelector('[data-testid="stMain"]')
  if (main === null || main.dataset.visit === data) {
    return
  }
  // A link to a heading may have scrolled the first page already.
  if (main.dataset.visit !== undefined) {
    main.scrollTo({ top: 0, behavior: "instant" })
  }
  main.dataset.visit = data
}
"""
_to_top = st.components.v2.component("karenina_page_top", js=_TO_TOP)


def title(text: str, visit: int) -> None:
    """Draw the title of a page, and scroll up to it when somebody has come from another page.

    Args:
        text: The title.
        visit: Another number for every stay on a page.
    """
    with st.container(gap=None):
        st.title(text)
        _to_top(key="page_top", data=str(visit), height="content")
