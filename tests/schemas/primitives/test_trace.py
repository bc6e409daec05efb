"""`TraceRegex`, `TraceContains` and `TraceLength`."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from karenina_core import patterns
from karenina_core.errors import InputError
from karenina_core.patterns import PatternTimeoutError
from karenina_core.schemas.primitives import Step, TraceContains, TraceLength, TracePrimitive, TraceRegex

TRIAL = "The MURANO trial (NCT02005471) and the CLL14 trial (NCT02242942) agree."


def test_regex_holds_when_the_pattern_is_found() -> None:
    assert TraceRegex(pattern=r"NCT\d{8}").check_trace(TRIAL)
    assert not TraceRegex(pattern=r"NCT\d{8}").check_trace("The trial agrees.")
    assert TraceRegex(pattern="(?i)murano").check_trace(TRIAL)


@pytest.mark.parametrize(("count_min", "holds"), [(None, True), (1, True), (2, True), (3, False)])
def test_regex_counts_matches(count_min: int | None, holds: bool) -> None:
    assert TraceRegex(pattern=r"NCT\d{8}", count_min=count_min).check_trace(TRIAL) is holds


def test_regex_counts_matches_that_do_not_overlap_and_empty_ones() -> None:
    assert not TraceRegex(pattern="aa", count_min=2).check_trace("aaa")
    assert TraceRegex(pattern="x*", count_min=4).check_trace("abc")


@pytest.mark.parametrize("parameters", [{"pattern": "("}, {"pattern": "a", "count_min": 0}, {}, {"pattern": None}])
def test_regex_refuses_bad_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TraceRegex(**parameters)


@pytest.mark.parametrize("count_min", [None, 2])
def test_regex_reports_a_hostile_pattern(count_min: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "BUDGET_SECONDS", 0.05)
    rule = TraceRegex(pattern="(a|aa)+$", count_min=count_min)
    with pytest.raises(PatternTimeoutError):
        rule.check_trace("a" * 60 + "!")


def test_regex_explains_with_the_matches() -> None:
    explained = TraceRegex(pattern=r"NCT\d{8}", count_min=3).explain_trace(TRIAL)
    assert not explained.passed
    assert explained.reason == r'The pattern "NCT\d{8}" has 2 matches in the response; 3 or more are needed.'
    assert explained.steps == (Step("matches", r"NCT\d{8}", '"NCT02005471", "NCT02242942"'),)


def test_contains_is_literal_and_case_sensitive() -> None:
    assert TraceContains(substring="(NCT02005471)").check_trace(TRIAL)
    assert not TraceContains(substring="murano").check_trace(TRIAL)
    assert not TraceContains(substring="MURANO").check_trace("")


def test_contains_does_not_care_how_an_accent_was_typed() -> None:
    assert TraceContains(substring="Sj\u00f6gren").check_trace("the Sjo\u0308gren syndrome")


@pytest.mark.parametrize("substring", ["", None, 5])
def test_contains_refuses_an_empty_substring(substring: Any) -> None:
    with pytest.raises(ValidationError):
        TraceContains(substring=substring)


def test_contains_explains_how_often() -> None:
    assert TraceContains(substring="trial").explain_trace(TRIAL).reason == '"trial" occurs 2 times in the response.'
    assert TraceContains(substring="drug").explain_trace(TRIAL).reason == '"drug" is not in the response.'


@pytest.mark.parametrize(("text", "holds"), [("ab", False), ("abc", True), ("abcde", True), ("abcdef", False)])
def test_length_includes_its_bounds(text: str, holds: bool) -> None:
    assert TraceLength(min=3, max=5).check_trace(text) is holds


def test_length_counts_characters_or_words() -> None:
    assert TraceLength(min=4, max=4).check_trace("na\u00efve"[:4])
    assert TraceLength(min=3, max=3, unit="words").check_trace("  one\ntwo\tthree ")
    assert TraceLength(max=0, unit="words").check_trace(" \n")
    assert TraceLength().check_trace("")


@pytest.mark.parametrize("parameters", [{"min": 5, "max": 4}, {"min": -1}, {"unit": "tokens"}, {"min": "many"}])
def test_length_refuses_bad_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TraceLength(**parameters)


def test_length_explains_with_its_bounds() -> None:
    explained = TraceLength(min=100, unit="words").explain_trace("too short")
    assert explained.reason == "The response has 2 words, which is not at least 100."
    assert (
        TraceLength(min=1, max=9).explain_trace("a").reason == "The response has 1 character, which is between 1 and 9."
    )


@pytest.mark.parametrize("rule", [TraceRegex(pattern="a"), TraceContains(substring="a"), TraceLength(min=1)])
@pytest.mark.parametrize("missing", [None, b"a", ["a"]])
def test_a_missing_response_is_an_error_and_not_an_absence(rule: TracePrimitive, missing: Any) -> None:
    with pytest.raises(InputError, match="reads the raw response"):
        rule.check_trace(missing)
    with pytest.raises(ValueError, match="reads the raw response"):
        rule.explain_trace(missing)
