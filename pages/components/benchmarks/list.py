"""The list of stored benchmarks, and what can be done with the chosen one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from karenina_core.benchmark import Benchmark, question_sheet
from karenina_core.runs import BenchmarkRow
from karenina_core.sheets import XLSX_MIME, csv_text
from karenina_core.text import counted
from pages.components import feedback, forms, frame, services, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.benchmarks.choice import NextStep
from pages.components.drafting import start as drafting
from pages.components.table_import import answers as prepared_answers
from pages.components.text import local_time, plain, short
from pages.components.widgets import download, pick

_VIEWS = {"here": "In the workspace", "deleted": "Deleted"}
_RENAMING = "_renaming"
_ACTS = {
    "rename": ":material/edit: Name, version, description",
    "duplicate": ":material/content_copy: Duplicate",
    "delete": ":material/delete: Delete",
}
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def choose(rows: Sequence[BenchmarkRow]) -> str | None:
    """Draw the list and return the id of the chosen benchmark."""
    deleted = services.store().benchmarks.all(deleted=True)
    if deleted and forms.segments("View", _VIEWS, "benchmark_view") == "deleted":
        _restore(deleted)
        return None
    if not rows:
        there = "Every benchmark here is deleted. Restore one from the deleted ones, or add another."
        none = "No benchmarks yet. Drop a file above, add the demo, or start a new one."
        st.info(there if deleted else none, icon=":material/info:")
        return None
    ids = [row.id for row in rows]
    forms.refuse_lost("benchmark", ids, "benchmark")
    chosen = state.selected("benchmark", ids)
    sought = forms.search("benchmark_search", "Name or description").casefold()
    shown = [row for row in rows if sought in f"{row.name}\n{row.description}".casefold()]
    st.caption(f"{len(shown)} of {len(rows)} shown, the last modified first")
    if not shown:
        st.info("No benchmark matches. Clear the search to see all.", icon=":material/search_off:")
        return chosen
    names = Counter(row.name for row in rows)
    cells = [
        {
            "Name": short(row.name, 80) if names[row.name] == 1 else benchmark_choice.label(row),
            "Questions": row.question_count,
            "Finished": row.finished_count,
        }
        for row in shown
    ]
    # In pixels, and together no more than a telephone has beside the boxes to tick; a wide screen gives more to each.
    columns = forms.widths(Name=158) | {
        name: st.column_config.NumberColumn(width=width) for name, width in (("Questions", 70), ("Finished", 65))
    }
    picked = pick("benchmark_table", [row.id for row in shown], cells, chosen, alt="Benchmarks", columns=columns)
    if picked != chosen:
        state.choose("benchmark", picked)
    return picked


def _restore(deleted: Sequence[BenchmarkRow]) -> None:
    for row in deleted:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{plain(row.name, 80)}** · {counted(row.question_count, 'question')}", width="stretch")
            if forms.button("Restore", "restore_from_trash", f"restore_{row.id}"):
                services.store().benchmarks.restore(row.id)
                state.choose("benchmark", row.id)
                feedback.say(f"Restored **{plain(row.name, 60)}**.")
                st.rerun()


def panel(row: BenchmarkRow, *, primary: bool) -> None:
    """Draw what a benchmark is, and what can be done with it.

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
        st.markdown(contents(benchmark))
        step = _next(row, benchmark, primary=primary)
        _links(row, benchmark, step)
        if st.session_state.get(_RENAMING) == row.id:
            _details(row)
    prepared_answers.draw(row.id)


def contents(benchmark: Benchmark) -> str:
    """Return the contents of a benchmark in one line."""
    ids = benchmark.get_question_ids()
    templates = sum(benchmark.has_template(name) for name in ids)
    rubrics = [benchmark.get_global_rubric(), *map(benchmark.get_question_rubric, ids)]
    traits = sum(len(rubric.traits) for rubric in rubrics if rubric)
    return (
        f"{counted(len(ids), 'question')} · {benchmark.finished_count} finished · "
        f"{templates} with a template · {counted(traits, 'rubric trait')}"
    )


def _next(row: BenchmarkRow, benchmark: Benchmark, *, primary: bool) -> NextStep:
    """Draw where a benchmark stands, and the button to what comes next; return that."""
    states = benchmark_choice.checked(row.id, row.revision).states
    step = benchmark_choice.next_step(benchmark, states, services.drafter().batch(row.id))
    count = Counter(where.state for where in states.values())
    st.caption(f"✓ {count['ready']} ready · ○ {count['draft']} draft · ! {count['issue']} with an issue")
    st.markdown(f"**Next:** {step.standing}")
    rank = "primary" if primary else "secondary"
    if forms.button(step.label, step.icon, "next_step", type=rank, width="stretch"):
        st.switch_page(step.page, query_params={"benchmark": row.id} | ({"do": step.task} if step.task else {}))
    return step


def _links(row: BenchmarkRow, benchmark: Benchmark, step: NextStep) -> None:
    with st.container(horizontal=True):
        frame.link_button("Open questions", frame.QUESTIONS, "open_questions", benchmark=row.id)
        if step.page != frame.CONFIGURE:
            frame.link_button("Configure a run", frame.CONFIGURE, "open_configure", benchmark=row.id)
        if step.task != "draft":
            drafting.link(row, benchmark)
        if step.task != "check":
            frame.link_button("Check", frame.BENCHMARKS, "open_check", icon="fact_check", benchmark=row.id, do="check")
        frame.link_button("Rubrics", frame.RUBRICS, "open_rubrics", benchmark=row.id)
        with st.popover("Download", icon=":material/download:"):
            _downloads(row)
        act = st.menu_button("More", list(_ACTS), format_func=_ACTS.__getitem__, key="benchmark_more")
    if act == "rename":
        st.session_state[_RENAMING] = row.id
    elif act == "duplicate":
        _duplicate(row)
    elif act == "delete":
        _delete(row)


def _downloads(row: BenchmarkRow) -> None:
    """Draw the buttons; a file is made when it is asked for."""
    stem = _NOT_IN_NAMES.sub("_", row.name)[:80].strip("_.") or "benchmark"
    formats: dict[str, tuple[str, str, Callable[[Benchmark], bytes]]] = {
        "jsonld": ("Benchmark file (.jsonld)", "application/ld+json", lambda benchmark: benchmark.to_json().encode()),
        "xlsx": ("Excel (.xlsx)", XLSX_MIME, lambda benchmark: benchmark.to_xlsx()),
        "csv": ("CSV (.csv)", "text/csv", as_csv),
    }
    for suffix, (title, mime, make) in formats.items():
        key = f"download_{suffix}_{row.id}"
        download(title, partial(_made, row, make), f"{stem}.{suffix}", mime, key=key, width="stretch")
    st.caption("The benchmark file holds everything; the tables hold the questions, and can be opened here again.")


def _made(row: BenchmarkRow, make: Callable[[Benchmark], bytes]) -> bytes:
    return make(services.store().benchmarks.load(row.id))


def as_csv(benchmark: Benchmark) -> bytes:
    """Return the questions as a guarded CSV file with every column of the workbook."""
    sheet = question_sheet(benchmark.get_all_questions())
    return csv_text(sheet.header, sheet.rows).encode("utf-8-sig")


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
    prepared_answers.add(copy_id, prepared_answers.of_benchmark(row.id))
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
