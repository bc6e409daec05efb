"""Benchmarks: bring one in, look after those that are here."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.demo import demo_benchmark
from karenina_core.runs import BenchmarkRow
from pages.components import feedback, frame, services, state
from pages.components.benchmarks import list as benchmark_list
from pages.components.benchmarks import panel as benchmark_panel
from pages.components.benchmarks import tasks as benchmark_tasks
from pages.components.benchmarks import upload
from pages.components.table_import import results as table_import_results
from pages.components.table_import import steps as table_import
from pages.components.text import plain

frame.begin(frame.BENCHMARKS)


def add(benchmark: Benchmark) -> None:
    """Store a benchmark and choose it."""
    state.choose("benchmark", services.store().benchmarks.save(benchmark))
    feedback.say(f"Added **{plain(benchmark.name, 60)}**.")
    st.rerun()


def arrive(waiting: upload.Upload, rows: Sequence[BenchmarkRow]) -> None:
    """Draw what was uploaded, and the way to take it in or to let it go."""
    if waiting.members:
        upload.choose_member(waiting)
    elif waiting.table is not None:
        upload.title(waiting)
        if table_import_results.opens_as_run(waiting.table):
            run_id = table_import_results.draw(waiting.table)
            if run_id is not None:
                upload.clear()
                st.switch_page(frame.RESULTS, query_params={"run": run_id})
            discard()
            return
        with frame.guard():
            if table_import.draw(waiting.table, waiting.digest, rows):
                upload.clear()
                st.rerun()
    else:
        upload.report(waiting)
        if any(waiting.benchmark is not None and row.name == waiting.benchmark.name for row in rows):
            st.caption("There is a benchmark of this name already. Adding keeps both.")
    with st.container(horizontal=True):
        if waiting.benchmark is not None and st.button(
            "Add to workspace", type="primary", icon=":material/add:", key="upload_add"
        ):
            upload.clear()
            add(waiting.benchmark)
        discard()


def discard() -> None:
    """Draw the way to let go of what was uploaded."""
    if st.button("Discard", key="upload_discard", type="tertiary"):
        upload.clear()
        st.rerun()


with frame.guard():
    feedback.show()
    rows = services.store().benchmarks.all()
    task = benchmark_tasks.chosen()
    if task is not None and rows:
        chosen_id = state.selected("benchmark", [row.id for row in rows])
        benchmark_tasks.draw(task, next(row for row in rows if row.id == chosen_id))
        st.stop()
    left, right = st.columns([55, 45], gap="large", vertical_alignment="center")
    with left:
        waiting = upload.choose()
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
            arrive(waiting, rows)

    listed, chosen = st.columns([55, 45], gap="large")
    with listed:
        benchmark_id = benchmark_list.choose(rows)
    if benchmark_id is not None:
        with chosen:
            benchmark_panel.draw(services.store().benchmarks.row(benchmark_id), primary=waiting is None)
