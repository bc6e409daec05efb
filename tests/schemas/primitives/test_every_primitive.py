"""What holds for all 18: the registry, the stored form, nulls, foreign values, explanations."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karenina_core.schemas.primitives as package
from karenina_core.errors import InputError
from karenina_core.schemas.primitives import (
    REGISTRY,
    BooleanMatch,
    ContainsAll,
    ContainsAny,
    DateMatch,
    DateRange,
    DateTolerance,
    ExactMatch,
    LiteralMatch,
    NumericExact,
    NumericRange,
    NumericTolerance,
    OrderedMatch,
    RegexMatch,
    SemanticMatch,
    SetContainment,
    SynonymMap,
    TraceContains,
    TraceLength,
    TracePrimitive,
    TraceRegex,
    VerificationPrimitive,
    primitive_from_dict,
)

SYNONYMS = SynonymMap(mapping={"bcl-2": "bcl2"})
PARSED: list[VerificationPrimitive] = [
    BooleanMatch(),
    ExactMatch(normalize=["lowercase", SYNONYMS]),
    ContainsAny(substrings=["a", "1"], normalize=["lowercase"]),
    ContainsAll(substrings=["a"]),
    RegexMatch(pattern=r"\w", flags=["I"]),
    NumericExact(),
    NumericTolerance(tolerance=0.5),
    NumericRange(min=-1, max=1),
    SetContainment(mode="overlap", min_overlap=1),
    OrderedMatch(),
    LiteralMatch(),
    DateMatch(),
    DateTolerance(tolerance=2, unit="hours"),
    DateRange(min="2000-01-01"),
]
TRACE: list[TracePrimitive] = [
    TraceRegex(pattern=r"\d", count_min=2),
    TraceContains(substring="a"),
    TraceLength(max=10, unit="words"),
]
ALL: list[VerificationPrimitive | TracePrimitive] = [*PARSED, SemanticMatch(threshold=0.8), *TRACE]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates().map(str),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def names(rule: Any) -> str:
    return type(rule).__name__


def test_there_are_18_of_them_all_registered_and_exported() -> None:
    assert len(ALL) == 18
    for rule in ALL:
        assert REGISTRY[names(rule)] is type(rule)
        assert getattr(package, names(rule)) is type(rule)


@pytest.mark.parametrize("rule", ALL, ids=names)
def test_each_documents_itself_and_its_fields(rule: Any) -> None:
    assert type(rule).__doc__.startswith(("Passes", "Compares", "Holds", "Marks"))
    assert rule.applies_to


def test_five_ignore_the_ground_truth() -> None:
    ignoring = [names(rule) for rule in PARSED if not rule.uses_ground_truth]
    assert ignoring == ["ContainsAny", "ContainsAll", "RegexMatch", "NumericRange", "DateRange"]


@pytest.mark.parametrize("rule", [rule for rule in PARSED if not rule.uses_ground_truth], ids=names)
def test_those_really_do(rule: VerificationPrimitive) -> None:
    for value in ("a1", 0, "2010-01-01"):
        assert rule.check(value, "N/A") is rule.check(value, None) is rule.check(value, 0)


@pytest.mark.parametrize("rule", ALL, ids=names)
def test_the_stored_form_leads_back_to_an_equal_primitive(rule: Any) -> None:
    stored = json.loads(json.dumps(rule.to_dict()))
    assert stored["type"] == names(rule)
    assert set(stored) == {"type", *type(rule).model_fields}
    assert primitive_from_dict(stored) == rule


def test_the_stored_form_is_plain() -> None:
    assert NumericTolerance(tolerance=0.1).to_dict() == {
        "type": "NumericTolerance",
        "tolerance": 0.1,
        "mode": "relative",
    }
    assert ExactMatch(normalize=["strip", SYNONYMS]).to_dict() == {
        "type": "ExactMatch",
        "normalize": ["strip", {"mapping": {"bcl-2": "bcl2"}}],
    }


NORMALIZERS = st.lists(
    st.sampled_from(["lowercase", "strip", "remove_punctuation", "collapse_whitespace"])
    | st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3).map(lambda m: SynonymMap(mapping=m)),
    max_size=4,
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
RULES = st.one_of(
    st.builds(ExactMatch, normalize=NORMALIZERS),
    st.builds(OrderedMatch, normalize=NORMALIZERS),
    st.builds(ContainsAny, substrings=st.lists(st.text(min_size=1, max_size=9), min_size=1, max_size=3)),
    st.builds(NumericTolerance, tolerance=NUMBERS.map(abs), mode=st.sampled_from(["relative", "absolute"])),
    st.tuples(NUMBERS, NUMBERS).map(lambda pair: NumericRange(min=min(pair), max=max(pair))),
    st.builds(SetContainment, mode=st.sampled_from(["exact", "subset", "superset"]), normalize=NORMALIZERS),
    st.builds(DateTolerance, tolerance=st.integers(min_value=0), unit=st.sampled_from(["days", "hours", "minutes"])),
    st.builds(DateRange, min=st.dates().map(str)),
    st.builds(TraceContains, substring=st.text(min_size=1)),
    st.builds(TraceLength, min=st.integers(min_value=0), unit=st.sampled_from(["chars", "words"])),
)


@given(RULES)
def test_every_stored_form_leads_back(rule: Any) -> None:
    assert primitive_from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


@pytest.mark.parametrize("rule", PARSED[1:], ids=names)
def test_null_extraction_never_passes(rule: VerificationPrimitive) -> None:
    for expected in (None, "", "None", "none", "null", 0, [], False):
        assert rule.check(None, expected) is False
        assert rule.explain(None, expected).passed is False


@given(extracted=JSON, expected=JSON)
def test_no_value_makes_a_check_raise_and_explanations_agree(extracted: Any, expected: Any) -> None:
    for rule in PARSED:
        passed = rule.check(extracted, expected)
        explained = rule.explain(extracted, expected)
        assert passed is explained.passed
        assert explained.reason.endswith(".")


@given(st.text())
def test_explanations_of_traces_agree(text: str) -> None:
    for rule in TRACE:
        assert rule.check_trace(text) is rule.explain_trace(text).passed


@pytest.mark.parametrize("rule", ALL, ids=names)
def test_parameters_cannot_change_after_construction(rule: Any) -> None:
    with pytest.raises(ValueError, match="frozen"):
        setattr(rule, next(iter(type(rule).model_fields), "anything"), None)


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"type": None},
        {"type": "NoSuchMatch"},
        {"type": "exactmatch"},
        {"type": ["ExactMatch"]},
        {"type": "NumericTolerance"},
        {"type": "NumericTolerance", "tolerance": -1},
        {"type": "RegexMatch", "pattern": "("},
        {"type": "ExactMatch", "normalize": ["shout"]},
        {"type": "ExactMatch", "normalise": []},
    ],
)
def test_a_stored_form_that_means_nothing_is_refused(stored: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        primitive_from_dict(stored)


def test_long_values_do_not_flood_an_explanation() -> None:
    explained = ExactMatch().explain("x" * 10_000, "y" * 10_000)
    assert len(explained.reason) < 1_000
    assert len(SetContainment().explain([str(n) for n in range(999)], []).reason) < 200
