"""One stored benchmark: what it is, and what can be done with it."""

from __future__ import annotations

import streamlit as st

from karenina_core.runs import BenchmarkRow
from pages.components import feedback, frame, services, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.benchmarks import downloads as benchmark_downloads
from pages.components.benchmarks import next_step, upload
from pages.components.benchmarks import tasks as benchmark_tasks
from pages.components.drafting import link as drafting_link
from pages.components.table_import import answers as table_import_answers
from pages.components.text import local_time, plain

_RENAMING = "_renaming"
_ACTS = {
    "rename": ":material/edit: Name, version, description",
    "duplicate": ":material/content_copy: Duplicate",
    "delete": ":material/delete: Delete",
}


def draw(row: BenchmarkRow, *, primary: bool) -> None:
    """Draw the panel.

    Args:
        row: The chosen benchmark.
        primary: Whether the next step with it is the most important one of the page.
    """
    benchmark = benchmark_choice.reading(row.id, row.revision)
    with st.container(border=True):
        st.markdown(f"**{plain(row.name, 120)}** :gray-badge[version {plain(row.version, 20)}]")
        if row.description:
            st.caption(plain(row.description, 400))
        st.caption(f"Modified {plain(local_time(row.modified))}")
        st.markdown(upload.counts(benchmark))
        coming = next_step.draw(row, benchmark, primary=primary)
        with st.container(horizontal=True):
            if st.button("Open questions", icon=":material/quiz:", key="open_questions"):
                st.switch_page(frame.QUESTIONS, query_params={"benchmark": row.id})
            if coming.page != frame.CONFIGURE and st.button(
                "Configure a run", icon=":material/tune:", key="open_configure"
            ):
                st.switch_page(frame.CONFIGURE, query_params={"benchmark": row.id})
            if coming.task != "draft":
                drafting_link.draw(row, benchmark)
            if coming.task != "check" and st.button("Check", icon=":material/fact_check:", key="open_check"):
                benchmark_tasks.open_task("check")
            if st.button("Rubrics", icon=":material/checklist:", key="open_rubrics"):
                st.switch_page(frame.RUBRICS, query_params={"benchmark": row.id})
            with st.popover("Download", icon=":material/download:"):
                benchmark_downloads.draw(row)
            act = st.menu_button("More", list(_ACTS), format_func=lambda name: _ACTS[name], key="benchmark_more")
        if act:
            _act(act, row)
        if st.session_state.get(_RENAMING) == row.id:
            _details(row)
    table_import_answers.draw(row.id)


def _act(act: str, row: BenchmarkRow) -> None:
    if act == "rename":
        st.session_state[_RENAMING] = row.id
    elif act == "duplicate":
        _duplicate(row)
    else:
        _delete(row)


def _details(row: BenchmarkRow) -> None:
    with st.form(f"details_{row.id}_{row.revision}", border=False):
        name = st.text_input("Name", row.name, max_chars=200)
        version = st.text_input("Version", row.version, max_chars=40)
        description = st.text_area("Description", row.description, height=110)
        with st.container(horizontal=True):
            save = st.form_submit_button("Save", icon=":material/save:")
            cancel = st.form_submit_button("Cancel", type="tertiary")
    if save:
        with benchmark_choice.changing(row.id) as benchmark:
            benchmark.set_metadata(name=name.strip(), version=version.strip(), description=description.strip())
        feedback.say("Saved.")
    if save or cancel:
        del st.session_state[_RENAMING]
        st.rerun()


def _duplicate(row: BenchmarkRow) -> None:
    benchmark = services.store().benchmarks.load(row.id)
    benchmark.name = f"{benchmark.name} (copy)"
    copy_id = services.store().benchmarks.save(benchmark)
    table_import_answers.keep(copy_id, table_import_answers.of_benchmark(row.id))
    state.choose("benchmark", copy_id)
    feedback.say(f"Duplicated as **{plain(benchmark.name, 60)}**.")
    st.rerun()


def _delete(row: BenchmarkRow) -> None:
    def undo() -> None:
        services.store().benchmarks.restore(row.id)
        state.choose("benchmark", row.id)

    services.store().benchmarks.delete(row.id)
    feedback.offer_undo(f"Deleted **{plain(row.name, 60)}**. Its runs stay.", undo)
    st.rerun()
