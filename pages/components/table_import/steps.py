"""A table on its way into a benchmark: how it is read, what its columns mean, what is wrong, and where it goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

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
    Table,
    apply,
    read_table,
    suggest_mapping,
)
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import feedback, services, sign_in, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.table_import import answers as table_import_answers
from pages.components.table_import import doctor as table_import_doctor
from pages.components.table_import import mapping as table_import_mapping
from pages.components.text import plain, short
from pages.components.widgets import fingerprint

_STATE = "_table_import"
_NEW = ""


@dataclass
class TableImport:
    """What a person has decided about one file so far; it survives a change of page.

    Attributes:
        file: The file.
        digest: Tells it from other files; part of every widget's key.
        options: How it is read.
        table: What was read with them.
        mapping: What the columns mean.
        choices: What is done about findings.
        target: Id of the benchmark it goes to; empty for a new one.
        name: Name of the new benchmark.
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


def draw(file: Opened, digest: str, rows: Sequence[BenchmarkRow]) -> str | None:
    """Draw the steps from file to benchmark; return the id of the benchmark once it was imported.

    Args:
        file: The opened file.
        digest: What tells it from other files.
        rows: The benchmarks it may be added to.
    """
    task = _task(file, digest, rows)
    st.markdown(f":material/table: Found: **{TITLES[file.format]}**")
    st.markdown("**1 · File**")
    _read(task)
    assert task.table is not None
    st.markdown("**2 · Columns**")
    task.mapping = table_import_mapping.edit(task.table, task.mapping, task.key)
    first_rows = st.container()
    st.markdown("**3 · Where to**")
    _target(task, rows)
    if task.mapping.question is None and task.mapping.id is None:
        st.info("Choose the column with the questions.", icon=":material/arrow_upward:")
        return None
    found = _examined(task, rows)
    with first_rows:
        table_import_mapping.preview(found)
    st.markdown("**4 · Check**")
    changed = table_import_doctor.draw(found, task.choices, task.key)
    if changed is not None:
        task.choices = changed
        st.rerun()
    return _import(task, found)


def clear() -> None:
    """Forget the file and what was decided about it."""
    st.session_state.pop(_STATE, None)


def _task(file: Opened, digest: str, rows: Sequence[BenchmarkRow]) -> TableImport:
    task = st.session_state.get(_STATE)
    if not isinstance(task, TableImport) or task.digest != digest:
        task = st.session_state[_STATE] = TableImport(file, digest, PurePosixPath(file.name).stem.strip()[:200])
        if file.format == "results":
            task.target = _asked_before(read_table(file), rows)
    return task


def _asked_before(table: Table, rows: Sequence[BenchmarkRow]) -> str:
    """Return the benchmark that has the most of the questions that were answered; empty where none has any."""
    known = {str(name) for name in table.column("id")}
    texts = {str(text) for text in table.column("question")}

    def shared(row: BenchmarkRow) -> int:
        questions = benchmark_choice.reading(row.id, row.revision).get_all_questions()
        return sum(question.id in known or question.question in texts for question in questions)

    best = max(rows, key=shared, default=None)
    return best.id if best is not None and shared(best) else _NEW


def _read(task: TableImport) -> None:
    options = _options(task)
    if task.table is None or options != task.options:
        task.options, task.choices, task.table = options, Choices(), None
        place = st.empty()
        with place.status("Reading the file …", type="compact") as status:
            task.table = read_table(
                task.file, options, lambda count: status.update(label=f"Reading the file … {count:,} rows")
            )
        place.empty()
        task.mapping = suggest_mapping(task.table)
    st.caption(
        f"{counted(len(task.table.rows), 'row')}, {counted(len(task.table.columns), 'column')}. "
        + " ".join(plain(note, 240) for note in task.table.notes)
    )


def _options(task: TableImport) -> Options:
    """Draw what can be said of how the file is read."""
    file, now = task.file, task.options
    place = f"{task.digest[:8]}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(file.sheets) > 1:
            sheet = st.selectbox(
                "Sheet",
                file.sheets,
                index=file.sheets.index(now.sheet) if now.sheet in file.sheets else 0,
                format_func=short,
                key=f"table_sheet_{place}",
                width=220,
            )
            now = replace(now, sheet=sheet)
        if file.format == "csv":
            encoding = st.selectbox(
                "Encoding",
                [None, *ENCODINGS],
                index=[None, *ENCODINGS].index(now.encoding),
                format_func=lambda name: ENCODINGS[name] if name else "Automatic",
                key=f"table_encoding_{place}",
                width=220,
            )
            delimiter = st.selectbox(
                "Separator",
                [None, *DELIMITERS],
                index=[None, *DELIMITERS].index(now.delimiter),
                format_func=lambda sign: DELIMITERS[sign].capitalize() if sign else "Automatic",
                key=f"table_delimiter_{place}",
                width=160,
            )
            now = replace(now, encoding=encoding, delimiter=delimiter)
        if file.format in ("csv", "excel"):
            row = st.number_input(
                "Row with column names",
                min_value=1,
                value=now.header_row,
                placeholder="Automatic",
                key=f"table_header_{place}",
                width=200,
            )
            now = replace(now, header_row=row)
    return now


def _target(task: TableImport, rows: Sequence[BenchmarkRow]) -> None:
    names = {row.id: row.name for row in rows}
    targets = [_NEW, *names]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        task.target = st.selectbox(
            "Import into",
            targets,
            index=targets.index(task.target) if task.target in targets else 0,
            format_func=lambda key: short(names[key], 60) if key else "A new benchmark",
            key=task.key("target"),
            width=320,
        )
        if task.target == _NEW:
            task.name = st.text_input(
                "Name of the new benchmark", task.name, max_chars=200, key=task.key("name"), width=320
            )


def _examined(task: TableImport, rows: Sequence[BenchmarkRow]) -> Import:
    """Return what the doctor says, asked again only when something has changed."""
    assert task.table is not None
    revision = next((row.revision for row in rows if row.id == task.target), 0)
    asked = (task.table, task.mapping, task.choices, task.target, revision)
    if task.examined is None or task.examined[0] != asked:
        existing = benchmark_choice.reading(task.target, revision) if task.target else None
        with st.spinner("Checking every row …", show_time=True):
            task.examined = (asked, apply(task.table, task.mapping, task.choices, existing))
    return task.examined[1]


def _import(task: TableImport, found: Import) -> str | None:
    """Draw the button, and import when it is pressed."""
    label = f"Import all {found.total}" if not found.left_out else f"Import the good {found.good} of {found.total}"
    nothing = not found.drafts or (task.target == _NEW and not task.name.strip())
    if task.target == _NEW and not task.name.strip():
        st.caption("The new benchmark needs a name.")
    if not st.button(label, type="primary", icon=":material/add:", key="table_import", disabled=nothing):
        return None
    store = services.store()
    if task.target == _NEW:
        benchmark = Benchmark.create(name=task.name.strip())
        added = found.add_to(benchmark)
        benchmark_id = store.benchmarks.save(benchmark, author=sign_in.person())
    else:
        benchmark_id = task.target
        with benchmark_choice.changing(benchmark_id) as benchmark:
            before = benchmark.clone()
            added = found.add_to(benchmark)
        revision = store.benchmarks.row(benchmark_id).revision
        feedback.offer_undo(
            f"Added {counted(len(added.question_ids), 'question')} to **{plain(benchmark.name, 60)}**.",
            lambda: _take_back(benchmark_id, before, revision),
        )
    table_import_answers.keep(benchmark_id, added.answers)
    left = f" {counted(len(found.left_out), 'row')} left out." if found.left_out else ""
    feedback.say(f"Imported {found.good} of {counted(found.total, 'row')} into **{plain(benchmark.name, 60)}**.{left}")
    state.choose("benchmark", benchmark_id)
    return benchmark_id


def _take_back(benchmark_id: str, before: Benchmark, revision: int) -> None:
    # Whatever was changed after the import would be lost; then the store refuses.
    services.store().benchmarks.save(before, benchmark_id, expected_revision=revision, author=sign_in.person())
    state.choose("benchmark", benchmark_id)
