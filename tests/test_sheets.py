"""The one writer of CSV tables and workbooks: text stays text, numbers stay numbers, nothing is a formula."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

from karenina_core.sheets import MAX_CELL, Sheet, csv_cell, xlsx_bytes

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd", "@SUM(A1)", "\t=1", "  =1", "＝1+1", "\u200b=1", "=A1"]


def cells(*values: Any) -> list[Any]:
    """Return the cells of one row as a spreadsheet reads them."""
    book = load_workbook(io.BytesIO(xlsx_bytes({"T": Sheet(["h"] * len(values), [values])})))
    return list(book["T"][2])


@pytest.mark.parametrize("formula", FORMULAS, ids=ascii)
def test_what_looks_like_a_formula_is_guarded_text(formula: str) -> None:
    [cell] = cells(formula)
    assert cell.data_type == "s"
    assert cell.value.startswith("'")


@pytest.mark.parametrize("text", ["-3.5", "+1", "1e-5", "-12%", "a=b", "#N/A", "#REF!", "TRUE", "0012", "3-5"])
def test_plain_text_is_unchanged_and_stays_text(text: str) -> None:
    [cell] = cells(text)
    assert (cell.value, cell.data_type) == (text, "s")


@pytest.mark.parametrize("value", [-3.5, 0, 7, True, False, 10**12])
def test_numbers_and_truth_values_stay_what_they_are(value: Any) -> None:
    [cell] = cells(value)
    assert cell.value == value
    assert cell.data_type in ("n", "b")


def test_nothing_and_what_is_no_number_are_empty() -> None:
    assert [cell.value for cell in cells(None, float("nan"), float("inf"))] == [None, None, None]


def test_a_number_beyond_the_digits_of_a_spreadsheet_is_text() -> None:
    [cell] = cells(2**53 + 1)
    assert cell.value == "9007199254740993"


def test_header_names_are_guarded_too() -> None:
    book = load_workbook(io.BytesIO(xlsx_bytes({"T": Sheet(["=evil()"], [])})))
    assert book["T"]["A1"].value == "'=evil()"


def test_a_long_text_is_cut_and_says_so() -> None:
    [cell] = cells("x" * 40_000)
    assert len(cell.value) <= MAX_CELL
    assert cell.value.endswith("holds no more]")


def test_control_characters_do_not_break_the_file() -> None:
    [cell] = cells("a\x07b\ud800c\0")
    assert cell.value == "a_x0007_b�c�"


def test_titles_are_made_acceptable_and_different() -> None:
    sheet = Sheet(["a"], [])
    book = load_workbook(io.BytesIO(xlsx_bytes({"a/b?": sheet, "A b ": sheet, "": sheet, "x" * 50: sheet})))
    assert book.sheetnames == ["a b", "A b 2", "Sheet", "x" * 28]


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd", "@SUM(A1)", "\tx", "\rx", "\nx", "  =1", "＝1+1", "＋1a", "\u00a0=1"],
)
def test_formulas_get_an_apostrophe(cell: str) -> None:
    assert csv_cell(cell) == f"'{cell}"


@pytest.mark.parametrize("blank", ["\ufeff", "\u200b", "\0", "\u3000", "\v", "\u202e", "\xad", "\x1b"])
def test_invisible_characters_do_not_smuggle_a_formula_in(blank: str) -> None:
    assert csv_cell(f"{blank}=1+1").startswith("'")


@given(st.text(max_size=30))
def test_nothing_a_spreadsheet_runs_is_left_at_the_front(text: str) -> None:
    cell = csv_cell(text)
    assert cell in (text, f"'{text}")
    number = cell.strip("+-%.,eE0123456789 ") == ""
    shown = cell.lstrip(" \t\r\n")
    assert not shown.startswith(("=", "@", "＝", "＠", "＋", "－"))
    assert number or not shown.startswith(("+", "-"))
