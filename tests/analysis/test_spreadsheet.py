"""Results as Excel workbooks."""

from __future__ import annotations

import csv
import io
from typing import Any

import pandas as pd
import pytest
from openpyxl import load_workbook

from karenina_core.analysis import to_xlsx
from karenina_core.analysis.spreadsheet import frame_to_xlsx, to_csv
from tests.runs.fakes import full_result


def rows(data: bytes) -> list[list[Any]]:
    sheet = load_workbook(io.BytesIO(data)).worksheets[0]
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


def test_a_workbook_has_the_columns_and_rows_of_the_csv_file() -> None:
    results = [full_result("a", "One."), full_result("b", "Two.")]
    as_text = list(csv.reader(io.StringIO(to_csv(results).decode("utf-8-sig"), newline="")))
    header, *cells = rows(to_xlsx(results))
    assert header == as_text[0]
    assert [row[header.index("response")] for row in cells] == ["One.", "Two."]
    assert [row[header.index("question_id")] for row in cells] == ["a", "b"]


def test_numbers_and_truth_values_are_no_text() -> None:
    header, row = rows(to_xlsx([full_result("a", "One?")]))
    cells = dict(zip(header, row, strict=True))
    assert isinstance(cells["seconds"], int | float)
    assert isinstance(cells["verify_result"], bool)


@pytest.mark.parametrize("formula", ["=1+1", "@SUM(A1)", "  =1"])
def test_a_formula_in_an_answer_is_text(formula: str) -> None:
    assert f"'{formula}" in rows(to_xlsx([full_result("a", formula)]))[1]


def test_any_frame_is_a_workbook() -> None:
    frame = pd.DataFrame({"=model": ["a", None], "rate": [0.5, float("nan")], "n": [3, 4]})
    assert rows(frame_to_xlsx(frame)) == [["'=model", "rate", "n"], ["a", 0.5, 3], [None, None, 4]]
