"""Patterns whose repetitions multiply."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.authoring.patterns_at_risk import can_hang


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+", "(a*)*", r"(?:\w+\s?)*", "(a|a)*", "((a+)b?)+", "(a{2,})+", "(?:[a-z]*)*$", "(.|x)+", "([ab]+|c)*",
     "((a+))+", "(?P<x>a+)+", "(x+x+)+y", r"^(\w+(\.\w+)*)+@", "(?:a|ab)+", "(?i)(a+)+"],
)  # fmt: skip
def test_a_repeated_repetition(pattern: str) -> None:
    assert can_hang(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["", "a+b+", r"(\d+,)*", "(a|b)*", r"NCT\d{8}", "(ab+c)+", "(?i)foo", "(a+)?", r"(\(a\))+", "[+*(]+", "(ab|cd)+",
     r"(\w+\.)*\w+", "(?#(a+)+)b", "(a+){3}"],
)  # fmt: skip
def test_what_is_kept_apart(pattern: str) -> None:
    assert not can_hang(pattern)


@given(st.text(max_size=60) | st.text("()|*+?{}1,[]\\^a.", max_size=40))
def test_no_text_is_too_odd(pattern: str) -> None:
    assert can_hang(pattern) in (True, False)
