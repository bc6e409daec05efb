"""`ExactMatch`, `ContainsAny`, `ContainsAll` and `RegexMatch`."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from karenina_core import patterns
from karenina_core.patterns import PatternTimeoutError
from karenina_core.schemas.primitives import (
    ContainsAll,
    ContainsAny,
    ExactMatch,
    RegexMatch,
    Step,
    SynonymMap,
    VerificationPrimitive,
)

NO_TEXTS = [None, ["BCL2"], {"BCL2": 1}, object()]
GENE = ExactMatch(normalize=["lowercase", "strip", SynonymMap(mapping={"bcl-2": "bcl2"})])


@pytest.mark.parametrize("value", ["BCL2", "bcl2", " Bcl2\n", "\u00a0BCL2"])
def test_exact_match_ignores_case_and_outer_blanks_by_default(value: str) -> None:
    assert ExactMatch().check(value, "BCL2")


@pytest.mark.parametrize("value", ["KRAS", "BCL 2", "BCL2.", ""])
def test_exact_match_fails_on_any_other_difference(value: str) -> None:
    assert not ExactMatch().check(value, "BCL2")


def test_exact_match_without_normalisers_is_literal() -> None:
    assert ExactMatch(normalize=[]).check("BCL2", "BCL2")
    assert not ExactMatch(normalize=[]).check("bcl2", "BCL2")


def test_exact_match_does_not_care_how_an_accent_was_typed() -> None:
    assert ExactMatch(normalize=[]).check("caf\u0065\u0301", "caf\u00e9")


@pytest.mark.parametrize("value", NO_TEXTS)
def test_exact_match_fails_on_what_is_no_text(value: Any) -> None:
    assert not ExactMatch().check(value, "none")
    assert not ExactMatch().check(value, str(type(value)))
    assert not ExactMatch().check("none", value)
    assert not ExactMatch().check(value, value)


def test_exact_match_fails_a_number_too_long_to_write() -> None:
    assert not ExactMatch().check(10**5000, 10**5000)
    assert "a value of type int is not a text" in ExactMatch().explain(10**5000, "1").reason


def test_exact_match_compares_numbers_and_booleans_as_python_writes_them() -> None:
    assert ExactMatch().check(True, "true")
    assert ExactMatch().check(23, "23")
    assert not ExactMatch().check(1.0, 1)


@pytest.mark.parametrize("normalizers", [["uppercase"], [3], [None], "lowercase", [{"synonyms": {}}]])
def test_exact_match_refuses_unknown_normalisers(normalizers: Any) -> None:
    with pytest.raises(ValueError, match=r"normali[sz]e"):
        ExactMatch(normalize=normalizers)


def test_exact_match_explains_each_step_also_those_that_change_nothing() -> None:
    explained = GENE.explain("Bcl-2", "BCL2")
    assert explained.passed
    assert explained.reason == '"bcl2" equals the expected "bcl2".'
    assert explained.steps == (
        Step("lowercase", '"Bcl-2"', '"bcl-2"'),
        Step("strip", '"bcl-2"', '"bcl-2"'),
        Step("synonym", '"bcl-2"', '"bcl2"'),
        Step("expected, lowercase", '"BCL2"', '"bcl2"'),
        Step("expected, strip", '"bcl2"', '"bcl2"'),
        Step("expected, synonym", '"bcl2"', '"bcl2"'),
    )


def test_exact_match_explains_a_difference_and_a_null() -> None:
    assert GENE.explain("KRAS", "BCL2").reason == '"kras" differs from the expected "bcl2".'
    assert GENE.explain(None, "BCL2").reason == "Nothing was extracted, which never passes."
    assert "is not a text" in GENE.explain(["BCL2"], "BCL2").reason


def test_contains_any_needs_one_substring() -> None:
    rule = ContainsAny(substrings=["apoptosis", "autophagy"])
    assert rule.check("Induces apoptosis by inhibiting BCL2", "N/A")
    assert not rule.check("Inhibits cell proliferation", "apoptosis")
    assert not rule.check("Apoptosis", "N/A")


def test_contains_all_needs_every_substring() -> None:
    rule = ContainsAll(substrings=["phase III", "randomized"])
    assert rule.check("A randomized phase III study", "N/A")
    assert not rule.check("A phase III, open-label study", "N/A")


@pytest.mark.parametrize("rule", [ContainsAny, ContainsAll])
def test_contains_normalises_the_text_and_the_substrings(rule: type[ContainsAny | ContainsAll]) -> None:
    assert (
        rule(substrings=["PHASE-III"], normalize=["lowercase", "remove_punctuation"]).check("a phase iii", 0) is False
    )
    assert rule(substrings=["PHASE-III"], normalize=["lowercase", "remove_punctuation"]).check("a Phase.III", 0)
    assert rule(substrings=["\u00e9"]).check("caf\u0065\u0301", 0)


@pytest.mark.parametrize("rule", [ContainsAny(substrings=["on"]), ContainsAll(substrings=["on"])])
@pytest.mark.parametrize("value", NO_TEXTS)
def test_contains_never_finds_anything_in_what_is_no_text(rule: VerificationPrimitive, value: Any) -> None:
    assert not rule.check(value, "N/A")
    assert not rule.explain(value, "N/A").passed


@pytest.mark.parametrize("rule", [ContainsAny, ContainsAll])
@pytest.mark.parametrize("substrings", [[], [""], ["apoptosis", ""], "apoptosis", None, [1]])
def test_contains_refuses_substrings_that_decide_nothing(rule: Any, substrings: Any) -> None:
    with pytest.raises(ValidationError):
        rule(substrings=substrings)


@pytest.mark.parametrize("rule", [ContainsAny, ContainsAll])
def test_contains_refuses_substrings_that_vanish_when_normalised(rule: Any) -> None:
    with pytest.raises(ValueError, match="found in every text"):
        rule(substrings=["BCL2", "..."], normalize=["remove_punctuation"])


def test_contains_explains_what_was_found_and_what_was_not() -> None:
    explained = ContainsAll(substrings=["phase III", "randomized"]).explain("phase III, open-label", 0)
    assert explained.reason == 'The text does not contain "randomized".'
    assert explained.steps[-1] == Step("found", '"phase III", "randomized"', '"phase III"')
    assert ContainsAny(substrings=["a", "b"]).explain("abc", 0).reason == 'The text contains "a", "b".'


@pytest.mark.parametrize("text", ["NCT02141282", "see NCT02141282."])
def test_regex_match_finds_the_pattern_anywhere(text: str) -> None:
    assert RegexMatch(pattern=r"NCT\d{8}").check(text, "N/A")


@pytest.mark.parametrize("text", ["CT-2014-001", "nct02141282", "", None, ["NCT02141282"]])
def test_regex_match_fails_where_the_pattern_is_not(text: Any) -> None:
    assert not RegexMatch(pattern=r"NCT\d{8}").check(text, "NCT02141282")


def test_regex_match_reads_numbers_as_texts() -> None:
    assert RegexMatch(pattern=r"^4\d$").check(42, "N/A")
    assert not RegexMatch(pattern="None").check(None, "N/A")


@pytest.mark.parametrize("flag", ["IGNORECASE", "ignorecase", "I", "i"])
def test_regex_match_knows_flags_by_long_and_short_name(flag: str) -> None:
    assert RegexMatch(pattern="bcl2", flags=[flag]).check("BCL2", "N/A")


@pytest.mark.parametrize("flag", ["compile", "__class__", "", "DEBUG", "L"])
def test_regex_match_refuses_other_flags(flag: str) -> None:
    with pytest.raises(ValueError, match="not a regex flag"):
        RegexMatch(pattern="a", flags=[flag])


def test_regex_match_refuses_an_invalid_pattern_with_its_position() -> None:
    with pytest.raises(ValueError, match="at position 3"):
        RegexMatch(pattern="abc(")


def test_regex_match_reports_a_hostile_pattern_instead_of_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "BUDGET_SECONDS", 0.05)
    with pytest.raises(PatternTimeoutError, match="took too long"):
        RegexMatch(pattern="(a|aa)+$").check("a" * 60 + "!", "N/A")


def test_regex_match_compiles_its_pattern_once() -> None:
    rule = RegexMatch(pattern=r"compiled (just|only) once", flags=["I"])
    before = patterns._compiled.cache_info().misses
    assert [rule.check(f"Compiled only once {n}", 0) for n in range(20)] == [True] * 20
    assert patterns._compiled.cache_info().misses == before


def test_regex_match_explains_with_the_first_match() -> None:
    rule = RegexMatch(pattern=r"NCT\d{8}")
    assert rule.explain("see NCT02141282.", 0).steps == (Step("first match", '"see NCT02141282."', '"NCT02141282"'),)
    assert "matches nowhere" in rule.explain("none", 0).reason
    assert rule.explain(None, 0).reason == "Nothing was extracted, which never passes."
