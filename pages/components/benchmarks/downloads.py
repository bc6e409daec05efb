"""A stored benchmark as a file: everything, or its questions as a table."""

from __future__ import annotations

import re
from collections.abc import Callable

import streamlit as st

from karenina_core.benchmark import Benchmark, question_sheet
from karenina_core.csv_text import csv_text
from karenina_core.runs import BenchmarkRow
from karenina_core.workbook import MIME
from pages.components import services

_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def draw(row: BenchmarkRow) -> None:
    """Draw the buttons; a file is made when it is asked for."""
    stem = _NAME.sub("_", row.name)[:80].strip("_.") or "benchmark"
    _button(row, "Benchmark file (.jsonld)", f"{stem}.jsonld", "application/ld+json", lambda it: it.to_json().encode())
    _button(row, "Excel (.xlsx)", f"{stem}.xlsx", MIME, lambda it: it.to_xlsx())
    _button(row, "CSV (.csv)", f"{stem}.csv", "text/csv", as_csv)
    st.caption("The benchmark file holds everything; the tables hold the questions, and can be opened here again.")


def _button(row: BenchmarkRow, label: str, name: str, mime: str, make: Callable[[Benchmark], bytes]) -> None:
    st.download_button(
        label,
        data=lambda: make(services.store().benchmarks.load(row.id)),
        file_name=name,
        mime=mime,
        icon=":material/download:",
        on_click="ignore",
        key=f"download_{name.rpartition('.')[2]}_{row.id}",
        width="stretch",
    )


def as_csv(benchmark: Benchmark) -> bytes:
    """Return the questions as a guarded CSV file with every column of the workbook."""
    sheet = question_sheet(benchmark.get_all_questions())
    return csv_text(sheet.header, sheet.rows).encode("utf-8-sig")
