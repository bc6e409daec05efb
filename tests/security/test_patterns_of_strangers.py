"""Patterns made to hang, to fill the memory, or to mean something else in another engine."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core import patterns
from karenina_core.errors import InputError
from karenina_core.schemas import ManualRubricTrait

HANGING = {
    r"(a+)+$": "a", r"(a|aa)+$": "a", r"(a|a?)+$": "a", r"^(\w+\s?)*$": "a", r"(.*a){20}b": "a", r"(\w+)*\1b": "a",
    r"((a{1,900}){1,900}){1,900}b": "a", r"(?:a++)?(?:a+)+b": "a", r"^(([a-z])+.)+[A-Z]([a-z])+$": "a",
    r"(x+x+)+y": "x", r"([^b]+)*c": "a", r"(?i)(A|a|aA)+!": "a", r"(\d+)*[^\d]$": "1", r"^(?=(a+)+$)b*$": "a",
    r"(?<!a)(a*)*(a*)*b": "a", r"(.+)+(.+)+=": "a",
}  # fmt: skip
TOO_LARGE = [r"(?:(?:a{1000}){1000}){1000}", r"(?:.{60000}){60000}", r"((ab){999}){999}", r"(?x)(?:a {999}) {999}",
             "(?:" * 25 + "a" + ")+" * 25, "(" * 30 + "a" + ")+?" * 30, "(?:" * 20 + "a|b" + "){1,2}" * 20,
             "(?:" * 15 + "ab" + "){2}" * 15, "(?>" * 25 + "a" + ")++" * 25, "(?=" * 25 + "a" + ")+" * 25,
             r"(?:a(?#c){999})(?#c){999}", r"[ab]{200000}", r"(?P<n>\d{1000}){100}", r"a{99999,}"]  # fmt: skip
TOO_DEEP = ["(?:" * depth + "a" + ")" * depth for depth in (150, 200, 300, 600)] + ["(" * 900 + "a" + ")" * 900]
INVALID = [
    "(",
    "*",
    "a{2,1}",
    "[z-a]",
    r"\p{L}",
    r"(?P<n>a)(?P<n>b)",
    "(?R)",
    r"\g<1>",
    "(?<=a+)b",
    "a" * 50_000,
    r"\N{X}",
    "(?z)",
]


@pytest.mark.parametrize("pattern", HANGING)
def test_a_hanging_pattern_is_stopped_or_decided(pattern: str) -> None:
    """To come back at all is to be stopped: left alone, the search would outlast the machine."""
    patterns.validate(pattern)
    try:
        patterns.found(pattern, HANGING[pattern] * 5_000 + "!")
    except patterns.PatternTimeoutError as error:
        assert "took too long" in error.what


@pytest.mark.parametrize("pattern", TOO_LARGE)
def test_a_pattern_that_multiplies_is_refused_before_it_fills_the_memory(pattern: str) -> None:
    tracemalloc.start()
    with pytest.raises(InputError, match="too large"):
        patterns.validate(pattern)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("pattern", TOO_DEEP, ids=len)
def test_a_pattern_that_is_nested_very_deeply_is_accepted_or_refused_in_words(pattern: str) -> None:
    try:
        patterns.validate(pattern)
        assert patterns.found(pattern, "a")
    except InputError as error:
        assert len(str(error)) < 2_500


OPENINGS = ["(", "(?:", "(?>", "(?="]
REPETITIONS = ["+", "*", "?", "+?", "++", "{2}", "{1,2}", "{0,9}", "{3,}", "{40}"]
NESTED = st.recursive(
    st.sampled_from(["a", r"\d", "[ab]", "a|b", "."]),
    lambda inner: st.builds("{}{}){}".format, st.sampled_from(OPENINGS), inner, st.sampled_from(REPETITIONS)),
    max_leaves=40,
)


@given(NESTED)
def test_no_accepted_pattern_takes_much_memory(pattern: str) -> None:
    tracemalloc.start()
    try:
        patterns.validate(pattern)
    except InputError as error:
        assert "too large" in error.what
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 40_000_000


@pytest.mark.parametrize(
    "pattern", [r"\d{8}", r"(?:ab){1000}", r"a{0,60000}", r"[{]{3}", r"(\{a\}){9}", r"x{1,3}y{2,}"]
)
def test_ordinary_counts_are_accepted(pattern: str) -> None:
    patterns.validate(pattern)


@pytest.mark.parametrize("pattern", INVALID, ids=lambda pattern: pattern[:12])
def test_a_pattern_that_is_none_is_refused_when_it_is_made(pattern: str) -> None:
    with pytest.raises(InputError):
        patterns.validate(pattern)
    with pytest.raises(ValueError, match=r"\w"):
        ManualRubricTrait(name="T", pattern=pattern)


@pytest.mark.parametrize("flag", ["__class__", "LOCALE", "DEBUG", "TEMPLATE", "V1", "FUZZY", "REVERSE", ""])
def test_a_foreign_flag_is_refused(flag: str) -> None:
    with pytest.raises(InputError):
        patterns.flag_names([flag])


def test_look_behind_works() -> None:
    assert patterns.found(r"(?<=NCT)\d{8}$", "NCT02005471")
