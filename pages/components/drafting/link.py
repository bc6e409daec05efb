"""The way to the drafts of a benchmark: to make some, to see how far they are, or to look at the last ones."""

from __future__ import annotations

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import frame, services


def draw(row: BenchmarkRow, benchmark: Benchmark) -> None:
    """Draw the button; there is none where every question has a template."""
    batch = services.drafter().batch(row.id)
    missing = len(benchmark.get_missing_templates())
    if batch is not None and batch.active:
        label = f"Drafting templates: {batch.done} of {batch.total}"
    elif missing:
        label = f"Draft {counted(missing, 'missing template')}"
    elif batch is not None:
        label = "Drafted templates"
    else:
        return
    if st.button(label, icon=":material/edit_note:", key="open_drafting"):
        st.switch_page(frame.BENCHMARKS, query_params={"benchmark": row.id, "do": "draft"})
