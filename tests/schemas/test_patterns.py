"""`karenina_core.patterns`: foreign regular expressions, within a time budget."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from karenina_core import patterns
from karenina_core.errors import InputError
from karenina_core.patterns import MAX_PATTERN, MAX_TEXT, PatternTimeoutError, count, flag_names, found, spans, validate
from karenina_core.schemas import MetricRubricTrait, RegexRubricTrait, Rubric, RubricTrait, StoredTrait

HOSTILE = [
    (r"(a|aa)+$", "a" * 60 + "!"),
    (r"(?:a|b|ab)+$", "ab" * 60 + "!"),
    (r"((?:a|aa)(?:a|aa))*$", "a" * 90 + "!"),
    (r"^(?=(a|aa)+$)", "a" * 60 + "!"),
    (r"(a|aa)+\1[bc]", "a" * 60),
    (r"((a{1,9}){1,9}){1,9}$", "a" * 90 + "!"),
    (r"(?:\s|\s\s)+\S$", " " * 60 + "!!"),
    (r"(.*)(.*)(.*)(.*)[xy]$", "a" * 5000),
    (r"\s+$", " " * 100_000 + "x"),
]


@pytest.mark.parametrize("search", [found, count, spans])
@pytest.mark.parametrize(("pattern", "text"), HOSTILE, ids=lambda value: value[:20])
def test_a_hostile_search_ends_in_an_error_in_time(
    search: Callable[[str, str], Any], pattern: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "BUDGET_SECONDS", 0.05)
    validate(pattern)
    with pytest.raises(PatternTimeoutError, match=r"took too long.*stopped after.*Rewrite the pattern"):
        search(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"), [(r"(a+)+$", "a" * 40 + "!"), (r"(x+x+)+y", "x" * 60), (r"(.*a){25}", "a" * 24 + "b" * 30)]
)
def test_other_classics_are_simply_quick(pattern: str, text: str) -> None:
    assert not found(pattern, text)


def test_a_timeout_is_an_input_error_and_not_a_miss() -> None:
    assert issubclass(PatternTimeoutError, InputError)
    assert patterns.BUDGET_SECONDS <= 1


def test_count_counts_matches_that_do_not_overlap_and_empty_ones() -> None:
    assert count("aa", "aaaaa") == 2
    assert count("x*", "ab") == 3


def test_only_the_beginning_of_a_huge_text_is_searched() -> None:
    assert not found("z", "a" * MAX_TEXT + "z")
    assert found("z", "a" * (MAX_TEXT - 1) + "z")


@pytest.mark.parametrize("flag", ["I", "i", "IGNORECASE", "ignorecase", "re.I", "re.IGNORECASE"])
def test_flags_go_by_long_and_short_name(flag: str) -> None:
    assert flag_names([flag]) == ("IGNORECASE",)
    assert found("bcl2", "BCL2", [flag])


@pytest.mark.parametrize("flag", ["L", "LOCALE", "compile", "DEBUG", "T", "", "__class__"])
def test_other_flags_are_refused(flag: str) -> None:
    with pytest.raises(InputError, match="not a regex flag"):
        flag_names([flag])


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "*a",
        "a**",
        "[b-a]",
        "[a",
        r"\p{L}",
        "(?<=a+)b",
        "a(?i)b",
        r"(a)\2",
        "(?P<n>a)(?P<n>b)",
        "a{2,1}",
        r"\q",
        "(" * 500,
        "(?e)a",
        "(?|a|b)",
        "a{1,99999999999}",
    ],
)
def test_what_re_refuses_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match="is not valid"):
        validate(pattern)


def test_a_pattern_may_be_long_but_not_endless() -> None:
    validate("a" * MAX_PATTERN)
    with pytest.raises(InputError, match="2001 characters long"):
        validate("a" * (MAX_PATTERN + 1))


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("a{e}x", "abx", False),  # not one error allowed, but braces
        ("a{e}x", "a{e}x", True),
        ("H_{i}", "H_{i} is large", True),
        ("H_{i}", "H", False),
        (r"x_\{d}", "x_{d}", True),
        (r"\N{BULLET} {s}", "\u2022 {s}", True),
        ("[[(]\\d+[])]", "see [12]", True),
        ("[[:alpha:]]", "b", False),  # a set and a bracket, not a class of letters
        ("[[:alpha:]]", ":]", True),
        ("[a||b]", "|", True),
        ("a{,3}b", "aab", True),
        ("(?x) a # {e} [\n b", "ab", True),
    ],
)
def test_patterns_mean_what_they_mean_to_re(pattern: str, text: str, expected: bool) -> None:
    validate(pattern)
    assert found(pattern, text) is expected


PIECES = [*"aebsd01,:{}[]()|*+?.^$-#\\ \n", "{e}", "{1,2}", "{,2}", "{i<=1}", "[[:alpha:]]", "[^", "(?:", "(?x)", "(?#"]
PIECES += [r"\d", r"\w", r"\b", r"\[", r"\]", r"\{", "&&", "||", "--", "{,}", r"\N{DIGIT ONE}"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.text(alphabet="aebsd01{}[]:,.A#- \n", max_size=8),
)
def test_both_engines_agree(pattern: str, text: str) -> None:
    try:
        validate(pattern)
    except InputError:
        assume(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        expected = [match.span() for match in re.finditer(pattern, text)]
    assert spans(pattern, text) == expected


def test_a_pattern_trait_decides_by_itself_and_a_rubric_lists_its_names_by_kind() -> None:
    cites = RegexRubricTrait(name="Cites", pattern="nct", case_sensitive=False)
    hedges = RegexRubricTrait(name="No hedging", pattern="may", invert=True)
    assert (cites.evaluate("NCT02005471"), cites.evaluate("none")) == (True, False)
    assert (hedges.evaluate("It may"), hedges.evaluate("It does")) == (False, True)
    stored = [StoredTrait(name=kind, kind=kind, rating={}) for kind in ("callable", "agentic")]
    metric = MetricRubricTrait(name="Items", metrics=["recall"], tp_instructions=["asthma"])
    rubric = Rubric(traits=[cites, RubricTrait(name="Clear"), *stored, metric])
    assert rubric.get_trait_names() == ["Cites", "Clear", "callable", "agentic", "Items"]
    assert (rubric.get_llm_trait_names(), rubric.get_regex_trait_names()) == (["Clear"], ["Cites"])
    assert (rubric.get_metric_trait_names(), rubric.get_callable_trait_names()) == (["Items"], ["callable"])
    assert rubric.get_agentic_trait_names() == ["agentic"]
