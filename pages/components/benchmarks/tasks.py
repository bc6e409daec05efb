"""What can be done with one benchmark on a whole page: drafting its templates, and checking them."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from karenina_core.runs import BenchmarkRow
from pages.components import frame
from pages.components.benchmarks import check as benchmark_check
from pages.components.drafting import panel as drafting
from pages.components.text import plain

_NAME = "do"
_TASKS: dict[str, tuple[str, Callable[[BenchmarkRow], None]]] = {
    "draft": ("Draft templates", drafting.draw),
    "check": ("Check", benchmark_check.draw),
}


def chosen() -> str | None:
    """Return the task the link names, if there is such a task."""
    name = st.query_params.get(_NAME)
    return name if name in _TASKS else None


def open_task(name: str) -> None:
    """Show a task of the chosen benchmark."""
    st.query_params[_NAME] = name
    st.rerun()


def draw(name: str, row: BenchmarkRow) -> None:
    """Draw a task, with the way back."""
    title, section = _TASKS[name]
    if st.button("All benchmarks", icon=":material/arrow_back:", key="task_back", type="tertiary"):
        del st.query_params[_NAME]
        st.rerun()
    st.subheader(f"{title}: {plain(row.name, 80)}")
    with frame.guard():
        section(row)
