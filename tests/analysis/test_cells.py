import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.analysis.cells import clean_text, neutralise, readable, shorten

FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3+cmd",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "\nx",
    "  =1+1",
    "\u00a0=1",
    "＝1+1",
    "＋1a",
]
HARMLESS = ["-3.5", "+1", "1e-5", "-12%", "a=b", "", "text", "- ", "3,5", "-1,234.5"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_gets_an_apostrophe(text):
    assert neutralise(text) == f"'{text}"


@pytest.mark.parametrize("text", [text for text in HARMLESS if text != "- "])
def test_plain_numbers_and_texts_stay_as_they_are(text):
    assert neutralise(text) == text


@pytest.mark.parametrize("blank", ["\ufeff", "\u200b", "\0", "\u3000", "\v"])
def test_invisible_characters_do_not_smuggle_a_formula_in(blank):
    assert neutralise(f"{blank}=1+1").startswith("'")


@given(st.text(max_size=30))
def test_nothing_a_spreadsheet_runs_is_left_at_the_front(text):
    cell = neutralise(text)
    visible = cell.lstrip(" \t\r\n")
    number = cell.strip("+-%.,eE0123456789 ") == ""
    assert not visible.startswith(("=", "@", "＝", "＠", "＋", "－")) and (number or not visible.startswith(("+", "-")))


@given(st.text(max_size=30))
def test_neutralising_only_ever_adds_one_apostrophe(text):
    assert neutralise(text) in (text, f"'{text}")


def test_lone_surrogates_and_nul_are_replaced():
    assert clean_text("a\ud800b\0c") == "a�b�c"
    assert clean_text("\ud83d\ude00 fine") == "😀 fine"


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0")))
def test_ordinary_text_is_not_changed(text):
    assert clean_text(text) == text


def test_a_long_text_is_cut_on_one_line():
    assert shorten("one\n two   three", 9) == "one two…"
    assert shorten("short") == "short"


def test_values_become_readable_text():
    assert [readable(value) for value in ("a", None, False, 0, ["é"])] == ["a", None, "false", "0", '["é"]']
