"""Texts on a page: signs stay as they were written, shares stay on one line."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from pages.components.text import plain, unbroken

NOTHING = ":small{}"


@pytest.mark.parametrize("sign", ["->", "<-", "<->", "--", ">=", "<=", "!=", "~="])
def test_no_two_characters_that_streamlit_draws_as_one_sign_stand_side_by_side(sign: str) -> None:
    shown = plain(f"a {sign} b")
    assert sign not in shown.replace("\\", "")
    assert shown.replace("\\", "").replace(NOTHING, "") == f"a {sign} b"


@pytest.mark.parametrize("text", ["a - b", "GPT-4.1", "x = 3", "<b>", "not (a > b)!"])
def test_other_signs_need_nothing_between_them(text: str) -> None:
    assert NOTHING not in plain(text)


def test_no_badge_gets_foreign_text_whose_brackets_streamlit_would_escape_once_more() -> None:
    calls = [
        (path.name, ast.unparse(node))
        for path in (Path(__file__).parents[2] / "pages").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".badge")
    ]
    assert calls, "the pages draw badges"
    assert not [call for call in calls if "plain(" in call[1]]


def test_a_number_and_its_per_cent_sign_stay_on_one_line() -> None:
    assert unbroken(plain("79 %, 95 % interval")) == "79\u00a0\\%\\, 95\u00a0\\% interval"
    assert unbroken("64 % of them, per cent % alone") == "64\u00a0% of them, per cent % alone"


def test_an_interval_stays_on_one_line() -> None:
    assert unbroken("39–86 %, a–b") == "39–\u206086\u00a0%, a–b"
