"""The self-test: variants of a truth and what the template decides on them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from karenina_core.authoring import Case, near_misses
from karenina_core.authoring.self_test import variants
from karenina_core.errors import InputError
from karenina_core.templates import TemplateSpec, read_template, write_template
from tests.authoring.linter.cases import (
    LOWER,
    day,
    exact,
    items,
    number,
    similar,
    trace,
)
from tests.templates.test_writer import specs


def rows(item: Any, **notes: Any) -> dict[str, Case]:
    return {case.label: case for case in near_misses(TemplateSpec(fields=[item]), **notes)}


def verdicts(item: Any) -> dict[str, str]:
    return {label: case.verdict for label, case in rows(item).items()}


def test_a_name_in_other_spellings() -> None:
    found = verdicts(exact(*LOWER, {"mapping": {"bcl-2": "bcl2"}}))
    assert found["the truth itself"] == found["in lower case"] == found["with blanks around it"] == "pass"
    assert found["a synonym"] == "pass"
    assert found["with a full stop"] == found["in quotes"] == found["in the plural"] == "fail"
    assert found["something else"] == found["an empty text"] == found["nothing found"] == "fail"


def test_a_count_and_its_neighbours() -> None:
    found = verdicts(number(23))
    assert found["the truth itself"] == found["as a text"] == found["with decimals"] == "pass"
    assert found["one more"] == found["one less"] == found["ten times as much"] == "fail"
    assert found["with a unit"] == "refused"
    assert rows(number(23))["with a unit"].values == {"amount": "23 units"}


def test_the_edges_of_a_tolerance() -> None:
    cases = rows(number(0.72, "float", type="NumericTolerance", tolerance=0.05, mode="absolute"))
    upper, above = cases["at the upper edge of the tolerance"], cases["beyond the upper edge of the tolerance"]
    assert (upper.values["amount"], upper.verdict) == (0.77, "pass")
    assert above.verdict == "fail"
    whole = rows(number(342, type="NumericTolerance", tolerance=0.01))
    assert [whole[f"at the {edge} edge of the tolerance"].values["amount"] for edge in ("upper", "lower")] == [345, 339]
    assert whole["one more"].expected == "either"


def test_bounds_are_tried_on_both_sides() -> None:
    found = verdicts(number(0, type="NumericRange", min=18, max=65))
    assert found["the least value"] == found["the greatest value"] == "pass"
    assert found["beyond the least value"] == found["beyond the greatest value"] == "fail"
    assert verdicts(day("N/A", type="DateRange", min="2015-01-01"))["beyond the least value"] == "fail"


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("exact", {"with one item missing": "fail", "with one item more": "fail", "an empty list": "fail"}),
     ("superset", {"with one item missing": "fail", "with one item more": "pass", "an empty list": "fail"}),
     ("subset", {"with one item missing": "pass", "with one item more": "fail", "an empty list": "pass"})],
)  # fmt: skip
def test_lists_with_more_and_less(mode: str, expected: dict[str, str]) -> None:
    found = verdicts(items(mode=mode))
    assert expected.items() <= found.items()
    assert found["in another order"] == found["with an item twice"] == "pass"
    assert found["as one text"] == "refused"


def test_what_nobody_wants_comes_first() -> None:
    cases = near_misses(TemplateSpec(fields=[items(mode="subset")]))
    assert cases[0].surprising and cases[0].label == "an empty list"
    assert not any(case.surprising for case in cases[1:])
    order = [("pass", "undecided", "fail", "refused").index(case.verdict) for case in cases[1:]]
    assert order == sorted(order)


def test_dates_in_the_usual_forms() -> None:
    found = verdicts(day())
    assert found["month in words"] == found["month abbreviated"] == "pass"
    assert found["1 day later"] == found["only the month"] == found["another year"] == "fail"
    near = verdicts(day(type="DateTolerance", tolerance=30))
    assert near["30 days later"] == "pass" and near["31 days later"] == "fail"


def test_responses_for_rules_that_read_them() -> None:
    cases = rows(trace(type="TraceLength", min=3, max=5, unit="words"))
    assert cases["the least length"].response == "word word word"
    assert cases["beyond the greatest length"].verdict == "fail"
    absent = verdicts(trace(False, type="TraceContains", substring="Venclexta"))
    assert absent["a response with it"] == "fail" and absent["a response without it"] == "pass"
    often = verdicts(trace(type="TraceRegex", pattern="NCT", count_min=2))
    assert often["a response with it"] == "pass" and often["a response with it too rarely"] == "fail"


def test_meaning_is_not_decided_here() -> None:
    assert verdicts(similar())["the truth itself"] == "undecided"


def test_answers_that_the_notes_name_are_tried() -> None:
    cases = rows(exact(*LOWER), accepted=["Bcl-2"], rejected=["bcl2 "])
    assert cases["accepted by the notes"].surprising and cases["rejected by the notes"].surprising


def test_a_form_that_verifies_nothing_cannot_be_tested() -> None:
    with pytest.raises(InputError, match="verifies nothing"):
        near_misses(TemplateSpec())


def test_fields_of_the_templates_own_code_have_no_variants() -> None:
    source = "class Answer(BaseAnswer):\n    x: str\n    def verify(self):\n        return self.x == 'a'\n"
    assert near_misses(source) == []


@given(specs())
def test_the_verdict_of_a_row_is_that_of_the_template(spec: TemplateSpec) -> None:
    template = read_template(write_template(spec))
    for case in near_misses(spec):
        if case.verdict in ("pass", "fail") and case.evidence is not None:
            values = {**dict.fromkeys(item.name for item in spec.judged), case.field: case.values.get(case.field)}
            typed = values if case.response is not None else template.validate_reply(values)
            result = template.evaluate(typed, case.response or "").results[case.field]
            assert (result is True) == (case.verdict == "pass")


@given(specs())
def test_every_rule_has_variants(spec: TemplateSpec) -> None:
    assert all(list(variants(item)) for item in spec.verified)
