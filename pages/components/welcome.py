"""What Home shows beside the runs: how it all works, and the benchmarks one worked on last."""

from __future__ import annotations

import streamlit as st

from karenina_core.text import counted
from pages.components import frame, services, state
from pages.components.text import local_time, plain
from pages.components.widgets import card

_MOST = 3
_STEPS = (
    (":material/chat:", "1 · The model answers", "It gets the bare question and replies in free text."),
    (":material/fact_check:", "2 · A judge extracts", "It fills in the template's fields. It never sees the truth."),
    (":material/rule:", "3 · Code decides", "Rules compare each field with the truth: same values, same verdict."),
)


def is_new() -> bool:
    """Return whether nothing is stored yet."""
    return not services.store().benchmarks.all()


def explain() -> None:
    """Draw how an answer comes to its verdict."""
    st.subheader("How it works")
    for column, (icon, title, text) in zip(st.columns(len(_STEPS)), _STEPS, strict=True):
        with column.container(border=True, height="stretch"):
            st.markdown(f"{icon} **{title}**")
            st.write(text)


def benchmarks() -> None:
    """Draw the benchmarks that were changed last, each with the way to its questions."""
    st.subheader("Recent benchmarks")
    for row in services.store().benchmarks.all()[:_MOST]:
        finished = f"{row.finished_count:,} finished"
        changed = f"changed {plain(local_time(row.modified))}"
        with card(f"**{plain(row.name, 60)}**", f"{counted(row.question_count, 'question')} · {finished} · {changed}"):
            _way("Questions", "quiz", frame.QUESTIONS, row.id)
            if row.finished_count:
                _way("Configure a run", "tune", frame.CONFIGURE, row.id)


def _way(label: str, icon: str, page: str, benchmark_id: str) -> None:
    if st.button(label, key=f"home_{icon}_{benchmark_id}", icon=f":material/{icon}:"):
        state.choose("benchmark", benchmark_id)
        st.switch_page(page, query_params={"benchmark": benchmark_id})
