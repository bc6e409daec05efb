"""Parts of a page that follow what goes on in the background, and are the only ones drawn anew for it.

A rerun of the whole page closes open dialogs and lists, with what was typed in them, so nothing but an act of the
person may cause one. A part that notices the end of something therefore asks the browser to have itself drawn anew.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.components import forms

_again = st.components.v2.component(
    "karenina_again", js="export default function ({ setTriggerValue }) { setTriggerValue('noticed', true) }"
)


def follow(
    key: str,
    draw: Callable[[], None],
    active: Callable[[], bool],
    *,
    stamp: Callable[[], object] = lambda: None,
    idle: float | None = None,
) -> None:
    """Draw a part of the page every second while something is active, and once more when that has changed.

    Args:
        key: Tells it from the other parts of the page.
        draw: Draws it.
        active: Whether it changes by itself now.
        stamp: Something that differs when what rests has changed, as by another process.
        idle: Seconds between two looks at what rests; None for none.
    """

    @st.fragment(key=key)
    def part() -> None:
        alive, before = active(), stamp()

        def look() -> None:
            if alive:
                draw()
            if active() != alive or (not alive and stamp() != before):
                _again(key=f"{key}_again", height="content", on_noticed_change=lambda: st.rerun(key))

        if not alive:
            draw()
        if alive or idle:
            st.fragment(look, run_every=1 if alive else idle)()

    part()


def progress(done: int, total: int, words: str, numbers: str, key: str, cancel: Callable[[], object]) -> None:
    """Draw how far a piece of work is, which goes on when the page is left, and the button that cancels it.

    Args:
        done: How much of `total` is done.
        total: 0 where that is not known yet.
        words: What is done, as Markdown; foreign parts through `plain`.
        numbers: Its counts, likewise.
        key: Of the button.
        cancel: Ends the work.
    """
    st.progress(min(done / total, 1.0) if total else 0.0, text=f"{done} of {total} {words}")
    st.caption(numbers)
    if forms.button("Cancel", "stop", key, help="What is done so far stays."):
        cancel()
        st.rerun()
    st.caption("You can leave this page; the work goes on.")
