"""Benchmarks: bring one in, look after those that are here."""

from __future__ import annotations

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.demo import demo_benchmark
from pages.components import feedback, forms, frame, services, state
from pages.components.benchmarks import check as benchmark_check
from pages.components.benchmarks import list as benchmark_list
from pages.components.benchmarks import upload as benchmark_upload
from pages.components.drafting import batch as drafting_batch
from pages.components.text import plain

frame.begin(frame.BENCHMARKS)

_TASKS = {"draft": ("Draft templates", drafting_batch.draw), "check": ("Check", benchmark_check.draw)}


def add(benchmark: Benchmark) -> None:
    """Store a benchmark and choose it."""
    state.choose("benchmark", services.store().benchmarks.save(benchmark))
    feedback.say(f"Added **{plain(benchmark.name, 60)}**.")
    st.rerun()


with frame.guard():
    feedback.show()
    rows = services.store().benchmarks.all()
    task = st.query_params.get("do")
    if task in _TASKS and rows:
        by_id = {row.id: row for row in rows}
        forms.refuse_lost("benchmark", by_id, "benchmark")
        row = by_id[str(state.selected("benchmark", by_id))]
        title, draw = _TASKS[task]
        if st.button("All benchmarks", icon=":material/arrow_back:", key="task_back", type="tertiary"):
            del st.query_params["do"]
            st.rerun()
        st.subheader(f"{title}: {plain(row.name, 80)}")
        with frame.guard():
            draw(row)
        st.stop()
    left, right = st.columns([55, 45], gap="large", vertical_alignment="center")
    with left:
        waiting = benchmark_upload.choose()
    with right, st.container(horizontal=True):
        with (
            st.popover("New benchmark", icon=":material/add:", key=f"new_benchmark_of_{len(rows)}"),
            st.form(f"new_benchmark_{len(rows)}", border=False),
            frame.guard(),
        ):
            name = st.text_input("Name", max_chars=200)
            description = st.text_area("Description (optional)", height=90)
            if st.form_submit_button("Create"):
                add(Benchmark.create(name=name.strip(), description=description.strip()))
        if st.button("Add the demo", icon=":material/science:", key="add_demo"):
            add(demo_benchmark())

    if waiting is not None:
        with st.container(border=True, key="upload_report"):
            accepted = benchmark_upload.draw(waiting, rows)
            if accepted is not None:
                add(accepted)

    listed, chosen = st.columns([55, 45], gap="large")
    with listed:
        benchmark_id = benchmark_list.choose(rows)
    if benchmark_id is not None:
        with chosen:
            benchmark_list.panel(services.store().benchmarks.row(benchmark_id), primary=waiting is None)
