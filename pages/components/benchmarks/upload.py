"""A file with questions on its way in: read once, reported, and only then added."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from karenina_core.benchmark import SUFFIXES, Benchmark, Opened, Problem, Repair, load_checkpoint, open_file
from karenina_core.errors import KareninaError
from karenina_core.runs import BenchmarkRow
from karenina_core.text import counted
from pages.components import forms, frame
from pages.components.benchmarks.list import contents
from pages.components.table_import import steps as table_import
from pages.components.text import plain, short

LIMIT_MB = 20
_EXPLAINED = ("xls", "xlsb", "ods")  # not read, but answered with what to do
_UPLOAD = "_upload"
_ROUND = "_upload_round"


@dataclass(frozen=True)
class Upload:
    """A file that was read.

    Attributes:
        benchmark: The benchmark it is; None when it is none, or cannot be used.
        table: The table it is, to be made into questions.
        members: The files of an archive, of which one has to be chosen.
        repairs: What was changed to understand it.
        problems: What is wrong with the benchmark itself.
        error: Why it cannot be used.
    """

    name: str
    digest: str
    data: bytes = field(repr=False)
    benchmark: Benchmark | None = None
    repairs: tuple[Repair, ...] = ()
    problems: tuple[Problem, ...] = ()
    error: KareninaError | None = None
    table: Opened | None = None
    members: tuple[str, ...] = ()


def choose() -> Upload | None:
    """Draw the uploader and return the file that waits to be added; it survives a change of page."""
    file = st.file_uploader(
        "Open a file with questions",
        type=[*SUFFIXES, *_EXPLAINED],
        max_upload_size=LIMIT_MB,
        key=f"benchmark_file_{st.session_state.get(_ROUND, 0)}",
        help="A Karenina checkpoint of any version; or a table: CSV, TSV, Excel, JSON, JSON Lines, Parquet, exported "
        "results, or a zip of one of these. It is read and checked first; nothing is stored until you add it.",
    )
    waiting: Upload | None = st.session_state.get(_UPLOAD)
    if file is not None:
        data = file.getvalue()
        digest = hashlib.sha256(data).hexdigest()
        if waiting is None or waiting.digest != digest:
            with st.spinner("Reading the file …", show_time=True):
                waiting = st.session_state[_UPLOAD] = _read(Upload(file.name, digest, data))
    return waiting


def draw(waiting: Upload, rows: Sequence[BenchmarkRow]) -> Benchmark | None:
    """Draw what was uploaded, and the ways to add it or to discard it; return the benchmark that is to be added."""
    if waiting.members:
        _choose_member(waiting)
    elif waiting.table is not None:
        _title(waiting)
        run_id = None
        if table_import.opens_as_run(waiting.table):
            run_id = table_import.open_as_run(waiting.table)
        else:
            with frame.guard():
                if table_import.draw(waiting.table, waiting.digest, rows):
                    _clear()
                    st.rerun()
        if run_id is not None:
            _clear()
            st.switch_page(frame.RESULTS, query_params={"run": run_id})
    else:
        _report(waiting)
        if any(waiting.benchmark is not None and row.name == waiting.benchmark.name for row in rows):
            st.caption("A benchmark of this name exists already. Adding keeps both.")
    with st.container(horizontal=True):
        if waiting.benchmark is not None and forms.button("Add to workspace", "add", "upload_add", type="primary"):
            _clear()
            return waiting.benchmark
        if st.button("Discard", key="upload_discard", type="tertiary"):
            _clear()
            st.rerun()
    return None


def _clear() -> None:
    table_import.clear()
    st.session_state.pop(_UPLOAD, None)
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def _choose_member(upload: Upload) -> None:
    st.markdown(f":material/folder_zip: **{plain(upload.name, 80)}** holds {len(upload.members)} files.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        member = st.selectbox("File in the archive", upload.members, format_func=short, key="upload_member", width=420)
        if forms.button("Open", "folder_open", "upload_open_member"):
            st.session_state[_UPLOAD] = _read(Upload(upload.name, upload.digest, upload.data), member)
            st.rerun()


def _read(upload: Upload, member: str | None = None) -> Upload:
    about = (upload.name, upload.digest, upload.data)
    try:
        opened = open_file(upload.data, upload.name, member)
        if isinstance(opened, list):
            return Upload(*about, members=tuple(opened))
        if opened.format != "checkpoint":
            return Upload(*about, table=opened)
        benchmark, repairs = load_checkpoint(opened.content)
        return Upload(*about, benchmark, tuple(repairs), tuple(benchmark.check()))
    except KareninaError as error:
        return Upload(*about, error=error)


def _title(upload: Upload) -> None:
    size = len(upload.data)
    shown = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size // 1000, 1)} kB"
    st.markdown(f":material/description: **{plain(upload.name, 80)}** · {shown}")


def _report(upload: Upload) -> None:
    """Show what the file is, what was repaired and what is wrong with it."""
    _title(upload)
    if upload.error is not None:
        frame.show_error(upload.error)
        return
    assert upload.benchmark is not None
    st.markdown(f"**{plain(upload.benchmark.name, 100)}** · version {plain(upload.benchmark.version, 20)}")
    st.markdown(contents(upload.benchmark))
    columns: dict[str, Any] = {"Severity": 90, "Where": 210}
    if upload.repairs:
        total = counted(sum(repair.count for repair in upload.repairs), "place")
        st.caption(f":material/build: Repaired while reading: {total}")
        rows: list[dict[str, Any]] = [
            {
                "Where": short(repair.where, 120),
                "Found": short(repair.what, 160),
                "Read as": short(repair.action, 160),
                "Times": repair.count,
            }
            for repair in upload.repairs
        ]
        forms.table(rows, "Repairs", most=8, columns=forms.widths(**columns, Found=300))
    else:
        st.caption(":material/check_circle: Read as it is; no repairs were needed.")
    if upload.problems:
        found = forms.severities_in_short(problem.severity for problem in upload.problems)
        st.caption(f":material/stethoscope: Check: {found}")
        rows = [
            {
                "Severity": forms.severity_sign(problem.severity),
                "Where": short(problem.where, 120),
                "What": short(problem.what, 200),
                "What to do": short(problem.next, 200),
            }
            for problem in upload.problems
        ]
        forms.table(rows, "Problems", most=8, columns=forms.widths(**columns, What=300))
    else:
        st.caption(":material/check_circle: No problems were found.")
