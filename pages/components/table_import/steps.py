"""A table on its way into a benchmark: how it is read, what its columns mean, what is wrong, and where it goes.

An export of results can also be opened as a run, with its verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

import streamlit as st

from karenina_core.benchmark import (
    DELIMITERS,
    ENCODINGS,
    TITLES,
    Benchmark,
    Choices,
    ColumnMapping,
    Import,
    Opened,
    Options,
    Progress,
    Table,
    apply,
    read_table,
    suggest_mapping,
)
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import feedback, forms, frame, services, sign_in, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.table_import import answers as prepared_answers
from pages.components.table_import import doctor as import_doctor
from pages.components.table_import import mapping as import_mapping
from pages.components.text import plain, short
from pages.components.widgets import fingerprint

_STATE = "_table_import"
_NEW = ""
_WAYS = {"run": "A run, with its verdicts", "answers": "Questions and answers, to be judged here"}


@dataclass
class TableImport:
    """What a person has decided about one file so far; it survives a change of page.

    Attributes:
        file: The file.
        digest: Tells it from other files; part of every widget's key.
        name: Name of the new benchmark.
        options: How it is read.
        table: What was read with them.
        mapping: What the columns mean.
        choices: What is done about findings.
        target: Id of the benchmark it goes to; empty for a new one.
        examined: What the doctor says, and what that depends on.
    """

    file: Opened
    digest: str
    name: str
    options: Options = field(default_factory=Options)
    table: Table | None = None
    mapping: ColumnMapping = field(default_factory=ColumnMapping)
    choices: Choices = field(default_factory=Choices)
    target: str = _NEW
    examined: tuple[object, Import] | None = None

    def key(self, name: str) -> str:
        """Return the key of a widget."""
        return f"table_{name}_{self.digest[:8]}_{fingerprint(repr(self.options))}"


def opens_as_run(file: Opened) -> bool:
    """Draw what an export of results can become, and return whether it is to be opened as a run."""
    return file.format == "results" and forms.segments("Open it as", _WAYS, "results_way", shown=True) == "run"


def open_as_run(file: Opened) -> str | None:
    """Draw the form that stores exported results as a run, and return its id once it is stored."""
    rows = file.content.get("results")
    st.markdown(f"{counted(len(rows) if isinstance(rows, list) else 0, 'evaluation')} with their evidence.")
    name = st.text_input("Run name", PurePosixPath(file.name).stem[:80], max_chars=80, key="results_name", width=420)
    if not forms.button("Open as a run", "bar_chart", "results_open", type="primary"):
        return None
    from karenina_core.analysis import import_run

    run_id = None
    with frame.guard(), st.spinner("Storing the results …", show_time=True):
        run_id = import_run(services.store(), file.content, name.strip() or "Imported results")
        state.choose("run", run_id)
        feedback.say(f"Opened **{plain(name, 60)}** as a run.")
    return run_id


def draw(file: Opened, digest: str, rows: Sequence[BenchmarkRow]) -> str | None:
    """Draw the steps from file to benchmark; return the id of the benchmark once it was imported.

    Args:
        file: The opened file.
        digest: What tells it from other files.
        rows: The benchmarks it may be added to.
    """
    task = st.session_state.get(_STATE)
    if not isinstance(task, TableImport) or task.digest != digest:
        task = st.session_state[_STATE] = TableImport(file, digest, PurePosixPath(file.name).stem.strip()[:200])
        if file.format == "results":
            task.target = _asked_before(read_table(file), rows)
    st.markdown(f":material/table: Found: **{TITLES[file.format]}**")
    st.markdown("**1 · File**")
    _read(task)
    assert task.table is not None
    st.markdown("**2 · Columns**")
    task.mapping = import_mapping.edit(task.table, task.mapping, task.key)
    first_rows = st.container()
    st.markdown("**3 · Where to**")
    _target(task, rows)
    if task.mapping.question is None and task.mapping.id is None:
        st.info("Choose the column with the questions.", icon=":material/arrow_upward:")
        return None
    examined = _examined(task, rows)
    with first_rows:
        if task.mapping.answer is None and not examined.good:
            st.info("Choose the column with the reference answers.", icon=":material/arrow_upward:")
            return None
        import_mapping.preview(examined)
    st.markdown("**4 · Check**")
    changed = import_doctor.draw(examined, task.choices, task.key)
    if changed is not None:
        task.choices = changed
        st.rerun()
    return _import(task, examined)


def clear() -> None:
    """Forget the file and what was decided about it."""
    st.session_state.pop(_STATE, None)


def _asked_before(table: Table, rows: Sequence[BenchmarkRow]) -> str:
    """Return the benchmark that has the most of the questions that were answered; empty where none has any."""
    known, texts = ({str(cell) for cell in table.column(name)} for name in ("id", "question"))

    def shared(row: BenchmarkRow) -> int:
        questions = benchmark_choice.reading(row.id, row.revision).get_all_questions()
        return sum(question.id in known or question.question in texts for question in questions)

    best = max(rows, key=shared, default=None)
    return best.id if best is not None and shared(best) else _NEW


def _read(task: TableImport) -> None:
    options = _options(task)
    if task.table is None or options != task.options:
        task.options, task.choices, task.table = options, Choices(), None
        with st.spinner(doing := "Reading the file …"):
            task.table = read_table(task.file, options, _progress(doing))
        task.mapping = suggest_mapping(task.table)
    size = f"{counted(len(task.table.rows), 'row')}, {counted(len(task.table.columns), 'column')}."
    st.caption(" ".join([size, *(plain(note, 240) for note in task.table.notes)]))


def _options(task: TableImport) -> Options:
    """Draw how the file is read, where there is a choice."""
    file, now, digest = task.file, task.options, task.digest[:8]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(file.sheets) > 1:
            names = {name: short(name) for name in file.sheets}
            now = replace(now, sheet=forms.select("Sheet", names, f"table_sheet_{digest}", chosen=now.sheet, width=220))
        if file.format == "csv":
            encodings: dict[Any, str] = {None: "Automatic", **ENCODINGS}
            signs: dict[Any, str] = {None: "Automatic"}
            signs |= {sign: name.capitalize() for sign, name in DELIMITERS.items()}
            encoding = forms.select("Encoding", encodings, f"table_encoding_{digest}", chosen=now.encoding, width=220)
            delimiter = forms.select("Separator", signs, f"table_delimiter_{digest}", chosen=now.delimiter, width=160)
            now = replace(now, encoding=encoding, delimiter=delimiter)
        if file.format in ("csv", "excel"):
            options: dict[str, Any] = {"placeholder": "Automatic", "key": f"table_header_{digest}", "width": 200}
            row = st.number_input("Row with column names", min_value=1, value=now.header_row, **options)
            now = replace(now, header_row=row)
    return now


def _target(task: TableImport, rows: Sequence[BenchmarkRow]) -> None:
    names = {_NEW: "A new benchmark"} | {row.id: short(row.name, 60) for row in rows}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        task.target = forms.select("Import into", names, task.key("target"), chosen=task.target, width=320)
        if task.target == _NEW:
            key = task.key("name")
            task.name = st.text_input("Name of the new benchmark", task.name, max_chars=200, key=key, width=320)


def _examined(task: TableImport, rows: Sequence[BenchmarkRow]) -> Import:
    """Return what the doctor says, asked only when something has changed."""
    assert task.table is not None
    revision = next((row.revision for row in rows if row.id == task.target), 0)
    about = (task.table, task.mapping, task.choices, task.target, revision)
    if task.examined is None or task.examined[0] != about:
        existing = benchmark_choice.reading(task.target, revision) if task.target else None
        with st.spinner(doing := "Checking every row …"):
            task.examined = (about, apply(task.table, task.mapping, task.choices, existing, _progress(doing)))
    return task.examined[1]


def _progress(doing: str) -> Progress:
    """Return what shows how far something is, once it takes long. Using the page meanwhile ends it."""
    place, text = st.empty(), f"{doing} Row {{:,}} of {{:,}}. Remove the file to stop."
    return lambda done, total: place.progress(done / total, text.format(done, total)) if done < total else place.empty()


def _import(task: TableImport, examined: Import) -> str | None:
    """Draw the button, and import when it is pressed."""
    unnamed = task.target == _NEW and not task.name.strip()
    if unnamed:
        st.caption("The new benchmark needs a name.")
    label = f"Import {examined.good} of {examined.total}" if examined.left_out else f"Import all {examined.total}"
    disabled = not examined.drafts or unnamed
    if not forms.button(label, "add", "table_import", type="primary", disabled=disabled):
        return None
    store, benchmark_id = services.store(), task.target
    if benchmark_id == _NEW:
        benchmark = Benchmark.create(name=task.name.strip())
        added = examined.add_to(benchmark)
        benchmark_id = store.benchmarks.save(benchmark, author=sign_in.person())
    else:
        with benchmark_choice.changing(benchmark_id) as benchmark:
            before = benchmark.clone()
            added = examined.add_to(benchmark)
        message = f"Added {counted(len(added.question_ids), 'question')} to **{plain(benchmark.name, 60)}**."
        benchmark_choice.offer_undo(store.benchmarks.row(benchmark_id), message, before)
    prepared_answers.add(benchmark_id, added.answers)
    left = f" {counted(len(examined.left_out), 'row')} left out." if examined.left_out else ""
    rows = f"{examined.good} of {counted(examined.total, 'row')}"
    feedback.say(f"Imported {rows} into **{plain(benchmark.name, 60)}**.{left}")
    state.choose("benchmark", benchmark_id)
    return benchmark_id
