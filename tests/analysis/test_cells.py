from hypothesis import given
from hypothesis import strategies as st

from karenina_core.analysis import clean_text, readable
from karenina_core.analysis.cells import shorten


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


def test_a_value_nested_too_deep_is_told_to_be_so():
    value = "x"
    for _ in range(50_000):
        value = [value]
    assert readable(value) == "a value nested too deep to be shown"
