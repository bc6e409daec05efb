"""`SetContainment` and `OrderedMatch`."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from karenina_core.schemas.primitives import OrderedMatch, SetContainment, Step

EXPECTED = ["CLL", "SLL", "AML"]
NO_LISTS = [None, "CLL", 3, {"CLL": 1}, object()]


@pytest.mark.parametrize(
    ("mode", "extracted", "passes"),
    [
        ("exact", ["AML", "CLL", "SLL"], True),
        ("exact", ["CLL", "CLL", "SLL", "AML"], True),
        ("exact", ["CLL", "SLL"], False),
        ("exact", ["CLL", "SLL", "AML", "NHL"], False),
        ("subset", ["CLL"], True),
        ("subset", [], True),
        ("subset", ["CLL", "NHL"], False),
        ("superset", ["CLL", "SLL", "AML", "NHL"], True),
        ("superset", ["CLL", "SLL"], False),
        ("superset", [], False),
        ("overlap", ["CLL", "NHL"], True),
        ("overlap", ["NHL"], False),
        ("overlap", [], False),
    ],
)
def test_the_modes(mode: Any, extracted: list[str], passes: bool) -> None:
    assert SetContainment(mode=mode).check(extracted, EXPECTED) is passes


def test_overlap_counts_shared_items_once() -> None:
    rule = SetContainment(mode="overlap", min_overlap=2)
    assert rule.check(["CLL", "SLL"], EXPECTED)
    assert not rule.check(["CLL", "CLL"], EXPECTED)


def test_an_empty_expectation() -> None:
    assert SetContainment().check([], [])
    assert SetContainment(mode="superset").check(["CLL"], [])
    assert not SetContainment(mode="overlap").check([], [])


def test_case_and_blanks_count_unless_normalised() -> None:
    assert not SetContainment().check(["cll", "sll", "aml "], EXPECTED)
    assert SetContainment(normalize=["lowercase", "strip"]).check(["cll", "sll", "aml "], EXPECTED)


def test_items_are_compared_in_composed_unicode() -> None:
    assert SetContainment().check(["Sj\u006f\u0308gren"], ["Sj\u00f6gren"])


@pytest.mark.parametrize("mode", ["exact", "subset", "superset", "overlap"])
@pytest.mark.parametrize("value", NO_LISTS)
def test_null_and_what_is_no_list_fail_in_every_mode(mode: Any, value: Any) -> None:
    rule = SetContainment(mode=mode)
    assert not rule.check(value, ["C", "L"])
    assert not rule.check(["C", "L"], value)
    assert not rule.check(value, value)
    assert not rule.explain(value, ["C"]).passed


def test_a_text_is_never_taken_for_its_characters() -> None:
    assert not SetContainment(mode="subset").check("CLL", ["C", "L"])
    assert not SetContainment(mode="superset").check(["C", "L"], "CLL")


@pytest.mark.parametrize("item", [["CLL"], {"a": 1}, float("nan")])
def test_items_that_cannot_be_compared_fail(item: Any) -> None:
    assert not SetContainment().check([item], [item])


def test_one_is_not_true() -> None:
    assert not SetContainment().check([1], [True])
    assert not SetContainment().check([0], [False])
    assert SetContainment().check([1], [1])


@pytest.mark.parametrize(
    "parameters", [{"mode": "equal"}, {"min_overlap": 0}, {"min_overlap": -1}, {"normalize": ["x"]}]
)
def test_set_containment_refuses_bad_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SetContainment(**parameters)


def test_set_containment_explains_missing_and_extra_items() -> None:
    explained = SetContainment().explain(["CLL", "NHL"], EXPECTED)
    assert explained.steps == (
        Step("shared", "1 item", '"CLL"'),
        Step("missing", "2 items", '"SLL", "AML"'),
        Step("extra", "1 item", '"NHL"'),
    )
    assert explained.reason == 'The lists differ (missing: "SLL", "AML"; not expected: "NHL").'


@pytest.mark.parametrize(
    ("rule", "extracted", "reason"),
    [
        (SetContainment(), EXPECTED, "Exactly the expected items were found."),
        (SetContainment(mode="subset"), [], "An empty list is a subset of any."),
        (SetContainment(mode="subset"), ["CLL"], "Every item found is an expected one."),
        (SetContainment(mode="superset"), ["CLL", "X"], 'The lists differ (missing: "SLL", "AML").'),
        (SetContainment(mode="overlap", min_overlap=2), ["CLL"], "1 expected item found; 2 or more must be."),
    ],
)
def test_set_containment_gives_the_reason_of_its_mode(rule: SetContainment, extracted: list[str], reason: str) -> None:
    assert rule.explain(extracted, EXPECTED).reason == reason


AUTHORS = ["Smith J", "Jones A", "Patel R"]


def test_ordered_match_needs_the_same_order() -> None:
    assert OrderedMatch().check(["smith j", " Jones A", "patel r"], AUTHORS)
    assert not OrderedMatch().check(["Jones A", "Smith J", "Patel R"], AUTHORS)


@pytest.mark.parametrize("extracted", [AUTHORS[:2], [*AUTHORS, "Doe J"], []])
def test_ordered_match_needs_the_same_length(extracted: list[str]) -> None:
    assert not OrderedMatch().check(extracted, AUTHORS)


def test_ordered_match_of_empty_lists_passes() -> None:
    assert OrderedMatch().check([], [])


@pytest.mark.parametrize("value", [*NO_LISTS, [None], [["a"]]])
def test_ordered_match_fails_null_and_what_is_no_list_of_texts(value: Any) -> None:
    assert not OrderedMatch().check(value, ["a"])
    assert not OrderedMatch().check(value, value)
    assert not OrderedMatch().explain(value, ["a"]).passed


def test_ordered_match_without_normalisers_is_literal() -> None:
    assert not OrderedMatch(normalize=[]).check(["smith j"], ["Smith J"])


def test_ordered_match_refuses_unknown_normalisers() -> None:
    with pytest.raises(ValueError, match="not a normaliser"):
        OrderedMatch(normalize=["lower"])


def test_ordered_match_explains_where_lists_part() -> None:
    swapped = OrderedMatch().explain(["Smith J", "Patel R", "Jones A"], AUTHORS)
    assert swapped.reason == 'Element 2 is "patel r", expected was "jones a".'
    assert [step.label for step in swapped.steps] == ["element 2", "element 3"]
    assert OrderedMatch().explain(AUTHORS[:1], AUTHORS).reason == "1 element found, 3 expected."
    assert OrderedMatch().explain(AUTHORS, AUTHORS).reason == "All 3 elements agree, in order."
