from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.csv_text import csv_cell, csv_text


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


def test_numbers_stay_numbers_and_headers_are_guarded() -> None:
    assert csv_text(["=a", "b"], [[-1.5, float("-inf")]]) == "'=a,b\r\n-1.5,-inf\r\n"


@pytest.mark.parametrize("cell", ["-3.5", "+1", "1e-5", "-12%", "a=b", "", "plain", "1,000.5", "3,5", "-1,234.5"])
def test_plain_cells_stay_as_they_are(cell: str) -> None:
    assert csv_cell(cell) == cell


def test_false_and_zero_are_not_blank() -> None:
    assert csv_text(["a", "b", "c"], [[False, 0.0, None]]) == "a,b,c\r\nFalse,0.0,\r\n"
