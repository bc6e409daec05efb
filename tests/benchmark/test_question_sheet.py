"""The questions of a benchmark as a sheet."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from karenina_core.benchmark import Benchmark, question_sheet
from tests.benchmark.samples import TEMPLATE, small_benchmark


@pytest.fixture
def benchmark() -> Benchmark:
    return small_benchmark()


def cells(benchmark: Benchmark, question_id: str) -> dict[str, Any]:
    """Return the row of a question by column."""
    sheet = question_sheet(benchmark.get_all_questions())
    row = next(row for row in sheet.rows if row[0] == question_id)
    return dict(zip(sheet.header, row, strict=True))


def test_a_row_holds_what_a_person_edits(benchmark: Benchmark) -> None:
    row = cells(benchmark, "target")
    assert (row["Question"], row["Raw Answer"]) == ("What is the target of venetoclax?", "BCL2")
    assert (row["Keywords"], row["Author"], row["Finished"]) == ("pharmacology", "Ada", True)
    assert (row["Template"], row["metadata: difficulty"]) == (TEMPLATE, "hard")


def test_keywords_are_separated_by_a_sign_none_of_them_holds(benchmark: Benchmark) -> None:
    benchmark.update_question("lungs", keywords=["a", "b"])
    assert cells(benchmark, "lungs")["Keywords"] == "a; b"
    benchmark.update_question("sky", keywords=["c;d"])
    assert cells(benchmark, "lungs")["Keywords (separated by vertical bar)"] == "a|b"


def test_sources_stand_on_lines_of_their_own(benchmark: Benchmark) -> None:
    benchmark.update_question("sky", sources=[{"url": "https://a.org"}, {"name": "Smith"}, {"doi": "10/1"}])
    assert cells(benchmark, "sky")["Sources"] == 'https://a.org\nSmith\n{"doi": "10/1"}'


def test_it_is_exported_by_its_ending(benchmark: Benchmark, tmp_path: Path) -> None:
    benchmark.export_to_file(tmp_path / "b.xlsx")
    sheet = load_workbook(io.BytesIO((tmp_path / "b.xlsx").read_bytes())).worksheets[0]
    assert (sheet.title, sheet["A1"].value, sheet.max_row) == ("Questions", "Question ID", 4)
