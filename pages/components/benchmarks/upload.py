"""A file with questions on its way in: read once, reported, and only then added."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from karenina_core.benchmark import SUFFIXES, Benchmark, Opened, Problem, Repair, load_checkpoint, open_file
from karenina_core.errors import KareninaError
from pages.components import frame
from pages.components.table_import import steps as table_import
from pages.components.text import plain, short

LIMIT_MB = 20
_EXPLAINED = ("xls", "xlsb", "ods")  # not read, but told what to do
_UPLOAD = "_upload"
_ROUND = "_upload_round"
_WORDS = {"error": "error", "warning": "warning", "info": "note"}
_SIGNS = {"error": "✗ error", "warning": "! warning", "info": "i note"}


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
    size: int
    benchmark: Benchmark | None = None
    repairs: tuple[Repair, ...] = ()
    problems: tuple[Problem, ...] = ()
    error: KareninaError | None = None
    table: Opened | None = None
    members: tuple[str, ...] = ()
    data: bytes = field(default=b"", repr=False)


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
    if file is not None:
        data = file.getvalue()
        digest = hashlib.sha256(data).hexdigest()
        waiting = st.session_state.get(_UPLOAD)
        if waiting is None or waiting.digest != digest:
            with st.spinner("Reading the file …", show_time=True):
                st.session_state[_UPLOAD] = _read(file.name, digest, data)
    waiting = st.session_state.get(_UPLOAD)
    return waiting if isinstance(waiting, Upload) else None


def clear() -> None:
    """Forget the file."""
    table_import.clear()
    st.session_state.pop(_UPLOAD, None)
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def choose_member(upload: Upload) -> None:
    """Draw the choice among the files of an archive, and open the chosen one."""
    st.markdown(f":material/folder_zip: **{plain(upload.name, 80)}** holds {len(upload.members)} files.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        member = st.selectbox("File in the archive", upload.members, format_func=short, key="upload_member", width=420)
        if st.button("Open", icon=":material/folder_open:", key="upload_open_member"):
            st.session_state[_UPLOAD] = _read(upload.name, upload.digest, upload.data, member)
            st.rerun()


def _read(name: str, digest: str, data: bytes, member: str | None = None) -> Upload:
    size = len(data)
    try:
        opened = open_file(data, name, member)
        if isinstance(opened, list):
            return Upload(name, digest, size, members=tuple(opened), data=data)
        if opened.format != "checkpoint":
            return Upload(name, digest, size, table=opened)
        benchmark, repairs = load_checkpoint(opened.content)
        return Upload(name, digest, size, benchmark, tuple(repairs), tuple(benchmark.check()))
    except KareninaError as error:
        return Upload(name, digest, size, error=error)


def title(upload: Upload) -> None:
    """Show the name and size of the file."""
    size = f"{upload.size / 1e6:.1f} MB" if upload.size >= 1e6 else f"{max(upload.size // 1000, 1)} kB"
    st.markdown(f":material/description: **{plain(upload.name, 80)}** · {size}")


def report(upload: Upload) -> None:
    """Show what the file is, what was repaired and what is wrong with it."""
    title(upload)
    if upload.error is not None:
        frame.show_error(upload.error)
        return
    assert upload.benchmark is not None
    st.markdown(f"**{plain(upload.benchmark.name, 100)}** · version {plain(upload.benchmark.version, 20)}")
    st.markdown(counts(upload.benchmark))
    _repairs(upload.repairs)
    problems_table(upload.problems)


def counts(benchmark: Benchmark) -> str:
    """Return the contents of a benchmark in one line."""
    ids = benchmark.get_question_ids()
    templates = sum(benchmark.has_template(question_id) for question_id in ids)
    own = [benchmark.get_question_rubric(question_id) for question_id in ids]
    shared = benchmark.get_global_rubric()
    traits = len(shared.traits if shared else ()) + sum(len(rubric.traits) for rubric in own if rubric)
    return (
        f"{len(ids)} questions · {len(benchmark.get_finished_questions(ids_only=True))} finished · "
        f"{templates} with a template · {traits} rubric {'trait' if traits == 1 else 'traits'}"
    )


def _repairs(repairs: Sequence[Repair]) -> None:
    if not repairs:
        st.caption(":material/check_circle: Read as it is; no repairs were needed.")
        return
    st.caption(f":material/build: Repaired while reading: {_counted(sum(repair.count for repair in repairs), 'place')}")
    rows = [
        {
            "Where": short(repair.where, 120),
            "Found": short(repair.what, 160),
            "Read as": short(repair.action, 160),
            "Times": repair.count,
        }
        for repair in repairs
    ]
    _listed(rows, "Repairs", {"Where": 210, "Found": 280})


def in_short(problems: Sequence[Problem]) -> str:
    """Return how many problems of which severity there are."""
    counted: Counter[str] = Counter(problem.severity for problem in problems)
    parts = [_counted(counted[name], word) for name, word in _WORDS.items()]
    return " · ".join(part for part in parts if part) or "no problems"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}" if number else ""


def problems_table(problems: Sequence[Problem]) -> None:
    """Show what `Benchmark.check` found, errors first."""
    if not problems:
        st.caption(":material/check_circle: No problems were found.")
        return
    st.caption(f":material/stethoscope: Check: {in_short(problems)}")
    rows = [
        {
            "Severity": _SIGNS[problem.severity],
            "Where": short(problem.where, 120),
            "What": short(problem.what, 200),
            "What to do": short(problem.next, 200),
        }
        for problem in problems
    ]
    _listed(rows, "Problems", {"Severity": 90, "Where": 210, "What": 320})


def _listed(rows: Sequence[Mapping[str, Any]], alt: str, widths: Mapping[str, int]) -> None:
    """Draw a table that scrolls where it is long, with some columns as wide as their words need it."""
    st.dataframe(
        rows,
        hide_index=True,
        alt=alt,
        height="content" if len(rows) < 8 else 280,
        column_config={name: st.column_config.TextColumn(width=pixels) for name, pixels in widths.items()},
    )
